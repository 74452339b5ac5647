"""What `mag.microaggregate` returns: the published table, and what is known of it."""

import hashlib
import json
import os
import pathlib
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mag import __version__, assess
from mag._lib.errors import RuntimeMistake
from mag._lib.lazy import cached_property
from mag.frames import Frame, frame_of

WITHHELD = "withheld: it would undo the shuffle"


@dataclass(frozen=True)
class Guarantee:
    """What holds for the published table, counted on it.

    Attributes
    ----------
    scope : {"joint", "per-column"}
        Whether whole records are alike, or the values of each column by itself.
    k : int or dict
        The smallest number of records that are alike, as asked for; by column where columns differ.
    columns, by, kept : tuple of column names
        Masked columns, columns that groups do not cross, and columns that are published as they are.
    n_records, withheld : int
        Records that are published, and that are not.
    n_groups : int or dict
        The number of groups; by column where each has its own.
    smallest : int
        The smallest number of records that are alike in all of `by` and `columns`.
    smallest_by_column : dict
        With ``scope="per-column"``: the same for `by` and one column.
    holds : bool
        Always True: a table of which it is not is never returned.
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
    holds: bool = True

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
                many = ", ".join(f"{name} at least {k}" for name, k in self.k.items())
                text = f"Every value stands for so many records of its column{strata}: {many}."
            else:
                text = f"Every value of {names}{strata} stands for at least {self.k} records of its column."
            text += (
                " This is not joint k-anonymity: the smallest number of records alike in all of them is "
                f"{self.smallest}, of {self.n_records} records."
            )
        if self.withheld:
            text += f" Withheld: {self.withheld} {'record' if self.withheld == 1 else 'records'}."
        if self.kept:
            text += f" Kept as they are and not covered: {', '.join(map(str, self.kept))}."
        return text


@dataclass(frozen=True)
class TableGrouping:
    """The groups of a table; rows are those of the published table.

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
        What found the groups; "univariate" is the optimum of one column.
    complete : bool
        False where `time_limit` ended the search.
    """

    labels: np.ndarray
    sizes: Any
    n_groups: Any
    k: Any
    scope: str
    columns: tuple[Hashable, ...]
    by: tuple[Hashable, ...]
    method: str
    complete: bool

    def __repr__(self) -> str:
        groups = self.n_groups if isinstance(self.n_groups, int) else "/".join(map(str, self.n_groups.values()))
        return f"<TableGrouping: {len(self.labels)} records in {groups} groups, {self.scope}, {self.method}>"


class Release:
    """A published table with its guarantee, as returned by `mag.microaggregate`.  Read-only.

    Pickles and copies hold what is published and nothing else: `numbers`, `risk`, `utility` and `report`, which look at
    the original, can only be asked of the release itself.

    Attributes
    ----------
    data : frame or dict
        The published table, in the library of the original.
    guarantee : Guarantee
        What holds, counted on `data`.
    grouping : TableGrouping
        The groups.
    warnings : tuple of str
        What its publisher should look at.
    withheld : int
        The number of records that are not published.
    """

    data: Any
    guarantee: Guarantee
    grouping: TableGrouping
    warnings: tuple[str, ...]
    withheld: int
    _source: Frame | None = None
    _rows: np.ndarray | None
    _facts: dict[str, Any]

    def __init__(
        self,
        data: Any,
        guarantee: Guarantee,
        grouping: TableGrouping,
        warnings: tuple[str, ...],
        *,
        source: Frame,
        rows: np.ndarray | None,
        facts: dict[str, Any],
    ) -> None:
        public = {"data": data, "guarantee": guarantee, "grouping": grouping, "warnings": warnings}
        facts = facts | {
            "options": _plain(facts["options"]),
            "table": {"records": source.n, "columns": [*map(str, source.names)]},
        }
        vars(self).update(public, withheld=guarantee.withheld, _source=source, _rows=rows, _facts=facts)

    def __getstate__(self) -> dict[str, Any]:
        held = {name: getattr(self, name) for name in ("data", "guarantee", "grouping", "warnings", "withheld")}
        options, shown = dict(self._facts["options"]), [str(name) for name in frame_of(self.data).names]
        options["drop"] = f"withheld: {len(options['drop'])} columns"
        if options["weights"] is not None and options["weights"] not in shown:
            options["weights"] = "withheld"
        table = {"records": self._facts["table"]["records"], "columns": shown}
        return held | {"_facts": self._facts | {"options": options, "table": table}}

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Release cannot be changed: {name} is read-only.")

    def __repr__(self) -> str:
        lines = [str(self.guarantee), *(f"Note: {warning}" for warning in self.warnings)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        import html

        inner = getattr(self.data, "_repr_html_", None)
        shown = inner() if inner else f"<pre>{html.escape(repr(self.data))}</pre>"
        notes = "".join(f"<p>Note: {html.escape(warning)}</p>" for warning in self.warnings)
        return f"<p><b>{html.escape(str(self.guarantee))}</b></p>{notes}{shown}"

    def numbers(self) -> tuple[dict[Hashable, np.ndarray], dict[Hashable, np.ndarray]]:
        """The masked columns of the published records as float64, before and after; row i is one record.

        Missing cells are NaN, times are seconds, decimals are floats.  The values before are read from the table that
        was given, which is not copied.
        """
        return self._numbers

    @cached_property
    def _numbers(self) -> tuple[dict[Hashable, np.ndarray], dict[Hashable, np.ndarray]]:
        if self._source is None:
            raise RuntimeMistake(
                "numbers, risk, utility and report compare with the original table, which pickles and copies of a "
                "release do not hold; ask the release that mag.microaggregate returned."
            )
        source, published = self._source, frame_of(self.data)
        rows = slice(None) if self._rows is None else self._rows
        before = {name: source.column(name).units().floats()[rows] for name in self.guarantee.columns}
        return before, {name: published.column(name).units().floats() for name in self.guarantee.columns}

    @cached_property
    def _kinds(self) -> dict[Hashable, str]:
        published = frame_of(self.data)
        return {name: published.column(name).units().kind for name in self.guarantee.columns}

    def _tables(self) -> tuple[np.ndarray, np.ndarray]:
        before, after = self.numbers()
        return np.column_stack(list(before.values())), np.column_stack(list(after.values()))

    def risk(self) -> dict[str, float]:
        """Disclosure risk of the masked columns: `mag.assess.risk`."""
        return assess.risk(*self._tables())

    def utility(self) -> dict[str, Any]:
        """What the masked columns have lost: `mag.assess.utility`, with names."""
        found = assess.utility(*self._tables())
        if "information_loss_by_column" in found:
            named = zip(self.guarantee.columns, found["information_loss_by_column"], strict=True)
            found["information_loss_by_column"] = dict(named)
        return found

    def report(self, path: str | os.PathLike[str], title: str | None = None) -> pathlib.Path:
        """Write a page about the release, one HTML file that needs nothing else, and say where it is."""
        from mag.report import Facts, write

        before, after = self.numbers()
        utility = {name: value for name, value in self.utility().items() if not isinstance(value, dict)}
        facts = Facts(
            title=title or "Microaggregation report",
            guarantee=str(self.guarantee),
            scope=self.guarantee.scope,
            k=self.guarantee.k,
            smallest=self.guarantee.smallest,
            original=before,
            masked=after,
            labels=self.grouping.labels,
            kinds={name: "datetime" for name, kind in self._kinds.items() if kind == "datetime"},
            utility=utility,
            risk=self.risk(),
            by=self.guarantee.by,
            untouched=self.guarantee.kept,
            withheld=self.withheld,
            warnings=self.warnings,
            manifest=self.manifest(),
        )
        return write(path, facts)

    def manifest(self) -> dict[str, Any]:
        """What was done, for the record: versions, options, shape, hashes, the guarantee; ready for JSON."""
        published = frame_of(self.data)
        guarantee = {name: _plain(value) for name, value in vars(self.guarantee).items()}
        return {
            "mag": __version__,
            "versions": self._facts["versions"],
            "options": dict(self._facts["options"]),
            "table": dict(self._facts["table"]),
            "published": {
                "records": published.n,
                "sha256": {str(name): digest(published, name) for name in published.names},
            },
            "guarantee": guarantee | {"text": str(self.guarantee)},
            "untouched": [str(name) for name in self.guarantee.kept],
            "method": self.grouping.method,
            "complete": self.grouping.complete,
            "warnings": list(self.warnings),
            "seconds": self._facts["seconds"],
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


def _plain(value: Any) -> Any:
    """In the types of JSON."""
    if isinstance(value, dict):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return value.item() if isinstance(value, np.generic) else repr(type(value).__name__)
