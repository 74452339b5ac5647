"""Random tables and files through publish-and-recount: `python -m benchmarks.attack [-n 100000] [--seed 1] [-j 2]`.

Every case is masked or generalized, in memory, by the command, or out of core, with options that are drawn, too; what
comes out is read and counted by code of its own on pandas, csv, pyarrow, zipfile and pyreadstat.  Printed are the cases
by kind and what was refused and in which words; and, all of which must be 0, classes that break k, l or t, kept cells
that differ from the original, published cells that are not true for their record, bytes of dropped columns and withheld
records, files that a refused run does not remove, errors that are not a sentence of ours or quote a planted text, and
escape sequences on the terminal.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import csv
import datetime
import decimal
import io
import multiprocessing
import os
import pathlib
import pickle
import re
import shutil
import sys
import tempfile
import time
import traceback
import warnings
import xml.etree.ElementTree
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

import mag
from benchmarks._measure import show
from benchmarks._random_recoding import MARK, Recoding, Wrong, check_bytes, check_release, draw_recoding, plain
from benchmarks._random_tables import Draw, Request, request
from mag import InputError
from mag.commands.cli import main as command

# ---- cells as they are stored, one hashable thing each


def tokens(column: Any) -> list:
    """Cells of a column of any library that differ wherever the stored values do."""
    if isinstance(column, pl.Series):
        return tokens(column.to_arrow())
    if isinstance(column, pa.ChunkedArray):
        return [token for chunk in column.chunks for token in tokens(chunk)]
    if isinstance(column, pa.Array):
        return _arrow_tokens(column)
    if isinstance(column, pd.Series):
        if isinstance(column.dtype, pd.ArrowDtype):
            return tokens(column.array.__arrow_array__())
        if isinstance(column.dtype, pd.CategoricalDtype):
            entries = tokens(pd.Series(column.cat.categories))
            return [None if code < 0 else entries[code] for code in column.cat.codes]
        if not isinstance(column.dtype, np.dtype):
            gone = column.isna().tolist()
            return [None if out else _object_token(cell) for cell, out in zip(column.tolist(), gone, strict=True)]
        column = column.to_numpy()
    column = np.asarray(column)
    if column.dtype.kind == "f":
        return column.view(f"u{column.dtype.itemsize}").tolist()
    if column.dtype.kind in "mM":
        return column.view(np.int64).tolist()
    return [_object_token(cell) for cell in column.tolist()] if column.dtype == object else column.tolist()


def _object_token(cell: Any) -> Any:
    if isinstance(cell, float):
        return cell.hex()
    return (type(cell).__name__, repr(cell)) if isinstance(cell, (dict, list, decimal.Decimal, np.ndarray)) else cell


def _arrow_tokens(array: pa.Array) -> list:
    kind, types = array.type, pa.types
    if types.is_dictionary(kind):
        entries = tokens(array.dictionary)
        return [None if code is None else entries[code] for code in array.indices.to_pylist()]
    valid = array.is_valid().to_pylist()
    if types.is_struct(kind):
        cells = list(zip(*(tokens(array.field(j)) for j in range(kind.num_fields)), strict=True))
    elif types.is_list(kind) or types.is_large_list(kind):
        inner, ends = tokens(array.values), array.offsets.to_pylist()
        cells = [tuple(inner[ends[i] : ends[i + 1]]) for i in range(len(array))]
    elif types.is_floating(kind):
        bits = np.asarray(array.fill_null(0))
        cells = bits.view(f"u{bits.dtype.itemsize}").tolist()
    elif types.is_temporal(kind):
        wide = kind.bit_width == 64
        cells = array.cast(pa.int64() if wide else pa.int32()).to_pylist()
    else:
        cells = array.to_pylist()
    return [cell if there else None for cell, there in zip(cells, valid, strict=True)]


def smallest(columns: Sequence[list]) -> int:
    """The size of the smallest class of records that are alike in all of these columns."""
    return min(collections.Counter(zip(*columns, strict=True)).values(), default=0)


# ---- tables in memory


def as_dict(table: pa.Table) -> dict:
    """NumPy arrays, and series where NumPy has no such type."""
    frame = table.to_pandas()
    return {name: frame[name].to_numpy() if isinstance(frame[name].dtype, np.dtype) else frame[name] for name in frame}


MEMORY = {
    "pandas": lambda table: table.to_pandas(),
    "pandas nullable": lambda table: table.to_pandas().convert_dtypes(),
    "pandas arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "pyarrow": lambda table: table,
    "dict": as_dict,
}


CHUNK = 200  # cases that a process runs before it reports
WRONG = ("violation", "altered", "false", "leak", "leftover", "terminal", "traceback")


def memory_case(seed: int) -> tuple[str, str | None]:
    """Mask one table and count it; its kind, and the sentence if it was refused."""
    draw, asked = Draw(seed + 10**9), request(seed)
    library = draw.one(list(MEMORY))
    try:
        table = MEMORY[library](pa.table(asked.columns))
    except (pa.ArrowException, ValueError):  # a type that it does not have
        library, table = "pyarrow", pa.table(asked.columns)
    if isinstance(table, pd.DataFrame) and draw.chance(0.3):
        table.index = pd.Index(draw.rng.integers(0, 9, len(table)), name=draw.one([None, "id", "i"]))
    names = {"id": "id"}
    if library in ("pandas", "dict") and draw.chance(0.2):  # names that are no strings
        names = {name: (j if j % 2 else (name, j)) for j, name in enumerate(asked.columns)}
        if isinstance(table, dict):
            table = {names[name]: column for name, column in table.items()}
        else:
            table.columns = pd.Index([names[name] for name in table.columns], tupleize_cols=False)
    renamed = lambda parts: [names.get(name, name) for name in parts]  # noqa: E731
    options = dict(asked.options)
    if "weights" in options:
        options["weights"] = renamed([options["weights"]])[0]
    if "round" in options:
        options["round"] = dict(zip(renamed(options["round"]), options["round"].values(), strict=True))
    before = {name: tokens(table[name]) for name in renamed([*asked.by, *asked.keep])}
    masked, by = renamed(asked.masked), renamed(asked.by)
    try:
        release = mag.microaggregate(
            table, asked.k, masked, by=by, keep=renamed(asked.keep), drop=renamed(asked.drop), threads=1, **options
        )
    except Exception as error:
        return library, refusal(error)
    data = release.data
    listed = data.column_names if isinstance(data, pa.Table) else list(getattr(data, "columns", data))
    if listed != [name for name in renamed(asked.columns) if name not in renamed(asked.drop)]:
        raise Wrong("altered", f"columns {listed}")
    after = {name: tokens(data[name]) for name in listed}
    check_counts(asked, after, masked, by)
    n = len(before[names["id"]])
    if len(after[names["id"]]) + release.withheld != n:
        raise Wrong("altered", f"{len(after[names['id']])} records and {release.withheld} withheld of {n}")
    check_kept(before, after, names["id"], by, lambda name, old, new: old == new)
    if not asked.options.get("shuffle"):
        place = {one: row for row, one in enumerate(before[names["id"]])}
        rows = [place[one] for one in after[names["id"]]]
        if rows != sorted(rows):
            raise Wrong("altered", "records are in another order")
    return library, None


def check_counts(asked: Request, cells: dict, masked: list, by: list) -> None:
    """k equal records, of whole records or by column."""
    strata = [cells[name] for name in by]
    sets = [[name] for name in masked] if asked.options.get("scope") == "per-column" else [masked]
    for names in sets:
        found = smallest([*strata, *(cells[name] for name in names)])
        if found < asked.k:
            raise Wrong("violation", f"{found} records alike in {names} with {by}, k = {asked.k}")


def check_kept(before: dict, after: dict, key: Any, by: list, same: Any) -> None:
    """Cells of kept columns are those of the original; those of strata too, unless they are blank."""
    place = {one: row for row, one in enumerate(before[key])}
    rows = [place.get(one) for one in after[key]]
    if None in rows or len(set(rows)) != len(rows):
        raise Wrong("altered", f"the key {key!r}")
    for name, cells in before.items():
        for row, new in zip(rows, after[name], strict=True):
            if not same(name, cells[row], new) and not (name in by and _blank(new)):
                raise Wrong("altered", f"{name!r}: {cells[row]!r} became {new!r}")


def _blank(cell: Any) -> bool:
    return cell is None or cell in ("", "nan", -(2**63)) or cell is pd.NaT or cell in NAN_BITS


NAN_BITS = {0x7FF8000000000000, 0x7FC00000, 0xFFF8000000000000, 0xFFC00000}


def refusal(error: BaseException) -> str:
    """The sentence, if it is one of ours; else what came instead."""
    if isinstance(error, InputError) and str(error).endswith("."):
        if MARK in "".join(traceback.format_exception(error)):
            raise Wrong("leak", f"an error quotes a cell: {error}") from None
        return str(error)
    trace = "".join(traceback.format_exception(error)[-4:])
    raise Wrong("violation" if isinstance(error, mag.verify.NotAnonymousError) else "traceback", trace) from error


# ---- categories, ranges and sensitive columns


def recoded_case(seed: int, folder: str) -> tuple[str, str | None]:
    """Mask or generalize a table with categories, and count it."""
    draw, asked = Draw(seed + 3 * 10**9), draw_recoding(seed)
    library = draw.one(list(MEMORY))
    table = MEMORY[library](asked.table)
    try:
        release = asked.release(table)
    except Exception as error:
        return f"{asked.command} {library}", refusal(error)
    data = release.data
    listed = data.column_names if isinstance(data, pa.Table) else list(getattr(data, "columns", data))
    after = pd.DataFrame({name: pd.Series(plain(data[name]), dtype=object) for name in listed})
    if len(after) + release.withheld != asked.table.num_rows:
        raise Wrong("altered", f"{len(after)} records and {release.withheld} withheld")
    check_release(asked, _objects(asked.table), after)
    shown = data.write_ipc(None).getvalue() if isinstance(data, pl.DataFrame) else b""
    check_bytes(asked, set(after["note"]), pickle.dumps(release) + shown + str(release).encode())
    if draw.chance(0.05):
        release.risk(), release.utility(), release.report(pathlib.Path(folder, f"{seed}.html"))
    return f"{asked.command} {library}", None


def _objects(table: pa.Table) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(plain(table.column(name)), dtype=object) for name in table.column_names})


RECODED = ["csv", "dta", "feather", "parquet", "sav", "xlsx"]


def recoded_file_case(seed: int, folder: str) -> tuple[str, str | None]:
    """The same by the command; missing cells are empty, which is text in some formats, so there are none."""
    draw, asked = Draw(seed + 4 * 10**9), draw_recoding(seed)
    source, target = draw.one(RECODED), draw.one(RECODED)
    way = f"{asked.command} {source} to {target}"
    if any(column.null_count for column in asked.table.columns):
        return way, "(input not made)"
    there, out = _empty(folder, source, target)
    write(asked.table, source, there)
    words = [asked.command, str(there), "-o", str(out), "-k", str(asked.k), *_recoding_words(asked, folder)]
    code, sentence = _command(words)
    if code:
        return way, sentence
    cells = read(target, out)
    after = pd.DataFrame({name: pd.Series(plain(np.array(own, object)), dtype=object) for name, own in cells.items()})
    for name in after.columns.intersection(["age", "salary", "income"]):
        whole = name not in asked.columns and name != "income"
        after[name] = [_number(cell, whole) for cell in after[name]]
    check_release(asked, _objects(asked.table), after)
    files = b"".join(path.read_bytes() for path in sorted(pathlib.Path(folder).glob("*out.*")))
    check_bytes(asked, set(after["note"]), files)
    return way, None


def _number(cell: Any, whole: bool) -> Any:
    try:
        return int(float(cell)) if whole else float(cell)
    except (TypeError, ValueError):
        return cell


def _recoding_words(asked: Recoding, folder: str) -> list[str]:
    words = [f"-c{name}" for name in asked.columns] + [f"--by={name}" for name in asked.by]
    demanded = {*asked.options.get("diversity", {}), *asked.options.get("closeness", {})}
    words += [f"--keep={name}" for name in asked.kept if name not in demanded] + ["--drop=secret"]
    for name, tree in asked.options["hierarchies"].items():
        path = pathlib.Path(folder, f"{name}.tree.csv")
        path.write_text("".join(";".join(map(str, row)) + "\n" for row in tree.to_levels()))
        words.append(f"--hierarchy={name}={path}")
    for name, criterion in asked.options.get("diversity", {}).items():
        text = str(criterion) if isinstance(criterion, int) else f"{criterion[0]}:{','.join(map(str, criterion[1:]))}"
        words.append(f"--diversity={name}={text}")
    words += [f"--closeness={name}={t}" for name, t in asked.options.get("closeness", {}).items()]
    words += [f"--aggregate={name}={how}" for name, how in asked.options.get("aggregate", {}).items()]
    words += [f"--order={name}={','.join(listed)}" for name, listed in asked.options.get("order", {}).items()]
    words += [f"--round={name}={digits}" for name, digits in asked.options.get("round", {}).items()]
    for option in ("max_suppressed", "show_suppressed_as", "missing", "small_strata", "method"):
        if option in asked.options:
            words.append(f"--{option.replace('_', '-')}={asked.options[option]}")
    return [*words, *(["--shuffle"] if asked.options.get("shuffle") else [])]


# ---- out of core


def stream_case(seed: int, folder: str) -> tuple[str, str | None]:
    """Mask a Parquet file by column or jointly, in blocks of a few rows, and count the classes of the written file."""
    draw, asked = Draw(seed + 5 * 10**9), request(seed, *FORMATS["parquet"])
    there, out = _empty(folder, "parquet", "parquet")
    try:
        pq.write_table(pa.table(asked.columns), there, row_group_size=5)
    except pa.ArrowException:
        return "out of core", "(input not made)"
    used = ("scope", "cost", "weights", "round", "method", "aggregate", "standardize")
    options = {name: value for name, value in asked.options.items() if name in used}
    if draw.chance(0.3):
        options |= {name: asked.options[name] for name in ("missing", "small_strata") if name in asked.options}
    before = {name: tokens(pq.ParquetFile(there).read().column(name)) for name in [*asked.by, *asked.keep]}
    try:
        mag.microaggregate(
            there, asked.k, asked.masked, by=asked.by, keep=asked.keep, drop=asked.drop, output=out, **options
        )
    except Exception as error:
        sentence = refusal(error)
        if left := sorted(path.name for path in pathlib.Path(folder).iterdir() if path != there):
            raise Wrong("leftover", f"{', '.join(left)} after: {sentence}") from None
        return "out of core", sentence
    after = pq.ParquetFile(out).read()
    cells = {name: tokens(after.column(name)) for name in after.column_names}
    check_counts(asked, cells, asked.masked, asked.by)
    check_kept(before, cells, "id", asked.by, lambda name, old, new: old == new)
    return f"out of core, {options.get('scope', 'joint')}", None


# ---- files

PLAIN = ["text", "float", "integer", "small", "boolean", "date", "moment"]
STATISTICS = ["text", "float", "integer", "small"]
FORMATS = {  # kinds of cells that are written into a file of this format, for columns that are masked, strata, and kept
    "csv": (["float", "integer", "small", "date"], ["strata", "boolean", "small", "date"], PLAIN),
    "tsv": (["float", "integer", "small", "date"], ["strata", "boolean", "small", "date"], PLAIN),
    "parquet": (
        ["float", "float32", "integer", "small", "byte", "date", "moment", "decimal"],
        ["strata", "boolean", "small", "category", "date", "moment ns", "time", "struct"],
        [*PLAIN, "bytes", "category", "list", "zoned", "decimal", "float32", "time", "duration", "struct", "moment ns"],
    ),
    "feather": (
        ["float", "float32", "integer", "small", "byte", "date", "moment"],
        ["strata", "boolean", "small", "category", "date", "moment ns"],
        [*PLAIN, "bytes", "category", "list", "zoned", "float32", "time", "duration", "moment ns"],
    ),
    "dta": (["float", "small"], ["strata", "small"], STATISTICS),
    "sav": (["float", "small"], ["strata", "small"], STATISTICS),
    "xpt": (["float", "small"], ["strata", "small"], STATISTICS),
    "xlsx": (["float", "small"], ["strata", "small", "boolean"], ["text", "float", "small", "boolean", "date"]),
}


def file_case(seed: int, folder: str) -> tuple[str, str | None]:
    """Mask one file by the command line and count the classes of the written file."""
    draw = Draw(seed + 2 * 10**9)
    source, target = draw.one(list(FORMATS)), draw.one(list(FORMATS))
    target = source if draw.chance(0.4) else target
    asked = request(seed, *FORMATS[source])
    if source in ("dta", "sav", "xpt") or target in ("dta", "sav", "xpt"):  # names that they can hold
        short = {name: f"v{j}" if name != "id" else name for j, name in enumerate(asked.columns)}
        _rename(asked, short)
    way = f"{source} to {target}"
    there, out = _empty(folder, source, target)
    try:
        write(pa.table(asked.columns), source, there)
    except Exception:  # the library that makes the input cannot
        return way, "(input not made)"
    words = ["mask", str(there), "-o", str(out), "-k", str(asked.k), "--threads", "1"]
    for option, names in (("-c", asked.masked), ("--by", asked.by), ("--keep", asked.keep), ("--drop", asked.drop)):
        words += [f"{option}={name}" if option != "-c" else f"-c{name}" for name in names]
    for option, value in asked.options.items():
        if option == "round":
            words += [f"--round={name}={digits}" for name, digits in value.items()]
        elif isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{option}")
        else:
            words.append(f"--{option.replace('_', '-')}={value}")
    code, sentence = _command(words)
    if code:
        return way, sentence
    after = read(target, out)
    check_counts(
        asked, {name: [_counted(cell) for cell in cells] for name, cells in after.items()}, asked.masked, asked.by
    )
    before = read(source, there)
    if source == "xlsx":  # where a date is a number
        dates = [name for name, column in asked.columns.items() if pa.types.is_date(column.type)]
        before |= {name: asked.columns[name].to_pylist() for name in dates}
    before, after = ({name: cells[name] for name in [*asked.by, *asked.keep]} for cells in (before, after))
    for cells in (before, after):
        cells["id"] = [int(float(one)) for one in cells["id"]]
    check_kept(before, after, "id", asked.by, lambda name, old, new: alike(old, new))
    return way, None


def _empty(folder: str, source: str, target: str) -> tuple[pathlib.Path, pathlib.Path]:
    """The files to read and to write, in a folder without others."""
    for old in pathlib.Path(folder).iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    return pathlib.Path(folder, f"in.{source}"), pathlib.Path(folder, f"out.{target}")


def _command(words: list[str]) -> tuple[int, str]:
    """The exit code of the command, and its sentence where that is 2; anything else must not happen."""
    said, error = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(error):
            code = command(words)
    except BaseException as raised:
        raise Wrong("traceback", f"{words}\n{''.join(traceback.format_exception(raised)[-4:])}") from raised
    sentence = error.getvalue().strip().removeprefix("mag: ")
    if code == 2 and (not sentence.endswith((".", "?")) or "Traceback" in sentence):
        raise Wrong("traceback", sentence)
    if code not in (0, 2):
        raise Wrong("violation" if code == 1 else "traceback", f"exit code {code}: {sentence}")
    if MARK in said.getvalue() + sentence:
        raise Wrong("leak", f"the terminal shows a cell: {sentence}")
    if "\x1b" in said.getvalue() + error.getvalue():
        raise Wrong("terminal", f"an escape sequence after {words}")
    return code, sentence


def _counted(cell: Any) -> Any:
    return cell.hex() if isinstance(cell, float) else repr(cell)


def _rename(asked: Request, names: dict[str, str]) -> None:
    asked.columns = {names[name]: column for name, column in asked.columns.items()}
    for part in (asked.masked, asked.by, asked.keep, asked.drop):
        part[:] = [names[name] for name in part]
    if "weights" in asked.options:
        asked.options["weights"] = names[asked.options["weights"]]
    if "round" in asked.options:
        asked.options["round"] = {names[name]: digits for name, digits in asked.options["round"].items()}


def write(table: pa.Table, form: str, path: pathlib.Path) -> None:
    """An input file."""
    if form in ("csv", "tsv"):
        with path.open("w", newline="") as file:
            writer = csv.writer(file, delimiter="," if form == "csv" else "\t", lineterminator="\n")
            writer.writerow(table.column_names)
            writer.writerows(
                zip(*([_text(cell) for cell in column.to_pylist()] for column in table.columns), strict=True)
            )
    elif form == "parquet":
        pq.write_table(table, path, row_group_size=7)
    elif form == "feather":
        pyarrow.feather.write_feather(table, path, "uncompressed")
    elif form == "xlsx":
        _write_xlsx(table, path)
    else:
        import pyreadstat

        writers = {"dta": pyreadstat.write_dta, "sav": pyreadstat.write_sav, "xpt": pyreadstat.write_xport}
        writers[form](table.to_pandas(), path)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _write_xlsx(table: pa.Table, path: pathlib.Path) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        sheet, day = book.add_worksheet(), book.add_format({"num_format": "yyyy-mm-dd"})
        for j, name in enumerate(table.column_names):
            sheet.write_string(0, j, name)
            for i, cell in enumerate(table.column(name).to_pylist()):
                if isinstance(cell, str):
                    sheet.write_string(i + 1, j, cell)
                elif isinstance(cell, datetime.date):
                    sheet.write_datetime(i + 1, j, cell, day)
                elif isinstance(cell, bool):
                    sheet.write_boolean(i + 1, j, cell)
                elif cell is not None:
                    sheet.write_number(i + 1, j, cell)


# ---- readers


def read(form: str, path: pathlib.Path) -> dict[str, list]:
    """The cells of a file by column."""
    if form in ("csv", "tsv"):
        with path.open(newline="") as file:
            head, *rows = csv.reader(file, delimiter="," if form == "csv" else "\t")
        rows = [row or [""] for row in rows]  # an empty line is an empty cell
        return {name: [row[j] for row in rows] for j, name in enumerate(head)}
    if form == "parquet":
        return _from_arrow(pq.ParquetFile(path).read())
    if form == "feather":
        return _from_arrow(pa.ipc.open_file(pa.OSFile(str(path))).read_all())
    if form == "xlsx":
        return _read_xlsx(path)
    import pyreadstat

    readers = {"dta": pyreadstat.read_dta, "sav": pyreadstat.read_sav, "xpt": pyreadstat.read_xport}
    frame, _ = readers[form](str(path))
    return {name: [None if pd.isna(cell) else cell for cell in frame[name].tolist()] for name in frame}


def _from_arrow(table: pa.Table) -> dict[str, list]:
    """Python's objects where they hold all digits, else what is stored, with its unit."""
    found: dict[str, list] = {}
    for name in table.column_names:
        column = table.column(name)
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        simple = pa.types.is_primitive(kind) and not pa.types.is_temporal(kind)
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
        if simple or text or pa.types.is_date(kind) or kind in (pa.timestamp("us"), pa.timestamp("ms")):
            found[name] = column.to_pylist()
        else:
            unit = str(kind) if pa.types.is_temporal(kind) else "other"
            found[name] = [None if cell is None else (unit, cell) for cell in tokens(column)]
    return found


