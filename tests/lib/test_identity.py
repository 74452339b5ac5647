"""A file has an identity besides its name: no run overwrites a file that it reads, and one run at a time writes."""

import ast
import collections
import hashlib
import inspect
import itertools
import json
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import mag
import mag.dp
from mag import report
from mag._lib.atomic import MANIFEST, writing
from mag._lib.identity import find_files, identify
from mag._lib.lock import exclusive_lock
from mag.commands import COMMANDS, function_of
from mag.commands._options import is_written, names_file
from mag.commands.cli import main
from mag.graphs.edge_list import write_edge_list

posix = pytest.mark.skipif(sys.platform == "win32", reason="links and signals of POSIX")
AGES, DOMAIN = {"age": [31, 33, 35]}, {"age": mag.dp.Numbers(0, 120, 30)}
ROOT = pathlib.Path(mag.__file__).parent


def spend(budget):
    return mag.dp.sample(AGES, DOMAIN, epsilon=1, delta=0.01, budget=budget)


def symlinked(tmp_path, file):
    (tmp_path / "links").mkdir(exist_ok=True)
    link = tmp_path / "links" / file.name
    link.symlink_to(file)
    return link


def linked_hard(tmp_path, file):
    (tmp_path / "links").mkdir(exist_ok=True)
    link = tmp_path / "links" / file.name
    os.link(file, link)
    return link


def linked_folder(tmp_path, file):
    (tmp_path / "folder").symlink_to(file.parent)
    return tmp_path / "folder" / file.name


LINKS = {"symbolic link": symlinked, "hard link": linked_hard, "linked folder": linked_folder}
by_link = pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)


# ---- ledgers


def test_a_budget_stays_with_its_file_wherever_the_process_goes(tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "one")
    budget = mag.dp.Budget(epsilon=1, delta=0.5, file="people.ledger")
    spend(budget)
    monkeypatch.chdir(tmp_path / "two")
    with pytest.raises(mag.dp.BudgetExceededError):
        spend(budget)
    assert budget.spent[0] == 1
    assert os.listdir(tmp_path / "two") == []


def remove(ledger):
    ledger.unlink()


def replace_by_a_new_one(ledger):
    other = mag.dp.Budget(epsilon=1, delta=0.5, file=ledger.with_name("other"))
    os.replace(other.file, ledger)


def shorten(ledger):
    ledger.write_text(ledger.read_text().splitlines(keepends=True)[0])


def empty(ledger):
    ledger.write_bytes(b"")


def edit(ledger):
    ledger.write_text(ledger.read_text().replace('"epsilon": "1", "delta": "1/100"', '"epsilon": "0", "delta": "0"'))


@pytest.mark.parametrize("harm", [remove, replace_by_a_new_one, shorten, empty, edit])
@pytest.mark.parametrize("whose", ["object", "new", "loaded", "command"])
def test_a_ledger_that_is_gone_or_changed_is_no_new_budget(tmp_path, harm, whose, capsys):
    ledger = tmp_path / "people.ledger"
    budget = mag.dp.Budget(epsilon=1, delta=0.5, file=ledger)
    spend(budget)
    before = ledger.read_bytes()
    harm(ledger)
    assert not ledger.exists() or ledger.read_bytes() != before
    sentence = r"'people.ledger', the ledger of a budget, (was removed; put it|was replaced, shortened or edited)"
    if whose == "command":
        (tmp_path / "in.csv").write_text("age\n31\n33\n")
        given = [
            "dp",
            "histogram",
            tmp_path / "in.csv",
            "--epsilon",
            1,
            "--numbers",
            "age=0:100:50",
            "--ledger",
            ledger,
        ]
        for own in ([], ["--ledger-epsilon", 1, "--ledger-delta", 0.5]):
            assert main([*map(str, [*given, *own]), "-o", str(tmp_path / "out.csv")]) == 2
            assert "the ledger of a budget" in capsys.readouterr().err
        assert not (tmp_path / "out.csv").exists()
        return
    ways = {
        "object": lambda: spend(budget),
        "new": lambda: mag.dp.Budget(epsilon=1, delta=0.5, file=ledger),
        "loaded": lambda: mag.dp.Budget.load(ledger),
    }
    with pytest.raises(ValueError, match=sentence):
        ways[whose]()
    if ledger.exists():
        ledger.unlink()
    ledger.write_bytes(before)  # what was there is put back
    assert mag.dp.Budget.load(ledger).spent[0] == 1


