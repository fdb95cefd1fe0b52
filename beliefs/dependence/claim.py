"""What the releases of several windows tell about one user, from what each loses. Proof: claim.md.

A claim looks at losses alone, and never at anybody's data. Every combination of who depends on whom, across windows,
and of what is protected, either has a claim or is refused by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from beliefs.checks import Invalid, require
from beliefs.dependence.claim_chain import ChainClaim, chain_claim
from beliefs.dependence.user_accounts import Account, OnlyQuery, account_of, worst_method
from beliefs.laws.chosen import Theta, each_of
from beliefs.laws.dependence import Dependence, Group, Independent, OverWindows
from beliefs.rounding import INFINITE

ANY, WEAKEST = "any", "weakest"
FRESH = "fresh"
EVERYTHING, ONE_WINDOW = "everything", "one_window"

Adversary = Literal["any", "weakest"]
Protects = Literal["everything", "one_window"]
Windows = Literal["any", "fresh"] | OverWindows | Theta


class Claim(Protocol):
    """In units of 2^-40 nat. `losses` are those of the last windows, the oldest first; more than counts are cut."""

    @property
    def method(self) -> str: ...

    @property
    def adversary(self) -> str: ...

    def leak(self, losses: Sequence[int]) -> int:
        """What is told about one user, rounded up."""
        ...

    def next_loss(self, spent: Sequence[int], target: int) -> int:
        """A loss after those spent with which the target is kept; 0 where there is none, or the target is passed."""
        ...


@dataclass(frozen=True)
class Total:
    """All that a user contributed to the last windows: what each tells adds up."""

    account: Account
    adversary: str
    horizon: int

    @property
    def method(self) -> str:
        return self.account.method

    def leak(self, losses: Sequence[int]) -> int:
        counted = Counter(losses[-self.horizon :])
        return min(INFINITE, sum(times * self.account.told(loss) for loss, times in counted.items()))

    def next_loss(self, spent: Sequence[int], target: int) -> int:
        return self.account.largest(target - self.leak(_before(spent, self.horizon)))


@dataclass(frozen=True)
class Single:
    """What a user contributed to any one window: no other window says anything of it."""

    account: Account
    adversary: str
    horizon: int

    @property
    def method(self) -> str:
        return self.account.method

    def leak(self, losses: Sequence[int]) -> int:
        return max(map(self.account.told, set(losses[-self.horizon :])), default=0)

    def next_loss(self, spent: Sequence[int], target: int) -> int:
        return self.account.largest(target) if self.leak(_before(spent, self.horizon)) <= target else 0


@dataclass(frozen=True)
class WorstClaim:
    """Of several laws whichever tells most."""

    claims: tuple[ChainClaim, ...]

    @property
    def method(self) -> str:
        return worst_method(each.method for each in self.claims)

    @property
    def adversary(self) -> str:
        return self.claims[0].adversary

    def leak(self, losses: Sequence[int]) -> int:
        return max(each.leak(losses) for each in self.claims)

    def next_loss(self, spent: Sequence[int], target: int) -> int:
        return min(each.next_loss(spent, target) for each in self.claims)


def claim_of(
    users: Dependence | Theta,
    windows: Windows,
    *,
    protects: Protects,
    adversary: Adversary,
    horizon: int,
    only: OnlyQuery | None = None,
) -> Claim:
    """The claim about any `horizon` windows in a row, or `Invalid` on what cannot carry one: users, windows, protects.

    `only` describes the one count or sum of a window that releases nothing else.
    """
    require(horizon >= 1, "a claim is about at least one window")
    knowing = adversary == ANY
    if not isinstance(windows, str):
        return _along_windows(users, windows, protects, adversary, horizon)
    if windows != FRESH and not isinstance(users, Independent | Group):
        raise Invalid(
            "windows",
            "must be fresh where users have a law: it says how contributions of one window hang together, and nothing "
            "of how those of several windows do",
        )
    account = account_of(users, knowing=knowing, only=only)
    if protects == ONE_WINDOW and windows == FRESH:
        return Single(account, adversary, horizon)
    return Total(account, adversary, horizon)


def _along_windows(
    users: Dependence | Theta, windows: OverWindows | Theta, protects: str, adversary: str, horizon: int
) -> Claim:
    if protects != ONE_WINDOW:
        raise Invalid("protects", "must be one_window where windows have a law: all of them together gain nothing")
    if not isinstance(users, Independent):
        raise Invalid("users", "must be independent where windows have a law: it says nothing of several users")
    laws = each_of(windows.law if isinstance(windows, OverWindows) else windows)
    claims = tuple(chain_claim(law, adversary, horizon, knowing=adversary == ANY) for law in laws)
    return claims[0] if len(claims) == 1 else WorstClaim(claims)


def _before(spent: Sequence[int], horizon: int) -> Sequence[int]:
    """The losses that count together with the next one."""
    return spent[max(0, len(spent) - horizon + 1) :]