_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def _read_xlsx(path: pathlib.Path) -> dict[str, list]:
    with zipfile.ZipFile(path) as book:
        strings = []
        if "xl/sharedStrings.xml" in book.namelist():
            root = xml.etree.ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
            strings = ["".join(part.text or "" for part in one.iter(f"{_SHEET}t")) for one in root]
        sheet = xml.etree.ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    rows = []
    for row in sheet.iter(f"{_SHEET}row"):
        cells = {}
        for cell in row:
            if cell.find(f"{_SHEET}f") is not None:
                raise Wrong("altered", "a formula in a spreadsheet")
            text = cell.findtext(f"{_SHEET}v")
            kind = cell.get("t")
            value: Any = None if text is None else float(text) if kind in (None, "n") else text
            if kind == "s":
                value = strings[int(text or 0)]
            elif kind == "inlineStr":
                value = "".join(part.text or "" for part in cell.iter(f"{_SHEET}t"))
            elif kind == "b":
                value = text == "1"
            letters = re.match("[A-Z]+", cell.get("r", ""))[0]  # type: ignore[index]
            place = 0
            for letter in letters:
                place = 26 * place + ord(letter) - 64
            cells[place - 1] = _unescaped(value) if isinstance(value, str) else value
        rows.append(cells)
    head, *rest = rows
    return {name: [row.get(j) for row in rest] for j, name in head.items()}


