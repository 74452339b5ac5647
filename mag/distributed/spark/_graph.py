"""Tasks for Spark: waves of those that can run without results of others, until only lazy ones are left.

A task runs at the home of its data: that of the first key among its arguments, or a new one where it joins results of
several tasks.  Results stay in frames that Spark stores on disk, since rows of megabytes exhaust the heap, and can make
again.  Small ones, and those of decisions, are on the driver.  Nothing depends on the order of rows, or on which of two
equal attempts of a task Spark keeps.
"""

import itertools
import pickle
import warnings
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.errors import PySparkException, PythonException
from pyspark.sql import functions as sql

from mag._lib.errors import REPORT, InputRuntimeError, InputValueError
from mag.distributed._graph import Key, Tasks
from mag.distributed.spark._wave import RAISED, STORED, TOLD, Wave, insert, other_records, store_partition

RUNS = itertools.count()
ROW_TYPES = "number bigint, kind tinyint, result binary"


@contextmanager
def without_pandas_warning() -> Iterator[None]:
    """PySpark warns about pandas 3 at functions of Arrow, which do not use it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        yield


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Errors of the query of a frame become one sentence: Spark's own ones may quote cells."""
    try:
        yield
    except PythonException:  # of a worker, such as one without mag
        raise
    except PySparkException as error:
        raise InputRuntimeError(
            f"X must be a frame that Spark can read; it raised {type(error).__name__}, run its query by itself to see "
            "why."
        ) from None


class Holder:
    """An object that several lazy frames share: the frames that they need stay stored until none of them is used."""

    def __init__(self, stored: list[Any]) -> None:
        weakref.finalize(self, unpersist, stored).atexit = False


