"""The result of `mag.microaggregate`: the published table, and the facts about it."""

import os
import pathlib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal

import numpy as np

from mag import verify
from mag._lib import checks
from mag._lib.atomic import check_target
from mag._lib.errors import InputRuntimeError, InputTypeError
from mag._lib.lazy import cached_property
from mag._lib.pictures import Drawable, facts_table, put_legend_beside, use_whole_ticks
from mag._lib.progress import Progress
from mag._lib.roles import list_names
from mag.api.options import progress_of
from mag.api.types import ProgressReport
from mag.frames import frame_of
from mag.frames.foreign import stream_of
from mag.tables._compared import BeforeAfter, Numbers, Original
from mag.tables._guarantee import Guarantee
from mag.tables._manifest import Provenance, digest_column, make_manifest

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from mag.report import Audience
    from mag.tables._analysis import AnalysisComparison
    from mag.tables.plan import Plan

    Table = TypeVar("Table", default=Any)
else:  # before Python 3.13 a type variable has no default
    from typing import TypeVar

    Table = TypeVar("Table")

MAX_DRAWN_COLUMNS = 12  # of a plot, unless the caller names more


@dataclass(frozen=True)
class LatticeNode:
    """A combination of levels that `mag.generalize` looked at.

    Attributes
    ----------
    levels : dict
        The level of every column.
    loss : float
        The loss, 0 to 1: the mean over records and columns of the share of the hierarchy's leaves that is below the
        published label, where columns count by `importance` and suppressed records lose 1.
    suppressed, withheld : int
        Suppressed records, and those of them that are not published.
    smallest : int
        The smallest class; suppressed records count apart from others that show the same labels.
    """

    levels: dict[Hashable, int]
    loss: float
    suppressed: int
    withheld: int
    smallest: int


@dataclass(frozen=True)
class TableGrouping(Drawable):
    """The groups of a table; rows are those of the published table.  `plot` draws how many have how many records.

    Attributes
    ----------
    labels : array of int, shape (n,) or, with scope="per-column" or sets of columns, (n, m)
        The group of every record, of every column where each has its own.
    sizes : array of int, or dict of arrays by column
        The number of records in each group.
    n_groups : int or dict by column
    k : int or dict by column
    scope : {"joint", "per-column", "sets"}
    columns, by : tuple of column names
    method : str
        The method that found the groups; "univariate" is the optimum of one column.
    complete : bool
        False if `time_limit` or `max_nodes` ended the search.
    """

    labels: np.ndarray
    sizes: np.ndarray | dict[Hashable, np.ndarray]
    n_groups: int | dict[Hashable, int]
    k: int | dict[Hashable, int]
    scope: str
    columns: tuple[Hashable, ...]
    by: tuple[Hashable, ...]
    method: str
    complete: bool

    def __repr__(self) -> str:
        groups = self.n_groups if isinstance(self.n_groups, int) else "/".join(map(str, self.n_groups.values()))
        return f"<TableGrouping: {len(self.labels)} records in {groups} groups, {self.scope}, {self.method}>"

    @property
    def _every_size(self) -> dict[Hashable, np.ndarray]:
        """Of the groups of all columns together, or of each."""
        if isinstance(self.sizes, dict):
            return self.sizes
        return {list_names(self.columns): self.sizes}

    def _repr_html_(self) -> str:
        sizes = {
            f"groups by {name}": f"{own.size} of {own.min()} to {own.max()} records"
            for name, own in self._every_size.items()
        }
        facts = {"records": len(self.labels), "scope": self.scope, "k": self.k, "method": self.method}
        within = {"within": ", ".join(map(str, self.by))} if self.by else {}
        return facts_table("TableGrouping", facts | within | sizes | {"complete": self.complete})

    def _draw(self, axes: Any) -> None:
        for name, own in self._every_size.items():
            axes.plot(*np.unique(own, return_counts=True), "o-", markersize=4, label=str(name))
        axes.set_xlabel("records in a group")
        axes.set_ylabel("groups")
        axes.set_ylim(bottom=0)
        use_whole_ticks(axes.xaxis, axes.yaxis)
        put_legend_beside(axes, len(self._every_size))