def _unescaped(text: str) -> str:
    return re.sub(r"_x([0-9A-F]{4})_", lambda match: chr(int(match[1], 16)), text)


def alike(old: Any, new: Any) -> bool:
    """Whether a cell of one format says what a cell of another said; nothing and empty text are the same here."""
    if old in (None, "") or new in (None, ""):
        return old in (None, "") and new in (None, "")
    if type(old) is type(new) and not isinstance(old, float):
        return old == new
    if isinstance(old, str) and not isinstance(new, str):
        return False  # text stays text
    if isinstance(old, (bool, np.bool_)):
        return str(new).lower() in ("true", "1", "1.0") if old else str(new).lower() in ("false", "0", "0.0")
    if isinstance(old, (int, float)) and not isinstance(new, (bool, tuple)):
        try:
            if isinstance(old, float):  # a float32 is written with the digits that it needs
                return float(new) == old or (isinstance(new, str) and float(np.float32(new)) == old)
            return decimal.Decimal(new) == old
        except (decimal.InvalidOperation, TypeError, ValueError):
            return False
    if isinstance(old, datetime.date):
        if isinstance(old, datetime.datetime) and isinstance(new, str):
            return datetime.datetime.fromisoformat(new) == old
        whole = datetime.datetime(*old.timetuple()[:6])
        serial = (whole - datetime.datetime(1899, 12, 30)) / datetime.timedelta(days=1)
        return str(new) in (str(old), str(whole)) or new in (serial, old)
    return isinstance(old, tuple)  # types that only Arrow has are compared between its own formats


