"""The script writes the bytes that the command writes, of every format and role."""

import pathlib
import shlex

import numpy as np
import polars as pl
import pytest

from mag.app._commands import command_line, mask_words, script
from mag.commands.cli import main
from mag.hierarchy import Hierarchy
from mag.tables.plan import Plan, PlannedColumn

N = 120
ROLES = {"name": "drop", "town": "mask", "age": "mask", "income": "mask", "firm": "keep", "illness": "sensitive"}
TREE = Hierarchy.from_levels([["Bonn", "west", "*"], ["Köln", "west", "*"], ["Ulm", "south", "*"]])
MODE, LABELS = {"town": {"aggregate": "mode"}}, {"town": {"hierarchies": TREE}}
CASES = {
    "mode": ({"k": 3}, {}, MODE),
    "hierarchy": ({"k": 4, "method": "mondrian"}, {}, LABELS),
    "strata": ({"k": 3, "small_strata": "merge"}, {"town": "by"}, {}),
    "one column each": ({"k": 3, "scope": "per-column"}, {"town": "drop", "illness": "keep"}, {}),
    "weights": ({"k": 3, "weights": "firm"}, {}, MODE),
    "people": ({"k": 3}, {"firm": "unit"}, MODE),
    "closeness": ({"k": 5}, {}, {**MODE, "illness": {"closeness": 0.9}}),
    "diversity": ({"k": 5}, {}, {**MODE, "illness": {"diversity": 2}}),
    "decimals": ({"k": 3, "round": 1, "shuffle": True, "random_state": 7}, {}, MODE),
    "missing": ({"k": 3, "missing": "group", "standardize": False}, {}, MODE),
    "sums": ({"k": 3}, {"firm": "mask"}, {**MODE, "firm": {"follow": "age"}}),
}


def people(case):
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "name": [f"Person {place}" for place in range(N)],
            "town": rng.choice(["Bonn", "Köln", "Ulm"], N),
            "age": rng.integers(18, 90, N),
            "income": rng.lognormal(8, 1, N).round(2),
            "firm": rng.integers(1, 60, N),
            "illness": rng.choice(["flu", "gout", "cold"], N),
        }
    )
    if case == "missing":
        frame = frame.with_columns(pl.when(pl.col("age") % 9 > 0).then("income"))
    return frame


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather"])
def test_the_script_writes_the_bytes_of_the_command(tmp_path, case, ending):
    options, roles, settings = CASES[case]
    source, out, place, report = (tmp_path / f"{name}" for name in (f"in{ending}", f"out{ending}", "p.toml", "r.html"))
    frame = people(case)
    write = {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".feather": frame.write_ipc}[ending]
    write(source)
    every = ROLES | roles
    plan = Plan(tuple(PlannedColumn(name, every[name], "", settings.get(name, {})) for name in ROLES), options)
    plan.save(place)
    words = mask_words(source, out, place, report)
    text = script(source, str(source), out, place, Plan.read(place), words)
    assert main(shlex.split(command_line(words))[1:]) == 0
    by_command = out.read_bytes()
    assert b"Person" not in by_command
    out.unlink()
    exec(compile(text, "script", "exec"), {"__name__": "__main__"})
    assert out.read_bytes() == by_command
    assert not list(pathlib.Path(tmp_path).glob(".part*"))
    with pytest.raises(SystemExit, match="exists"):
        exec(compile(text, "script", "exec"), {"__name__": "__main__"})
