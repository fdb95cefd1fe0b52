"""A heap of symbols, the most likely on top: the few likely symbols of many without sorting them all.

Building costs O(symbols), taking the top O(log symbols). The order is total (equal beliefs by index), so every replica
takes the same symbols in the same sequence.
"""

from __future__ import annotations

from beliefs.native import kernel
from mechanisms.contract import Floats, Integers


@kernel
def _before(belief: Floats, a: int, b: int) -> bool:
    return belief[a] > belief[b] or (belief[a] == belief[b] and a < b)


@kernel
def _sift(belief: Floats, heap: Integers, start: int, size: int) -> None:
    root = start
    item = heap[root]
    while True:
        child = 2 * root + 1
        if child >= size:
            break
        if child + 1 < size and _before(belief, heap[child + 1], heap[child]):
            child += 1
        if not _before(belief, heap[child], item):
            break
        heap[root] = heap[child]
        root = child
    heap[root] = item


@kernel
def build(belief: Floats, heap: Integers) -> None:
    """All symbols, as a heap in the first places of `heap`."""
    symbols = belief.shape[0]
    for x in range(symbols):
        heap[x] = x
    for start in range(symbols // 2 - 1, -1, -1):
        _sift(belief, heap, start, symbols)


@kernel
def drop_top(belief: Floats, heap: Integers, size: int) -> int:
    """Remove the most likely of `size` symbols; returns how many are left."""
    heap[0] = heap[size - 1]
    _sift(belief, heap, 0, size - 1)
    return size - 1