# ---- many

CASES: dict[str, Callable[[int, str], tuple[str, str | None]]] = {
    "table": lambda seed, folder: memory_case(seed),
    "recoded table": recoded_case,
    "file": file_case,
    "recoded file": recoded_file_case,
    "stream": stream_case,
}
OF_TABLES = ("table", "recoded table", "recoded table")
OF_FILES = ("file", "recoded file", "stream")


def kind_of(seed: int, share: float) -> str:
    """The kind of a case: a share is of files."""
    place = (seed * 2654435761 % 2**32) / 2**32
    kinds = OF_FILES if place < share else OF_TABLES
    return kinds[seed * 40503 // 7 % len(kinds)]


def run(seeds: Sequence[int], share: float, until: float = float("inf")) -> dict[str, collections.Counter]:
    """Some cases one after the other, and their results."""
    warnings.simplefilter("ignore")
    found: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    quick = pathlib.Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=quick if quick.is_dir() else None) as folder:
        for seed in seeds:
            if time.time() > until:
                break
            kind = kind_of(seed, share)
            try:
                way, sentence = CASES[kind](seed, folder)
            except Wrong as wrong:
                found[wrong.kind][f"{kind} {seed}: {wrong.what}"] += 1
                found["cases"][f"{kind}, {wrong.kind}"] += 1
                continue
            except Exception as error:
                trace = "".join(traceback.format_exception(error)[-4:])
                found["traceback"][f"{kind} {seed}: of this program: {trace}"] += 1
                continue
            found["cases"][f"{kind}, {way}"] += 1
            if sentence is None:
                found["published"][kind] += 1
            else:
                found["refused"][re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "…", sentence)[:110]] += 1
    return found


