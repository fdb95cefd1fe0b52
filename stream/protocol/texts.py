"""Many byte strings in two arrays: what a compiled kernel can read and write, where a list of `bytes` is objects."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Texts(NamedTuple):
    """The texts stand in `data` one behind the other; text i ends before `ends[i]`, and the first begins at 0.

    `len` is the number of texts. Nobody writes into the arrays once they are in here.
    """

    data: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> "Texts":
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        return cls(np.frombuffer(bytearray().join(texts), np.uint8), np.cumsum(lengths))

    @classmethod
    def of_rows(cls, rows: NDArray[np.uint8]) -> "Texts":
        """Texts of one length: the rows of a contiguous matrix."""
        count, width = rows.shape
        return cls(rows.reshape(-1), width * np.arange(1, count + 1, dtype=np.int64))

    def text(self, i: int) -> bytes:
        """Text i, counted from 0; negative numbers do not count from the end."""
        start = int(self.ends[i - 1]) if i > 0 else 0
        return self.data[start : int(self.ends[i])].tobytes()

    def all(self) -> list[bytes]:
        """Every text as `bytes`."""
        whole, ends = self.data.tobytes(), self.ends.tolist()
        return [whole[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def __len__(self) -> int:
        return int(self.ends.shape[0])
