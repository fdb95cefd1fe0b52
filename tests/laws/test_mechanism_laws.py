"""Every law of `mechanism_laws` put to every registered mechanism, in exact integers over 12,000 beliefs each."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from channels import (
    SUBJECTS,
    Subject,
    channel_of,
    design,
    epsilon_units,
    extents,
    registered,
    relabelled,
    whole,
    workspace_of,
)
from mechanism_laws import LAWS, Case, taken_down
from random_beliefs import belief_of

from mechanisms import registry
from mechanisms.contract import TOTAL, Floats, constants_of
from mechanisms.sequence.two_budget import rising_of

BELIEFS = 12_000

Described = tuple[Subject, Sequence[Case]]


@pytest.fixture(scope="module", params=SUBJECTS, ids=lambda subject: subject.name)
def described(request: pytest.FixtureRequest) -> Described:
    subject: Subject = request.param
    return subject, taken_down(subject, BELIEFS, seed=2026)


@pytest.mark.parametrize("name", LAWS)
def test_law(described: Described, name: str) -> None:
    assert_law = LAWS[name]
    assert_law(*described)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
@pytest.mark.parametrize("name", LAWS)
def test_law_for_longer_alphabets(subject: Subject, name: str) -> None:
    assert_law = LAWS[name]
    assert_law(subject, taken_down(subject, 18, seed=7, symbols_max=200))


def agreement(case: Case) -> Fraction:
    """The exact probability that a value is released unchanged."""
    masses = whole(case.belief)
    kept = sum(masses[y] * case.channel.rows[y][i] for i, y in enumerate(case.channel.released))
    return Fraction(kept, sum(masses) * TOTAL)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_the_names_of_the_values_do_not_matter(subject: Subject) -> None:
    """Relabelled values are released unchanged as often as before, and leak the same."""
    rng = np.random.default_rng(3)
    for attempt in range(300):
        belief = belief_of(attempt % 3, int(rng.integers(2, 9)), 1.0, rng)
        order = rng.permutation(belief.shape[0])
        units = epsilon_units(float(rng.choice([0.1, 0.5, 1.0, 3.0])))
        one = Case(belief, units, channel_of(subject, belief, units))
        other = Case(belief[order], units, channel_of(relabelled(subject, order), belief[order], units))
        assert float(agreement(one)) == pytest.approx(float(agreement(other)), abs=1e-9)
        assert one.channel.worst == pytest.approx(other.channel.worst, rel=1e-9)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_a_used_workspace_gives_what_a_fresh_one_gives(subject: Subject) -> None:
    """Nothing of one event is left for the next one, whichever mechanism came before."""
    rng = np.random.default_rng(4)
    used = workspace_of(subject, 6)
    for attempt in range(400):
        belief = belief_of(attempt % 9, 6, 1.0, rng)
        constants = design(epsilon_units(float(rng.choice([1e-6, 0.5, 1.0, 3.0]))))
        before = SUBJECTS[int(rng.integers(len(SUBJECTS)))]
        before.describe(belief[rng.permutation(6)], constants, used)
        fresh = workspace_of(subject, 6)
        assert subject.describe(belief, constants, used) == subject.describe(belief, constants, fresh)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_belief_and_constants_are_left_alone(subject: Subject) -> None:
    belief, constants = np.array([0.5, 0.25, 0.125, 0.125, 0.0]), design(epsilon_units(1.0)).copy()
    before = belief.tolist(), constants.tolist()
    subject.describe(belief, constants, workspace_of(subject, 5))
    assert (belief.tolist(), constants.tolist()) == before


def nothing_is_learnt(subject: Subject, belief: Floats, units: int) -> bool:
    channel = subject.describe(belief, np.array(constants_of(units)), workspace_of(subject, belief.shape[0]))
    ratios = {channel.worst, *(reported for _, reported in channel.columns)}
    return ratios == {(1.0, 1.0, 1.0)} and all(row == channel.rows[0] for row in channel.rows)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_epsilon_zero_and_below_tells_nothing(subject: Subject) -> None:
    rng = np.random.default_rng(5)
    for attempt in range(90):
        belief = belief_of(attempt % 9, int(rng.integers(1, 9)), 1.0, rng)
        assert nothing_is_learnt(subject, belief, 0)
        assert nothing_is_learnt(subject, belief, -64)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
@pytest.mark.parametrize("units", [1, 2, 64, 1000, 30_000, 10**6])
def test_a_few_units_of_epsilon_are_enough_to_be_well_defined(subject: Subject, units: int) -> None:
    rng = np.random.default_rng(6)
    for attempt in range(90):
        belief = belief_of(attempt % 9, int(rng.integers(1, 9)), 1.0, rng)
        constants = np.array(constants_of(units))
        channel = subject.describe(belief, constants, workspace_of(subject, belief.shape[0]))
        assert all(sum(row) == TOTAL and min(row) >= 0 for row in channel.rows)
        for extent, (_, reported) in zip(extents(channel, belief), channel.columns, strict=True):
            for said, true in zip(reported, extent.ratios(), strict=True):
                assert true is None or said >= true


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_one_value_alone_tells_nothing(subject: Subject) -> None:
    assert nothing_is_learnt(subject, np.array([1.0]), epsilon_units(1.0))


def test_codes_are_distinct_and_the_dispatchers_know_them() -> None:
    codes = [mechanism.code for mechanism in registry.MECHANISMS.values()]
    assert sorted(codes) == list(range(len(codes)))
    belief, units = np.array([0.4, 0.3, 0.2, 0.1, 0.0]), epsilon_units(1.0)
    names = registry.MECHANISMS
    channels = {str(channel_of(registered(name, distance="line"), belief, units).rows) for name in names}
    assert len(channels) == len(codes) - 1  # given epsilon alone, two_budget is optimal
    higher, work = rising_of(units, 2 * units, 5).constants[-1, 0], workspace_of(registered("two_budget"), 5)
    assert str(registered("two_budget").describe(belief, higher, work).rows) not in channels
