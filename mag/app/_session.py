"""The state of one tab: what the user has decided, step by step, so that every decision can be taken back."""

import pathlib
import secrets
import shutil
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from mag.app._work import RUNNING, Job, Workshop, key_of, version_of
from mag.tables.plan import Plan

MAX_UNDO = 100  # states that can be taken back
MAX_KEPT_JOBS = 30  # that have ended, with their results
PRIVATE_FOLDER = 0o700


@dataclass(frozen=True)
class Trial:
    """The methods and group sizes of the risk–loss picture."""

    methods: tuple[str, ...] = ("auto", "mdav", "mondrian")
    sizes: tuple[int, ...] = (3, 5, 10, 20)
    records: int | None = 20_000


@dataclass(frozen=True)
class TabState:
    """All decisions: the file and how it is read, the plan, and how far the user has come."""

    path: pathlib.Path | None = None
    is_dropped: bool = False  # whether the file is a copy in the private folder
    text: Mapping[str, Any] = field(default_factory=dict)
    plan: Plan | None = None
    reached: int = 0  # the number of the last step that may be opened
    trial: Trial = Trial()
    did: str = ""  # which decision led to this state


class Session:
    """One tab: its states, its jobs and the files that it may show."""

    def __init__(self, workshop: Workshop, folder: pathlib.Path) -> None:
        self.name = secrets.token_urlsafe(32)
        self.folder = folder / secrets.token_hex(8)
        self.folder.mkdir(mode=PRIVATE_FOLDER)
        self._workshop, self._lock = workshop, threading.RLock()
        self._states, self._jobs = [TabState()], dict[str, Job]()
        self._latest: dict[Any, str] = {}  # the key of the latest job of a task, and of a column
        self.shown: dict[str, pathlib.Path] = {}  # by name: the only files that an address of this session gives
        self.published: dict[str, Any] | None = None

    @property
    def state(self) -> TabState:
        """The present decisions."""
        return self._states[-1]

    @property
    def plan(self) -> Plan:
        """The plan, once there is one."""
        assert self.state.plan is not None
        return self.state.plan

    @property
    def path(self) -> pathlib.Path:
        """The file, once it is open."""
        assert self.state.path is not None
        return self.state.path

    def change(self, did: str, **decisions: Any) -> None:
        """Take decisions; undo brings the state before them back."""
        with self._lock:
            self._states = [*self._states[-MAX_UNDO:], replace(self.state, did=did, **decisions)]

    def advance(self, reached: int) -> None:
        """Let the user open the steps up to this one; that is no decision."""
        with self._lock:
            self._states[-1] = replace(self.state, reached=max(reached, self.state.reached))

    def undo(self) -> str:
        """Take the last decision back; returns which one."""
        with self._lock:
            return self._states.pop().did if len(self._states) > 1 else ""

    @property
    def last_decision(self) -> str:
        """The decision that undo would take back."""
        return self.state.did if len(self._states) > 1 else ""

    def keep(self, name: str, content: BinaryIO) -> pathlib.Path:
        """Copy a file that was dropped on the page; each has a folder of its own, because names repeat."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        path = folder / pathlib.PurePath(name.replace("\\", "/").replace("\0", "")).name
        with path.open("xb") as copy:
            shutil.copyfileobj(content, copy)
        return path

    def job(self, task: str, **inputs: Any) -> Job:
        """The job with these inputs: a known one, or a new one in place of another job of the same task.

        Two columns, which two tabs may show, have a job each.
        """
        key, kind = self._key(task, inputs), (task, inputs.get("column"))
        with self._lock:
            before = self._jobs.get(self._latest.get(kind, ""))
            if self._latest.get(kind) != key and before is not None and before.status == RUNNING:
                self.forget(before)
            self._latest[kind] = key
            self._jobs[key] = self._jobs.pop(key) if key in self._jobs else self._workshop.start(task, inputs)
            ended = [one for one in self._jobs.values() if one.status != RUNNING]
            for job in ended[:-MAX_KEPT_JOBS]:
                self.forget(job)
            return self._jobs[key]

    def failure(self, task: str, **inputs: Any) -> str:
        """The error of the job with these inputs; empty if it has none, or was not started."""
        job = self._jobs.get(self._key(task, inputs))
        return "" if job is None else job.error

    def _key(self, task: str, inputs: dict[str, Any]) -> str:
        """Equal for equal work: a file that has changed is another one."""
        return key_of(task, inputs | {"version": self.state.path and version_of(self.state.path)})

    def find(self, task: str) -> Job | None:
        """The latest job of a task that is for no single column."""
        return self._jobs.get(self._latest.get((task, None), ""))

    def forget(self, job: Job) -> None:
        """Stop a job and forget it, so that it starts anew where it is needed."""
        with self._lock:
            self._jobs = {key: one for key, one in self._jobs.items() if one is not job}
        job.stop()

    def close(self) -> None:
        """End all jobs, and remove the files."""
        for job in list(self._jobs.values()):
            job.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
