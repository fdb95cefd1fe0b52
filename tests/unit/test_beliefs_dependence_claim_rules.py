"""Claims rise with losses, keep targets, are decided quickly, and are refused by name where there are none."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from dependence_oracles import PARITY

from beliefs.checks import Invalid, InvariantBroken
from beliefs.dependence.claim import Claim, claim_of
from beliefs.dependence.remembered import KEPT
from beliefs.dependence.user_accounts import Measured, OnlyQuery, account_of
from beliefs.laws.blocks import BlocksLaw
from beliefs.laws.chosen import LawSet
from beliefs.laws.dependence import Blocks, Dependence, Group, Independent, Members, OverWindows, People
from beliefs.laws.friends import FriendsLaw, city_blocks
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.laws.tree import TreeLaw
from beliefs.rounding import INFINITE, UNITS_PER_NAT

NAT = UNITS_PER_NAT
BITS = np.array([0.0, 1.0])
HOMES = Members("field", "$.home")
STAYS = MarkovLaw(np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]), BITS, 50)
COUNT = OnlyQuery(Fraction(1), 1, 1)


def pair(stay: float) -> TableLaw:
    return TableLaw(np.array([[stay, 1 - stay], [1 - stay, stay]]) / 2, (BITS, BITS))


def every_claim(horizon: int) -> list[Claim]:
    friends = FriendsLaw(4, np.array([[0, 1], [1, 2]]), city_blocks(np.array([[0.0], [1.0]])), 0.5, 1.0)
    tree = TreeLaw(np.array([-1, 0, 0]), np.array([[0.5, 0.5]]), np.array([STAYS.rows]), np.array([-1, 0, 0]), BITS)
    kinds: list[Dependence | TableLaw | BlocksLaw] = [
        Independent(),
        Group(3, HOMES),
        Blocks({2: pair(0.9), 3: TableLaw(PARITY, (BITS,) * 3)}, HOMES),
        Blocks({2: LawSet((pair(0.9), pair(0.6)))}, HOMES),
        People(tree, ("a", "b", "c")),
        People(friends, tuple("abcd")),
        BlocksLaw((pair(0.7), pair(0.8))),
    ]
    found = [
        claim_of(users, "fresh", protects=protects, adversary=adversary, horizon=horizon, only=only)
        for users in kinds
        for protects in ("everything", "one_window")
        for adversary in ("any", "weakest")
        for only in (None, COUNT)
    ]
    chain = [
        claim_of(Independent(), windows, protects="one_window", adversary=adversary, horizon=horizon)
        for windows in (OverWindows(STAYS), LawSet((STAYS, MarkovLaw(np.full((2, 2), 0.5), np.full(2, 0.5), BITS, 50))))
        for adversary in ("any", "weakest")
    ]
    return found + chain


@pytest.mark.parametrize(
    "claim", every_claim(4), ids=lambda claim: f"{type(claim).__name__}-{claim.method}-{claim.adversary}"
)
def test_leaks_rise_with_losses_are_cut_to_the_horizon_and_the_next_loss_keeps_the_target(claim: Claim) -> None:
    assert claim.leak([]) == claim.leak([0, 0]) == 0
    assert claim.leak([NAT]) >= NAT * (1 - 1e-8)
    rising = [claim.leak([NAT // 2, 0, loss, NAT // 3]) for loss in (0, 1, NAT // 5, NAT, 5 * NAT, 900 * NAT)]
    assert rising == sorted(rising)
    assert claim.leak([7 * NAT, NAT, NAT, NAT, NAT]) == claim.leak([NAT] * 4)
    for spent in ([], [NAT // 8] * 3, [NAT // 8, 0, NAT // 16], [NAT, NAT // 8, NAT // 8, NAT // 8]):
        for target in (0, NAT // 2, 2 * NAT, 30 * NAT):
            loss = claim.next_loss(spent, target)
            before = claim.leak(spent[-3:])
            assert loss >= 0
            if loss or before <= target:
                assert claim.leak([*spent, loss]) <= max(target, 0)
            if before < target // 2:
                assert claim.leak([*spent, loss + loss // 8 + 64]) > target
            if before > target:
                assert loss == 0
    assert claim.leak([INFINITE]) == INFINITE


def test_of_several_laws_the_worst_counts() -> None:
    def told(law: TableLaw | LawSet) -> int:
        return claim_of(law, "fresh", protects="everything", adversary="any", horizon=1).leak([NAT])

    assert told(LawSet((pair(0.6), pair(0.9)))) == told(pair(0.9)) > told(pair(0.6))
    slow = MarkovLaw(np.array([[0.99, 0.01], [0.01, 0.99]]), np.array([0.5, 0.5]), BITS, 5)
    of = {"protects": "one_window", "adversary": "weakest", "horizon": 5}
    both = claim_of(Independent(), LawSet((STAYS.__class__(STAYS.transition, STAYS.start, BITS, 5), slow)), **of)
    assert both.leak([NAT] * 5) == claim_of(Independent(), slow, **of).leak([NAT] * 5)


@pytest.mark.parametrize(
    ("users", "windows", "protects", "field", "words"),
    [
        (pair(0.9), "any", "everything", "windows", "must be fresh"),
        (pair(0.9), "any", "one_window", "windows", "must be fresh"),
        (Independent(), STAYS, "everything", "protects", "one_window"),
        (pair(0.9), STAYS, "one_window", "users", "independent"),
        (Group(2, HOMES), STAYS, "one_window", "users", "independent"),
        (STAYS, "fresh", "everything", "users", "chain"),
        (OverWindows(STAYS), "fresh", "everything", "users", "windows"),
        (GaussianLaw(np.eye(2), 1.0), "fresh", "everything", "users", "Gaussian"),
        (Independent(), pair(0.9), "one_window", "windows", "chain"),
        (
            Independent(),
            MarkovLaw(STAYS.transition, np.array([0.6, 0.4]), BITS, 5),
            "one_window",
            "windows",
            "0.5, 0.5",
        ),
        (Independent(), MarkovLaw(np.eye(2), np.full(2, 0.5), BITS, 5), "one_window", "windows", "stationary"),
    ],
)
def test_what_carries_no_claim_is_refused_by_name(
    users: Dependence, windows: object, protects: str, field: str, words: str
) -> None:
    with pytest.raises(Invalid) as refused:
        claim_of(users, windows, protects=protects, adversary="any", horizon=5)  # type: ignore[arg-type]
    assert refused.value.field == field
    assert words in refused.value.reason


def test_a_claim_is_about_a_window_at_least() -> None:
    with pytest.raises(InvariantBroken):
        claim_of(Independent(), "any", protects="everything", adversary="any", horizon=0)


def seconds(claim: Claim, losses: list[int]) -> float:
    """The best of five."""
    found = []
    for _ in range(5):
        begin = time.perf_counter()
        claim.leak(losses)
        found.append(time.perf_counter() - begin)
    return min(found)


@pytest.mark.parametrize("protects", ["everything", "one_window"])
def test_a_day_of_minutes_is_decided_in_a_millisecond(protects: str) -> None:
    losses = [NAT // 700] * 1440
    claim = claim_of(pair(0.9), "fresh", protects=protects, adversary="any", horizon=1440)
    assert seconds(claim, losses) < 0.001


@pytest.mark.parametrize("adversary", ["any", "weakest"])
def test_a_day_of_minutes_along_a_chain_is_decided_in_a_millisecond(adversary: str) -> None:
    claim = claim_of(Independent(), STAYS, protects="one_window", adversary=adversary, horizon=1440)
    assert seconds(claim, [NAT // 10] * 1440) < 0.001
    assert seconds(claim, [NAT // 10] * 700) < 0.001
    assert claim.leak([NAT // 10] * 700) <= claim.leak([NAT // 10] * 1440)


@pytest.mark.parametrize("adversary", ["any", "weakest"])
def test_constant_losses_have_the_leak_of_any_losses(adversary: str) -> None:
    claim = claim_of(Independent(), STAYS, protects="one_window", adversary=adversary, horizon=40)
    for count in (1, 2, 7, 40):
        constant = claim.leak([NAT // 3] * count)
        nearly = claim.leak([NAT // 3] * (count - 1) + [NAT // 3 - 1])
        assert constant - 100 * count <= nearly <= constant + 100 * count
    assert claim.leak([0, 0, NAT, NAT, 0]) == claim.leak([NAT, NAT])


def test_a_claim_that_is_asked_for_ever_remembers_the_last_answers_only() -> None:
    account = account_of(pair(0.9), knowing=True)
    assert isinstance(account, Measured)
    told = [account.told(loss) for loss in range(1, 2 * KEPT)]
    assert told == sorted(told)
    assert len(account.known) == KEPT
