"""Rows of discrete data, packed into words and grouped by the columns of a set.

Rows are packed into 64-bit words, one bit field for each column, so that the key of a row on a set of columns is the
words under a mask. Rows of equal keys are found by a hash table that compares whole keys: the hash only finds the
place, and a collision cannot change a group. One grouping is one pass over the distinct rows, however many columns
are chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dsprog.core.kernel import part
from dsprog.core.validation import Floats, Ints

Words = NDArray[np.uint64]
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio


@dataclass(frozen=True)
class PackedRows:
    """Distinct rows as words (R, W), their counts, and the bit field of each column as words (columns, W)."""

    words: Words
    counts: Ints
    row_of: Ints  # the distinct row that each given row is
    fields: Words
    count_log_count: Floats  # c log c for c = 0 .. number of rows

    @property
    def total(self) -> int:
        """The number of rows, repeated ones included."""
        return len(self.count_log_count) - 1


def pack(codes: Ints) -> PackedRows:
    """Pack integer codes (rows, columns); a field never straddles two words."""
    rows, columns = codes.shape
    widths = [int(c).bit_length() for c in codes.max(axis=0, initial=0)]
    places, word, used = [], 0, 0
    for width in widths:
        if used + width > 64:
            word, used = word + 1, 0
        places.append((word, used))
        used += width
    words = np.zeros((rows, word + 1), dtype=np.uint64)
    fields = np.zeros((columns, word + 1), dtype=np.uint64)
    for j, (w, shift) in enumerate(places):
        words[:, w] |= codes[:, j].astype(np.uint64) << np.uint64(shift)
        fields[j, w] = np.uint64(((1 << widths[j]) - 1) << shift)
    distinct, row_of, counts = distinct_rows(words)
    c = np.arange(rows + 1.0)
    return PackedRows(distinct, counts, row_of, fields, c * np.log(np.maximum(c, 1.0)))


def distinct_rows(words: Words) -> tuple[Words, Ints, Ints]:
    """The distinct rows in order, which of them each row is, and how often each comes; faster than ``np.unique``."""
    order = np.lexsort(words.T[::-1])
    ranked = words[order]
    first = np.ones(len(words), dtype=bool)
    first[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    row_of = np.empty(len(words), dtype=np.int64)
    row_of[order] = np.cumsum(first) - 1
    return ranked[first], row_of, np.bincount(row_of)


class Room(NamedTuple):
    """For grouping rows: hash slots, the first row and the hash of each group, the group of each row."""

    slots: NDArray[np.int32]
    first: NDArray[np.int32]
    hashes: Words
    groups_of: NDArray[np.int32]


def room_for(rows: int) -> Room:
    """Room for so many rows; half of the slots stay empty."""
    size = max(4, 1 << (2 * rows - 1).bit_length())
    integers = [np.empty(length, dtype=np.int32) for length in (size, rows, rows)]
    return Room(integers[0], integers[1], np.empty(rows, dtype=np.uint64), integers[2])


@part
def mask_of(fields, always, inside, mask):
    """Write into ``mask`` the bit fields of a set of columns, with the fields that are always there."""
    for w in range(len(mask)):
        mask[w] = always[w]
        for j in range(len(fields)):
            if inside[j]:
                mask[w] |= fields[j, w]


@part
def group(words, mask, size, room):
    """Number the first ``size`` rows by their words under the mask, equal keys alike; return how many groups."""
    slots, first, hashes, groups_of = room.slots, room.first, room.hashes, room.groups_of
    width, bits = words.shape[1], 2
    while 1 << bits < 2 * size:  # half of the slots stay empty
        bits += 1
    last, shift = (1 << bits) - 1, np.uint64(64 - bits)
    slots[: last + 1] = -1
    groups = 0
    for i in range(size):
        h, a = np.uint64(0), MULTIPLIER
        for w in range(width):
            h += (words[i, w] & mask[w]) * a
            a *= MULTIPLIER
        place = np.int64(h >> shift)
        while True:
            g = slots[place]
            if g < 0:
                g = groups
                slots[place], first[g], hashes[g] = g, i, h
                groups += 1
                break
            same = hashes[g] == h
            for w in range(width):
                same &= (words[first[g], w] ^ words[i, w]) & mask[w] == 0
            if same:
                break
            place = (place + 1) & last
        groups_of[i] = g
    return groups
