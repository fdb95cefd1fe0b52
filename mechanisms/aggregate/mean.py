"""The noise of a mean's two parts: a sum around the centre, and a count. Proof: mean.md."""

from __future__ import annotations

from mechanisms.aggregate.geometric import Geometric, scale_for
from mechanisms.aggregate.quantised import Amounts


def noise_of_mean(amounts: Amounts, loss: int) -> tuple[Geometric, Geometric]:
    """Of the centred sum and of the count: together they tell at most `loss` units of one person.

    Whoever exchanges a value moves the sum alone; whoever comes or goes moves it by half as much, and the count.
    """
    summed = scale_for(amounts.width, loss)
    return summed, scale_for(1, loss - summed.loss(amounts.half))


def loss_of_mean(amounts: Amounts, summed: Geometric, counted: Geometric) -> int:
    """What both parts tell of one person, in units, rounded up."""
    return max(summed.loss(amounts.width), summed.loss(amounts.half) + counted.loss(1))
