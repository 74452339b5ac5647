"""Tables of methods and costs.

`{method-facts}` adds the facts about a method that the package holds, `{method-table}` lists all pages of methods.

A page is `docs/methods/NAME.md`.  Its text is written by hand; everything else is in `mag.methods.METHODS`.
`{cost-table}` lists the costs of `mag.costs.COSTS`.
"""

import base64
import inspect
import io
import pathlib
from functools import cache

import numpy as np
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import mag
from mag.commands.survey import people
from mag.costs import COSTS
from mag.methods import FAMILIES, METHODS, Method

SOURCE = "https://github.com/mag-sdc/mag/blob/main"
COLUMNS = ("age", "income", "children")
RECORDS = 1000
SIZES = (2, 3, 5, 10)
YARDSTICKS = ("mdav", "ona_star", "anneal")  # methods whose losses are listed next to those of a page's method
PICTURED = 6  # k of the picture


@cache
def records() -> np.ndarray:
    """Age, income and children of some people of `mag demo`."""
    table = people(RECORDS)
    return np.column_stack([table[column].astype(float) for column in COLUMNS])


@cache
def loss(name: str, k: int) -> float | None:
    """Information loss in percent; None where the method is for another k."""
    if METHODS[name].k not in (None, k):
        return None
    return 100 * mag.multivariate(records(), k, method=name).information_loss


def picture(name: str) -> str:
    """Records in the plane joined to their published values, as an image that needs no file."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(center, 0.6, (60, 2)) for center in ((0, 0), (3, 1), (1, 3))])
    k = METHODS[name].k or PICTURED
    grouping = mag.multivariate(X, k, method=name, standardize=False)
    figure, axes = plt.subplots(figsize=(5.6, 4.2), dpi=110)
    for record, center in zip(X, grouping.masked, strict=True):
        axes.plot(*zip(record, center, strict=True), color="0.7", linewidth=0.8, zorder=1)
    axes.plot(*X.T, "o", color="tab:blue", markersize=3, zorder=2, label="record")
    axes.plot(*np.unique(grouping.masked, axis=0).T, "s", color="black", markersize=5, zorder=3, label="published")
    axes.set_title(f"{len(X)} records, k = {k}: {grouping.n_groups} groups", fontsize=10, loc="left")
    axes.set(xlabel="first column", ylabel="second column")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    figure.tight_layout()
    drawn = io.BytesIO()
    figure.savefig(drawn)
    plt.close(figure)
    words = f"{len(X)} records in the plane, each joined to the value that {name} publishes for it"
    data = base64.b64encode(drawn.getvalue()).decode()
    return f'<img class="method" alt="{words}" width="560" src="data:image/png;base64,{data}">'


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}"


class MethodFacts(SphinxDirective):
    """The facts about the method of this page."""

    def run(self) -> list[nodes.Node]:
        """The picture, the facts, and the losses of the method."""
        name = pathlib.PurePosixPath(self.env.docname).name
        method = METHODS[name]
        # the page follows the table of METHODS
        self.env.note_dependency(inspect.getfile(method.group))
        self.env.note_dependency(inspect.getfile(Method))
        file = pathlib.Path(inspect.getfile(method.group)).relative_to(pathlib.Path(mag.__file__).parents[1]).as_posix()
        options = [f"`{option}={default!r}`" for option, default in method.options.items()]
        lines = ["## In short", "", "| | |", "|---|---|"]
        lines += [
            _row("call", f'`mag.multivariate(X, k, method="{name}")`, `mag mask -m {name}`'),
            _row("family", method.family),
            _row("time", method.time),
            _row("source", method.source),
            _row("k", f"{method.k} only" if method.k else "any"),
            _row("options", ", ".join(options) or "none"),
            _row("code", f"[`{file}`]({SOURCE}/{file})"),
            "",
            "[Records](../guide/records.md#options-of-methods) describes the options; "
            "`random_state` is accepted, and ignored by methods that "
            "draw no random numbers.",
            "",
            "## What it loses",
            "",
            f"Information loss in percent on {RECORDS} made-up people with {len(COLUMNS)} columns (age, income, "
            f"children; `mag.commands.survey.people({RECORDS})`), default options, computed when this page was built. "
            "[Losses](../figures/loss.md) has the data sets of the literature.",
            "",
            _row("k", *SIZES),
            _row("---", *["---"] * len(SIZES)),
        ]
        for other in dict.fromkeys((name, *YARDSTICKS)):
            label = f"**`{other}`**" if other == name else f"[`{other}`]({other}.md)"
            lines.append(_row(label, *(_percent(loss(other, k)) for k in SIZES)))
        lines += ["", "## Groups in the plane", ""]
        shown = nodes.raw("", picture(name), format="html")
        return [*self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True), shown]


class MethodTable(SphinxDirective):
    """All methods, family by family."""

    def run(self) -> list[nodes.Node]:
        """A table, and the pages for the navigation."""
        lines = []
        for family in FAMILIES:
            names = [name for name in METHODS if METHODS[name].family == family]
            lines += [f"## {family}", "", _row("method", "groups", "time", "loss, %"), _row(*["---"] * 4)]
            lines += [
                _row(f"[`{name}`]({name}.md)", METHODS[name].summary, METHODS[name].time, _percent(loss(name, 5)))
                for name in names
            ]
            lines.append("")
        lines += [":::{toctree}", ":hidden:", "", *METHODS, ":::"]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


class CostTable(SphinxDirective):
    """All built-in costs."""

    def run(self) -> list[nodes.Node]:
        """A table."""
        lines = [_row("cost", "of a group", "representative", "weights"), _row(*["---"] * 4)]
        for name, cost in COSTS.items():
            lines.append(_row(f"`{name}`", cost.summary, cost.representative, "✓" if cost.takes_weights else ""))
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_directive("cost-table", CostTable)
    app.add_directive("method-facts", MethodFacts)
    app.add_directive("method-table", MethodTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
