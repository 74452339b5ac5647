"""The tasks of the process of a job, one function each; they call public functions of the package."""

import json
import pathlib
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mag._lib.atomic import reserving, writing
from mag._lib.errors import InputError, InputValueError
from mag.api.names import MethodName
from mag.api.table_options import COMPARE, accepted
from mag.app._cells import ColumnsByReading
from mag.app._commands import mask_words
from mag.app._work import Desk, version_of
from mag.files import File, layout_of
from mag.hierarchy import Hierarchy
from mag.tables.assess import assess
from mag.tables.compare import compare
from mag.tables.look import draw_cell, look_at
from mag.tables.plan import Plan, plan_for

PREVIEW_ROWS = 6
MAX_CLASS_SIZE = 12  # of the picture of class sizes
SIGNALLED = 128  # exit codes above are of a process that was ended
NOTE_PREFIX = "mag: note: "


def look(desk: Desk, path: pathlib.Path, text: Mapping[str, Any]) -> dict[str, Any]:
    """Types, formats and codes of the columns of a file."""
    file = _open(path, text)
    table, strange = _understood(desk, path, text)
    looked = look_at(table, strange, show=False)
    return {"records": looked.records, "columns": looked.columns, "hint": file.suggest_delimiter()}


def suggest(desk: Desk, path: pathlib.Path, text: Mapping[str, Any], k: int) -> Plan:
    """A plan."""
    table, strange = _understood(desk, path, text)
    return plan_for(table, strange, k, text)


def preview(desk: Desk, path: pathlib.Path, text: Mapping[str, Any]) -> list[list[str]]:
    """Rows of shapes: digits are 9 and letters are a; the cells of a row are of different records."""
    table, _ = _understood(desk, path, text)
    chance = random.Random(0)
    columns = []
    for name in table.columns:
        places = chance.choices(range(table.height), k=PREVIEW_ROWS) if table.height else []
        cells = table[name].gather(places).to_list()
        columns.append(["" if cell is None else draw_cell(str(cell)) for cell in cells])
    return [list(row) for row in zip(*columns, strict=True)]


def risk(desk: Desk, path: pathlib.Path, plan: Plan) -> dict[str, Any]:
    """The risk before masking, as a page."""
    file, options = _open(path, plan.text), plan.keywords()
    qi = [*options.get("columns", ()), *options.get("by", ())]
    roles: dict[str, Any] = {role: options.get(role) for role in ("unit", "household", "sensitive", "weights")}
    singles = [roles[role] for role in ("unit", "household") if roles[role] is not None]
    texts = list(dict.fromkeys([*qi, *singles, *(roles["sensitive"] or ())]))
    numbers = [roles["weights"]] if roles["weights"] is not None and roles["weights"] not in texts else []
    frame, _ = file.read(numbers, [], texts)
    assessment = assess(frame, qi, **roles)
    with tempfile.TemporaryDirectory() as scratch:
        page = pathlib.Path(scratch, "risk.html")
        assessment.report(page)
        text = page.read_text(encoding="utf-8")
    records = assessment.classes["records"].to_numpy()
    sizes = [(size, size, int((records == size).sum() * size)) for size in range(1, MAX_CLASS_SIZE)]
    sizes.append((MAX_CLASS_SIZE, int(records.max()), int(records[records >= MAX_CLASS_SIZE].sum())))
    return {"page": text, "sizes": sizes, "summary": assessment.summary}


def values(desk: Desk, path: pathlib.Path, text: Mapping[str, Any], column: str) -> list[str]:
    """The distinct values of a column of categories, as text."""
    frame, _ = _open(path, text).read([], [], [column])
    return sorted(str(value) for value in frame[column].drop_nulls().unique().to_list())


def grow(desk: Desk, path: pathlib.Path, text: Mapping[str, Any], column: str, how: str, details: Any) -> Hierarchy:
    """A hierarchy for a column; values without a leaf are an error that counts them."""
    cells = values(desk, path, text, column)
    tree = {
        "dates": lambda: Hierarchy.dates(cells, details),
        "file": lambda: Hierarchy.read(details),
        "flat": lambda: Hierarchy.flat(cells),
        "intervals": lambda: _intervals(cells, column, *details),
        "prefixes": lambda: Hierarchy.prefixes(cells, details),
        "rows": lambda: Hierarchy.from_levels(details),
    }[how]()
    if without := tree.check(cells):
        raise InputValueError(
            f"hierarchies must have a leaf for every value of {column!r}; {len(without)} of {len(cells)} values have "
            "none."
        )
    return tree


def _intervals(cells: Sequence[str], column: str, low: float, high: float, widths: Sequence[float]) -> Hierarchy:
    """Intervals above the numbers of a column: a file of ARX holds no rule, but a line for every value."""
    tree = Hierarchy.intervals(low, high, widths)
    try:
        leaves = tree.find([float(cell) for cell in cells]).tolist()
    except ValueError:
        raise InputValueError(f"intervals are for numbers; {column!r} has other values.") from None
    if outside := leaves.count(-1):
        raise InputValueError(
            f"intervals must hold every value of {column!r}; {outside} of {len(cells)} values are outside."
        )
    rows = tree.to_levels()
    return Hierarchy.from_levels([cell, *rows[leaf]] for cell, leaf in zip(cells, leaves, strict=True))


