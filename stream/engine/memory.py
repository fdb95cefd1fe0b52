"""How a worker's memory is looked after: every block makes and drops tens of thousands of small objects."""

import ctypes
import gc
import sys

# mallopt's names for its parameters, from malloc.h.
M_TRIM_THRESHOLD = -1
M_TOP_PAD = -2
M_MMAP_THRESHOLD = -3

COLLECT_AFTER_CONTAINERS = 200_000
TOP_PAD_BYTES = 64 << 20
TRIM_ABOVE_BYTES = 1 << 30
MAP_ABOVE_BYTES = 32 << 20


def settle() -> None:
    """Call once, when everything that stays has been loaded."""
    rest_garbage_collector()
    keep_heap()


def rest_garbage_collector() -> None:
    """Look for cycles every 200,000 containers instead of every 700.

    A block's containers are in no cycle, so reference counts free them; with Python's default the collector took half
    of the time of an event.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER_CONTAINERS, 20, 100)


def keep_heap() -> None:
    """Let the C library keep what a block gave back: it is wanted again for the next one, and every page that goes and
    comes costs a fault of 2 microseconds. Where the C library is not glibc there is nothing to set.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_TOP_PAD, TOP_PAD_BYTES)
        mallopt(M_TRIM_THRESHOLD, TRIM_ABOVE_BYTES)
        # Setting the others freezes this one at 128 KiB, and every larger array would be mapped and faulted in anew.
        mallopt(M_MMAP_THRESHOLD, MAP_ABOVE_BYTES)
