"""How much noise a law of who depends on whom saves beside the group that assumes the worst. Note: gain.md."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from beliefs.dependence.budget import largest_loss
from beliefs.prior.outward import least_above


class Gain(NamedTuple):
    """Noise for one target, in multiples of what would do if nobody depended on anybody; rounded up.

    `group` is the same where all that hang together may be one; `share` is the quotient.
    """

    noise: float
    group: int
    share: float


def gain_of(leak: Callable[[int], int], together: int, target: int) -> Gain:
    """`leak` says what a loss that is the same for everybody tells about one; both in units, as is the target."""
    loss = max(largest_loss(leak, target, target), target // together)
    noise = Fraction(target, loss)
    return Gain(least_above(noise), together, least_above(noise / together))
