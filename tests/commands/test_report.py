"""`--report` and `--external-report`."""

import polars as pl
import pytest


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "people.csv"
    jobs = ["baker", "cook", "dentist"]
    pl.DataFrame({"age": [20 + i * 7 % 41 for i in range(60)], "job": [jobs[i % 3] for i in range(60)]}).write_csv(path)
    return path


@pytest.mark.parametrize(
    "words", [["mask", "-c", "age", "--keep", "job"], ["generalize", "-c", "job", "--flat", "job", "--keep", "age"]]
)
def test_an_external_report_is_written_next_to_the_internal_one(mag_, source, tmp_path, words):
    command, *roles = words
    internal, external = tmp_path / "internal.html", tmp_path / "external.html"
    given = [command, source, "-o", tmp_path / "out.csv", "-k", 3, *roles]
    code, said, complained = mag_(*given, "--report", internal, "--external-report", external)
    assert (code, complained) == (0, "")
    assert said.rstrip().endswith(f"{internal}, {external}")
    pages = internal.read_text(), external.read_text()
    for comparison in ("before and after", "people.csv", "mag " + command, "Risk", "Utility"):
        assert comparison in pages[0]
        assert comparison not in pages[1]
    assert "Guaranteed" in pages[1]


def test_one_file_is_not_both_reports(mag_, source, tmp_path):
    page = tmp_path / "page.html"
    given = ["mask", source, "-o", tmp_path / "out.csv", "-k", 3, "-c", "age", "--keep", "job"]
    code, _, complained = mag_(*given, "--report", page, "--external-report", page)
    assert code == 2
    assert "must be different files" in complained
    assert not page.exists()
