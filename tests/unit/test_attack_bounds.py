"""The bound on guesses: a theorem for each channel by enumeration, kept by what was measured, and attained."""

from __future__ import annotations

import math

import numpy as np
import pytest
from attack_help import adversary_of, attacked, longer_memory, truth_of, watched
from audit_world import model_of, run, with_value
from scipy import stats

from beliefs.alphabet import Categories
from beliefs.chain import Chain
from beliefs.model_file import Model, parse, serialise
from stream.adversary.facts import Known
from stream.attack.bounds import Evidence, ceiling_of, exceeds, exceeds_measured, interval_of, line_above
from stream.attack.scores import ROUNDING
from stream.attack.watch import BEFORE, DOWN, DUMMY, KIND, RELEASED, RIGHT, SURE, UP
from stream.audit.amounts import WHOLE, Floats
from stream.audit.book import new_book, new_desk
from stream.audit.channel import COLUMN
from stream.audit.judge import judge, write_column

BOUNDED = ["optimal", "marginal_preserving", "top_k_grr", "randomised_response", "temporal_ldp"]


def two_values(stay: float) -> Model:
    chain = Chain.from_dense([0.5, 0.5], [[stay, 1 - stay], [1 - stay, stay]])
    return parse(serialise(Categories(["act0", "act1"]), chain, {}))


@pytest.mark.parametrize("mechanism", BOUNDED)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.5])
def test_no_guess_rule_of_any_reader_beats_the_ceiling(mechanism: str, epsilon: float) -> None:
    """All outputs of a channel are enumerated: for a random reader's guesses, and for each true value."""
    source = np.random.default_rng(5)
    for symbols in (2, 3, 5):
        public = run(symbols, events=1, mechanism=mechanism, epsilon=epsilon, nats="unlimited").task().public
        desk = new_desk(public.states, public.symbols, public.distance)
        for _ in range(20):
            desk.ahead[:] = source.dirichlet(np.full(symbols, 0.3))
            assert judge(public.rules, desk, new_book(1, symbols).users[0], 0) == 0
            columns = []
            for place in range(int(desk.channel.size[0])):
                write_column(public.rules.mechanism, place, desk)
                columns.append(desk.channel.units[COLUMN] / WHOLE)
            table = np.array(columns)
            assert table.sum(axis=0) == pytest.approx(np.ones(symbols))
            guesses = (table * source.dirichlet(np.ones(symbols))).argmax(axis=1)
            for x in range(symbols):
                right = table[guesses == x, x].sum()
                by_chance = np.array([(table[guesses == x] @ desk.ahead).sum()])
                assert right <= ceiling_of(by_chance, epsilon)[0] + 1e-12


def test_the_ceiling_is_the_smaller_of_both_sides_and_never_more_than_certain() -> None:
    chances = np.linspace(0, 1, 101)
    ceiling = ceiling_of(chances, 0.7)
    assert (ceiling >= chances - 1e-15).all() and (ceiling <= 1).all() and (np.diff(ceiling) >= 0).all()
    assert (ceiling_of(chances, math.inf) == 1).all()
    assert ceiling_of(chances, 0.0) == pytest.approx(chances)
    assert (ceiling_of(chances, 2.0, 0.7) <= ceiling_of(chances, 2.0)).all()
    assert ceiling_of(chances[:2], 2.0, 0.7) == pytest.approx(chances[:2] * math.exp(2.0))


@pytest.mark.parametrize(("right", "trials"), [(0, 9), (9, 9), (1, 1), (3, 40), (700, 1000), (99, 100)])
def test_the_interval_is_clopper_and_pearsons(right: int, trials: int) -> None:
    low, high = interval_of(right, trials, 0.999)
    wanted = stats.binomtest(right, trials).proportion_ci(0.999, method="exact")
    assert (low, high) == pytest.approx((wanted.low, wanted.high), abs=1e-9)
    assert interval_of(0, 0) == (0.0, 1.0)


def test_under_the_bound_evidence_rarely_grows_and_against_it_soon() -> None:
    source = np.random.default_rng(2)
    allowed = source.uniform(0.1, 0.9, size=3000)
    reached = 0
    for _ in range(100):
        evidence = Evidence()
        evidence.add((source.random(3000) < allowed).astype(float), allowed)
        reached += evidence.against_the_bound
    assert reached == 0
    cheat = Evidence()
    cheat.add((source.random(3000) < np.minimum(1, allowed * 1.15)).astype(float), allowed)
    assert cheat.against_the_bound


