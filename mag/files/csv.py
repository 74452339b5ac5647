"""Comma-separated text.  Only the columns that are grouped become numbers; all others stay the text that they are."""

import codecs
import collections
import inspect
import io
import pathlib
from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mag._lib.errors import InputValueError
from mag._lib.roles import list_names
from mag.files._blocks import BOM, HEAD_BYTES, blocks, find_long_line, has_bom, header, line_end, mapped
from mag.files._cells import MISSING_WORDS, NUMBER_KINDS, STAMPS, bare, failures, guess, parsed, straight, strange_cells
from mag.files._counts import Histogram, Sets, add_blocks, count_texts
from mag.files._exact import EVERYTHING, Limit, check_cells, check_stored
from mag.files._format import Format, Meta, columns_of
from mag.files._layout import Layout
from mag.files._understood import Strange, understand

if TYPE_CHECKING:
    import polars as pl


IS_DELIMITER_RIGHT = "is the delimiter right?"


class Csv(Format):
    """Read in blocks; written as it was read: line ends, the mark at the beginning, quotes where they are needed."""

    text = True
    holds = MappingProxyType(
        {kind: () for kind in EVERYTHING if kind not in ("durations", "bytes", "nested cells")}  # but as text
    )
    broken = f"is not a table: a line has more cells than the first, or a quote is not closed; {IS_DELIMITER_RIGHT}"

    def __init__(self, *endings: str, delimiter: str) -> None:
        super().__init__(*endings)
        self.delimiter = delimiter

    def explain_broken(self, path: pathlib.Path, layout: Layout) -> str:
        separator = layout.separator(self.delimiter)
        long = find_long_line(path, layout, separator)
        if long is None:
            return self.broken
        line, cells = long
        known = len(self.names(path, layout))
        return f"is not a table: line {line} has {cells} cells, the first {known}; {IS_DELIMITER_RIGHT}"

    def names(self, path: pathlib.Path, layout: Layout) -> list[str]:
        return header(path, layout, layout.separator(self.delimiter))

    def numeric(self, path: pathlib.Path, layout: Layout) -> list[str]:
        every = self.names(path, layout)
        bad = self._failures(path, every, layout)
        return [name for name in every if not all(bad[name].get(kind, True) for kind in NUMBER_KINDS)]

    def read(
        self, path: pathlib.Path, numbers: Sequence[str], others: Sequence[str], layout: Layout
    ) -> "tuple[pl.DataFrame, Meta]":
        """`numbers` as integers, floats or dates, missing ones as null; the `others` as text, nothing as null."""
        import polars as pl
        import polars.selectors as cs

        both = {*numbers, *others}
        columns = [name for name in self.names(path, layout) if name in both]
        head = next(self._blocks(path, numbers, {}, layout, size=HEAD_BYTES))
        kinds = {name: guess(head[name], layout) for name in numbers}
        try:
            frame = None if layout.has_codes else self._straight(path, columns, kinds, layout)
        except pl.exceptions.PolarsError:  # a cell further down that is different, or a broken file
            frame = None
        if frame is None:
            kinds = self._kinds(path, numbers, layout)
            convert = [parsed(bare(cs.by_name(name), layout, name), kind) for name, kind in kinds.items()]
            texts = self._texts(path, columns, layout)
            frame = pl.concat([text.with_columns(convert) for text in texts], rechunk=True)
        floats = [name for name in numbers if frame[name].dtype.is_float() and frame[name].alias("").is_nan().any()]
        frame = frame.with_columns(cs.by_name(floats).fill_nan(None))
        stamps = {name: kind for name, kind in kinds.items() if kind in STAMPS}
        return frame, {"line_end": line_end(path, layout), "bom": has_bom(path), "stamps": stamps}

    def blocks(
        self, path: pathlib.Path, numbers: Sequence[str], others: Sequence[str], layout: Layout
    ) -> "Iterator[pl.DataFrame]":
        import polars.selectors as cs

        columns = [name for name in self.names(path, layout) if name in {*numbers, *others}]
        kinds = self._kinds(path, numbers, layout)
        convert = [parsed(bare(cs.by_name(name), layout, name), kind) for name, kind in kinds.items()]
        for text in self._texts(path, columns, layout):
            yield text.with_columns(convert).with_columns((cs.by_name(*numbers) & cs.float()).fill_nan(None))

    def understood(self, path: pathlib.Path, layout: Layout) -> "tuple[pl.DataFrame, dict[str, Strange]]":
        import polars as pl

        return understand(pl.concat(self._texts(path, self.names(path, layout), layout)), layout)

    def check(self, frame: "pl.DataFrame", path: pathlib.Path, layout: Layout) -> None:
        """An encoding may lack characters."""
        import polars as pl

        if layout.utf8:
            return super().check(frame, path, layout)
        what = f"with characters that {layout.encoding} lacks"
        lacking = [name for name in frame.columns if _lacks(layout.encoding, name)]
        if lacking:
            raise InputValueError(f"{path.name!r} cannot hold names {what}: {', '.join(map(repr, lacking))}.")
        limit = Limit(what, lambda cell: cell.map_elements(lambda text: _lacks(layout.encoding, text), pl.Boolean))
        return check_cells(frame, {**self.holds, "text": (limit,)}, path.name)

    def write(
        self, frame: "pl.DataFrame", path: pathlib.Path, masked: Sequence[str], meta: Meta, layout: Layout
    ) -> None:
        """A missing cell of a masked column is the first of its codes."""
        import polars as pl
        import polars.selectors as cs

        stamps = {**meta.get("stamps", {}), **layout.date_of}
        stamps = {
            name: stamp for name, stamp in stamps.items() if name in frame.columns and frame[name].dtype.is_temporal()
        }
        frame = frame.with_columns(cs.by_name(name).dt.to_string(stamp) for name, stamp in stamps.items())
        for name in masked:
            if layout.codes(name) and frame[name].null_count():
                text = frame[name].alias("").cast(pl.String)
                text = text.str.replace(".", ",", literal=True) if layout.decimal_comma and name not in stamps else text
                frame = frame.with_columns(text.fill_null(layout.codes(name)[0]).alias(name))
        with path.open("wb") as file:
            if layout.utf8 and meta.get("bom", False):
                file.write(BOM)
            target: Any = file if layout.utf8 else _Translated(file, layout.encoding)
            frame.write_csv(
                target,
                separator=layout.separator(self.delimiter),
                line_terminator=meta.get("line_end", "\n"),
                decimal_comma=layout.decimal_comma,
            )

    def counts(
        self, path: pathlib.Path, sets: Sets, layout: Layout, written: "pl.DataFrame | None" = None, name: str = ""
    ) -> list[Histogram]:
        """By the text of the cells, as a reader of the file sees it; cells that were text are compared with it."""
        import polars as pl

        counted = list(dict.fromkeys(column for columns in sets for column in columns))
        texts = [] if written is None else [column.name for column in written if column.dtype == pl.String]
        columns = list(dict.fromkeys([*counted, *texts]))

        def step(cells: Any) -> tuple[int, Any, Any]:
            return cells.height, count_texts(columns_of(cells, counted), sets), columns_of(cells, texts)

        def compared() -> Iterator[Any]:
            begin = 0
            for height, classes, cells in self._blocks(path, columns, {}, layout, step):
                # the count detects a different number of records
                if written is not None and begin + height <= written.height:
                    check_stored(columns_of(written, texts).slice(begin, height), cells, name, self.missing_text)
                begin += height
                yield classes

        return add_blocks(compared(), len(sets))

    def _blocks(
        self,
        path: pathlib.Path,
        columns: Sequence[str],
        schema: dict[str, Any],
        layout: Layout,
        step: Callable[[Any], Any] = lambda cells: cells,
        size: int | None = None,
    ) -> Iterator[Any]:
        """Apply the step to these columns, block after block; columns that are not in the schema are text."""
        import polars as pl

        every = {name: schema.get(name, pl.String) for name in self.names(path, layout)}
        read = list(dict.fromkeys([*columns, list(every)[-1]]))  # the last one, to find lines that are too long
        options: dict[str, Any] = {"separator": layout.separator(self.delimiter), "decimal_comma": layout.decimal_comma}
        if "missing_columns" in inspect.signature(pl.scan_csv).parameters:  # of polars 2
            options["missing_columns"] = "insert"  # where a block begins with an empty or short line

        def cells(block: bytes) -> Any:
            scanned = pl.scan_csv(block, has_header=False, schema=every, **options)
            return step(columns_of(columns_of(scanned, read).collect(), columns))

        some = False
        for result in mapped(cells, blocks(path, layout, size)):
            some = True
            yield result
        if not some:
            yield step(columns_of(pl.DataFrame(schema=every), columns))

    def _texts(self, path: pathlib.Path, columns: Sequence[str], layout: Layout) -> Iterator[Any]:
        return self._blocks(path, columns, {}, layout)

    def _straight(
        self, path: pathlib.Path, columns: Sequence[str], kinds: dict[str, str], layout: Layout
    ) -> "pl.DataFrame":
        """Let polars parse the numbers itself, which is fastest; read dates through text."""
        import polars as pl
        import polars.selectors as cs

        schema = {} if layout.decimal_comma or layout.thousands else straight(kinds)  # which polars reads otherwise
        rest = {name: kind for name, kind in kinds.items() if name not in schema}
        dates = [parsed(bare(cs.by_name(name), layout, name), kind, True) for name, kind in rest.items()]
        parts = self._blocks(path, columns, schema, layout, lambda cells: cells.with_columns(dates))
        return pl.concat(parts, rechunk=True)  # NumPy then sees columns without a copy

    def _failures(self, path: pathlib.Path, columns: Sequence[str], layout: Layout) -> dict[str, dict[str, int]]:
        """How many cells of each column cannot be read as each kind."""
        bad: dict[str, dict[str, int]] = {name: {} for name in columns}
        for text in self._texts(path, columns, layout):
            for name in columns:
                bad[name] = failures(text[name], layout, bad[name])
        return bad

    def _kinds(self, path: pathlib.Path, columns: Sequence[str], layout: Layout) -> dict[str, str]:
        """The first kind that every cell of a column can be read as."""
        bad = self._failures(path, columns, layout)
        broken = [name for name in columns if all(bad[name].values())]
        if broken:
            raise InputValueError(f"{path.name!r}: {'; '.join(self._explain(path, broken, layout))}.")
        return {name: next(kind for kind, count in bad[name].items() if not count) for name in columns}

    def _explain(self, path: pathlib.Path, broken: Sequence[str], layout: Layout) -> Iterator[str]:
        """Explain why columns cannot be read as numbers, with a remedy; usual words for missing are not counted."""
        sums = {name: collections.Counter[str]() for name in broken}
        for text in self._texts(path, broken, layout):
            for name in broken:
                sums[name] += strange_cells(text[name], layout, name)
        texts, cells_of = [], collections.defaultdict[str, list[str]](list)  # columns, and by remedy
        for name, counts in sums.items():
            if counts["text"] > counts["readable"] + counts["other"]:
                texts.append(repr(name))
                continue
            words, others = [word for word in MISSING_WORDS if counts[word]], counts["text"] + counts["other"]
            listed = [f"{counts[word]} {_cells(counts[word])} {word}" for word in words]
            advice = [f"--null {','.join(words)} declares missing codes"] if words else []
            if others:
                listed += [f"{others} {'other ' if words else ''}{_cells(others)} {_readable(layout, name)}"]
                advice += [_advise(layout, name, 2 * counts["dates"] > others)]
            cells_of[", ".join(advice)].append(f"column {name!r}: {' and '.join(listed)}")
        if texts:
            hold = f"column {texts[0]} holds" if len(texts) == 1 else f"columns {list_names(texts)} hold"
            yield f"{hold} text, and {CATEGORIES}"
        for remedy, cells in cells_of.items():
            yield f"{list_names(cells)}; {remedy}"