def test_a_ledger_without_marker_is_taken_as_it_is(tmp_path):
    """One of an earlier version, or one that was moved."""
    ledger = tmp_path / "people.ledger"
    ledger.write_text('{"epsilon": "1", "delta": "1/2"}\n')
    spend(mag.dp.Budget.load(ledger))
    [marker] = [path for path in tmp_path.iterdir() if path != ledger]
    marker.unlink()
    os.rename(ledger, tmp_path / "moved")
    with pytest.raises(mag.dp.BudgetExceededError):
        spend(mag.dp.Budget.load(tmp_path / "moved"))


def test_a_kill_between_ledger_and_marker_is_no_harm(tmp_path):
    ledger = tmp_path / "people.ledger"
    budget = mag.dp.Budget(epsilon=2, delta=0.5, file=ledger)
    marker = tmp_path / ".people.ledger.spent"
    for half in (marker.read_bytes(), marker.read_bytes() + b"97 abc", b"9"):
        before = len(budget.ledger)
        budget.charge(mag.dp.sample(AGES, DOMAIN, epsilon=0.1, delta=0.01).ledger[0])
        marker.write_bytes(half)
        assert len(mag.dp.Budget.load(ledger).ledger) == before + 1


def spend_in_turn(files, user, ready, granted):
    budgets = [mag.dp.Budget(epsilon=1, delta=0.01, file=file) for file in files]
    spend(None)
    for place, budget in enumerate(budgets):
        ready.wait()
        try:
            spend(budget)
            granted[user * len(files) + place] = 1
        except mag.dp.BudgetExceededError:
            pass


