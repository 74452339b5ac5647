"""Killed, terminated, interrupted, or out of space in the middle of writing: no file has the final name."""

import pathlib
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

from mag.commands import cli

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")

ROWS = 150_000


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A file that takes a while to write; what masks it is compiled."""
    path = tmp_path_factory.mktemp("source") / "in.csv"
    frame = pl.DataFrame({"x": range(ROWS)}).with_columns(x=pl.col("x") / 8, t=pl.col("x").hash(1).cast(pl.String))
    frame.write_csv(path)
    frame.head(5000).write_csv(path.with_name("small.csv"))
    assert cli.main(["mask", str(path.with_name("small.csv")), "--dry-run", "--quiet", *OPTIONS]) == 0
    return path


OPTIONS = ["-k", "5", "-c", "x", "--keep", "t", "--scope", "per-column"]


def caught_writing(source, out):
    """A process that is stopped while its draft grows."""
    command = [sys.executable, "-m", "mag.commands.cli", "mask", str(source), "-o", str(out), *OPTIONS]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while process.poll() is None:
        drafts = [path for path in out.parent.glob(".*.part*") if path.suffix == out.suffix]
        if any(path.stat().st_size for path in drafts if path.exists()):
            process.send_signal(signal.SIGSTOP)
            return process
        time.sleep(0.0005)
    raise AssertionError(f"it was never seen to write: {process.stderr.read()}")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_killed_process_leaves_nothing_under_the_final_name(source, tmp_path, number):
    process = caught_writing(source, tmp_path / "out.csv")
    assert not list(tmp_path.glob("out*"))
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    _, complained = process.communicate(timeout=60)
    assert not list(tmp_path.glob("out*"))
    if number == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
        return
    assert process.returncode == 128 + number
    # A thread of polars may print that its channel was closed, before, after or around our sentence.
    sentences = ("mag: terminated; nothing was written.\n", "mag: interrupted; nothing was written.\n")
    assert complained in sentences or ("polars" in complained and any(one in complained for one in sentences))
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_goes_on_finishes(source, tmp_path):
    process = caught_writing(source, tmp_path / "out.csv")
    process.send_signal(signal.SIGCONT)
    assert process.wait(timeout=60) == 0
    process.stderr.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.csv.manifest.json"]


LIMITED = """
import json, resource, sys
import polars, pyarrow, pyreadstat, mag.tables  # whatever is compiled or unpacked on the way is so before
from mag.commands.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (2**14, 2**14))
for ending in sys.argv[1].split():
    print(main([*sys.argv[2:-1], sys.argv[-1] + "." + ending]), flush=True)
"""


def test_a_full_disk_is_one_sentence_and_leaves_nothing(source, tmp_path):
    endings, small = ["csv", "feather", "parquet", "dta", "sav", "xpt"], source.with_name("small.csv")
    given = [
        sys.executable,
        "-c",
        LIMITED,
        " ".join(endings),
        "mask",
        str(small),
        *OPTIONS,
        "-o",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(given, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.split() == ["2"] * 6, done.stderr
    assert list(tmp_path.iterdir()) == []
    sentences = done.stderr.splitlines()
    for ending, sentence in zip(endings, sentences, strict=True):
        assert sentence.startswith("mag: ")
        if ending in ("csv", "feather", "parquet", "xpt"):  # pyreadstat notices nothing in .xpt
            name = tmp_path / f"out.{ending}"
            assert sentence == f"mag: {name}: could not be written, File too large; nothing was left."


def test_a_report_that_fails_takes_everything_with_it(source, tmp_path, capsys, monkeypatch):
    from mag.tables._release import Release

    def full(self, path, **options):
        pathlib.Path(path).write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Release, "report", full, raising=False)
    small = source.with_name("small.csv")
    given = ["mask", str(small), "-o", str(tmp_path / "o.csv"), "--report", str(tmp_path / "r.html"), *OPTIONS]
    assert cli.main(given) == 2
    assert capsys.readouterr().err == "mag: No space left on device.\n"
    assert list(tmp_path.iterdir()) == []
