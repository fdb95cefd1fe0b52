"""What crowds of a size would tell, before any of them is there: for explanations and plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from beliefs.crowd.account import CrowdAccount, Present, Told
from stream.crowds.promise import CrowdPromise
from stream.settings.crowd import MOST_PEOPLE


@dataclass(frozen=True)
class Outlook:
    """A window of so many people, all of one type, or of whole households as far as they go.

    `delta` is the worst of all adversaries; `scale` that of the noise that is added in steps of the grid, where the
    settings add any; `told` is with it. A window that is not released tells nothing.
    """

    users: int
    told: tuple[Told, ...]
    delta: float
    scale: Fraction | None
    released: bool


def outlook(promise: CrowdPromise, users: int, kind: int = 0) -> Outlook | None:
    """None where nothing is declared, so that nothing is known."""
    account, target = promise.account, promise.target
    if account is None or target is None:
        return None
    present, scale = present_of(promise, users, kind), None
    delta = account.worst(present)
    if delta > target.delta and promise.tops_up:
        scale = account.noise_for(present)
        delta = delta if scale is None else account.worst(present, scale)
    enough = promise.k <= users <= MOST_PEOPLE
    return Outlook(users, account.told(present, scale), delta, scale, enough and delta <= target.delta)


def needed_users(promise: CrowdPromise, kind: int = 0) -> int | None:
    """The fewest people of this type that meet the target by themselves, without noise; None where no window can hold
    as many. More people only hide more, so what is enough stays enough.
    """
    account, target = promise.account, promise.target
    if account is None or target is None:
        return None
    step = promise.household_most or 1

    def enough(households: int) -> bool:
        return _meets(account, present_of(promise, households * step, kind), target.delta)

    found = least_enough(enough, -(-promise.k // step), MOST_PEOPLE // step)
    return None if found is None else found * step


def _meets(account: CrowdAccount, present: Present, delta: float) -> bool:
    return account.worst(present) <= delta


def least_enough(enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """The smallest number from `least` to `most` that is enough, where all above one that is are so, too."""
    if least > most:
        return None
    if enough(least):
        return least
    low, high = least, min(2 * least, most)
    while not enough(high):
        if high == most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def present_of(promise: CrowdPromise, users: int, kind: int = 0) -> Present:
    """So many people of one type; of households as many whole ones as there are, and the rest in another."""
    most = promise.household_most
    if most is None:
        return Present(tuple(users if place == kind else 0 for place in range(len(promise.types))))
    whole, rest = divmod(users, most)
    return Present((), tuple(whole if size == most else int(size == rest) for size in range(1, most + 1)))