def _readable(layout: Layout, name: str) -> str:
    """The reason why cells of a column cannot be read."""
    if name in layout.date_of:
        return f"no date like {layout.date_of[name]}"
    return "neither a number nor a date like 2026-01-31"


def _advise(layout: Layout, name: str, dates: bool) -> str:
    """Remedies for cells that cannot be read, most of which may look like dates."""
    if name in layout.date_of:
        return SEE_LINES
    if dates:
        return f"--date {name}=FORMAT declares how dates are written, such as %d.%m.%Y, {SEE_LINES}"
    if layout.thousands:
        return SEE_LINES
    return f"{COMMA if layout.decimal_comma else 'a decimal comma needs --decimal-comma'}, {SEE_LINES}"


def _cells(count: int) -> str:
    return "cell is" if count == 1 else "cells are"


CATEGORIES = "categories need --hierarchy, --order, --aggregate NAME=mode, --by, --keep or --drop"
COMMA = "with --decimal-comma a number has no point, unless --thousands . declares it"
SEE_LINES = "mag look lists their lines"


def _lacks(encoding: str, text: str) -> bool:
    """Whether an encoding has no way to write a text."""
    try:
        text.encode(encoding)
    except UnicodeError:
        return True
    return False


class _Translated(io.RawIOBase):
    """Encode UTF-8 input in another encoding."""

    def __init__(self, file: Any, encoding: str) -> None:
        self._file, self._decoder = file, codecs.getincrementaldecoder("utf-8")()
        self._encoder = codecs.getincrementalencoder(encoding)()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._file.write(self._encoder.encode(self._decoder.decode(bytes(data))))
        return len(data)


FORMAT = Csv(".csv", delimiter=",")
