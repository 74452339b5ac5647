"""Classes of equal rows counted block by block, in limited memory.

Hashes that do not fit wait in a file without a name, which ends with the process.  It holds sorted runs; the classes of
one range of hashes after the other are then collected from all runs.
"""

import os
import tempfile
from collections.abc import Iterator
from typing import IO

import numpy as np

from mag._lib.rowhash import HashedClasses, add_classes, sizes_of_classes, uncounted

BYTES_PER_COUNTED_ROW = 128  # of a row that is counted: its hash, copied and sorted
WORDS_PER_CLASS = 3  # of a class in the file: its hash and its size
RANGE_BITS = 10  # leading bits of a hash that say which range it is in


class ClassCounter:
    """Blocks of rows are added; then `sizes` gives the sizes of all classes, a few at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from mag._lib.rowhash import uncounted
    >>> counter = ClassCounter(memory=1000)
    >>> for first in range(3):
    ...     hashes = np.arange(first, first + 10, dtype=np.uint64)
    ...     counter.add(uncounted((hashes, hashes)))
    >>> sorted(np.concatenate(list(counter.sizes())).tolist())
    [1, 1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3]
    """

    def __init__(self, memory: int, folder: str | os.PathLike[str] | None = None) -> None:
        self._most = max(memory // BYTES_PER_COUNTED_ROW, 1)  # rows at a time
        self._folder = folder
        self._held: list[HashedClasses] = []
        self._n_held = 0
        self._file: IO[bytes] | None = None
        self._cuts: list[np.ndarray] = []  # for each run in the file, where its ranges begin, and its end

    def add(self, block: HashedClasses) -> None:
        """Add the rows of a block."""
        self._held.append(block)
        self._n_held += block.first.size
        if self._n_held > self._most:
            self._write_run()

    def sizes(self) -> Iterator[np.ndarray]:
        """The sizes of the classes, in no order; once."""
        for blocks in self._collect():
            yield sizes_of_classes(blocks) if blocks else np.zeros(0, np.int64)

    def seconds(self) -> Iterator[np.ndarray]:
        """How many different second words the rows of each first word have, in no order; once."""
        for blocks in self._collect():
            yield np.unique(add_classes(blocks).first, return_counts=True)[1] if blocks else np.zeros(0, np.int64)

    def _collect(self) -> Iterator[list[HashedClasses]]:
        """All rows, those of equal first words together."""
        if self._file is None:
            yield self._held
            return
        if self._held:
            self._write_run()
        with self._file:
            for first, end in self._batches():
                yield [self._read(int(cuts[first]), int(cuts[end])) for cuts in self._cuts]

    def _write_run(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - read in `sizes`, which closes it
        run = add_classes(self._held)
        self._held, self._n_held = [], 0
        begin = int(self._cuts[-1][-1]) if self._cuts else 0
        ranges = np.arange(1, 2**RANGE_BITS, dtype=np.uint64) << np.uint64(64 - RANGE_BITS)
        inner = np.searchsorted(run.first, ranges)
        self._cuts.append(begin + np.concatenate([[0], inner, [run.first.size]]))
        np.stack([run.first, run.second, run.sizes.astype(np.uint64)], axis=1).tofile(self._file)

    def _batches(self) -> Iterator[tuple[int, int]]:
        """Ranges from first to end that hold few enough rows together."""
        rows = np.sum([np.diff(cuts) for cuts in self._cuts], axis=0)
        first = total = 0
        for place, own in enumerate(rows.tolist()):
            if total and total + own > self._most:
                yield first, place
                first, total = place, 0
            total += own
        yield first, rows.size

    def _read(self, first: int, end: int) -> HashedClasses:
        assert self._file is not None
        row = 8 * WORDS_PER_CLASS
        self._file.seek(row * first)
        words = np.fromfile(self._file, np.uint64, WORDS_PER_CLASS * (end - first))
        if words.size != WORDS_PER_CLASS * (end - first):
            raise OSError("the temporary file of hashes is incomplete")
        words = words.reshape(-1, WORDS_PER_CLASS)
        sizes = words[:, 2].astype(np.int64)
        if (sizes == 1).all():
            return uncounted((words[:, 0], words[:, 1]))
        return HashedClasses(words[:, 0], words[:, 1], sizes)