class SparkTasks(Tasks):
    """As `Tasks`, of the partitions of a frame, which are tables of Arrow; those without records are left out."""

    def __init__(self, what: str, X: Any) -> None:
        super().__init__(f"mag-{what}")
        self._session = X.sparkSession
        self._values: dict[Key, Any] = {}
        self._place: dict[Key, tuple[int, int]] = {}  # of stored results: which frame, and their number
        self._home: dict[Key, int] = {}
        self._digests: dict[int, bytes] = {}
        self._numbers, self._homes = 0, 0  # given so far
        self._holder: Holder | None = None
        with without_pandas_warning(), in_one_sentence():
            # not the number of the running task, which is another one where frames are united, nor that of the
            # partition, which Spark takes for 0 where the driver has the records
            numbered = X.select("*", sql.monotonically_increasing_id().alias(f"record of {self.name}"))
            frame = numbered.mapInArrow(partial(store_partition, next(RUNS)), ROW_TYPES).persist(StorageLevel.DISK_ONLY)
            found = _collect(frame)
        self._frames: dict[int, Any] = {0: frame}
        told = {number: result for number, _, result in found}
        if len(told) < len(found):
            raise RuntimeError(f"Two partitions have one number; {REPORT}")
        self.partitions: list[Key] = [(f"partition-{self.name}", i) for i in range(len(told))]
        self.sizes: list[int] = []
        if not told:
            frame.unpersist()
            raise InputValueError("X must hold at least one record; got none.")
        for home, (key, number) in enumerate(zip(self.partitions, sorted(told), strict=True)):
            size, self._digests[number] = told[number]
            self.sizes.append(size)
            self._place[key], self._home[key] = (0, number), home
        self._numbers, self._homes = max(told) + 1, len(told)

    def run(self, tables: Sequence[Sequence[Key]], values: Sequence[Key] = ()) -> list[Any]:
        """Run all tasks that these need but for those that only write the tables, which `frame` runs lazily.

        Returns the values.
        """
        wanted = [*values, *(key for keys in tables for key in keys)]
        order = self._reach(wanted)
        self.told |= {used for key in order if key in self.decisions for used in self._uses(key)} - self.decisions
        self._settle(order)
        users: dict[Key, list[Key]] = {key: [] for key in order}
        for key in order:
            for used in self._uses(key):
                users.setdefault(used, []).append(key)
        self._lazy = {key for keys in tables for key in keys}
        for key in reversed(order):
            own = users[key]
            movable = key in self._home and key not in self.told
            if own and movable and all(one in self._lazy and self._home[one] == self._home[key] for one in own):
                self._lazy.add(key)
        left = [key for key in order if key not in self._lazy]
        try:
            self._run_waves(left, users)
        except BaseException:
            unpersist(list(self._frames.values()))
            raise
        return [self._values[key] for key in values]

    def _run_waves(self, left: list[Key], users: dict[Key, list[Key]]) -> None:
        """Run these tasks: decisions on the driver, the others in waves."""
        while left:
            left = [key for key in left if not self._decide(key)]
            wave = self._plan(left)
            if left and not wave:
                raise RuntimeError(f"No task of {len(left)} can run; {REPORT}")
            if wave:
                self._run_wave(wave, {key for key in wave if any(one not in wave for one in users[key])})
            left = [key for key in left if key not in wave]
            self._forget({used for key in (*left, *self._lazy) for used in self._uses(key)})

    def frame(self, keys: Sequence[Key], schema: Any) -> Any:
        """A lazy frame of the tables of Arrow that these tasks make."""
        wave = {key: self._home[key] for key in self._reach(keys) if key in self._lazy}
        rows, plan = self._prepare(wave, dict.fromkeys(keys, (0, STORED)))
        with without_pandas_warning():
            frame = rows.mapInArrow(plan.write_tables, schema)
        if self._holder is None:
            self._holder = Holder(list(self._frames.values()))
        frame.mag_holder = self._holder
        return frame

    # ---- which tasks run when

    def _uses(self, key: Key) -> list[Key]:
        """The keys among the arguments of a task."""
        return list(_keys_in(list(self.tasks[key][1:]))) if key in self.tasks else []

    def _reach(self, wanted: Sequence[Key]) -> list[Key]:
        """All tasks that these need, each after those that it needs."""
        found, todo = set(wanted), list(wanted)
        while todo:
            for used in self._uses(todo.pop()):
                if used not in found and used in self.tasks:
                    found.add(used)
                    todo.append(used)
        return [key for key in self.tasks if key in found]

    def _settle(self, order: list[Key]) -> None:
        """The homes of tasks; those without have small inputs alone, and run on the driver as decisions do."""
        for key in order:
            if key in self._home or key in self.decisions:
                continue
            arguments = self.tasks[key][1:]
            own = [one for one in arguments if isinstance(one, tuple) and self._is_at_home(one)]
            if own:
                self._home[key] = self._home[own[0]]
            elif any(self._is_at_home(one) for one in self._uses(key)):
                self._home[key] = self._homes
                self._homes += 1
            else:
                self.decisions.add(key)

    def _is_at_home(self, key: Key) -> bool:
        return key in self._home and key not in self.told

    def _decide(self, key: Key) -> bool:
        """Run a decision on the driver, if it can run."""
        if key not in self.decisions or not all(used in self._values for used in self._uses(key)):
            return False
        function, *arguments = self.tasks[key]
        self._values[key] = function(*(insert(argument, self._values) for argument in arguments))
        return True

    def _plan(self, left: list[Key]) -> dict[Key, int]:
        """The tasks that can run now, with their homes: what they need is stored, on the driver, or made at home."""
        wave: dict[Key, int] = {}
        for key in left:
            if key in self.decisions:
                continue
            home = self._home[key]
            if all(
                used in self._values or used in self._place or (wave.get(used) == home and used not in self.told)
                for used in self._uses(key)
            ):
                wave[key] = home
        return wave

    # ---- how they run

    def _run_wave(self, wave: dict[Key, int], needed: set[Key]) -> None:
        outputs, told = {}, {}
        for key in wave:
            if key in self.told or key in needed:
                outputs[key] = (self._numbers, TOLD if key in self.told else STORED)
                told[self._numbers] = key
                self._numbers += 1
        rows, plan = self._prepare(wave, outputs)
        with without_pandas_warning():
            frame = rows.mapInArrow(plan.write_rows, ROW_TYPES).persist(StorageLevel.DISK_ONLY)
        number = max(self._frames, default=0) + 1
        self._frames[number] = frame
        for place, kind, result in _collect(frame):
            if kind == RAISED:
                raise result
            self._values[told[place]] = result
        if not all(key in self._values for key in wave if key in self.told):  # a partition has no records any more
            raise other_records()
        for key, (place, kind) in outputs.items():
            if kind == STORED:
                self._place[key] = number, place

    def _prepare(self, wave: dict[Key, int], outputs: dict[Key, tuple[int, int]]) -> tuple[Any, Wave]:
        """The rows that a wave needs, dealt to homes, and its plan."""
        homes: dict[int, list[Key]] = {}
        inputs: dict[int, dict[int, Key]] = {}
        values, local = {}, True
        for key, home in wave.items():
            homes.setdefault(home, []).append(key)
            for used in self._uses(key):
                if used in self._values:
                    values[used] = self._values[used]
                elif used not in wave:
                    inputs.setdefault(home, {})[self._place[used][1]] = used
        frames = set()
        for home, keys in inputs.items():
            own = {self._place[key][0] for key in keys.values()}
            frames |= own
            local &= len(own) == 1 and all(self._home[key] == home for key in keys.values())
        pairs = [(number, home) for home, keys in inputs.items() for number in keys]
        columns = dict(zip(("number", "home"), zip(*pairs, strict=True), strict=True))
        routes = self._session.createDataFrame(pa.table({name: pa.array(one) for name, one in columns.items()}))
        stored = [
            self._frames[number].where(sql.col("kind") == STORED).select("number", "result")
            for number in sorted(frames)
        ]
        rows = reduce(lambda some, more: some.unionAll(more), stored).join(sql.broadcast(routes), "number")
        if not local:
            most = int(self._session.conf.get("spark.sql.shuffle.partitions") or len(inputs))
            rows = rows.repartition(min(len(inputs), most), "home").sortWithinPartitions("home")
        digests = {number: self._digests[number] for number, _ in pairs if number in self._digests}
        tasks = {key: self.tasks[key] for key in wave}
        return rows, Wave(tasks, homes, inputs, values, digests, outputs)

    def _forget(self, used: set[Key]) -> None:
        """Free the frames that no task needs any more."""
        needed = {self._place[key][0] for key in used if key in self._place}
        for number in set(self._frames) - needed:
            self._frames.pop(number).unpersist()


def _keys_in(arguments: list[Any]) -> Iterator[Key]:
    for argument in arguments:
        if isinstance(argument, tuple):
            yield argument
        elif isinstance(argument, list):
            yield from _keys_in(argument)


def _collect(frame: Any) -> list[tuple[int, int, Any]]:
    """The results of a frame that are for the driver; makes and stores the others."""
    table = frame.where(sql.col("kind") != STORED).select("number", "kind", "result").toArrow()
    columns = (table.column(name).to_pylist() for name in ("number", "kind", "result"))
    return [(number, kind, pickle.loads(result)) for number, kind, result in zip(*columns, strict=True)]


def unpersist(frames: list[Any]) -> None:
    for frame in frames:
        frame.unpersist()
