"""What a release lets be seen: how far two values of one person are told apart by it."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple, Protocol

from beliefs.crowd.informed import Others

EXACT: Final = "exact"
SOUND: Final = "sound"
LATTICE: Final = "lattice"
NONE: Final = "none"
METHODS: Final = (EXACT, SOUND, LATTICE, NONE)
"""From what is the truth to what says nothing."""


class Target(NamedTuple):
    """Somebody of a kind, of whose household the adversary knows so many others."""

    kind: int
    own: int = 0


class Seen(Protocol):
    noisy: bool
    """Whether noise can be added."""

    blurs_known: bool
    """Whether values that are known hide something, which is not counted."""

    def told(
        self, target: Target, others: Others, epsilon: float, scale: Fraction | None, /, *, roughly: bool = False
    ) -> float:
        """delta of any two values of the target, so many others of each kind being unknown; it never rises with
        these, nor with the scale. Roughly it may be less.
        """

    def method(self, others: Others, scale: Fraction | None, /) -> str: ...


class Nothing:
    """Of which nothing is proven."""

    noisy = False
    blurs_known = False

    def told(
        self, _target: Target, _others: Others, _epsilon: float, _scale: Fraction | None, *, roughly: bool = False
    ) -> float:
        return 0.0 if roughly else 1.0

    def method(self, _others: Others, _scale: Fraction | None) -> str:
        return NONE
