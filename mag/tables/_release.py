"""What `mag.microaggregate` returns: the published table, and what is known of it."""

import hashlib
import json
import os
import pathlib
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Generic, Literal

import numpy as np

from mag import __version__, metrics, verify
from mag._lib import checks
from mag._lib.atomic import check_target
from mag._lib.errors import InputRuntimeError, InputTypeError, InputValueError
from mag._lib.json_types import to_json_types
from mag._lib.lazy import cached_property
from mag._lib.missing import is_missing
from mag._lib.pictures import Drawable, facts_table, new_axes
from mag.frames import Frame, frame_of
from mag.frames.categories import CategoryCodes
from mag.measures import assess
from mag.tables._compared import BeforeAfter, compare_cells
from mag.tables._sensitive import Promise

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from mag.report import RecodingFacts

    Table = TypeVar("Table", default=Any)
else:  # before Python 3.13 a type variable has no default
    from typing import TypeVar

    Table = TypeVar("Table")

WITHHELD = "withheld: it would undo the shuffle"


@dataclass(frozen=True)
class Guarantee:
    """The guarantee of a published table, counted on the table itself.

    Attributes
    ----------
    scope : {"joint", "per-column"}
        Whether whole records are alike, or the values of each column by itself.
    k : int or dict
        The requested smallest class size; by column where columns differ.
    columns, by, kept : tuple of column names
        Masked columns, stratum columns, and columns published unchanged.
    n_records, withheld : int
        Published records, and records that are not published.
    n_groups : int or dict
        The number of groups; by column where each has its own.
    smallest : int
        The smallest number of records that are alike in all of `by` and `columns`.
    smallest_by_column : dict
        With ``scope="per-column"``: the same for `by` and one column.
    generalized, replaced : tuple of column names
        Where categories or ranges are published: columns whose cells are true for every record, and columns whose cells
        are one value for each group, which need not be a record's own.
    sensitive : tuple of column names
        Columns that are published as they are, and that classes should not reveal.
    diversity, closeness : dict
        By column: what is promised of its values in every class, a `mag.tables.Promise`.
    levels : dict
        By `mag.generalize`: the level of its hierarchy that every column is published on, 0 for the values themselves.
    suppressed : int
        By `mag.generalize`: published records that show the most general label in every column.
    holds : bool
        Always True: a table that fails the count is never returned.
    """

    scope: str
    k: int | dict[Hashable, int]
    columns: tuple[Hashable, ...]
    by: tuple[Hashable, ...]
    kept: tuple[Hashable, ...]
    n_records: int
    withheld: int
    n_groups: int | dict[Hashable, int]
    smallest: int
    smallest_by_column: dict[Hashable, int] = field(default_factory=dict)
    generalized: tuple[Hashable, ...] = ()
    replaced: tuple[Hashable, ...] = ()
    sensitive: tuple[Hashable, ...] = ()
    diversity: dict[Hashable, Promise] = field(default_factory=dict)
    closeness: dict[Hashable, Promise] = field(default_factory=dict)
    levels: dict[Hashable, int] = field(default_factory=dict)
    suppressed: int = 0
    holds: bool = True

    def facts(self) -> dict[str, Any]:
        """For the manifest: all attributes, of those about categories and sensitive columns the ones with content."""
        optional = ("generalized", "replaced", "sensitive", "diversity", "closeness", "levels", "suppressed")
        facts = {name: fact for name, fact in vars(self).items() if name not in optional or fact}
        for option in ("diversity", "closeness"):
            if option in facts:
                facts[option] = {promise.name: promise.facts() for promise in facts[option].values()}
        return facts

    def __str__(self) -> str:
        names, strata = ", ".join(map(str, self.columns)), f" (with {', '.join(map(str, self.by))})" if self.by else ""
        if self.scope == "joint":
            others = "other" if self.k == 2 else "others"
            least = self.k if isinstance(self.k, int) else min(self.k.values())
            text = (
                f"Every record shares its values of {names}{strata} with at least {least - 1} {others}: k = {least}, "
                f"counted on the published table, smallest class {self.smallest} of {self.n_records} records."
            )
        else:
            if isinstance(self.k, dict):
                many = ", ".join(f"{name} by at least {k}" for name, k in self.k.items())
                text = f"Each published value{strata} is shared by a minimum number of records: {many}."
            else:
                text = f"Every published value of {names}{strata} is shared by at least {self.k} records."
            text += (
                " This is not joint k-anonymity: the smallest number of records alike in all of them is "
                f"{self.smallest}, of {self.n_records} records."
            )
        if self.diversity or self.closeness:
            text += f" {self.promises()}"
        if self.generalized:
            are = "is" if len(self.generalized) == 1 else "are"
            text += f" {', '.join(map(str, self.generalized))} {are} generalized: true for every record."
        if self.replaced:
            are = "is" if len(self.replaced) == 1 else "are"
            text += f" {', '.join(map(str, self.replaced))} {are} replaced by one value for each group."
        if self.levels:
            levels = ", ".join(f"{name} {level}" for name, level in self.levels.items())
            text += f" Each column is published on one level of its hierarchy: {levels}."
        if self.suppressed:
            records = "record shows" if self.suppressed == 1 else "records show"
            text += f" Suppressed: {self.suppressed} {records} the most general label in every column."
        if self.withheld:
            text += f" Withheld: {self.withheld} {'record' if self.withheld == 1 else 'records'}."
        if self.sensitive:
            text += f" Sensitive and kept as they are: {', '.join(map(str, self.sensitive))}."
        if self.kept:
            text += f" Kept unchanged and not covered: {', '.join(map(str, self.kept))}."
        return text

    def promises(self) -> str:
        """What holds for sensitive columns, as a sentence."""
        text = "; ".join(map(str, [*self.diversity.values(), *self.closeness.values()]))
        return f"{text[:1].upper()}{text[1:]}."