def tried(
    desk: Desk, path: pathlib.Path, plan: Plan, methods: Sequence[MethodName], sizes: Sequence[int], records: int | None
) -> None:
    """Loss and risk of methods and group sizes: a part each, as soon as it is known."""
    file = _open(path, plan.text)
    cells = ColumnsByReading.of(plan, file)
    options: dict[str, Any] = {name: cells.options[name] for name in accepted(COMPARE) if name in cells.options}
    weights = [] if cells.weights is None else [cells.weights]
    numbers = [name for name in [*cells.numbers, *weights] if name not in cells.others]
    by = [name for name in cells.others if name in options.get("by", ())]
    frame, _ = file.read(numbers, by, [*cells.categories, *cells.owners])
    if records is not None and records < frame.height:
        frame = _draw_records(frame, records, cells.owners[-1:])
    if cells.options.get("other") == "root":
        options["hierarchies"] = {name: tree.with_other() for name, tree in options.get("hierarchies", {}).items()}
    if cells.weights is not None:
        options["weights"] = frame[cells.weights].to_numpy()
    columns = cells.options.get("columns", [])
    runs = [(method, k) for k in sizes for method in methods]
    for turn, (method, k) in enumerate(runs):

        def step(fraction: float, turn: int = turn) -> None:
            desk.step((turn + fraction) / len(runs))

        try:
            [row] = compare(frame, k, columns, methods=method, progress=step, **options).rows
        except InputError as error:
            if turn == 0:  # the options are wrong
                raise
            desk.tell("part", {"method": method, "k": k, "problem": str(error)})
            continue
        desk.tell("part", {**row, "method": method, "chosen": row["method"], "records": frame.height})


def _draw_records(frame: Any, records: int, owners: Sequence[str]) -> Any:
    """A random part of about this many records, in which people and households are whole."""
    if not owners:
        return frame[np.sort(np.random.default_rng(0).choice(frame.height, records, replace=False))]
    every = frame[owners[0]].unique(maintain_order=True)
    drawn = every.sample(max(1, every.len() * records // frame.height), seed=0)
    return frame.filter(frame[owners[0]].is_in(drawn.implode()))


def mask(desk: Desk, path: pathlib.Path, plan: Plan, ending: str) -> dict[str, Any]:
    """Run `mag mask` in the private folder: its JSON and its report; a stopped run leaves no file elsewhere."""
    with tempfile.TemporaryDirectory() as scratch:
        out, place, report = (pathlib.Path(scratch, f"masked{end}") for end in (ending, ".plan.toml", ".report.html"))
        plan.save(place)
        manifest = run_json(desk, [*mask_words(path, out, place, report), "--json"])
        return {"manifest": manifest, "page": report.read_text(encoding="utf-8")}


def publish(
    desk: Desk,
    arguments: Sequence[str],
    plan: Plan,
    place: pathlib.Path,
    script: tuple[pathlib.Path, str],
    sources: Sequence[pathlib.Path],
    overwrite: bool,
) -> dict[str, Any]:
    """Run `mag mask` as the page shows it; without a release, neither plan nor script remain."""
    saved = plan.files(place)
    with reserving(*saved, script[0], sources=sources, overwrite=overwrite):  # refuses before anything is written
        new = [path for path in saved if not path.exists()]
    plan.save(place, overwrite)
    try:
        manifest = run_json(desk, arguments)
        with writing(script[0], sources=sources, overwrite=overwrite) as [draft]:
            draft.write_text(script[1], encoding="utf-8")
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        raise
    return {"manifest": manifest, "saved": saved}


def run_json(desk: Desk, arguments: Sequence[str]) -> dict[str, Any]:
    """What a command prints as JSON, and its notes; its complaint is an error."""
    code, output, complaint = desk.run(arguments, desk.step)
    if code > SIGNALLED:
        raise SystemExit(code)
    lines = complaint.strip().splitlines()
    if code:
        raise InputValueError(lines[-1].removeprefix("mag: ") if lines else f"mag {arguments[0]} has failed.")
    notes = [line.removeprefix(NOTE_PREFIX) for line in lines if line.startswith(NOTE_PREFIX)]
    return {**json.loads(output), "notes": notes}


def _open(path: pathlib.Path, text: Mapping[str, Any]) -> File:
    return File(path, layout_of(**text))


def _understood(desk: Desk, path: pathlib.Path, text: Mapping[str, Any]) -> tuple[Any, Any]:
    """The table, read once by a process."""
    key = (str(path), version_of(path), repr(text))
    if key not in desk.kept:
        desk.kept.clear()
        desk.kept[key] = _open(path, text).understood()
    table, strange = desk.kept[key]
    return table, strange


TASK_FUNCTIONS: dict[str, Callable[..., Any]] = {
    task.__name__: task for task in (grow, look, mask, preview, publish, risk, suggest, tried, values)
}
