"""Lists of the nearest, or farthest, free records, made on a device for many records at once: kernels/nearest.cu.

Records go there once.  Per batch of lists, the records that were assigned since go there, 4 bytes each, and the lists
come back.
"""

import numpy as np

from mag._backends.cuda.launch import Device
from mag._backends.protocol import Boxes

RECORDS_PER_BLOCK = 64  # records of a block: mag/methods/distances/blocks.py
MAX_LIST_RECORDS = 768  # records of a list
STATIC = 2048  # bytes of shared memory besides the list and the point
RECORDS_PER_STEP = 256  # records that are looked at before the best are sorted out


class DeviceNeighbors:
    """Records in blocks, all free at first."""

    def __init__(self, device: Device, boxes: Boxes) -> None:
        xp, used = device.xp, np.arange(boxes.ids.size) >= boxes.n
        bits = np.packbits(used.reshape(-1, RECORDS_PER_BLOCK), axis=1, bitorder="little").view(np.uint64).ravel()
        self.device, self._d, self._blocks, self._boxes = device, boxes.d, bits.size, boxes.low.shape[1]
        self._field = tuple(xp.asarray(part) for part in (boxes.x, boxes.low, boxes.high, boxes.ids))
        self._gone = xp.asarray(bits)

    def take(self, places: np.ndarray) -> None:
        """The records at these places, int32, are not free any more."""
        if places.size:
            given = self.device.xp.asarray(places), np.int32(places.size), self._gone
            self.device.launch("nearest", "take", places.size, 128, given)

    def lists(self, places: np.ndarray, m: int, sign: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For the record at each place, the m free ones with the smallest sign · squared distance.

        Distances, numbers of records, and how many there are, in rows.
        """
        device, count, room = self.device, places.size, 1 << (m + RECORDS_PER_STEP - 1).bit_length()
        keys, found = device.empty(count, m, dtype=np.float64), device.empty(count, m)
        lengths = device.empty(count)
        shape = np.int32(self._d), np.int32(self._blocks), np.int32(self._boxes)
        asked = device.xp.asarray(places), np.int32(m), np.int32(room), np.float64(sign)
        given = *self._field, self._gone, *shape, *asked, keys, found, lengths
        device.launch("nearest", "nearest", 128 * count, 128, given, dynamic=12 * room + 8 * self._d)
        return device.host(keys), device.host(found), device.host(lengths)


def fits(device: Device, n: int, d: int, m: int) -> bool:
    """Whether lists of m records can be made there."""
    return (
        m <= MAX_LIST_RECORDS
        and n < 2**31 - RECORDS_PER_BLOCK
        and 12 * 2 * (m + RECORDS_PER_STEP) + 8 * d + STATIC <= device.shared
    )