def test_the_mean_of_the_capital_is_at_most_one() -> None:
    """Over both outcomes of two guesses, weighted exactly as the bound allows."""
    total = 0.0
    for first in (0.0, 1.0):
        for second in (0.0, 1.0):
            weight = (0.3 if first else 0.7) * (0.8 if second else 0.2)
            evidence = Evidence()
            evidence.add(np.array([first]), np.array([0.3]))
            evidence.add(np.array([second]), np.array([0.8]))
            total += weight * 10**evidence.log10
    assert total == pytest.approx(1.0, abs=1e-12)


def test_few_successes_of_rare_trials_are_no_proof() -> None:
    """Hoeffding's theorem begins one success above the mean."""
    assert not exceeds(1, 10, 0.00001)
    assert exceeds(2, 10, 0.00001)


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 1.0, 2.5])
def test_the_bound_is_attained_within_a_tenth_with_two_values(epsilon: float) -> None:
    """Uniform belief, `optimal`: each guess is right with 1 - e^-epsilon / 2, which is the ceiling."""
    finished = run(2, events=5000, users=400, epsilon=epsilon, nats="unlimited", model=two_values(0.5))
    result = attacked(finished)
    scores = result.scores
    gain, most = scores.right / scores.scored / 0.5, scores.allowed / scores.scored / 0.5
    assert most == pytest.approx((1 - math.exp(-epsilon) / 2) / 0.5, rel=1e-6)
    assert 0.9 * most <= gain
    assert interval_of(scores.right, scores.scored)[0] <= most * 0.5 <= interval_of(scores.right, scores.scored)[1]
    assert scores.blind_right / scores.scored == pytest.approx(0.5, abs=0.03)
    assert scores.largest == pytest.approx(epsilon, abs=1e-6)
    assert scores.sure == pytest.approx(scores.possible, rel=1e-9)
    assert result.stays_under_the_bound


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("symbols", [3, 5, 10])
def test_the_bound_is_attained_within_a_tenth_with_more_values(symbols: int, epsilon: float) -> None:
    """Values that do not depend on one another and are all alike: right with the ceiling of 1/n, and so sure."""
    finished = run(symbols, events=6000, users=600, epsilon=epsilon, nats="unlimited", model=independent(symbols))
    result = attacked(finished)
    scores = result.scores
    gain, most = scores.right / scores.scored, float(ceiling_of(np.array([1 / symbols]), epsilon)[0])
    assert gain >= 0.9 * most
    low, high = interval_of(scores.right, scores.scored)
    assert low <= most <= high
    assert scores.sure / scores.released == pytest.approx(scores.possible / scores.released, rel=1e-6)
    assert scores.possible / scores.released == pytest.approx(most, rel=1e-6)
    assert result.stays_under_the_bound


@pytest.mark.parametrize("mechanism", [*BOUNDED, "randomised_response_double"])
@pytest.mark.parametrize("own", [None, longer_memory(4, 11)], ids=["true", "other"])
def test_no_adversary_is_measured_beyond_the_bound(mechanism: str, own: Model | None) -> None:
    """The data are uniform draws, which the model does not say: the theorem is for any data."""
    finished = run(4, events=2500, users=60, mechanism=mechanism, nats="unlimited")
    result = attacked(finished, own)
    scores = result.scores
    assert (scores.beyond, result.beyond_the_ledger, result.lost) == (0, 0, 0)
    assert not scores.too_often
    assert scores.scored == scores.released > 2000
    assert scores.right / scores.scored > scores.blind_right / scores.scored
    users, right, allowed = scores.one_each
    assert users == 60
    assert interval_of(right, users)[0] <= allowed


def test_the_published_mechanism_is_caught_beyond_epsilon() -> None:
    """Held to the epsilon that it is named for, the same machinery finds that it leaks more."""
    finished = run(4, events=2500, users=60, mechanism="published_crr", epsilon=1.0, nats="unlimited")
    rows = watched(finished).rows
    heard = rows[rows[:, KIND] == RELEASED]
    assert (np.maximum(heard[:, UP], heard[:, DOWN]) > 1 + ROUNDING).any()
    evidence = Evidence()
    evidence.add(heard[:, RIGHT], ceiling_of(heard[:, DUMMY], 1.0))
    assert evidence.against_the_bound


