"""A file dealt into parts of whole classes: figures of classes can be counted part by part, in limited memory."""

import contextlib
import pathlib
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

PART_BITS = 6  # leading bits of the hash of a record that say which part it is in


class ClassParts:
    """Blocks of a file, dealt so that records that are equal in some columns are in the same part; frames of polars.

    Parts wait in a folder for temporary files, which the data holder alone can read, until the block ends.  A file of a
    single block is a part.
    """

    def __init__(self, blocks: "Iterable[pl.DataFrame]", columns: Sequence[str]) -> None:
        self._exit = contextlib.ExitStack()
        every = iter(blocks)
        first = next(every)
        others = filter(len, every)
        second = next(others, None)
        self._whole: pl.DataFrame | None = None
        self._paths: list[pathlib.Path] = []
        if second is None:
            self._whole = first
            return
        folder = self._exit.enter_context(tempfile.TemporaryDirectory(prefix="mag-"))  # of mode 700
        try:
            self._paths = _deal(chain([first, second], others), columns, pathlib.Path(folder))
        except BaseException:
            self._exit.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._exit.close()

    def __len__(self) -> int:
        return 1 if self._whole is not None else len(self._paths)

    def __iter__(self) -> "Iterator[pl.DataFrame]":
        import polars as pl
        import pyarrow as pa

        if self._whole is not None:
            yield self._whole
        for path in self._paths:
            with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as stream:
                frame = pl.from_arrow(stream.read_all())
            assert isinstance(frame, pl.DataFrame)
            yield frame

    def distinct(self, names: Sequence[str]) -> "pl.DataFrame":
        """The different combinations of the values of some columns."""
        import polars as pl

        found: pl.DataFrame | None = None
        for part in self:
            own = part.select(part.get_column(name) for name in names).unique()
            found = own if found is None else pl.concat([found, own]).unique()
        assert found is not None
        return found


def _deal(blocks: "Iterable[pl.DataFrame]", columns: Sequence[str], folder: pathlib.Path) -> list[pathlib.Path]:
    """Write every record to the file of its part; the files that have records."""
    import numpy as np
    import pyarrow as pa

    from mag._lib.cells import hash_rows

    streams: dict[int, Any] = {}
    paths: list[pathlib.Path] = []
    schema: Any = None
    with contextlib.ExitStack() as opened:
        for block in filter(len, blocks):
            table = _to_arrow(block)
            schema = schema or table.schema
            numbers = hash_rows(table, columns)[0] >> np.uint64(64 - PART_BITS)
            order = np.argsort(numbers, kind="stable")
            table, numbers = table.take(pa.array(order)), numbers[order]
            starts = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] + np.uint64(1)))
            for start, end in zip(starts.tolist(), [*starts[1:].tolist(), order.size], strict=True):
                number = int(numbers[start])
                if number not in streams:
                    paths.append(folder / f"{number}.arrows")
                    streams[number] = opened.enter_context(pa.ipc.new_stream(str(paths[-1]), schema))
                streams[number].write_table(table.slice(start, end - start).cast(schema))
    return paths


def _to_arrow(block: "pl.DataFrame") -> "pa.Table":
    import polars as pl

    return block.to_arrow(compat_level=pl.CompatLevel.oldest()).combine_chunks()
