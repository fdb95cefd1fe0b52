"""What a crowd must be beside large: its sensitive values diverse and like everybody's. Proof: diversity.md."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

import numpy as np

from beliefs.checks import Invalid, require
from beliefs.native import kernel
from mechanisms.contract import Integers

K_MOST = 1_000_000
MILLION = 1_000_000
EVENTS_MOST = 1 << 20
"""So many events are compared at most: 2 n N 10^6 stays below 2^63."""


@dataclass(frozen=True)
class Rule:
    """At least `k` people; of `values` sensitive ones none with more than one in `diverse` of them; and the law of the
    crowd's events at most `close` millionths from that of all (-1: no such limit). A crowd with more loss than
    `loss_most` is kept back."""

    k: int
    values: int = 0
    diverse: int = 1
    close: int = -1
    loss_most: float = 1.0

    def __post_init__(self) -> None:
        require(2 <= self.k <= K_MOST, f"a crowd has at least 2 to {K_MOST} people")
        require(0.0 <= self.loss_most <= 1.0, "a loss lies between 0 and 1")
        require(self.values >= 1 or not self.about_values, "without sensitive values there is no rule about them")
        if not 1 <= self.diverse <= max(1, min(self.k, self.values)):
            raise Invalid("diverse", f"is {self.diverse}: it is at least 1 and at most k and the number of values")
        require(-1 <= self.close <= MILLION, "a distance of laws lies between 0 and 1")

    @property
    def about_values(self) -> bool:
        return self.diverse > 1 or self.close >= 0

    def allows(self, people: Integers, users: int, events: Integers, everybody: Integers) -> bool:
        """Of each value: how many of the crowd's `users` have it, of its events have it, and of all events have it."""
        return users >= self.k and (
            not self.about_values or bool(mixed(self.diverse, self.close, people, users, events, everybody))
        )


def millionths(close: Decimal | float | str) -> int:
    """A distance of laws, rounded down: never more than was written."""
    return int((Decimal(str(close)) * MILLION).to_integral_value(ROUND_FLOOR))


def no_counts(rule: Rule) -> Integers:
    return np.zeros(rule.values, dtype=np.int64)


@kernel
def mixed(diverse: int, close: int, people: Integers, users: int, events: Integers, everybody: Integers) -> bool:
    """max people <= users/diverse, and sum |c/n - C/N| <= 2 close: in whole numbers, so that ties go one way."""
    inside = total = 0
    for value in range(people.size):
        if people[value] * diverse > users:
            return False
        inside += events[value]
        total += everybody[value]
    if close < 0:
        return True
    if inside == 0 or total == 0:
        return False
    apart = 0
    for value in range(people.size):
        apart += abs(events[value] * total - everybody[value] * inside)
    return apart * 1_000_000 <= 2 * close * inside * total
