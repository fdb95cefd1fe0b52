"""No joint release of windows tells more than its claim: tables, chains, adaptive windows, by enumeration; refusals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from dependence_oracles import PARITY, joint_leak, largest_joint_leak, losses_of, some_mechanism, some_releases

from beliefs.correlation.bound import Matrix
from beliefs.dependence.chain import stationary_law
from beliefs.dependence.claim import claim_of
from beliefs.dependence.user_accounts import OnlyQuery, account_of
from beliefs.laws.dependence import Group, Independent, Members
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query
from beliefs.prior.worst import worst_of_table
from beliefs.rounding import UNITS_PER_NAT, nats, units_up

NAT = UNITS_PER_NAT
BITS = np.array([0.0, 1.0])
HOMES = Members("field", "$.home")
STAYS = MarkovLaw(np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]), BITS, 50)
COUNT = OnlyQuery(Fraction(1), 1, 1)
SEEDS = range(20)


def pair(stay: float) -> TableLaw:
    return TableLaw(np.array([[stay, 1 - stay], [1 - stay, stay]]) / 2, (BITS, BITS))


def some_table(generator: np.random.Generator, users: int, states: int) -> TableLaw:
    joint = generator.dirichlet(np.full(states**users, generator.choice([0.4, 1.0, 4.0]))).reshape((states,) * users)
    if generator.random() < 0.3:
        joint = np.where(generator.random(joint.shape) < 0.25, 0.0, joint) + 1e-3 * np.eye(states**users)[0].reshape(
            joint.shape
        )
        joint /= joint.sum()
    return TableLaw(joint, (np.arange(float(states)),) * users)


def windows_in_turn(generator: np.random.Generator, users: int, states: int) -> tuple[Matrix, list[float]]:
    """Chances of both outputs of two windows, the second chosen by the first one's output, and what each loses.

    Axes: users' values in the first window, then in the second one, then outputs.
    """
    first = some_mechanism(generator, (states,) * users, 3)
    seconds = [some_mechanism(generator, (states,) * users, 2) for _ in range(3)]
    spread = (slice(None),) * users + (None,) * users
    parts = [first[..., k][(*spread, None)] * second[(None,) * users] for k, second in enumerate(seconds)]
    return np.concatenate(parts, axis=-1), [max(losses_of(first)), max(max(losses_of(each)) for each in seconds)]


@pytest.mark.parametrize("seed", SEEDS)
def test_fresh_windows_of_a_household_tell_no_more_than_the_claims(seed: int) -> None:
    generator = np.random.default_rng(seed)
    law, adversary = some_table(generator, 2, 2), "any" if seed % 2 else "weakest"
    chances, losses = windows_in_turn(generator, 2, 2)
    units = [units_up(each) for each in losses]
    whole = np.multiply.outer(law.joint, law.joint)
    # One attribute for each user and window; then one for each user, whose values are pairs of both windows' values.
    apart = TableLaw(whole, (BITS,) * 4)
    turned = np.transpose(whole, (0, 2, 1, 3)).reshape(4, 4)
    together = TableLaw(turned, (np.arange(4.0),) * 2)
    both = np.transpose(chances, (0, 2, 1, 3, 4)).reshape(4, 4, -1)
    everything = claim_of(law, "fresh", protects="everything", adversary=adversary, horizon=2)
    one_window = claim_of(law, "fresh", protects="one_window", adversary=adversary, horizon=2)
    knowing = adversary == "any"
    assert largest_joint_leak(together, both, knowing=knowing) <= nats(everything.leak(units)) + 1e-12
    assert largest_joint_leak(apart, chances, knowing=knowing) <= nats(one_window.leak(units)) + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_a_household_of_three_tells_no_more_than_its_claim(seed: int) -> None:
    generator = np.random.default_rng(50 + seed)
    law = some_table(generator, 3, 2 + seed % 2)
    chances, losses = some_releases(generator, law.joint.shape)
    claim = claim_of(law, "fresh", protects="everything", adversary="any", horizon=1)
    assert claim.method == "sound"
    assert largest_joint_leak(law, chances, knowing=True) <= nats(claim.leak([units_up(max(losses))])) + 1e-12


@pytest.mark.parametrize("adversary", ["any", "weakest"])
@pytest.mark.parametrize("seed", SEEDS)
def test_windows_along_a_chain_tell_no_more_than_their_claim(seed: int, adversary: str) -> None:
    generator = np.random.default_rng(seed)
    states, windows = (2, 4) if seed % 2 else (3, 3)
    rows = generator.dirichlet(np.full(states, 0.7), states) * 0.9 + 0.1 / states
    start = stationary_law(rows)
    law = MarkovLaw(rows, start, np.arange(float(states)), windows)
    chances, losses = some_releases(generator, (states,) * windows)
    claim = claim_of(Independent(), law, protects="one_window", adversary=adversary, horizon=windows)
    told = largest_joint_leak(law.table(), chances, knowing=adversary == "any")
    assert told <= nats(claim.leak([units_up(each) for each in losses])) + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_and_lonely_users_tell_the_sum_whatever_windows_have_to_do_with_each_other(seed: int) -> None:
    generator = np.random.default_rng(seed)
    chances, losses = windows_in_turn(generator, 2, 2)
    units = [units_up(each) for each in losses]
    law = some_table(generator, 4, 2)
    turned = TableLaw(np.transpose(law.joint, (0, 2, 1, 3)).reshape(4, 4), (np.arange(4.0),) * 2)
    both = np.transpose(chances, (0, 2, 1, 3, 4)).reshape(4, 4, -1)
    group = claim_of(Group(2, HOMES), "any", protects="everything", adversary="any", horizon=2)
    assert group.leak(units) == 2 * sum(units)
    assert largest_joint_leak(turned, both, knowing=True) <= nats(group.leak(units)) + 1e-12
    users = turned.joint.sum(axis=1)[:, None] * turned.joint.sum(axis=0)
    alone = claim_of(Independent(), "any", protects="one_window", adversary="any", horizon=2)
    apart = TableLaw(users / users.sum(), turned.domains)
    assert largest_joint_leak(apart, both, knowing=True) <= nats(alone.leak(units)) + 1e-12


@pytest.mark.parametrize("adversary", ["any", "weakest"])
@pytest.mark.parametrize("seed", range(8))
def test_of_one_count_the_exact_leak_is_claimed(seed: int, adversary: str) -> None:
    generator = np.random.default_rng(seed)
    law = some_table(generator, 3, 2)
    account = account_of(law, knowing=adversary == "any", only=COUNT)
    bound = account_of(law, knowing=adversary == "any")
    assert account.method == "exact"
    for loss in (NAT // 10, NAT, 3 * NAT):
        worst = worst_of_table(law, Query.of(law), 1 / nats(loss))
        exact = max(nats(loss), worst.epsilon if adversary == "any" else worst.weakest)
        assert exact * (1 - 1e-9) <= nats(account.told(loss)) <= exact + 2e-9
        assert account.told(loss) <= bound.told(loss) + (1 << 11)


def test_a_sum_is_exact_on_its_grid_and_a_law_of_other_values_is_not() -> None:
    speeds = TableLaw(pair(0.9).joint, (np.array([0.0, 4.5]),) * 2)
    only = OnlyQuery(Fraction(1, 2), 2, 10)
    assert only.reach == 10
    found = account_of(speeds, knowing=True, only=only)
    assert found.method == "exact"
    steps = TableLaw(speeds.joint, (np.array([0.0, 9.0]),) * 2)
    assert nats(found.told(NAT)) == pytest.approx(worst_of_table(steps, Query.of(steps), 10.0).epsilon, abs=1e-8)
    for values in ([0.0, 4.7], [0.5, 4.5], [0.0, 5.5]):
        other = TableLaw(speeds.joint, (np.array(values),) * 2)
        assert account_of(other, knowing=True, only=only).method == "sound"


def test_three_bits_whose_sum_is_even_are_not_taken_for_independent() -> None:
    """Each two of them are independent; whoever knows one sees twice the loss, and sums tell 1.43 of it to others."""
    law = TableLaw(PARITY, (BITS,) * 3)
    for only in (None, COUNT):
        claim = claim_of(law, "fresh", protects="everything", adversary="any", horizon=1, only=only)
        assert nats(claim.leak([NAT])) >= 2.0 * (1 - 1e-9)
    weakest = claim_of(law, "fresh", protects="everything", adversary="weakest", horizon=1, only=COUNT)
    assert nats(weakest.leak([NAT])) == pytest.approx(math.log((1 + math.exp(2)) / 2), abs=1e-6)


def test_a_sum_of_a_step_of_the_other_is_covered() -> None:
    """D_j = .5 -+ .05 moves the query [D_j >= .5] by 1, though it depends little on D_i in its own numbers."""
    joint = np.array([[0.5, 0.0], [0.0, 0.5]])
    law = TableLaw(joint, (BITS, np.array([0.45, 0.55])))
    claim = claim_of(law, "fresh", protects="everything", adversary="weakest", horizon=1)
    assert nats(claim.leak([NAT])) == pytest.approx(2.0, abs=1e-9)


def test_releases_that_tell_nothing_each_are_charged_what_they_lose() -> None:
    """The xor of two fair bits and the second one: each by itself tells nothing of the first, both tell all of it."""
    law = TableLaw(np.full((2, 2), 0.25), (BITS, BITS))
    sharp = math.log(999.0)
    xor, second = np.array([[0.999, 0.001], [0.001, 0.999]]), np.array([[0.999, 0.001], [0.999, 0.001]])
    each = [np.stack([chance, 1 - chance], axis=-1) for chance in (xor, second)]
    both = (each[0][..., :, None] * each[1][..., None, :]).reshape(2, 2, 4)
    assert joint_leak(law, each[0], 0, ()) < 1e-9 > joint_leak(law, each[1], 0, ())
    told = joint_leak(law, both, 0, ())
    claim = claim_of(law, "fresh", protects="everything", adversary="any", horizon=1)
    assert sharp * 0.85 < told <= nats(claim.leak([units_up(2 * sharp)]))


def test_a_fact_in_two_windows_is_charged_twice() -> None:
    """Copies in two cells or windows: twice the loss, and no rule of the largest where windows may be copies."""
    claim = claim_of(Independent(), "any", protects="one_window", adversary="any", horizon=2)
    copies = TableLaw(np.diag([0.5, 0.5]), (BITS, BITS))
    noisy = np.array([[math.e, 1.0], [1.0, math.e]]) / (1 + math.e)
    table = (noisy[:, None, :, None] * noisy[None, :, None, :]).reshape(2, 2, 4)
    assert joint_leak(copies, table, 0, ()) == pytest.approx(2.0)
    assert claim.leak([NAT, NAT]) == 2 * NAT
