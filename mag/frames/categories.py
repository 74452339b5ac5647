"""Categories in and out: codes of distinct values, and short lists of labels as a column of the caller's library."""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._lib.errors import InputValueError
from mag._lib.fresh import fresh_column
from mag._lib.missing import is_missing
from mag._lib.wording import named
from mag.frames.arrays import ArrayColumn
from mag.frames.base import Column, SeriesColumn
from mag.frames.units import none_if_all_false
from mag.hierarchy import Hierarchy, embed, ranks_of


@dataclass(frozen=True)
class CategoryCodes:
    """A column of categories.

    `values` : the code of every record, 0 where it is missing; `first` : a row of the original that holds the value of
    each code; `labels` : these values; `ordered` : whether codes are ranks; `leaves` : the leaf of each code in `tree`.
    """

    values: np.ndarray
    missing: np.ndarray | None
    first: np.ndarray
    labels: list[Any]
    ordered: bool
    tree: Hierarchy | None
    leaves: np.ndarray | None

    is_integer = True  # nothing to round

    def select(self, rows: np.ndarray) -> "CategoryCodes":
        """The same of some records; codes stay."""
        missing = None if self.missing is None else none_if_all_false(self.missing[rows])
        return CategoryCodes(self.values[rows], missing, self.first, self.labels, self.ordered, self.tree, self.leaves)

    @property
    def outside(self) -> np.ndarray:
        """Which codes have no leaf of their own."""
        none = np.zeros(len(self.labels), bool)
        if self.tree is None or self.leaves is None or self.tree.other < 0:
            return none
        return self.leaves == self.tree.other

    def cells(self) -> np.ndarray:
        """The values, None where they are missing."""
        values = np.empty(len(self.labels) + 1, object)
        values[:-1] = self.labels
        return values[self.values if self.missing is None else np.where(self.missing, -1, self.values)]

    def penalty(self, labels: np.ndarray, used: bool = False) -> float:
        """The mean loss of the records in groups of these numbers: that of the group's closest common ancestor.

        Without a tree it is the share of all ranks that the group spans, or 1 where its categories differ; 0 where a
        cell is missing.  `used`: of the tree's leaves only those that occur count.
        """
        there = np.ones(labels.size, bool) if self.missing is None else ~self.missing
        groups, sizes = np.unique(labels[there], return_inverse=True, return_counts=True)[1:]
        codes = self.values[there]
        if self.tree is not None and self.leaves is not None:
            leaves = self.leaves[codes]
            losses = (self.tree.used_loss(leaves) if used else self.tree.published_loss)[
                self.tree.common_ancestors(leaves, groups)
            ]
        else:
            low, high = np.full(sizes.size, len(self.labels)), np.zeros(sizes.size, np.int64)
            np.minimum.at(low, groups, codes)
            np.maximum.at(high, groups, codes)
            losses = (high - low) / max(len(self.labels) - 1, 1) if self.ordered else (high > low).astype(np.float64)
        return float(sizes @ losses / labels.size)

    @property
    def is_line(self) -> bool:
        """Whether categories are ranks, and nothing more."""
        return self.ordered and self.tree is None

    def levels(self) -> tuple[np.ndarray, np.ndarray]:
        """The node of every code on every level, from itself to the root, and the loss of every node.

        Without a tree all codes are below one root, whose loss is 1.
        """
        if self.tree is None or self.leaves is None:
            m = len(self.labels)
            return np.stack([np.arange(m), np.full(m, m)], axis=1), np.append(np.zeros(m), 1.0)
        return self.tree.levels[self.leaves], self.tree.loss

    def embedding(self) -> np.ndarray:
        """Coordinates of every code: squared distances are the loss of the closest common ancestor.

        Without a tree they are 1 where codes differ, or those of ranks from 0 to 1.
        """
        m = len(self.labels)
        return np.arange(m)[:, None] / max(m - 1, 1) if self.is_line else embed(*self.levels())


def is_category(column: Column) -> bool:
    """Whether a column holds text, categories or booleans."""
    if isinstance(column, ArrayColumn):
        kind = column.array.dtype.kind
        return kind in "UTb" or (kind == "O" and any(isinstance(cell, (str, bool)) for cell in column.cells()))
    holds = column.kind if isinstance(column, SeriesColumn) else ""
    if holds == "object":
        return any(isinstance(cell, (str, bool)) for cell in column.cells())
    return holds in ("strings", "categories", "booleans")


def describe_category(column: Column) -> str:
    """The cells of a column that are not numbers, and how to convert them; no cell is quoted."""
    cells = [cell for cell in column.cells() if not is_missing(cell)]
    if all(isinstance(cell, (bool, np.bool_)) for cell in cells):
        return "booleans: convert them to 0 and 1"
    texts = [cell for cell in cells if isinstance(cell, str)]
    if len(texts) < len(cells):
        return f"{len(texts)} cells of text and {len(cells) - len(texts)} others: convert them to one type"
    if texts and all(map(_is_number, texts)):
        return "numbers as text: convert them, such as by pandas.to_numeric"
    return "text: list it in by=, keep= or drop="


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def order_of(column: Column) -> list[Any] | None:
    """All categories of an ordered dtype, in order."""
    dtype: Any = getattr(column, "dtype", None)
    if getattr(dtype, "ordered", False) and hasattr(dtype, "categories"):  # pandas
        return list(dtype.categories)
    polars, pyarrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if polars is not None and isinstance(dtype, polars.Enum):
        return dtype.categories.to_list()
    arrow = getattr(dtype, "pyarrow_dtype", dtype)
    if pyarrow is not None and isinstance(arrow, pyarrow.DictionaryType) and arrow.ordered:
        native: Any = column.native if isinstance(column, SeriesColumn) else None
        if not isinstance(native, pyarrow.ChunkedArray):
            native = pyarrow.chunked_array(native.array.__arrow_array__())
        chunks = native.unify_dictionaries().chunks
        return chunks[0].dictionary.to_pylist() if chunks else []
    return None


