"""What crowds of a size would tell, before any of them is there: for explanations and plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from beliefs.checks import Invalid
from beliefs.crowd.account import CrowdAccount, Present, Told
from beliefs.crowd.noise import LADDER
from stream.crowds.promise import CrowdPromise
from stream.settings.crowd import MOST_PEOPLE


@dataclass(frozen=True)
class Outlook:
    """A window with these people in it. `delta` is the worst of all adversaries, with the noise of `scale` steps of the
    grid that is added where the settings add any, and of all windows of the target together, each like this one. It is
    None where nothing is declared, and 1 where it is not known, since too many numbers would have to be worked out. A
    window that is not released tells nothing.
    """

    present: Present
    delta: float | None
    scale: Fraction | None
    released: bool

    def told(self, account: CrowdAccount) -> tuple[Told, ...]:
        """Before each adversary; nothing where it cannot be worked out."""
        try:
            return account.told(self.present, self.scale)
        except Invalid:
            return ()


def outlook(promise: CrowdPromise, present: Present) -> Outlook:
    account, target = promise.account, promise.target
    enough = promise.k <= present.users <= MOST_PEOPLE
    if account is None or target is None:
        return Outlook(present, None, None, enough)
    delta, scale = _together(promise, account, present), None
    if delta > target.delta and promise.tops_up:
        scale = _noise_for(promise, account, present, target.delta)
        delta = delta if scale is None else _together(promise, account, present, scale)
    return Outlook(present, delta, scale, enough and delta <= target.delta)


def _noise_for(promise: CrowdPromise, account: CrowdAccount, present: Present, delta: float) -> Fraction | None:
    """The least of the ladder that is enough; more noise only hides more."""

    def enough(step: int) -> bool:
        return _together(promise, account, present, LADDER[step]) <= delta

    step = least_enough(enough, 0, len(LADDER) - 1)
    return None if step is None else LADDER[step]


def needed_users(promise: CrowdPromise, kind: int = 0) -> int | None:
    """The fewest people of this type that meet the target by themselves, without noise; None where no window can hold
    as many. More people only hide more, so what is enough stays enough.
    """
    account, target = promise.account, promise.target
    if account is None or target is None:
        return None
    step = promise.household_most or 1

    def enough(households: int) -> bool:
        return _together(promise, account, present_of(promise, households * step, kind)) <= target.delta

    found = least_enough(enough, -(-promise.k // step), MOST_PEOPLE // step)
    return None if found is None else found * step


def _together(promise: CrowdPromise, account: CrowdAccount, present: Present, scale: Fraction | None = None) -> float:
    """What as many such windows as the target is for tell together; 1 where the law is so wide that the sum of so many
    people is not worked out.
    """
    try:
        if promise.total is None:
            return account.worst(present, scale)
        return promise.total.alike(promise.total.item(present, scale))
    except Invalid:
        return 1.0


def least_enough(enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """The smallest number from `least` to `most` that is enough, where all above one that is are so, too."""
    if least > most:
        return None
    if enough(least):
        return least
    low, high = least, min(max(2 * least, 1), most)
    while not enough(high):
        if high == most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def present_of(promise: CrowdPromise, users: int, kind: int = 0) -> Present:
    """So many people of one type."""
    return present_in(promise, tuple(users if place == kind else 0 for place in range(len(promise.types))))


def present_in(promise: CrowdPromise, types: tuple[int, ...]) -> Present:
    """So many people of each type. Of households, where it is not known who belongs together, as many whole ones as
    there can be, and the rest in another.
    """
    most = promise.household_most
    if most is None:
        return Present(types)
    whole, rest = divmod(sum(types), most)
    return Present((), tuple(whole if size == most else int(size == rest) for size in range(1, most + 1)))