def test_a_pipeline_that_shows_more_than_its_channel_allows_is_caught() -> None:
    """Every third release is the raw value. Who reads releases alone cannot see that; who knows the truth does."""
    finished = run(2, events=5000, users=100, nats="unlimited", model=two_values(0.5))
    assert attacked(finished).exit_status == 0
    truth, log = truth_of(finished).by_id, finished.released()
    for place in range(0, len(log), 3):
        value = truth[bytes.fromhex(dict(log[place].headers)["release-id"].decode())]
        log[place] = with_value(log[place], f"act{value}")
    caught = attacked(finished)
    assert (caught.scores.beyond, caught.beyond_the_ledger, caught.lost) == (0, 0, 0)
    assert caught.scores.evidence.against_the_bound
    assert caught.exit_status == 1


def test_how_sure_stays_below_the_ceiling_of_what_was_believed_before() -> None:
    rows = watched(run(4, events=1500, users=20, nats="unlimited")).rows
    assert (rows[:, SURE] <= ceiling_of(rows[:, BEFORE], 1.0) + 1e-9).all()


def test_a_better_model_guesses_better_and_a_worse_one_worse_and_both_stay_below() -> None:
    """The values are independent, the pipeline's model says that they hang together: who knows better gains by it."""
    finished = run(4, events=4000, users=40, nats="unlimited")
    better, plain, worse = (attacked(finished, own) for own in (independent(4), None, very_sticky(4)))
    assert better.scores.right > plain.scores.right > worse.scores.right
    assert better.scores.calibration_error < plain.scores.calibration_error < worse.scores.calibration_error  # type: ignore[operator]
    for result in (better, plain, worse):
        assert result.stays_under_the_bound
    assert [each.scores.limits.reader for each in (better, plain, worse)] == [2.0, 1.0, 2.0]
    assert better.scores.largest > 1.0


def test_known_values_are_not_scored_and_are_held_to_twice_epsilon() -> None:
    finished = run(2, events=3000, users=30, nats="unlimited", model=two_values(0.95))
    side = Known(by_step={(b"user-0-%d" % user, step): step % 2 for user in range(30) for step in (2, 5)})
    seen = watched(finished, side=side)
    assert seen.watched.scores.given == 60
    assert seen.watched.adversary.limits.reader == 2.0
    assert seen.watched.scores.beyond == 0
    assert adversary_of(finished).limits.reader == 1.0
    assert attacked(finished, side=side).scores.given == 60


def test_on_data_of_its_model_the_adversary_is_calibrated() -> None:
    """Independent values: uniform draws are just what this model says."""
    finished = run(3, events=4000, users=100, nats="unlimited", model=independent(3))
    result = attacked(finished, smooth=True)
    for count, sure, _, (low, high) in result.scores.calibration:
        assert low <= sure <= high, count
    assert result.scores.calibration_error is not None
    assert result.scores.calibration_error < 0.03
    assert result.hindsight is not None
    assert result.hindsight.right == result.scores.right


def independent(symbols: int) -> Model:
    chain = Chain.from_dense([1 / symbols] * symbols, [[1 / symbols] * symbols] * symbols)
    return parse(serialise(model_of(symbols).alphabet, chain, {}))


def very_sticky(symbols: int) -> Model:
    rows = [[0.97 if x == y else 0.03 / (symbols - 1) for y in range(symbols)] for x in range(symbols)]
    chain = Chain.from_dense([1 / symbols] * symbols, rows)
    return parse(serialise(model_of(symbols).alphabet, chain, {}))


def test_under_the_bound_measured_evidence_rarely_grows_and_against_it_soon() -> None:
    source, reached = np.random.default_rng(2), 0
    chance = source.uniform(0.05, 0.6, size=(3000, 4))
    for _ in range(60):
        reached += bets(source, chance, 1.0)
    assert reached == 0
    assert bets(source, chance, 1.25)


def bets(source: np.random.Generator, chance: Floats, more: float) -> bool:
    evidence = Evidence()
    right = source.random(chance.shape) < np.minimum(1, more * ceiling_of(chance, 0.5))
    hit = (source.random(chance.shape) < chance).astype(float)
    evidence.add_measured(right.mean(axis=1), line_above(chance, hit, 0.5, 0.5).mean(axis=1), math.exp(0.5))
    return evidence.against_the_bound


def test_one_guess_each_is_held_to_what_was_measured() -> None:
    assert not exceeds_measured(60, 100, 30, 0.7, 0.7)
    assert exceeds_measured(95, 100, 10, 0.7, 0.7)
    assert not exceeds_measured(100, 100, 10, math.inf, math.inf)