def categories_of(
    column: Column,
    name: Any,
    tree: Any = None,
    order: list[Any] | None = None,
    remedy: str | None = None,
) -> CategoryCodes:
    """The categories of a column; `tree` may be a function of its distinct values.

    `remedy` is the advice for values without a leaf.
    """
    remedy = remedy or f"{named('other', 'root')} or its method with_other publishes them as its root"
    codes, cells = column.codes(), column.cells()
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    labels = [cells[row] for row in first.tolist()]
    absent = np.fromiter(map(is_missing, labels), bool, len(labels))
    missing = none_if_all_false(absent[codes])
    there = np.flatnonzero(~absent)
    order = order_of(column) if order is None else order
    if order is None:
        there = there[np.array(sorted(range(there.size), key=lambda i: _rank(labels[there[i]])), np.int64)]
    else:
        ranks = ranks_of(f"order[{name!r}]", order, [labels[place] for place in there.tolist()])
        if unknown := there[ranks < 0].tolist():
            records = int(np.isin(codes, unknown).sum())
            raise InputValueError(
                f"order[{name!r}] must hold every value of the column; {len(unknown)} values of {records} records are "
                "not in it."
            )
        there = there[np.argsort(ranks, kind="stable")]
    number = np.zeros(len(labels), np.int64)
    number[there] = np.arange(there.size)
    values, kept = number[codes], [labels[place] for place in there.tolist()]
    if callable(tree) and not isinstance(tree, Hierarchy):
        tree = tree(kept)
    leaves = None if tree is None else _leaves(name, tree, kept, values, missing, remedy)
    return CategoryCodes(values, missing, first[there], kept, order is not None, tree, leaves)


def _rank(label: Any) -> tuple[str, Any]:
    return type(label).__name__, label if isinstance(label, (str, int, float)) else str(label)


def _leaves(
    name: Any, tree: Hierarchy, labels: list[Any], values: np.ndarray, missing: np.ndarray | None, remedy: str
) -> np.ndarray:
    leaves = tree.find(labels)
    if (leaves < 0).any():
        outside = (leaves < 0)[values] if missing is None else (leaves < 0)[values] & ~missing
        raise InputValueError(
            f"hierarchies[{name!r}] has no leaf for {int((leaves < 0).sum())} values of {int(outside.sum())} records; "
            f"its method check lists them, and {remedy}."
        )
    return leaves


def publish_text(column: Column, texts: list[str], labels: np.ndarray, missing: np.ndarray | None) -> Any:
    """Every record's of these few texts: text, or categories where the column has them."""
    if isinstance(column, ArrayColumn):
        kind = column.array.dtype.kind
        dtype = column.array.dtype if kind == "T" else object if kind == "O" or missing is not None else None
        return fresh_column(np.array(texts, dtype), labels, missing)
    dtype = getattr(column, "dtype", None)
    pandas, polars, pyarrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if polars is not None and isinstance(dtype, polars.DataType):
        short = polars.Series(texts, dtype=polars.String)
        if isinstance(dtype, polars.Enum):
            short = short.cast(polars.Enum(sorted(set(texts))))
        elif isinstance(dtype, polars.Categorical):
            short = short.cast(dtype)
        return fresh_column(short, labels, missing)
    arrow = getattr(dtype, "pyarrow_dtype", dtype)
    if pyarrow is not None and isinstance(arrow, pyarrow.DataType):
        cells = pyarrow.array(texts, _text_type(pyarrow, arrow))
        if pyarrow.types.is_dictionary(arrow):
            cells = cells.dictionary_encode().cast(pyarrow.dictionary(arrow.index_type, cells.type))
        if arrow is dtype:
            return fresh_column(pyarrow.chunked_array([cells]), labels, missing)
        return fresh_column(pandas.arrays.ArrowExtensionArray(cells), labels, missing)  # type: ignore[union-attr]
    if isinstance(dtype, pandas.CategoricalDtype):  # type: ignore[union-attr]
        return fresh_column(pandas.Categorical(texts), labels, missing)  # type: ignore[union-attr]
    is_text = isinstance(dtype, pandas.StringDtype) or str(dtype) == "object"  # type: ignore[union-attr]
    series = pandas.Series(texts, dtype=dtype if is_text else None)  # type: ignore[union-attr]
    short = series.to_numpy() if isinstance(series.dtype, np.dtype) else series.array
    return fresh_column(short, labels, missing)


def _text_type(pyarrow: Any, dtype: Any) -> Any:
    kind = dtype.value_type if pyarrow.types.is_dictionary(dtype) else dtype
    is_text = pyarrow.types.is_large_string(kind) or pyarrow.types.is_string_view(kind)
    return kind if is_text else pyarrow.string()
