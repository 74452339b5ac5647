"""Numbers with marks between thousands: read where they are declared, refused where they are not in threes."""

import polars as pl
import pytest

from mag.commands.cli import main
from mag.files import File, Layout

CASES = {
    "point, comma": (".", True, ["12.345,50", "1.234", "-1.234.567", "7,5", "999"],
                     [12345.5, 1234, -1234567, 7.5, 999]),
    "comma, point": (",", False, ['"12,345.50"', '"1,234"', '"-1,234,567"', "7.5", "999"],
                     [12345.5, 1234, -1234567, 7.5, 999]),
    "blank": (" ", True, ["12 345,50", "1 234", "8", "-7,25", "0"], [12345.5, 1234, 8, -7.25, 0]),
    "apostrophe": ("'", False, ["12'345", "1'234", "8", "-7", "0"], [12345, 1234, 8, -7, 0]),
}  # fmt: skip


@pytest.mark.parametrize(("mark", "comma", "cells", "numbers"), CASES.values(), ids=CASES)
def test_declared_marks_are_left_out(mark, comma, cells, numbers, tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(
        "\n".join(["x;y" if comma else "x,y", *(f"{cell}{';' if comma else ','}a" for cell in cells)]) + "\n"
    )
    file = File(path, Layout(decimal_comma=comma, thousands=mark))
    assert file.read(["x"])[0]["x"].to_list() == numbers
    with pytest.raises(ValueError, match="column 'x'"):
        File(path, Layout(decimal_comma=comma)).read(["x"])


@pytest.mark.parametrize("cell", ["1.23", "1234.567", "1.2345", ".123", "1.234,5.6", "12.34.567"])
def test_marks_that_do_not_part_thousands_are_refused(cell, tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(f"x;y\n1.234;a\n{cell};b\n")
    with pytest.raises(ValueError, match="column 'x': 1 cell is neither a number"):
        File(path, Layout(decimal_comma=True, thousands=".")).read(["x"])


@pytest.mark.parametrize(("mark", "comma"), [(",", True), (".", False), ("x", False), ("", True)])
def test_other_marks_are_refused(mark, comma):
    with pytest.raises(ValueError, match=r"thousands must be one of .* got"):
        Layout(decimal_comma=comma, thousands=mark)


def test_the_command_reads_them(tmp_path, capsys):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text("rent;id\n" + "".join(f"{1 + i}.{100 + i},50;p{i}\n" for i in range(9)))
    given = ["mask", str(path), "-o", str(out), "-k", "3", "-c", "rent", "--drop", "id", "--decimal-comma"]
    assert main(given) == 2
    assert main([*given, "--thousands", "."]) == 0
    published = pl.read_csv(out, separator=";", decimal_comma=True)["rent"]
    assert published.unique().sort().to_list() == [2101.5, 5104.5, 8107.5]
    assert main(["look", str(path), "--decimal-comma", "--thousands", "."]) == 0
    assert "number" in capsys.readouterr().out
