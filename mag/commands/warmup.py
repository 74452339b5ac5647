"""`mag warmup`."""

import contextlib
import io
import pathlib
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from mag._lib.notice import working_on
from mag.commands._options import COST_NAMES, EVERY_METHOD, GROUPING_PANEL, OUTPUT_PANEL, Quiet, choice_option
from mag.commands._output import say, table

USUAL_COSTS = ["sse"]
USUAL_METHODS = ["ona_star", "ona_local", "mona", "anneal"]  # methods that "auto" may choose
Step = tuple[str, Callable[[], Any]]


def warmup(
    method: Annotated[
        list[str] | None,
        choice_option(
            "A method to compile; see the list below. Repeatable.", EVERY_METHOD[1:], GROUPING_PANEL, "--method", "-m"
        ),
    ] = None,
    cost: Annotated[
        list[str] | None,
        choice_option(
            f"A cost to compile: {', '.join(COST_NAMES)}. Repeatable.", COST_NAMES, GROUPING_PANEL, "--cost", "-c"
        ),
    ] = None,
    k: Annotated[
        list[int] | None,
        typer.Option(
            "-k",
            help="A group size (default: 2 to 12; 12 serves all larger ones). Repeatable.",
            rich_help_panel=GROUPING_PANEL,
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="All costs, all methods, long columns and bounds.", rich_help_panel=GROUPING_PANEL),
    ] = False,
    show: Annotated[
        bool, typer.Option("--list", help="List what can be compiled and exit.", rich_help_panel=OUTPUT_PANEL)
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Compile ahead, so that first calls are fast: for container images and read-only home directories.

    Without options: columns with the sum of squares, the methods that "auto" may choose, tables and the commands for
    files. The code is stored next to the sources of mag, or in NUMBA_CACHE_DIR.

    Examples:
    mag warmup
    mag warmup -c sae -k 5
    mag warmup -m mdav -m projection
    NUMBA_CACHE_DIR=/opt/mag-cache mag warmup --all
    """
    if show:
        _show()
        return
    from mag._lib.checks import integer, one_of
    from mag.api.warm_up import LEAST_SHARED_K
    from mag.costs import COSTS
    from mag.methods import METHODS

    usual = not (method or cost)
    costs = [one_of("cost", name, COSTS) for name in cost or (USUAL_COSTS if usual else [])]
    methods = [one_of("method", name, METHODS) for name in method or (USUAL_METHODS if usual else [])]
    if everything:
        costs, methods = [*COSTS], [*METHODS]
    sizes = [integer("k", size, 1, 10**6, "limit") for size in k or range(2, LEAST_SHARED_K + 1)]
    steps = [*_columns_steps(costs, sizes, everything), *_method_steps(methods, sizes, k is not None)]
    if usual:
        steps += [("tables", _run_tables), ("categories", _run_categories), ("risk", _run_risk), *_file_steps()]
    if everything:
        steps += _bound_steps()
    with working_on(quiet=True):
        for number, (label, run) in enumerate(steps, 1):
            began = time.perf_counter()
            run()
            if not quiet:
                print(f"{number:>3}/{len(steps)}  {label:<28}{time.perf_counter() - began:6.1f} s", flush=True)
    if not quiet:
        say(f"Compiled code is kept in {_place()}.")


def _show() -> None:
    """Print the steps that can be compiled, and the option that selects each."""
    rows = [(name, f"--cost {name}", "yes" if name in USUAL_COSTS else "no") for name in COST_NAMES]
    rows += [(name, f"--method {name}", "yes" if name in USUAL_METHODS else "no") for name in EVERY_METHOD[1:]]
    rows += [("tables, files, risk", "", "yes"), ("long columns", "--all", "no"), ("bounds", "--all", "no")]
    table(["compiled", "by", "without options"], rows)


def _columns_steps(costs: Sequence[str], sizes: Sequence[int], long: bool) -> Iterator[Step]:
    """`univariate` and `columns`: each cost for each k."""
    for name in costs:
        for size in sizes:
            yield f"{name}, k = {size}", partial(_run_columns, name, size)
        if long:
            yield f"{name}, long columns", partial(_run_long_columns, name, sizes)


def _run_columns(cost: Any, k: int) -> None:
    import numpy as np

    from mag.api.columns import columns
    from mag.api.univariate import univariate

    x = np.arange(max(8 * k, 200))
    for column in (x, x[::-1], x * 0.5, x[::-1] * 0.5):
        if cost != "sse_int" or column.dtype.kind == "i":
            _ = univariate(column, k, cost=cost).masked
            _ = columns(column[:, None], k, cost=cost).masked


def _run_long_columns(cost: Any, sizes: Sequence[int]) -> None:
    import numpy as np

    from mag._backends.cpu import BOTH_ENDS_FROM_N
    from mag.api.univariate import univariate

    x = np.random.default_rng(0).integers(0, 2**20, BOTH_ENDS_FROM_N)
    for k in sizes:
        for column in (x,) if cost == "sse_int" else (x, x * 0.5):
            _ = univariate(column, k, cost=cost, threads=4).labels  # two for each half


def _method_steps(methods: Sequence[str], sizes: Sequence[int], chosen: bool) -> Iterator[Step]:
    """`multivariate`: each method; methods that solve columns are compiled for each k, others once for all k."""
    from mag.api.warm_up import warm_up_method
    from mag.methods import METHODS

    for name in methods:
        method = METHODS[name]
        several = sizes if method.accepts("engine") else sizes[:1] if chosen else [5]
        for size in several if method.k is None else [method.k]:
            label = f"{name}, k = {size}" if len(several) > 1 else name
            yield label, partial(warm_up_method, name, max(size, 2), {})


def _bound_steps() -> Iterator[Step]:
    from mag.bounds import BOUNDS, warm_up_bound

    for name in BOUNDS if find_spec("scipy") else sorted(BOUNDS.keys() - {"branch"}):
        yield f"bound {name}", partial(warm_up_bound, name)


def _people(n: int = 120) -> dict[str, Any]:
    """A made-up table: numbers, integers, and a stratum."""
    import numpy as np

    rng = np.random.default_rng(0)
    return {"x": rng.normal(size=n).round(3), "y": rng.integers(0, 50, n), "s": np.arange(n) % 3}


def _run_risk() -> None:
    """`assess`: all subsets of the quasi-identifiers."""
    from mag.tables.assess import assess

    assess(_people(), ["y", "s"])


def _run_tables() -> None:
    """`microaggregate`: jointly and each column, with and without strata."""
    from mag.tables import Release, microaggregate

    ways: list[dict[str, Any]] = [{"drop": "s"}, {"by": "s"}]
    for options in ways:
        for scope in ("joint", "per-column"):
            options["scope"] = scope
            release: Release[Any] = microaggregate(_people(), 5, ["x", "y"], **options)
            release.risk(), release.utility()


def _run_categories() -> None:
    """… of numbers and categories."""
    from mag.api.warm_up import warm_up_method

    for name in USUAL_METHODS[:3]:
        warm_up_method(name, 5, {}, categories=True)


def _file_steps() -> list[Step]:
    """The commands for files, where polars is installed."""
    try:
        import polars  # noqa: F401
    except ImportError:
        return []
    return [("commands for files", _run_files)]


def _run_files() -> None:
    import polars

    from mag.commands.check import check
    from mag.commands.mask import mask
    from mag.commands.risk import risk
    from mag.commands.utility import utility

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        people, joint, each = (pathlib.Path(folder) / name for name in ("people.csv", "joint.csv", "each.csv"))
        polars.DataFrame(_people()).write_csv(people)
        numbers: dict[str, Any] = {"source": people, "column": ["x", "y"], "k": ["5"], "quiet": True}
        mask(**numbers, out=joint, by=["s"], report=joint.with_suffix(".html"))
        mask(**numbers, out=each, drop=["s"], scope="per-column")
        check(joint, ["s", "x", "y"], 5)
        risk(original=people, masked=joint)
        utility(original=people, masked=joint)


def _place() -> str:
    """The folder of compiled code, or the source folder if the code is stored next to the sources."""
    import mag
    from mag._backends.cpu.labels import label
    from mag._compiled.jit import folder_of

    folder = pathlib.Path(folder_of(label))
    root = pathlib.Path(mag.__file__).parent
    return f"__pycache__ folders below {root}" if folder.is_relative_to(root) else str(folder.parent)
