"""Long work in processes of its own: progress, results and one sentence of an error; any of it can be stopped."""

import contextlib
import hashlib
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from mag._lib.errors import REPORT, InputError, InputValueError, NotAnonymousError
from mag._lib.terminal import printable

Run = Callable[[Sequence[str], Callable[[float], object]], tuple[int, str, str]]  # a command: code, output, complaint
RUNNING, DONE, FAILED, STOPPED = "running", "done", "failed", "stopped"
MAX_IDLE_PROCESSES = 1  # that keep compiled code loaded
ENDED_SENTENCE = "The process that computes has ended; there may not be enough memory."
GRACE_SECONDS = 5.0  # for a stopped process to remove its drafts


@dataclass(eq=False)
class Job:
    """Some work: its `status`, the `fraction` that is done, `parts` of the result, and then the result or an error."""

    task: str
    status: str = RUNNING
    fraction: float | None = None
    parts: list[Any] = field(default_factory=list)
    result: Any = None
    error: str = ""
    ended: threading.Event = field(default_factory=threading.Event)
    _process: "Process | None" = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def stop(self) -> None:
        """End the work; the parts that are there remain."""
        with self._lock:
            if self.status != RUNNING:
                return
            self.status = STOPPED
        self.ended.set()
        if self._process is not None:
            self._process.end()

    def begin(self, process: "Process") -> bool:
        """Let a process work, unless the job was stopped."""
        with self._lock:
            if self.status == RUNNING:
                self._process = process
            return self.status == RUNNING

    def finish(self, error: str, result: Any = None) -> bool:
        """Take the result or an error, unless the job was stopped; its process ends then."""
        with self._lock:
            if self.status != RUNNING:
                return False
            self.error, self.result = error, result
            self.status = FAILED if error else DONE
        self.ended.set()
        return True

    def wait(self) -> Any:
        """The result, of work that is short; an error is raised again."""
        self.ended.wait()
        if self.status != DONE:
            raise InputValueError(self.error or "The work was stopped.")
        return self.result


