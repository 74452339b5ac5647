"""What `mag.assess` returns."""

import math
import os
import pathlib
from dataclasses import dataclass
from typing import Any

from mag._lib.errors import InputRuntimeError
from mag._lib.pictures import Drawable, facts_table
from mag._lib.terminal import printable
from mag.report import AssessmentFacts, SubsetRisk, describe_assessment, draw_exposure, percent, write_assessment
from mag.tables._risks import ColumnRisk

MAX_SHOWN_COLUMNS = 12  # columns in the text
MAX_SHOWN_CHARACTERS = 24  # characters of a column's name in the text
COLUMN_HEADINGS = ("column", "values", "missing", "unique alone", "unique without", "SUDA share")


@dataclass(frozen=True, repr=False)
class Assessment(Drawable):
    """The risk of a table before masking, as returned by `mag.assess`; prints as a table.

    The frames are of the library of the table (dictionaries of arrays for a dictionary), in the order of its records
    where they have a row a record; of a lazy frame `records`, `classes` and `levels` are None.  They hold record
    numbers, from 0 on, and no cells, except for `levels`.  `plot` draws, for every column, the share of the unique
    records that would not be unique without it, and its share of the SUDA points.

    Attributes
    ----------
    records : frame
        One row a record: ``class``, its number in `classes`; ``fk`` and ``Fk``, the sample and population frequencies;
        ``risk``, the individual risk; ``household_risk``, with a household; ``suda`` and ``dis_suda``, the scores; and
        for every quasi-identifier ``…_contribution``, the share of the score from minimal uniques with the column.
    classes : frame
        One row a class of equal records, the smallest first: ``records``, ``fk``, ``Fk``, ``risk``, ``…_distinct``, the
        number of values of each sensitive column, and ``first_record``, a record of the class.
    subsets : frame
        One row a subset of the quasi-identifiers, small subsets first: ``subset``, ``size``, ``classes``, the
        ``smallest`` class, records in classes of 1 (``uniques``), ``below_3`` and ``below_5``, and ``minimal_uniques``,
        the records that are unique on this subset and on no part of it.
    columns : frame
        One row a quasi-identifier: ``column``, ``values``, ``missing``, ``unique_alone``, ``unique_without`` and
        ``suda_share``; the largest share first.
    levels : frame
        One row a value of a quasi-identifier: ``column``, ``level`` as text, None where fewer than 10 records (or
        units) have it, ``records``, ``suda_share`` within the column, and ``first_record``.
    summary : dict
        The figures of the whole table.
    """

    records: Any
    classes: Any
    subsets: Any
    columns: Any
    levels: Any
    summary: dict[str, Any]
    column_risks: tuple[ColumnRisk, ...]
    worst_subsets: tuple[SubsetRisk, ...]

    def __repr__(self) -> str:
        facts = [(line.label, line.number, line.share) for line in describe_assessment(self.summary)]
        rows = [[_name(row.column), *_cells(row)] for row in self.column_risks[:MAX_SHOWN_COLUMNS]]
        lines = [self._title(), "", *_aligned(facts), "", *_aligned([COLUMN_HEADINGS, *rows])]
        if len(self.column_risks) > MAX_SHOWN_COLUMNS:
            lines.append(f"… and {len(self.column_risks) - MAX_SHOWN_COLUMNS} more columns")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        facts = {line.label: f"{line.number} {line.share}" for line in describe_assessment(self.summary)}
        return facts_table(self._title(), facts)

    def _title(self) -> str:
        kinds = [(self.summary["records"], "record"), (self.summary.get("units"), "unit")]
        kinds.append((len(self.column_risks), "quasi-identifier"))
        counts = [f"{count} {kind}" + ("" if count == 1 else "s") for count, kind in kinds if count is not None]
        return f"{', '.join(counts)}, subsets of up to {self.summary['max_size']}"

    def _facts(self, title: str | None = None) -> AssessmentFacts:
        if self.records is None:
            raise InputRuntimeError(
                "plot and report need scores of records, which are not computed for a lazy frame; collect it."
            )
        return AssessmentFacts(
            title=title or "Risk before masking",
            summary=self.summary,
            columns=self.column_risks,
            subsets=self.worst_subsets,
        )

    def _draw(self, axes: Any) -> None:
        draw_exposure(axes, self._facts())

    def report(self, path: str | os.PathLike[str], title: str | None = None, overwrite: bool = False) -> pathlib.Path:
        """Write a report on the risk, one self-contained HTML file, and return its path.

        It holds figures and names of columns, and no cell of the table.

        Parameters
        ----------
        path : path
            A file in a folder that exists.
        title : str, optional
            The heading of the page.
        overwrite : bool
            Replace a file that exists.

        Returns
        -------
        pathlib.Path
            The page.
        """
        return write_assessment(path, self._facts(title), overwrite)


def _name(column: Any) -> str:
    text = printable(column)
    return text if len(text) <= MAX_SHOWN_CHARACTERS else text[: MAX_SHOWN_CHARACTERS - 1] + "…"


def _cells(row: ColumnRisk) -> list[str]:
    share = "–" if math.isnan(row.suda_share) else percent(row.suda_share)  # of a lazy frame
    return [str(row.values), str(row.missing), str(row.unique_alone), str(row.unique_without), share]


def _aligned(rows: list[Any]) -> list[str]:
    """Rows of text, the first column to the left and all others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return lines
