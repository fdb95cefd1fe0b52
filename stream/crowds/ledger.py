"""The gate of a window of a crowd: whether it is released, with noise, or withheld, from public facts alone.

Who is there is known to everybody: how many of each type and of each household, and who was there in earlier windows.
Nobody's value is looked at, so the decision itself tells nothing.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.crowd.account import CrowdAccount, Present, Told
from beliefs.crowd.noise import LADDER
from beliefs.crowd.total import Total
from stream import names
from stream.crowds.entries import Group
from stream.crowds.promise import CrowdPromise
from stream.settings.crowd import MOST_PEOPLE

_COUNT: Final = struct.Struct(">I")


class Decision(NamedTuple):
    """What becomes of a window. `reason` is None where it is released, with noise of `scale` steps of its lattice if
    there is one. `told` is what it tells before each adversary that is declared, `total` the delta of all windows of
    the target together, where they are composed.
    """

    reason: str | None
    told: tuple[Told, ...] = ()
    scale: Fraction | None = None
    total: float | None = None


class Ledger:
    """What released windows before the next one have told: of as many as the target composes with it."""

    def __init__(self, promise: CrowdPromise, total: Total | None, items: Sequence[bytes] = ()) -> None:
        """`items` are kept of the last windows, oldest first."""
        self._promise, self._total = promise, total
        self._items: deque[bytes] = deque(items, maxlen=promise.horizon - 1)

    @property
    def items(self) -> tuple[bytes, ...]:
        """Oldest first; of a window that was withheld nothing."""
        return tuple(self._items)

    def withhold(self, reason: str) -> Decision:
        """The next window in order, of which nothing is told."""
        return self._charged(Decision(reason), b"")

    def _charged(self, decision: Decision, item: bytes) -> Decision:
        self._items.append(item)
        return decision

    def decide(self, group: Group, *, allowed: bool) -> Decision:
        """The next window in order; what it tells is charged. `allowed`: the guard lets it pass."""
        promise = self._promise
        if group.users > MOST_PEOPLE:
            return self.withhold(names.WITHHELD_MANY)
        if group.users < promise.k:
            return self.withhold(names.WITHHELD_FEW)
        present = present_of(promise, group)
        if present is None:
            return self.withhold(names.WITHHELD_HOUSEHOLD)
        if not allowed:
            return self.withhold(names.WITHHELD_DIFFERENCING)
        if promise.account is None:
            return self._charged(Decision(None), b"")
        try:
            return self._accounted(promise.account, present)
        except Invalid:  # more people than what they tell can be worked out for
            return self.withhold(names.WITHHELD_MANY)

    def _accounted(self, account: CrowdAccount, present: Present) -> Decision:
        scale = None
        if not self._fits(present, None):
            scale = self._noise(present)
            if scale is None:
                return self.withhold(names.WITHHELD_DELTA)
        told = account.told(present, scale)
        if self._total is None:
            return self._charged(Decision(None, told, scale), b"")
        item = self._total.item(present, scale)
        return self._charged(Decision(None, told, scale, self._total.delta_with(self.items, item)), item)

    def _fits(self, present: Present, scale: Fraction | None) -> bool:
        account, target = self._promise.account, self._promise.target
        if account is None or target is None:
            return True
        if account.worst(present, scale) > target.delta:
            return False
        if self._total is None:
            return True
        return self._total.delta_with(self.items, self._total.item(present, scale)) <= target.delta

    def _noise(self, present: Present) -> Fraction | None:
        """A scale with which it fits, the least but for roundings: it is looked for by halves, and was itself tried."""
        account = self._promise.account
        least = None if account is None or not self._promise.tops_up else account.noise_for(present)
        if least is None or self._total is None:
            return least
        scales = LADDER[LADDER.index(least) :]
        place = bisect_left(scales, True, key=lambda scale: self._fits(present, scale))
        return scales[place] if place < len(scales) else None


def present_of(promise: CrowdPromise, group: Group) -> Present | None:
    """How many there are of each kind; None where more of one household are there than the law knows. Whoever has no
    household is one of his own.
    """
    most = promise.household_most
    if most is None:
        return Present(tuple(np.bincount(group.types, minlength=len(promise.types)).tolist()))
    single = group.households == 0
    _, sizes = np.unique(group.households[~single], return_counts=True)
    if sizes.max(initial=0) > most:
        return None
    households = np.bincount(sizes, minlength=most + 1)
    households[1] += np.count_nonzero(single)
    return Present((), tuple(households[1:].tolist()))


def encode_items(items: Sequence[bytes]) -> bytes:
    """How many windows (4 bytes, big-endian); of each how many bytes (1) and what is kept of it, oldest first."""
    return _COUNT.pack(len(items)) + b"".join(bytes([len(item)]) + item for item in items)


def decode_items(text: bytes) -> list[bytes]:
    """struct.error where the text is not of items."""
    (count,) = _COUNT.unpack_from(text)
    items, at = [], _COUNT.size
    for _ in range(count):
        if at >= len(text):
            raise struct.error("too short")
        items.append(text[at + 1 : at + 1 + text[at]])
        at += 1 + text[at]
    if at != len(text):
        raise struct.error("another length")
    return items
