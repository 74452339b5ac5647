"""Tasks that run side by side on the workers of Spark, each where its data are; no other engine is imported here.

Rows of a stored frame are results of tasks: their number, what they are, and their bytes.  A wave reads rows that were
dealt to homes, runs the tasks of a home as soon as all of its inputs are there, and writes their results as rows.
"""

import hashlib
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from mag._lib.errors import InputError, InputRuntimeError, NotAnonymousError
from mag.distributed._graph import Key

STORED, TOLD, RAISED = range(3)  # a result for later waves, one for the driver, an error
DIGEST_OF_PARTITION_BYTES = 16
RECORDS_OF_BATCH = 2**16  # handed to Spark at once
ROW_SCHEMA = pa.schema({"number": pa.int64(), "kind": pa.int8(), "result": pa.binary()})


@dataclass(frozen=True)
class Wave:
    """Tasks by their homes, the inputs and values that these need, and the number and the kind of results to write.

    `digests` are those of the partitions of the table, which are tables of Arrow and the only inputs that are not
    pickled.
    """

    tasks: dict[Key, Any]
    homes: dict[int, list[Key]]
    inputs: dict[int, dict[int, Key]]
    values: dict[Key, Any]
    digests: dict[int, bytes]
    outputs: dict[Key, tuple[int, int]]

    def write_rows(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The results as rows."""
        try:
            for home, known in self._gather(batches):
                for key in self._run(home, known):
                    yield row(*self.outputs[key], pickle.dumps(known[key], pickle.HIGHEST_PROTOCOL))
        except (InputError, NotAnonymousError) as error:
            yield row(-1, RAISED, pickle.dumps(error))

    def write_tables(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The results, which are tables of Arrow."""
        for home, known in self._gather(batches):
            for key in self._run(home, known):
                yield from known[key].to_batches(max_chunksize=RECORDS_OF_BATCH)

    def _gather(self, batches: Iterator[Any]) -> Iterator[tuple[int, dict[Key, Any]]]:
        """Homes with all of their inputs."""
        waiting: dict[int, dict[Key, Any]] = {}
        for batch in batches:
            homes, numbers, results = batch.column("home"), batch.column("number"), batch.column("result")
            for home, number, result in zip(homes.to_pylist(), numbers.to_pylist(), results, strict=True):
                own = waiting.setdefault(home, {})
                own[self.inputs[home][number]] = self._read(number, result.as_buffer())
                if len(own) == len(self.inputs[home]):
                    yield home, waiting.pop(home)
        if waiting:  # a partition has no records any more
            raise other_records()

    def _read(self, number: int, result: Any) -> Any:
        if number not in self.digests:
            return pickle.loads(result)
        if _digest(result) != self.digests[number]:
            raise other_records()
        return pa.ipc.open_stream(result).read_all()

    def _run(self, home: int, known: dict[Key, Any]) -> Iterator[Key]:
        """Run the tasks of a home; returns the keys of results to write."""
        known |= self.values
        for key in self.homes[home]:
            function, *arguments = self.tasks[key]
            known[key] = function(*(insert(argument, known) for argument in arguments))
            if key in self.outputs:
                yield key


def other_records() -> InputRuntimeError:
    """The error of a partition that differs from its first computation."""
    return InputRuntimeError(
        "X must have the same records in the same order whenever Spark computes a partition again; got others, write X "
        "to files and read these."
    )


def insert(argument: Any, known: dict[Key, Any]) -> Any:
    """An argument of a task, with results in place of keys."""
    if isinstance(argument, tuple):
        return known[argument]
    return [insert(one, known) for one in argument] if isinstance(argument, list) else argument


def store_partition(run: int, batches: Iterator[Any]) -> Iterator[Any]:
    """A partition of the table as one row, and another one with its number of records and its digest.

    The last column is the number of the record, that of the first one is the number of the partition.  `run` tells
    Spark that frames of two runs are not the same, so that it frees those of one alone.
    """
    some = [batch for batch in batches if batch.num_rows]
    if not some:
        return
    table = pa.Table.from_batches(some)
    number = table.column(table.num_columns - 1)[0].as_py()
    table = table.remove_column(table.num_columns - 1)
    with pa.BufferOutputStream() as stream:
        with pa.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)
        stored = stream.getvalue()
    yield row(number, STORED, stored)
    yield row(number, TOLD, pickle.dumps((table.num_rows, _digest(stored))))


def row(number: int, kind: int, result: Any) -> Any:
    """A batch of Arrow with one row."""
    if len(result) >= 2**31:
        raise InputRuntimeError("A task of Spark must make less than 2 GiB; use more partitions, ranges or parts.")
    edges = pa.py_buffer(np.array([0, len(result)], np.int32))
    cell = pa.Array.from_buffers(pa.binary(), 1, [None, edges, pa.py_buffer(result)])
    return pa.record_batch([pa.array([number], pa.int64()), pa.array([kind], pa.int8()), cell], ROW_SCHEMA)


def _digest(stored: Any) -> bytes:
    return hashlib.blake2b(stored, digest_size=DIGEST_OF_PARTITION_BYTES).digest()
