"""Which release ids have been read: eight bytes each, in sorted arrays that double.

An id is a hash, so its first eight bytes stand for it: among a thousand million of them two are alike with a chance of
3 %, and then one release too many is left out.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.uint64]
_GROWTH: Final = 2


class Seen:
    def __init__(self) -> None:
        self._parts: list[Ids] = []

    def first(self, ids: Ids) -> NDArray[np.bool_]:
        """Which of them are read for the first time; from now on none is."""
        fresh: NDArray[np.bool_] = np.zeros(ids.shape[0], dtype=np.bool_)
        fresh[np.unique(ids, return_index=True)[1]] = True
        for part in self._parts:
            places = np.minimum(np.searchsorted(part, ids), part.shape[0] - 1)
            fresh &= part[places] != ids
        if fresh.any():
            self._parts.append(np.sort(ids[fresh]))
        while len(self._parts) > 1 and self._parts[-2].shape[0] < _GROWTH * self._parts[-1].shape[0]:
            last = self._parts.pop()
            self._parts[-1] = np.sort(np.concatenate([self._parts[-1], last]))
        return fresh