class Process:
    """A process that runs tasks, one after the other."""

    def __init__(self, command: Sequence[str], folder: pathlib.Path) -> None:
        own = {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")}  # temporary files are private, too
        self._is_ending = False
        self._process: Any = subprocess.Popen(
            [*command, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | own,
            start_new_session=True,  # Ctrl-C is for the server, which ends its processes
        )

    def ask(self, task: str, inputs: dict[str, Any]) -> None:
        """Send a task."""
        pickle.dump((task, inputs), self._process.stdin)
        self._process.stdin.flush()

    def is_alive(self) -> bool:
        """Whether it can take a task."""
        return self._process.poll() is None

    def hear(self) -> tuple[str, Any]:
        """The next message; "ended" if the process has gone."""
        try:
            message: tuple[str, Any] = pickle.load(self._process.stdout)
        except (EOFError, pickle.UnpicklingError, ValueError):
            return "ended", None
        return message

    def end(self, seconds: float = GRACE_SECONDS) -> None:
        """End the process, in which commands remove their drafts."""
        self._terminate()
        threading.Thread(target=self._bury, args=(seconds,), daemon=True).start()

    def _terminate(self) -> None:
        if not self._is_ending:  # a second signal would disturb what the first one has begun
            self._is_ending = True
            self._process.terminate()

    def _bury(self, seconds: float) -> None:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def kill(self, seconds: float = 1.0) -> None:
        """End the process and wait for that; only then close its pipes, for it takes the end of its input for ours."""
        self._terminate()
        self._bury(seconds)
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # a task that it has not read
                pipe.close()


class Workshop:
    """Starts jobs, each in a process; an idle process is used again, because its code is loaded."""

    def __init__(self, command: Sequence[str], folder: pathlib.Path) -> None:
        self._command, self._folder = command, folder
        self._lock = threading.Lock()
        self._idle: list[Process] = []
        self._every: list[Process] = []

    def warm(self) -> None:
        """Start a process before there is work."""
        self._give_back(self._take())

    def start(self, task: str, inputs: dict[str, Any]) -> Job:
        """Begin a job."""
        job = Job(task)
        threading.Thread(target=self._follow, args=(job, inputs), daemon=True).start()
        return job

    def _follow(self, job: Job, inputs: dict[str, Any]) -> None:
        try:
            process = self._take()
        except OSError as error:  # no memory, or too many processes
            job.finish(sentence_of(error))
            return
        if not job.begin(process):
            self._give_back(process)
            return
        with contextlib.suppress(OSError):
            process.ask(job.task, inputs)
        kind, content = process.hear()
        while kind in ("fraction", "part"):
            if kind == "part":
                job.parts.append(content)
            else:
                job.fraction = content
            kind, content = process.hear()
        sentence = {"ended": ENDED_SENTENCE, FAILED: content}.get(kind, "")
        if job.finish(sentence, None if sentence else content) and kind != "ended":
            self._give_back(process)
        else:
            process.kill(GRACE_SECONDS)

    def _take(self) -> Process:
        with self._lock:
            while self._idle:
                if (process := self._idle.pop()).is_alive():
                    return process
                process.kill()
            process = Process(self._command, self._folder)
            self._every = [one for one in self._every if one.is_alive()] + [process]
            return process

    def _give_back(self, process: Process) -> None:
        with self._lock:
            if len(self._idle) < MAX_IDLE_PROCESSES:
                self._idle.append(process)
                return
        process.kill()

    def close(self) -> None:
        """End all processes."""
        for process in self._every:
            process.end()
        for process in self._every:
            process.kill()


# ---- in the process


@dataclass
class Desk:
    """The means of a task: it reports progress, runs commands, and keeps the tables that it has read."""

    tell: Callable[[str, Any], None]
    run: Run
    kept: dict[Any, Any] = field(default_factory=dict)

    def step(self, fraction: float) -> None:
        """Report the share that is done."""
        self.tell("fraction", fraction)


def work(run: Run, folder: pathlib.Path) -> None:
    """Read tasks from the standard input, and write messages to the standard output.

    The server ends its processes; if it has been killed, they are left with its private folder, and remove it.
    """
    try:
        _take_tasks(run)
    except (EOFError, BrokenPipeError):
        shutil.rmtree(folder, ignore_errors=True)


def _take_tasks(run: Run) -> None:
    from mag.app._tasks import TASK_FUNCTIONS

    out, tasks = os.fdopen(os.dup(sys.stdout.fileno()), "wb"), sys.stdin.buffer
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else may write between the messages
    desk = Desk(lambda kind, content: _tell(out, kind, content), run)
    warnings.simplefilter("ignore")  # those of libraries may quote cells
    while True:
        task, inputs = pickle.load(tasks)
        try:
            desk.tell(DONE, TASK_FUNCTIONS[task](desk, **inputs))
        except (InputError, NotAnonymousError, OSError, MemoryError) as error:
            desk.tell(FAILED, sentence_of(error))
        except BaseException as error:  # a Rust panic is a BaseException, not an Exception
            if isinstance(error, (SystemExit, KeyboardInterrupt)) or type(error).__name__ == "_Terminated":
                raise
            desk.tell(FAILED, tell_defect(error))


def tell_defect(error: BaseException) -> str:
    """The sentence about a defect, whose traceback goes to the terminal."""
    for line in "".join(traceback.format_exception(error)).splitlines():
        print(printable(line), file=sys.stderr)
    return f"This is a defect of mag; {REPORT} Look for data in the lines of the terminal before you send them."


def sentence_of(error: BaseException) -> str:
    """An error of the user or of the operating system as one sentence."""
    if isinstance(error, MemoryError):
        return "There is not enough memory."
    if isinstance(error, OSError) and not isinstance(error, InputError):
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror or error}."
    return str(error)


def _tell(out: BinaryIO, kind: str, content: Any) -> None:
    pickle.dump((kind, content), out)
    out.flush()


def version_of(path: pathlib.Path) -> tuple[int, int, int] | None:
    """Differs after a file has changed; None without a file."""
    with contextlib.suppress(OSError):
        status = path.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns
    return None


def key_of(task: str, inputs: dict[str, Any]) -> str:
    """Equal for equal inputs."""
    return hashlib.sha256(pickle.dumps((task, sorted(inputs.items())))).hexdigest()