def together(parts: Sequence[dict[str, collections.Counter]]) -> dict[str, collections.Counter]:
    """The sums."""
    kinds = ("cases", "published", "refused", *WRONG)
    return {
        kind: sum((part.get(kind, collections.Counter()) for part in parts), collections.Counter()) for kind in kinds
    }


def main() -> None:
    """Run, in several processes, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=100_000, help="cases")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("-j", type=int, default=len(os.sched_getaffinity(0)), help="processes")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; every case has the next one")
    parser.add_argument("--files", type=float, default=0.25, help="share of files")
    options = parser.parse_args()
    began = time.time()
    seeds = range(options.seed, options.seed + options.n)
    chunks = [seeds[i : i + CHUNK] for i in range(0, len(seeds), CHUNK)]
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(options.j, mp_context=context) as pool:
        jobs = [pool.submit(run, chunk, options.files, began + options.seconds) for chunk in chunks]
        found = together([])
        for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
            found = together([found, job.result()])
            if done % 10 == 0:
                wrong = ", ".join(f"{kind} {len(found[kind])}" for kind in WRONG)
                print(f"{sum(found['cases'].values())} cases, {wrong}", file=sys.stderr, flush=True)
    for title in ("cases", "refused"):
        rows = [{title: what, "number": count} for what, count in sorted(found[title].items())]
        if rows:
            show(title.capitalize(), rows)
    for kind in WRONG:
        for what in sorted(found[kind]):
            print(f"\n{kind.upper()} {what}")
    n, seconds = sum(found["cases"].values()), time.time() - began
    print(
        f"\n{n} cases in {seconds:.0f} s ({n / seconds:.0f} a second), {sum(found['published'].values())} published, "
        f"{sum(found['refused'].values())} refused; " + ", ".join(f"{kind}: {len(found[kind])}" for kind in WRONG)
    )


if __name__ == "__main__":
    main()