@dataclass(eq=False, repr=False)
class Release(Generic[Table]):
    """A published table with its guarantee, as returned by `mag.microaggregate` and `mag.generalize`.  Read-only.

    Pickles and copies hold only published facts: `numbers`, `risk`, `utility`, `plot` and an internal `report` need the
    original and work on the release itself only.

    Attributes
    ----------
    data : frame or dict
        The published table, in the library of the original.
    guarantee : Guarantee
        The guarantee, counted on `data`.
    grouping : TableGrouping
        The groups.
    warnings : tuple of str
        Advice for the publisher.
    withheld : int
        The number of records that are not published.
    levels : dict or None
        By `mag.generalize`: the level of its hierarchy that every column is published on.
    proven : bool or None
        By `mag.generalize`: whether no other levels lose less; otherwise they are the best found.
    lattice : tuple of LatticeNode
        By `mag.generalize`: the best ten combinations of levels, that of `levels` first.  For the publisher: neither
        manifests nor reports nor pickles hold it.
    """

    data: Table
    guarantee: Guarantee
    grouping: TableGrouping
    warnings: tuple[str, ...]
    _provenance: Provenance
    _original: Original | None = None
    levels: dict[Hashable, int] | None = None
    proven: bool | None = None
    lattice: tuple[LatticeNode, ...] = ()
    _ncp: float | None = None
    _linked: tuple[str, ...] = ()  # the warnings about kept columns that nearly give a masked one
    _without_figures: tuple[tuple[str, str], ...] = ()  # warnings with figures of the original, and without

    @property
    def withheld(self) -> int:
        """The number of records that are not published."""
        return self.guarantee.withheld

    def __getstate__(self) -> dict[str, Any]:
        names = ("data", "guarantee", "grouping", "_provenance", "levels", "proven")
        return {name: getattr(self, name) for name in names} | {"warnings": self._public_warnings()}

    def _public_warnings(self) -> tuple[str, ...]:
        """The warnings without figures that only the original can give, for manifests and pickles."""
        public = dict(self._without_figures)
        return tuple(public.get(warning, warning) for warning in self.warnings)

    def with_options(self, **options: Any) -> "Release[Table]":
        """The same release, with these options in its manifest and report, for columns that were not even read."""
        provenance = replace(self._provenance, options=self._provenance.options | options)
        return replace(self, _provenance=provenance)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self) or name not in self.__dataclass_fields__:  # fields are set once, when it is made
            raise AttributeError(f"a Release cannot be changed: {name} is read-only.")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        lines = [str(self.guarantee), *(f"Note: {warning}" for warning in self.warnings)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        import html

        inner = getattr(self.data, "_repr_html_", None)
        table = inner() if inner else f"<pre>{html.escape(repr(self.data))}</pre>"
        notes = "".join(f"<p>Note: {html.escape(warning)}</p>" for warning in self.warnings)
        return f"<p><b>{html.escape(str(self.guarantee))}</b></p>{notes}{table}"

    def numbers(self) -> tuple[Numbers, Numbers]:
        """The masked columns of the published records as float64, before and after; row i is one record.

        Missing cells are NaN, times are seconds, decimals are floats.  Values before masking are read from the original
        table, which is not copied.
        """
        return self._numbers

    @cached_property
    def _numbers(self) -> tuple[Numbers, Numbers]:
        return self._need_original().numbers(frame_of(self.data), self.guarantee)

    @cached_property
    def _compared(self) -> BeforeAfter:
        original, numbers = self._need_original(), self.numbers()
        return original.compare(frame_of(self.data), self.guarantee.columns, numbers)

    def _need_original(self) -> Original:
        if self._original is None:
            raise InputRuntimeError(
                "numbers, risk, utility, units, compare, plot and report need the original table, which pickles and "
                "copies of a release do not hold; use the release that mag.microaggregate returned."
            )
        return self._original

    def withheld_rows(self) -> np.ndarray:
        """The row numbers, in the original table, of the records that are not published; pickles do not hold them."""
        if self._original is None:
            raise InputRuntimeError(
                "withheld_rows needs the release that mag.microaggregate returned, not a pickle or copy."
            )
        return self._original.withheld_rows()

    def count_with_kept(self) -> tuple[int, int] | None:
        """The smallest class in all published columns, and the records in classes of fewer than k, records or units.

        None if no column is kept, or one cannot be compared exactly; with a unit, also for pickles.
        """
        return self._with_kept

    @cached_property
    def _with_kept(self) -> tuple[int, int] | None:
        if not self.guarantee.kept:
            return None
        k = self.guarantee.k if isinstance(self.guarantee.k, int) else min(self.guarantee.k.values())
        names = [name for name in frame_of(self.data).names if name not in self.guarantee.sensitive]
        if self.guarantee.unit is not None and self._original is None:
            return None
        try:
            if self.guarantee.unit is None:
                sizes = records = verify.sizes_of_classes(self.data, names)
            else:
                sizes, records = map(np.array, verify.count_units(self.data, names, self.units()))
        except InputTypeError:
            return None
        return int(sizes.min()), int(records[sizes < k].sum())

    def units(self) -> list[Any]:
        """The unit of every published record, for the holder of the data; pickles do not hold them."""
        return self._cells_of(self.guarantee.unit)

    def households(self) -> list[Any]:
        """The household of every published record, for the holder of the data; pickles do not hold them."""
        return self._cells_of(self.guarantee.household)

    def _cells_of(self, name: Hashable) -> list[Any]:
        original = self._need_original()
        return verify.cells_of_unit(original.frame, name, original.rows)

    def risk(self) -> dict[str, Any]:
        """Disclosure risk of the masked columns: `measures/assess.risk`, with the hierarchies that were used."""
        return self._compared.risk()

    def utility(self, propensity: bool = True) -> dict[str, Any]:
        """Information loss of the masked columns: `measures/assess.utility`, with names and the hierarchies used.

        ``ncp`` is that of the groups, as `ncp` gives it.
        """
        return self._compared.utility(propensity, list(self.numbers()[0]), self.ncp)

    def compare(self, formula: str | None = None, *, by: Any = None, weights: Any = None) -> "AnalysisComparison":
        """Compute what analysts compute on the original and on the published table, and compare.

        Parameters
        ----------
        formula : str, optional
            A linear model such as ``"log(income) ~ age + region + age:sex"``: columns, ``exp``, ``log``, ``sqrt`` and
            ``square`` of columns, and products.  Categories have a coefficient for each level but the first; names
            with spaces are in backticks.
        by : column name or list of them, optional
            Domains for which the means of masked columns are compared, too.
        weights : column name or array, optional
            Weights of the records of the original.

        Returns
        -------
        AnalysisComparison
            Coefficients with the overlap of their confidence intervals, means, quantiles, Gini coefficients, shares of
            categories, and the propensity score relative to its null; prints as tables.  Withheld records are left
            out on both sides, and ranges are their middles.

        Examples
        --------
        >>> import mag
        >>> people = {"age": [31, 52, 30, 55, 41, 29], "income": [25.0, 40.0, 21.0, 44.0, 39.0, 23.0]}
        >>> release = mag.microaggregate(people, 2, ["age", "income"])
        >>> compared = release.compare("income ~ age")
        >>> round(compared.coefficients["age"].overlap, 2)
        0.5
        """
        from mag.tables._analysis import compare_columns

        return compare_columns(self._need_original(), frame_of(self.data), self.guarantee.columns, formula, by, weights)

    def ncp(self, leaves: Literal["all", "used"] = "all") -> float:
        """The normalized certainty penalty of the groups, 0 to 1: the mean loss over columns and records.

        Numbers lose the range of their group by the range of all, categories the share of their hierarchy's leaves that
        is below the group's closest common ancestor; without a hierarchy, ranks are numbers, and groups of different
        values lose 1.  Missing cells lose nothing.

        With `mag.generalize` it is the loss of the published labels; suppressed records, withheld or not, lose 1.

        Parameters
        ----------
        leaves : {"all", "used"}
            Whether leaves that no published record had count, too.
        """
        used = checks.one_of("leaves", leaves, ["all", "used"]) == "used"
        if self._ncp is not None:
            if used:
                raise InputRuntimeError(
                    "leaves='used' is for releases of mag.microaggregate; mag.generalize counts all."
                )
            return self._ncp
        if self._original is None or self.guarantee.scope == "per-column":
            raise InputRuntimeError("ncp can only be asked of a joint release that mag.microaggregate returned.")
        return self._original.penalty(self.guarantee.columns, self.grouping.labels, used)

    def plot(self, columns: Iterable[Hashable] | None = None) -> list[Any]:
        """Draw the distributions of masked columns before and after; needs matplotlib, extra ``plot``.

        As in the report, bars of fewer than k original values are joined with their neighbors, and the axes show the
        range of the published values.

        Parameters
        ----------
        columns : list of column names, optional
            Of the masked columns; by default all, of more than 12 those that changed most.

        Returns
        -------
        list of matplotlib.axes.Axes
            One for each column.
        """
        from mag.report import draw_columns

        before, after = self.numbers()
        pairs = {name: (before[name], after[name]) for name in before} | dict(self._compared.ranges)
        levels = self._compared.categories(self.guarantee.generalized, self.levels)
        names = [name for name in self.guarantee.columns if name in pairs or name in levels]
        if columns is None and len(names) > MAX_DRAWN_COLUMNS:
            utility = self.utility()
            changes = {**utility.get("total_variation_by_column", {}), **utility.get("share_change_by_column", {})}
            names = sorted(names, key=lambda name: -changes.get(name, 0.0))[:MAX_DRAWN_COLUMNS]
        return draw_columns(names if columns is None else columns, pairs, levels, self.guarantee.k)

    def report(
        self,
        path: str | os.PathLike[str],
        title: str | None = None,
        overwrite: bool = False,
        about: Mapping[str, str] | None = None,
        progress: ProgressReport = None,
        audience: "Audience" = "internal",
    ) -> pathlib.Path:
        """Write a report on the release, one self-contained HTML file, and return its path.

        Parameters
        ----------
        path : path
            A file in a folder that exists.
        title : str, optional
            The heading of the page.
        overwrite : bool
            Replace a file that exists; never one that was read for the release.
        about : dict of str, optional
            Lines below the title, such as ``{"Data": "Survey of 2026", "Made by": "A. Smith"}``; the date follows them.
        progress
            As in `mag.microaggregate`.
        audience : {"internal", "external"}
            Who reads the page.  An external one needs no original, and shows no figure that only the original gives:
            no distributions before masking, losses, correlations and risks, and no warnings, which are for the
            publisher.

        Returns
        -------
        pathlib.Path
            The page.
        """
        from mag.report import is_external, write
        from mag.tables._facts import facts_of, published_facts

        check_target(path, () if self._original is None else self._original.files, overwrite)
        steps = Progress(progress_of(progress))
        first, last = steps.span(0.0, 0.7), steps.span(0.7, 1.0)
        if is_external(audience):
            facts = published_facts(self._without_original(), title, about or {})
        else:
            facts = facts_of(self, self._need_original(), self._compared, title, about or {}, first.step)
        page = write(path, facts, overwrite, last.step)
        steps.finish()
        return page

    def _without_original(self) -> "Release[Table]":
        """The same release as a pickle holds it, and without times, which depend on the original."""
        return replace(self, _original=None, _provenance=replace(self._provenance, seconds={}))

    def plan(self) -> "Plan":
        """The plan of this release, for the holder of the data: roles of all columns, and options.

        Returns
        -------
        Plan
            ``save`` writes it; `mag mask --plan` and ``mag.microaggregate(table, **plan.keywords())`` repeat it.
        """
        if self._original is None or self._original.plan is None:
            raise InputRuntimeError("plan needs the release that mag.microaggregate returned, not a pickle or copy.")
        return self._original.plan()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """`data` for a library that reads Arrow, as by ``polars.DataFrame(release)``; of pandas without the index."""
        return stream_of(self.data, requested_schema)

    def manifest(self) -> dict[str, Any]:
        """Versions, options, shape, hashes and the guarantee, in the types of JSON."""
        published = frame_of(self.data)
        hashes = {str(name): digest_column(published, name) for name in published.names}
        facts = {"records": published.n, "sha256": hashes}
        method, complete = self.grouping.method, self.grouping.complete
        manifest = make_manifest(self._provenance, self.guarantee, facts, method, complete, self._public_warnings())
        return manifest | {"seconds": self._provenance.seconds}