@posix
@by_link
def test_two_names_of_a_ledger_are_one_budget(tmp_path, link):
    """Two processes at the same moment, over and over: each budget is spent once."""
    names, rounds = [], 150
    (tmp_path / "data").mkdir()
    for place in range(rounds):
        file = tmp_path / "data" / f"{place}.ledger"
        mag.dp.Budget(epsilon=1, delta=0.01, file=file)
        (tmp_path / f"{place}").mkdir()
        names.append((file, link(tmp_path / f"{place}", file)))
    context = multiprocessing.get_context("spawn")
    ready, granted = context.Barrier(2), context.Array("i", 2 * rounds)
    workers = [
        context.Process(target=spend_in_turn, args=([pair[user] for pair in names], user, ready, granted))
        for user in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [granted[place] + granted[rounds + place] for place in range(rounds)] == [1] * rounds


# ---- locks


@posix
@by_link
@pytest.mark.parametrize("there", [True, False])
def test_links_share_a_lock(tmp_path, link, there):
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "out.csv"
    if there:
        file.write_text("x")
    elif link is linked_hard:
        pytest.skip("a file that is not there has no hard links")
    other = link(tmp_path, file)
    for first, second in [(file, other), (other, file)]:
        with (
            exclusive_lock(first),
            pytest.raises(BlockingIOError, match="another run is writing"),
            exclusive_lock(second),
        ):
            pass
    with exclusive_lock(file):
        pass
    assert not list(tmp_path.rglob("*.lock"))


def test_a_lock_is_of_the_folder_that_was_meant(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    with writing("out.csv") as [draft]:
        monkeypatch.chdir(tmp_path / "sub")
        draft.write_text("x")
    assert (tmp_path / "out.csv").read_text() == "x"
    assert os.listdir(tmp_path / "sub") == []


@posix
def test_several_locks_are_all_or_none(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    with exclusive_lock(b):
        with pytest.raises(BlockingIOError), exclusive_lock(a, b):
            pass
        with exclusive_lock(a):
            pass


@posix
def test_a_lock_ends_though_a_child_lives(tmp_path):
    """A process that was forked while the lock was held has its file open."""
    file = tmp_path / "out.csv"
    file.write_text("x")
    with exclusive_lock(file):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    with exclusive_lock(file):
        pass
    child.communicate(b"\n", timeout=60)


# ---- what the commands read and write, by their own lists of options

PEOPLE = "age,job,disease\n" + "".join(f"{20 + i},{'ab'[i % 2]},{'xyz'[i % 3]}\n" for i in range(24))
CONTENT = {  # of the files that options name to be read
    "source": PEOPLE,
    "hierarchy": "a;g;*\nb;g;*\n",
    "closeness": "x;g;*\ny;g;*\nz;g;*\n",
    "levels": "a;g;*\nb;g;*\n",
    "ledger": '{"epsilon": "100", "delta": "0"}\n',
    "plan": "version = 1\n",
    "manifest": json.dumps(
        {
            "mag": "0.1.0",
            "versions": {},
            "options": {"k": 2, "columns": ["age"], "by": [], "keep": []},
            "guarantee": {},
            "published": {"sha256": {"age": ""}},
            "files": {"output": {"name": "out.csv", "sha256": ""}},
        }
    ),
}
WORDS = {"hierarchy": "job={}", "closeness": "disease=1:{}", "levels": "job={}:1"}
REQUIRED = {
    "mask": ["-k", 2, "-c", "age", "-c", "job", "--prove-input", "--method", "mdav"],
    "generalize": ["-k", 2, "-c", "age", "-c", "job", "--intervals", "age=0:120:40,120"],
    "compare": ["-k", 2, "-c", "age", "-c", "job", "--method", "mdav"],
    "graph": ["-k", 2, "--keep", "nodes"],
    "dp": ["--epsilon", 1, "--numbers", "age=0:100:50", "--drop", "disease"],
    "assess": ["--qi", "age", "--qi", "job"],
    "plan": [],
    "rerun": [],
    "suppress": ["-k", 2, "-c", "job", "-c", "disease", "--rest", "drop"],
}
CODES = {"rerun": 1}  # of runs that succeed: the columns differ from those of no release
ARGUMENTS = ("manifest", "source")  # that have no option
ENDINGS = {
    "out": ".csv",
    "plot": ".png",
    "report": ".html",
    "external_report": ".html",
    "withheld": ".txt",
    "names": ".txt",
}
RING = "".join(f"{i} {(i + 1) % 9}\n" for i in range(9))


def options_of(command):
    """The options of a command that name files: those that it writes, and those that it reads."""
    files = [one for one in inspect.signature(function_of(command)).parameters.values() if names_file(one)]
    written = [one.name for one in files if is_written(one)]
    return written, [one.name for one in files if not is_written(one)]


WRITERS = [name for name in COMMANDS if options_of(name)[0] and options_of(name)[0] != ["folder"]]


def set_up(folder, command, written):
    """The arguments of a run whose files all exist, and the files by option."""
    _, read = options_of(command)
    files = {name: folder / f"{name}.csv" for name in read}
    for name, path in files.items():
        if not path.exists():
            path.write_text(RING if command == "graph" else CONTENT[name])
    given = [command, *(["histogram"] if command == "dp" else [])]
    given += [*(files[name] for name in ARGUMENTS if name in files), *REQUIRED[command]]
    for name in read:
        if name not in ARGUMENTS:
            given += [f"--{name}", WORDS.get(name, "{}").format(files[name])]
    for name, path in written.items():
        given += [f"--{name.replace('_', '-')}", path]
    quiet = ["--quiet"] if "quiet" in inspect.signature(function_of(command)).parameters else []
    return [str(word) for word in [*given, "--overwrite", *quiet]], files


def apart(folder, command):
    return {name: folder / f"new_{name}{ENDINGS[name]}" for name in options_of(command)[0]}


def test_the_options_that_name_files_are_known():
    """A new one is read unless it is marked as written; those of commands that write are tested below."""
    assert set(WRITERS) == {*REQUIRED}
    assert {name: options_of(name) for name in ("mask", "dp")} == {
        "mask": (["out", "report", "external_report", "withheld"], ["source", "plan", "closeness", "hierarchy"]),
        "dp": (["out"], ["source", "levels", "ledger"]),
    }
    for command in WRITERS:
        written, read = options_of(command)
        assert {*written} <= {*ENDINGS}, "say how a file of the option ends"
        assert {*read} <= {*CONTENT}, "say what a file of the option holds"


@pytest.mark.parametrize("command", WRITERS)
def test_a_run_whose_files_differ_writes_them(tmp_path, command):
    targets = apart(tmp_path, command)
    given, files = set_up(tmp_path, command, targets)
    before = {name: path.read_bytes() for name, path in files.items()}
    assert main(given) == CODES.get(command, 0)
    assert all(path.stat().st_size for path in targets.values())
    kept = {name: path.read_bytes()[: len(before[name])] for name, path in files.items()}  # a ledger grows
    assert kept == before


CASES = [
    (command, written, read)
    for command in WRITERS
    for written, read in itertools.product(options_of(command)[0], options_of(command)[1])
]


@posix
@pytest.mark.parametrize(("command", "written", "read"), CASES)
def test_no_output_is_a_file_that_the_run_reads(tmp_path, command, written, read, capsys):
    targets = apart(tmp_path, command)
    _, files = set_up(tmp_path, command, targets)
    name = f"other{ENDINGS[written]}"
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / name).symlink_to(files[read])
    os.link(files[read], tmp_path / name)
    ways = [tmp_path / name, tmp_path / "links" / name]
    if ENDINGS[written] == ".csv":
        ways += [files[read], tmp_path / "links" / ".." / files[read].name]
    for target in ways:
        given, _ = set_up(tmp_path, command, targets | {written: target})
        before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
        assert main(given) == 2
        assert f"{str(target)!r} is read by this run, as " in capsys.readouterr().err
        assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(("command", "read"), [(c, read) for c, written, read in CASES if written == "out"])
def test_no_manifest_is_a_file_that_the_run_reads(tmp_path, command, read, capsys):
    if command in ("graph", "plan"):
        pytest.skip("it writes no manifest")
    if read == "source":
        pytest.skip("a table has another ending")
    targets = apart(tmp_path, command)
    given, files = set_up(tmp_path, command, targets)
    beside = tmp_path / f"{targets['out'].name}{MANIFEST}"
    os.rename(files[read], beside)
    assert main([word.replace(str(files[read]), str(beside)) for word in given]) == 2
    assert "is read by this run, as " in capsys.readouterr().err
    assert beside.read_text() == CONTENT[read]


PAIRS = [(c, *pair) for c in WRITERS for pair in itertools.combinations(options_of(c)[0], 2)]


@pytest.mark.parametrize(("command", "one", "other"), [*PAIRS, *((c, "report", "manifest") for c in ("mask",))])
def test_no_two_outputs_are_one_file(tmp_path, command, one, other, capsys):
    targets = apart(tmp_path, command)
    if other == "manifest":
        targets["report"] = tmp_path / f"New_out.csv{MANIFEST}".upper()  # one file on some systems
    else:
        targets[other] = targets[one]
    given, _ = set_up(tmp_path, command, targets)
    before = sorted(tmp_path.iterdir())
    assert main(given) == 2
    assert "the files to write must be different files" in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before


def test_a_ledger_is_never_replaced(tmp_path, capsys):
    """Not even by a run that does not read it."""
    ledger = tmp_path / "spent.csv"
    release = spend(mag.dp.Budget(epsilon=1, delta=0.5, file=ledger))
    before = ledger.read_bytes()
    for write in (release.write, release.report):
        with pytest.raises(ValueError, match=r"is the ledger of a budget, which is never replaced; choose"):
            write(ledger, overwrite=True)
    (tmp_path / "in.csv").write_text(PEOPLE)
    given = ["mask", tmp_path / "in.csv", "-k", 2, "-c", "age", "--drop", "job", "--drop", "disease", "--overwrite"]
    assert main([*map(str, given), "-o", str(ledger)]) == 2
    assert "is the ledger of a budget" in capsys.readouterr().err
    assert main([*map(str, given), "-o", str(tmp_path / "o.csv"), "--report", str(tmp_path / ".spent.csv.spent")]) == 2
    assert ledger.read_bytes() == before


def test_a_ledger_that_is_begun_is_no_output(tmp_path, capsys):
    (tmp_path / "in.csv").write_text(PEOPLE)
    given = ["dp", "histogram", tmp_path / "in.csv", *REQUIRED["dp"], "--drop", "job", "--ledger-epsilon", 1]
    given += ["--ledger", tmp_path / "new.csv", "-o", tmp_path / "new.csv", "--overwrite"]
    assert main([str(word) for word in given]) == 2
    assert "is read by this run" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["in.csv"]


def test_files_are_found_in_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b=c.csv", "d"):
        pathlib.Path(name).write_text("x")
    words = ["x=b=c.csv", "y=d:3", "z=0.2:a.csv", "a\0b"]
    found = find_files(pathlib.Path("a.csv"), words, None, 3)
    assert [str(path) for path in found] == ["a.csv", "b=c.csv", "d", "a.csv"]
    assert identify("a.csv") == identify(tmp_path / "a.csv") != identify("d")


# ---- what Python writes


def writers(tmp_path):
    """All functions that write a file, by name, each with a way to call it."""
    frame = pl.DataFrame({"age": [31, 33, 52, 54]})
    release = mag.microaggregate(frame, 2, "age")
    private = mag.dp.sample(AGES, DOMAIN, epsilon=1, delta=0.01)
    tree = mag.Hierarchy([["a", "*"], ["b", "*"]])
    source = tmp_path / "in.parquet"
    frame.write_parquet(source)
    facts = report.ReportFacts(
        title="Ages", guarantee="", scope="joint", k=2, smallest=2, original={"age": np.array([1.0, 2.0])},
        masked={"age": np.array([1.5, 1.5])}, labels=np.array([0, 0]),
    )  # fmt: skip
    return {
        "Release.report": release.report,
        "PrivateRelease.report": private.report,
        "PrivateRelease.write": private.write,
        "Hierarchy.to_arx": tree.to_arx,
        "report.write": lambda path, **options: report.write(path, facts, **options),
        "write_edge_list": lambda path, **options: write_edge_list(path, np.array([[0, 1]]), 2, **options),
        "microaggregate": lambda path, **options: mag.microaggregate(
            source, 2, "age", scope="per-column", output=path, **options
        ),
    }


WRITING = ["Release.report", "PrivateRelease.report", "PrivateRelease.write", "Hierarchy.to_arx", "report.write"]


@pytest.mark.parametrize("name", [*WRITING, "write_edge_list", "microaggregate"])
def test_nothing_is_replaced_unless_told_so(tmp_path, name):
    path = tmp_path / "there.csv"
    path.write_text("mine")
    write = writers(tmp_path)[name]
    with pytest.raises(FileExistsError, match="the file exists; choose another name, or pass overwrite=True"):
        write(path)
    with pytest.raises(TypeError, match="overwrite must be True or False"):
        write(path, overwrite="yes")
    assert path.read_text() == "mine"
    write(path, overwrite=True)
    assert path.read_bytes() != b"mine"


def test_a_release_spares_the_files_that_were_read_for_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("jobs.csv").write_text("a;g;*\nb;g;*\n")
    (tmp_path / "sub").mkdir()
    for make in (mag.microaggregate, mag.generalize):
        monkeypatch.chdir(tmp_path)
        release = make({"job": ["a", "a", "b", "b"]}, 2, ["job"], hierarchies={"job": "jobs.csv"})
        monkeypatch.chdir(tmp_path / "sub")
        with pytest.raises(ValueError, match="is read by this run"):
            release.report(tmp_path / "jobs.csv", overwrite=True)


RAW = {"write_text", "write_bytes", "savefig", "write_csv", "write_parquet", "to_csv", "to_parquet", "tofile"}
WITH_DRAFTS = {  # modules whose functions are handed a draft, or a folder that only their run knows
    "mag/commands/_table.py", "mag/commands/warmup.py", "mag/files/csv.py", "mag/files/parquet.py",
    "mag/files/xlsx.py", "mag/files/_statistics.py",
    "mag/_lib/class_counter.py", "mag/tables/parquet/_parts.py",
    "mag/app/_server.py", "mag/app/_session.py",
}  # fmt: skip


def test_files_are_written_as_drafts():
    """Whoever writes a file takes its draft from `_lib/atomic`, which checks and locks."""
    found = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            where = node.func.value if called in RAW and isinstance(node.func, ast.Attribute) else None
            if called == "open" and any(
                isinstance(mode, ast.Constant) and isinstance(mode.value, str) and {*mode.value} & {*"wax"}
                and {*mode.value} <= {*"waxb+"} for mode in node.args
            ):  # fmt: skip
                where = node
            if where is not None and not any(word in ast.unparse(node) for word in ("draft", "note.")):
                found.add(path.relative_to(ROOT.parent).as_posix())
    assert found == WITH_DRAFTS


# ---- two runs

HELD = """
import sys
from mag import files
from mag.graphs import edge_list
def waiting(step):
    def wait(*given, **options):
        if not waited:
            waited.append(1)
            print("running", flush=True)
            sys.stdin.readline()
        return step(*given, **options)
    return wait
waited = []
files.File.read = waiting(files.File.read)
files.File.understood = waiting(files.File.understood)
edge_list.read_edge_list = waiting(edge_list.read_edge_list)
from mag.commands.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("end", ["well", "killed"])
@pytest.mark.parametrize("command", WRITERS)
def test_the_second_run_into_one_output_gets_one_sentence(tmp_path, command, end, capsys):
    """And no time is lost: the first holds its files from before it reads IN until all have their names."""
    if end == "killed" and (sys.platform == "win32" or command != "mask"):
        pytest.skip("one command of POSIX is enough")
    targets = apart(tmp_path, command)
    given, _ = set_up(tmp_path, command, targets)
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, *given], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "running\n"
    for name, path in targets.items():  # one file in common is enough
        other = {aside: file.with_name(f"second_{file.name}") for aside, file in targets.items()} | {name: path}
        again, _ = set_up(tmp_path, command, other)
        assert main(again) == 2
        sentence = "another run is writing this file; wait for it to end, or choose another name."
        assert capsys.readouterr().err == f"mag: {path}: {sentence}\n"
        assert not path.exists()
    if end == "killed":
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert main(given) == 0
    else:
        process.communicate("\n", timeout=120)
        assert process.returncode == CODES.get(command, 0)
    assert all(path.exists() for path in targets.values())
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".") and "ledger" not in name]


def mask_again_and_again(folder, name, rounds, barrier, codes):
    os.chdir(folder)
    for _ in range(rounds):
        barrier.wait()
        k = {"a": "2", "b": "10"}[name]
        codes.put(main(["mask", f"{name}.csv", "-o", "out.csv", "-k", k, "-c", "age", "-q", "--overwrite"]))
        barrier.wait()
        barrier.wait()


def test_file_and_manifest_are_of_one_run(tmp_path):
    """Two processes write one output at the same moment, over and over."""
    rounds = 60
    for j, name in enumerate("ab"):
        (tmp_path / f"{name}.csv").write_text("age\n" + "".join(f"{(i * 7 + j) % 90}\n" for i in range(40)))
    context = multiprocessing.get_context("spawn")
    barrier, codes = context.Barrier(3), context.SimpleQueue()
    workers = [
        context.Process(target=mask_again_and_again, args=(tmp_path, name, rounds, barrier, codes)) for name in "ab"
    ]
    for worker in workers:
        worker.start()
    for _ in range(rounds):
        barrier.wait()
        barrier.wait()
        check_pair(tmp_path / "out.csv")
        found = sorted(codes.get() for _ in range(2))
        assert found in ([0, 0], [0, 2])
        barrier.wait()
    for worker in workers:
        worker.join()


def check_pair(out):
    """The manifest is of the file, and true."""
    manifest = json.loads(out.with_name(f"{out.name}{MANIFEST}").read_text())
    assert hashlib.sha256(out.read_bytes()).hexdigest() == manifest["files"]["output"]["sha256"]
    assert min(collections.Counter(out.read_text().split()[1:]).values()) >= manifest["guarantee"]["k"]


KILLED = """
import os, signal, sys
from mag.commands.cli import main
real, calls = os.replace, []
def replace(*given):
    if len(calls) == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    calls.append(given)
    return real(*given)
os.replace = replace
sys.exit(main(sys.argv[2:]))
"""


@posix
@pytest.mark.parametrize("step", range(4))
def test_a_kill_between_two_names_leaves_no_wrong_pair(tmp_path, step):
    out = tmp_path / "out.csv"
    (tmp_path / "in.csv").write_text("age\n" + "".join(f"{i * 7 % 90}\n" for i in range(40)))
    given = ["mask", str(tmp_path / "in.csv"), "-o", str(out), "-c", "age", "-q", "--overwrite"]
    assert main([*given, "-k", "2"]) == 0
    command = [sys.executable, "-c", KILLED, str(step), *given, "-k", "10"]
    assert subprocess.run(command, check=False, timeout=120).returncode == -signal.SIGKILL
    if out.exists():
        check_pair(out)
    assert main([*given, "-k", "10"]) == 0
    check_pair(out)


@pytest.mark.parametrize("step", range(4))
def test_what_was_there_comes_back_where_a_name_fails(tmp_path, monkeypatch, step):
    targets = [tmp_path / "out.csv", tmp_path / "report.html"]
    for target in targets:
        target.write_text("old")
    real, calls = os.replace, []

    def fail_once(*given):
        calls.append(given)
        if len(calls) == step + 1:
            raise OSError(5, "Input/output error")
        real(*given)

    monkeypatch.setattr(os, "replace", fail_once)
    with pytest.raises(OSError, match="Input/output"), writing(*targets, overwrite=True):
        pass
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"out.csv": "old", "report.html": "old"}


# ---- parts


def test_a_refused_run_leaves_no_parts(tmp_path, capsys):
    """The second column has a missing cell, which shows only when the first one is finished."""
    source = tmp_path / "in.parquet"
    pl.DataFrame({"age": [31.0, 33, 52, 50], "inc": [1.0, None, 3, 4]}).write_parquet(source)
    given = ["mask", source, "-o", tmp_path / "out.parquet", "-k", 2, "-c", "age", "-c", "inc", "--scope", "per-column"]
    assert main([str(word) for word in given]) == 2
    assert "missing" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [source]


STOPPED = """
import os, signal, sys
from mag.tables.parquet import per_column
real = per_column.ColumnFiles.add
def add(*given):
    real(*given)
    if sys.argv[4] == "error":
        raise MemoryError
    os.kill(os.getpid(), getattr(signal, sys.argv[4]))
per_column.ColumnFiles.add = add
from mag.commands.cli import main
sys.exit(main(["mask", sys.argv[1], "-o", sys.argv[2], "-k", "2", "-c", sys.argv[3], "--scope", "per-column"]))
"""


def stop(source, output, how):
    command = [sys.executable, "-c", STOPPED, source, output, "age", how]
    return subprocess.run(command, check=False, timeout=120, capture_output=True, text=True).returncode


@posix
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "error"])
def test_every_end_but_a_kill_removes_the_parts(tmp_path, how):
    source = tmp_path / "in.parquet"
    pl.DataFrame({"age": [31.0, 33, 52, 50]}).write_parquet(source)
    assert stop(source, tmp_path / "out.parquet", how) == {"SIGINT": 130, "SIGTERM": 143, "error": 2}[how]
    assert list(tmp_path.iterdir()) == [source]


@posix
def test_parts_of_a_killed_run_confirm_no_guess(tmp_path):
    """Whoever finds the folder and guesses the original right cannot know it, with the salt and all that is there."""
    from mag._lib.content import update_hash

    source = tmp_path / "in.parquet"
    pl.DataFrame({"age": [31.0, 33, 52, 50]}).write_parquet(source)
    assert stop(source, tmp_path / "out.parquet", "SIGKILL") == -signal.SIGKILL
    folder = tmp_path / ".out.parquet.parts"
    assert folder.stat().st_mode & 0o777 == 0o700
    journal = json.loads((folder / "journal.json").read_text())
    kept = journal["columns"]["age"]["made_of"]["age"]
    column = pa.chunked_array([pa.array([31.0, 33.0, 52.0, 50.0])])

    def hash_of(new, *first):
        hashed = new()
        for data in first:
            hashed.update(data)
        update_hash(hashed, column)
        return hashed.hexdigest()

    salt = bytes.fromhex(journal["salt"])
    import hmac

    for new in (hashlib.sha256, lambda: hmac.new(salt, digestmod="sha256")):
        for first in ([], [salt], [journal["run"].encode()]):
            assert hash_of(new, *first) != kept
    # The holder of the file, who knows what the system knows of it, goes on.
    assert mag.microaggregate(source, 2, "age", scope="per-column", output=tmp_path / "out.parquet").resumed == 1
    assert not folder.exists()
