"""`mag graph`."""

import pathlib
from typing import Annotated, Any

import typer

from mag._lib.atomic import PRIVATE, reserving
from mag._lib.errors import InputValueError
from mag.commands._options import (
    GROUPING_PANEL,
    OUTPUT_PANEL,
    TEXT_PANEL,
    DryRun,
    Encoding,
    Json,
    Out,
    Overwrite,
    Quiet,
    Written,
    choice_option,
    read_files,
)
from mag.commands._output import dump, say, warn

DEGREE_COSTS = ["sse_int", "sae", "roundup", "rounddown"]


def graph(
    source: Annotated[pathlib.Path, typer.Argument(metavar="IN", help="The edges: two names of vertices a line.")],
    k: Annotated[
        int,
        typer.Option("-k", help="How many vertices must share a degree.", metavar="K", rich_help_panel=GROUPING_PANEL),
    ],
    out: Out = None,
    keep: Annotated[
        str,
        choice_option(
            "edges: add edges only; nodes: add, remove and switch, which changes fewer; degrees: a new graph.",
            ["edges", "nodes", "degrees"],
            GROUPING_PANEL,
        ),
    ] = "edges",
    cost: Annotated[
        str | None,
        choice_option(f"Cost of changed degrees to minimize: {', '.join(DEGREE_COSTS)}.", DEGREE_COSTS, GROUPING_PANEL),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="Change the fewest edges; up to some 40 vertices.", rich_help_panel=GROUPING_PANEL
        ),
    ] = False,
    vertices: Annotated[
        int | None,
        typer.Option(
            help="Number of vertices, including those without edges (default: from the comment or the edges of IN).",
            rich_help_panel=GROUPING_PANEL,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of the new numbers of vertices and of the search (default: numbers that cannot be reproduced).",
            rich_help_panel=GROUPING_PANEL,
        ),
    ] = None,
    names: Annotated[
        pathlib.Path | None,
        typer.Option(
            help="Write the name of each number in OUT; keep this file with IN.",
            metavar="FILE",
            rich_help_panel=OUTPUT_PANEL,
        ),
        Written,
    ] = None,
    overwrite: Overwrite = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    quiet: Quiet = False,
    delimiter: Annotated[
        str | None,
        typer.Option(help="Character between names (default: blanks).", metavar="CHAR", rich_help_panel=TEXT_PANEL),
    ] = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Change a few edges of a graph so that every degree belongs to at least k vertices, and verify that on the file.

    IN is an undirected graph: each edge once, no loops; lines that begin with # or % are comments.  OUT holds numbers
    in place of names, dealt at random.  Only degrees are protected: neighborhoods and subgraphs may still identify.

    Examples:
    mag graph friends.edges -o out.edges -k 5
    mag graph friends.csv --delimiter , -o out.edges -k 10 --keep nodes --names names.txt
    """
    if out is None and not dry_run:
        raise InputValueError("--out must name the file to write, unless --dry-run is passed.")
    targets = [path for path in (out, names) if path is not None]
    sources = read_files(graph, locals())

    import numpy as np

    from mag.api.options import generator_of
    from mag.graphs import anonymize
    from mag.graphs.edge_list import read_edge_list, recount_file, write_edge_list

    with reserving(*targets, sources=sources, overwrite=overwrite, dry_run=dry_run) as reserved:
        read = read_edge_list(source, vertices, "\t" if delimiter == "\\t" else delimiter, encoding)
        number = (np.random.default_rng() if seed is None else generator_of(seed)).permutation(read.n)
        options: dict[str, Any] = {"keep": keep, "cost": cost, "exact": exact, "random_state": seed}
        found = anonymize(number[read.edges], read.n, k, **options)
        facts: dict[str, Any] = {
            "k": k, "vertices": read.n, "edges": len(found.edges), "added": found.n_added, "removed": found.n_removed,
            "bound": found.bound, "keep": keep, "smallest": found.smallest, "counted": "on the published edges",
        }  # fmt: skip
        if found.n_added and len(found.edges) == read.n * (read.n - 1) // 2:
            warn("only the complete graph was found, which carries no information; try a smaller k.")
        if out is not None and not dry_run:
            with reserved.drafts() as drafts:
                write_edge_list(drafts[0], found.edges, read.n, overwrite=True)
                facts |= {
                    "smallest": recount_file(drafts[0], k, found.edges, read.n),
                    "counted": "on the file read back",
                }
                if names is not None:
                    drafts[1].chmod(PRIVATE)
                    lines = sorted((int(number[place]), name) for place, name in enumerate(read.names))
                    drafts[1].write_text("".join(f"{place} {name}\n" for place, name in lines), encoding=encoding)
    if as_json:
        dump(facts)
    elif not quiet:
        _say(facts)
        say("Nothing was written." if dry_run else f"Written: {', '.join(map(str, targets))}")


def _say(facts: dict[str, Any]) -> None:
    others = "1 other" if facts["k"] == 2 else f"{facts['k'] - 1} others"
    say(
        f"Every vertex shares its degree with at least {others}: k = {facts['k']}, counted {facts['counted']}, "
        f"smallest class {facts['smallest']} of {facts['vertices']} vertices."
    )
    say(
        f"{facts['added']} edges added, {facts['removed']} removed, at least {facts['bound']} had to change; "
        f"{facts['edges']} edges. Only degrees are protected."
    )