@dataclass(frozen=True)
class LatticeNode:
    """A combination of levels that `mag.generalize` looked at.

    Attributes
    ----------
    levels : dict
        The level of every column.
    loss : float
        What is lost, 0 to 1: the mean over records and columns of the share of the hierarchy's leaves that is below the
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
    labels : array of int, shape (n,) or, with scope="per-column", (n, m)
        The group of every record, of every column where each has its own.
    sizes : array of int, or dict of arrays by column
        The number of records in each group.
    n_groups : int or dict by column
    k : int or dict by column
    scope : {"joint", "per-column"}
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
        return {", ".join(map(str, self.columns)): self.sizes}

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
        axes.legend(frameon=False)


@dataclass(frozen=True)
class Provenance:
    """What a release was made of, with what and in which time: for the manifest, in the types of JSON."""

    options: dict[str, Any]
    table: dict[str, Any]
    versions: dict[str, str]
    seconds: dict[str, float]

    @classmethod
    def of(
        cls, options: dict[str, Any], frame: Frame, versions: dict[str, str], seconds: dict[str, float]
    ) -> "Provenance":
        """Of a release of this table."""
        dropped = frozenset(options["drop"])
        published = [name for name in frame.names if name not in dropped]
        table = {"records": frame.n, "columns": [*map(str, published)]}
        return cls(public_options(options, published), table, versions, seconds)


@dataclass(eq=False, repr=False)
class Release(Generic[Table]):
    """A published table with its guarantee, as returned by `mag.microaggregate` and `mag.generalize`.  Read-only.

    Pickles and copies hold what is published and nothing else: `numbers`, `risk`, `utility`, `plot` and `report`, which
    need the original, work on the release itself only.

    Attributes
    ----------
    data : frame or dict
        The published table, in the library of the original.
    guarantee : Guarantee
        What holds, counted on `data`.
    grouping : TableGrouping
        The groups.
    warnings : tuple of str
        What the publisher should check.
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
    _source: Frame | None = None
    _rows: np.ndarray | None = None
    _categories: dict[Hashable, CategoryCodes] = field(default_factory=dict)
    levels: dict[Hashable, int] | None = None
    proven: bool | None = None
    lattice: tuple[LatticeNode, ...] = ()
    _ncp: float | None = None
    _files: tuple[pathlib.Path, ...] = ()  # that were read, and are never replaced

    @property
    def withheld(self) -> int:
        """The number of records that are not published."""
        return self.guarantee.withheld

    def __getstate__(self) -> dict[str, Any]:
        names = ("data", "guarantee", "grouping", "warnings", "_provenance", "levels", "proven")
        return {name: getattr(self, name) for name in names}

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

    def numbers(self) -> tuple[dict[Hashable, np.ndarray], dict[Hashable, np.ndarray]]:
        """The masked columns of the published records as float64, before and after; row i is one record.

        Missing cells are NaN, times are seconds, decimals are floats.  Values before masking are read from the original
        table, which is not copied.
        """
        return self._numbers

    @cached_property
    def _numbers(self) -> tuple[dict[Hashable, np.ndarray], dict[Hashable, np.ndarray]]:
        if self._source is None:
            raise InputRuntimeError(
                "numbers, risk, utility, plot and report compare with the original table, which pickles and copies of "
                "a release do not hold; use the release that mag.microaggregate returned."
            )
        source, published = self._source, frame_of(self.data)
        rows = slice(None) if self._rows is None else self._rows
        names = self._number_columns
        before = {name: source.column(name).units().floats()[rows] for name in names}
        return before, {name: published.column(name).units().floats() for name in names}

    @property
    def _number_columns(self) -> list[Hashable]:
        """Masked columns that are published as numbers."""
        others = {*self._categories, *self.guarantee.generalized}
        return [name for name in self.guarantee.columns if name not in others]

    @cached_property
    def _kinds(self) -> dict[Hashable, str]:
        published, source = frame_of(self.data), self._source
        kinds = {name: published.column(name).units().kind for name in self._number_columns}
        assert source is not None
        return kinds | {name: source.column(name).units().kind for name in self._compared.ranges}

    @cached_property
    def _compared(self) -> BeforeAfter:
        """The masked columns of the published records before and after, for risk and utility."""
        before, after = self.numbers()
        if list(before) == list(self.guarantee.columns):
            return BeforeAfter(np.column_stack(list(before.values())), np.column_stack(list(after.values())))
        assert self._source is not None
        rows = slice(None) if self._rows is None else self._rows
        return compare_cells(
            self._source, rows, frame_of(self.data), self.guarantee.columns, self._categories, (before, after)
        )

    def withheld_rows(self) -> np.ndarray:
        """The row numbers, in the original table, of the records that are not published; pickles do not hold them."""
        if self._source is None:
            raise InputRuntimeError(
                "withheld_rows needs the release that mag.microaggregate returned, not a pickle or copy."
            )
        published = np.arange(self._source.n) if self._rows is None else self._rows
        return np.setdiff1d(np.arange(self._source.n), published)

    def count_with_kept(self) -> tuple[int, int] | None:
        """The smallest class in all published columns, and the records in classes of fewer than k.

        None where no column is kept, or one cannot be compared exactly.
        """
        return self._with_kept

    @cached_property
    def _with_kept(self) -> tuple[int, int] | None:
        if not self.guarantee.kept:
            return None
        k = self.guarantee.k if isinstance(self.guarantee.k, int) else min(self.guarantee.k.values())
        names = [name for name in frame_of(self.data).names if name not in self.guarantee.sensitive]
        try:
            sizes = verify.sizes_of_classes(self.data, names)
        except InputTypeError:
            return None
        return int(sizes.min()), int(sizes[sizes < k].sum())

    def risk(self) -> dict[str, Any]:
        """Disclosure risk of the masked columns: `measures/assess.risk`, with the hierarchies that were used."""
        compared = self._compared
        return compared.with_notes(assess.risk(compared.original, compared.masked, **compared.options))

    def utility(self, propensity: bool = True) -> dict[str, Any]:
        """Information loss of the masked columns: `measures/assess.utility`, with names and the hierarchies used.

        ``ncp`` is that of the groups, as `ncp` gives it.
        """
        compared = self._compared
        measures = assess.utility(compared.original, compared.masked, propensity, **compared.options)
        for key in ("information_loss_by_column", "share_change_by_column"):
            if isinstance(figures := measures.get(key), list):
                measures[key] = dict(zip(self._number_columns, figures, strict=True))
        if "ncp" in measures:
            measures["ncp"] = self.ncp()
        return compared.with_notes(measures)

    def ncp(self, leaves: Literal["all", "used"] = "all") -> float:
        """The normalized certainty penalty of the groups, 0 to 1: the mean over columns and records of what is lost.

        Numbers lose the range of their group by the range of all, categories the share of their hierarchy's leaves that
        is below the group's closest common ancestor; without a hierarchy, ranks are numbers, and groups of different
        values lose 1.  Missing cells lose nothing.

        By `mag.generalize` it is what the published labels lose; suppressed records, withheld or not, lose 1.

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
        if self._source is None or self.guarantee.scope != "joint":
            raise InputRuntimeError("ncp can only be asked of a joint release that mag.microaggregate returned.")
        rows = slice(None) if self._rows is None else self._rows
        labels, losses = self.grouping.labels, []
        for name in self.guarantee.columns:
            if name in self._categories:
                losses.append(self._categories[name].penalty(labels, used))
                continue
            numbers = self._source.column(name).units().floats()[rows]
            there = ~np.isnan(numbers)
            own = metrics.ncp(numbers[there], labels[there]) if there.any() else 0.0
            losses.append(own / labels.size)
        return float(np.mean(losses))

    def plot(self, columns: Iterable[Hashable] | None = None) -> list[Any]:
        """Draw the distributions of masked columns before and after; needs matplotlib, extra ``plot``.

        As in the report, bars of fewer than k original values are joined with their neighbors, and the axes show the
        range of the published values.

        Parameters
        ----------
        columns : list of column names, optional
            Of the masked columns; all by default.

        Returns
        -------
        list of matplotlib.axes.Axes
            One for each column.
        """
        from mag.report import draw_distribution, draw_levels

        before, after = self.numbers()
        pairs = {name: (before[name], after[name]) for name in before} | dict(self._compared.ranges)
        levels = self._compared.categories(self.guarantee.generalized, self.levels)
        names = [name for name in self.guarantee.columns if name in pairs or name in levels]
        names = names if columns is None else list(columns)
        for name in names:
            if name not in pairs and name not in levels:
                raise InputValueError(f"columns must be among the masked ones; got {name!r}.")
        if not names:
            raise InputRuntimeError("plot needs a masked column that is published as numbers; got none.")
        k = self.guarantee.k
        every = new_axes(len(names))
        for axes, name in zip(every, names, strict=True):
            least = k[name] if isinstance(k, dict) else k
            if name in levels:
                draw_levels(axes, str(name), levels[name], least)
            else:
                draw_distribution(axes, str(name), *pairs[name], least)
        return every

    def report(self, path: str | os.PathLike[str], title: str | None = None, overwrite: bool = False) -> pathlib.Path:
        """Write a report on the release, one self-contained HTML file, and return its path.

        Parameters
        ----------
        path : path
            A file in a folder that exists.
        title : str, optional
            The heading of the page.
        overwrite : bool
            Replace a file that exists; never one that was read for the release.

        Returns
        -------
        pathlib.Path
            The page.
        """
        from mag.report import ReportFacts, write

        check_target(path, self._files, overwrite)
        before, after = self.numbers()
        compared = self._compared
        facts = ReportFacts(
            title=title or ("Microaggregation report" if self.levels is None else "Generalization report"),
            guarantee=str(self.guarantee),
            scope=self.guarantee.scope,
            k=self.guarantee.k,
            smallest=self.guarantee.smallest,
            original=before,
            masked=after,
            labels=self.grouping.labels,
            kinds={name: "datetime" for name, kind in self._kinds.items() if kind == "datetime"},
            categories=compared.categories(self.guarantee.generalized, self.levels),
            ranges=compared.ranges,
            utility=self.utility(),
            risk=self.risk(),
            by=self.guarantee.by,
            untouched=self.guarantee.kept,
            with_kept=self.count_with_kept(),
            withheld=self.withheld,
            promises=[str(one) for one in (*self.guarantee.diversity.values(), *self.guarantee.closeness.values())],
            warnings=self.warnings,
            manifest=self.manifest(),
            recoding=self._recoding,
        )
        return write(path, facts, overwrite)

    @property
    def _recoding(self) -> "RecodingFacts | None":
        """What the report says of levels."""
        from mag.report import Level, RecodingFacts

        if self.levels is None:
            return None
        levels = {}
        for name, level in self.levels.items():
            tree = self._categories[name].tree
            assert tree is not None
            labels = {cell for cell in frame_of(self.data).column(name).cells() if not is_missing(cell)}
            levels[name] = Level(level, tree.levels.shape[1] - 1, len(labels))
        return RecodingFacts(levels, self.lattice[0].loss, bool(self.proven))

    def manifest(self) -> dict[str, Any]:
        """Versions, options, shape, hashes and the guarantee, in the types of JSON."""
        published = frame_of(self.data)
        guarantee = {name: to_json_types(value) for name, value in self.guarantee.facts().items()}
        return {
            "mag": __version__,
            "versions": dict(self._provenance.versions),
            "options": dict(self._provenance.options),
            "table": dict(self._provenance.table),
            "published": {
                "records": published.n,
                "sha256": {str(name): digest(published, name) for name in published.names},
            },
            "guarantee": guarantee | {"text": str(self.guarantee)},
            "untouched": [str(name) for name in self.guarantee.kept],
            "method": self.grouping.method,
            "complete": self.grouping.complete,
            "warnings": list(self.warnings),
            "seconds": self._provenance.seconds,
        }


def digest(frame: Frame, name: Hashable) -> str:
    """SHA-256 of a column, whatever its library: numbers and times in 64 bits, little-endian, other cells as JSON."""
    column = frame.column(name)
    try:
        units = column.units()
    except TypeError:
        units = None
    if units is None or units.values.dtype == object:
        return hashlib.sha256(json.dumps(column.cells(), default=repr).encode()).hexdigest()
    hashed = hashlib.sha256(units.values.astype(units.values.dtype.newbyteorder("<"), copy=False).tobytes())
    if units.missing is not None:
        hashed.update(np.packbits(units.missing).tobytes())
    return hashed.hexdigest()


def public_options(options: dict[str, Any], published: Iterable[Hashable]) -> dict[str, Any]:
    """Options in the types of JSON: how many columns are dropped, and no name of a column that is not published."""
    public = options | {"drop": len(options["drop"])}
    if options.get("weights") is not None and str(options["weights"]) not in map(str, published):
        public["weights"] = "not published"
    return to_json_types(public)


def name_of(option: Any) -> Any:
    """What an option is called in a manifest: by its name where it is an object."""
    if option is None or isinstance(option, (str, int)):
        return option
    return getattr(option, "name", type(option).__name__)


@cache  # reading them took a third of the time of a small table
def installed_versions() -> dict[str, str]:
    """Of the libraries that results may depend on."""
    versions = {}
    for name in ("narwhals", "numba", "numpy", "pandas", "polars", "pyarrow"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
