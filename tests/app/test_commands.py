"""The script writes the bytes that the command writes, of every format and role."""

import pathlib
import shlex

import numpy as np
import polars as pl
import pytest

from mag.app._commands import command_line, mask_words, script
from mag.app._fields import field_of, options_of_column, options_of_table, read_word, write_word
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
    "follow": ({"k": 3}, {"firm": "mask"}, {**MODE, "firm": {"follow": "age"}}),
    "sums": ({"k": 3}, {"firm": "mask"}, {**MODE, "firm": {"sums": "age+income"}}),
    "sets": ({"k": 3, "sets": "age+income, age+town=4"}, {}, MODE),
    "households": ({"k": 3, "k_household": "2", "household_columns": "town"}, {"firm": "household"}, MODE),
    "costs": (
        {"k": 3, "scope": "per-column", "cost": "sae"},
        {"town": "drop", "illness": "keep"},
        {},
    ),
    "other labels": ({"k": 4, "other": "root"}, {}, {"town": {"hierarchies": Hierarchy.flat(["Bonn", "Ulm"])}}),
    "a long limit": ({"k": 3, "method": "ona_star", "time_limit": "600"}, {}, MODE),
    "orders": ({"k": 3}, {}, {"town": {"order": "Bonn, Köln, Ulm", "aggregate": "median"}}),
    "importance": ({"k": 3}, {}, {**MODE, "income": {"importance": "2.5", "special": "0, -9", "round": "1"}}),
    "entropy": ({"k": 5}, {}, {**MODE, "illness": {"diversity": "entropy:1.5"}}),
    "recursion": ({"k": 5}, {}, {**MODE, "illness": {"diversity": "recursive:4,2"}}),
    "equal closeness": ({"k": 5}, {}, {**MODE, "illness": {"closeness": "0.9:equal"}}),
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
    if case == "households":  # each in one town
        frame = frame.with_columns(town=pl.lit("Ulm") + (pl.col("firm") % 3).cast(str))
    return frame


def read(settings):
    """Words as a page has them, and values as they are."""
    return {name: read_word(name, value) if isinstance(value, str) else value for name, value in settings.items()}


def test_every_option_that_the_page_sets_is_compared():
    every = {"weights", *options_of_table(), *options_of_column("mask"), *options_of_column("sensitive")}
    by_column = {name for _, _, settings in CASES.values() for own in settings.values() for name in own}
    assert every - by_column - {name for options, _, _ in CASES.values() for name in options} == set()


@pytest.mark.parametrize("option", [*options_of_table(), *options_of_column("mask"), *options_of_column("sensitive")])
def test_what_a_field_shows_is_read_again(option):
    words = {options.get(option, "") for options, _, _ in CASES.values()}
    words |= {own.get(option, "") for _, _, settings in CASES.values() for own in settings.values()}
    for word in words - {""}:
        value = read_word(option, word) if isinstance(word, str) else word
        assert read_word(option, write_word(value)) == value
    assert "NAME" not in field_of(option, None, "3").help


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather"])
def test_the_script_writes_the_bytes_of_the_command(tmp_path, case, ending):
    options, roles, settings = CASES[case]
    source, out, place, report = (tmp_path / f"{name}" for name in (f"in{ending}", f"out{ending}", "p.toml", "r.html"))
    frame = people(case)
    write = {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".feather": frame.write_ipc}[ending]
    write(source)
    every = ROLES | roles
    columns = tuple(PlannedColumn(name, every[name], "", read(settings.get(name, {}))) for name in ROLES)
    plan = Plan(columns, read(options))
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
