"""FADS and Mondrian as somebody would write them with numpy, for numbers only and without rules about values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mechanisms.crowds.attributes import Box

Cells = NDArray[np.int64]
Out = tuple[tuple[int, ...], int, Box | None, float, bool, None]


class NaiveFads:
    """The rules of fads.md: arrays that are filtered anew each time, distances at once, a stable sort."""

    def __init__(self, k: int, delay: int, grid: int) -> None:
        self.k, self.delay, self.grid = k, delay, grid
        self.seqs, self.users = np.zeros((2, 0), dtype=np.int64)
        self.cells = np.zeros((0, 2), dtype=np.int64)
        self.kept: list[tuple[int, Cells, Cells, float]] = []  # when, low, high, loss

    def take(self, seq: int, user: int, cells: tuple[int, ...]) -> list[Out]:
        self.seqs, self.users = np.append(self.seqs, seq), np.append(self.users, user)
        self.cells = np.vstack([self.cells, cells])
        found = []
        while self.seqs.size and self.seqs[0] <= seq - self.delay:
            found.append(self.leave(seq))
        return found

    def leave(self, now: int) -> Out:
        one = self.cells[0]
        order = np.argsort(self.losses(np.abs(self.cells - one)), kind="stable")
        order = order[self.users[order] != self.users[0]]
        _, first = np.unique(self.users[order], return_index=True)
        crowd = np.append(0, order[np.sort(first)[: self.k - 1]])
        low, high = self.cells[crowd].min(axis=0), self.cells[crowd].max(axis=0)
        loss = float(self.losses(high - low)) if crowd.size == self.k else 2.0
        self.kept = [each for each in self.kept if each[0] > now - 4 * self.delay]
        fitting = [
            each for each in reversed(self.kept) if each[3] < loss and (each[1] <= one).all() and (one <= each[2]).all()
        ]
        reused = bool(fitting)
        if reused:
            _, low, high, loss = min(fitting, key=lambda each: each[3])
            crowd = crowd[:1]
        elif crowd.size < self.k:
            raise SystemExit("fewer than k users wait: this stream is not for the naive one")
        else:
            self.kept = [each for each in self.kept if (each[1] != low).any() or (each[2] != high).any()]
            self.kept.append((now, low, high, loss))
        seqs = tuple(np.sort(self.seqs[crowd]).tolist())
        left = np.ones(self.seqs.size, dtype=bool)
        left[crowd] = False
        self.seqs, self.users, self.cells = self.seqs[left], self.users[left], self.cells[left]
        return seqs, self.k, tuple(zip(low.tolist(), high.tolist(), strict=True)), loss, reused, None

    def losses(self, widths: Cells) -> NDArray[np.float64]:
        shares = widths / (self.grid - 1)
        found: NDArray[np.float64] = shares.sum(axis=-1) / 2
        return found


def naive_mondrian(cells: Cells, k: int, grid: int) -> Iterator[tuple[list[int], float, None]]:
    """Rows of each crowd and its loss: halved at the median of the widest attribute that allows it."""
    todo = [np.arange(len(cells))]
    while todo:
        rows = todo.pop()
        widths = np.ptp(cells[rows], axis=0)
        for attribute in np.argsort(-widths, kind="stable"):
            values = cells[rows, attribute]
            below = values <= np.median(values)
            if k <= below.sum() <= rows.size - k:
                todo += [rows[below], rows[~below]]
                break
        else:
            yield rows.tolist(), float(widths.mean()) / (grid - 1), None
