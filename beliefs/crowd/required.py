"""How large a crowd of equal members must be. Proof: sums.md."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from beliefs.checks import Invalid
from beliefs.crowd.divergence import apart
from beliefs.crowd.members import Group, kinds_of
from beliefs.crowd.sums import added, law, times
from beliefs.simplex import Vector, normalised

USERS_MAX: Final = 1_000_000


def required_users(mass: Vector, epsilon: float, delta: float, known_fraction: float = 0.0) -> int:
    """The smallest crowd in which the worst member keeps (epsilon, delta) although so many are known."""
    pairs = kinds_of([Group(mass)])[0].pairs
    one = law(normalised(mass))

    def enough(others: int) -> bool:
        crowd = times(one, others)
        return all(apart(added(crowd, two[0]), added(crowd, two[1]), epsilon) <= delta for two in pairs)

    if enough(0):
        return _crowd_with(1, known_fraction)
    low, others = 0, 1
    while not enough(others):
        low, others = others, 2 * others
        if others > USERS_MAX:
            raise Invalid("delta", f"needs a crowd of more than {USERS_MAX:,} members; ask for a larger one")
    while others - low > 1:
        middle = (low + others) // 2
        low, others = (low, middle) if enough(middle) else (middle, others)
    return _crowd_with(others + 1, known_fraction)


def _crowd_with(unknown: int, known_fraction: float) -> int:
    """The smallest crowd of which so many stay unknown when a fraction, rounded up, is known."""
    share = Fraction(str(known_fraction))
    users = max(unknown, math.floor(unknown / (1 - share)) - 1)
    while users - math.ceil(share * users) < unknown:
        users += 1
    return users
