"""What `estimate` puts together, over many seeded runs: no bias, the stated variance, intervals that cover; and faults
that are noticed. Sequences: every user has the same values, so that each of them is a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import orjson
import pytest
from audit_memory import START_MS, Kept
from audit_world import model_of, run
from report_laws import OPTIONS
from scipy import stats

from mechanisms.contract import Floats, Integers
from mechanisms.local.coins import field_key, memoised_coins, report_coins
from mechanisms.local.contract import Drawn
from mechanisms.local.inverted import inverted, sums_of
from mechanisms.local.measured import Measured
from mechanisms.local.pairs import PairTally, joint_of
from mechanisms.local.pooled import Level, pooled, pooled_sum, weights_of
from mechanisms.local.pooled_groups import pooled_groups
from mechanisms.local.rappor import DrawnRappor
from mechanisms.local.registry import drawn
from stream.audit.book import STEP, USER, new_book, new_desk, new_verdicts
from stream.audit.records import Reader
from stream.audit.windows import rows_of
from stream.estimation.functionals import TOLD, hear, new_heard
from stream.estimation.inverse import new_workplace

ROUNDS, PEOPLE, FAILURE = 240, 600, 1e-6
"""A true estimate is accused once in a million keys; keys are fixed, so the answer is always the same."""
TRUTH = np.repeat(np.arange(4), [240, 180, 120, 60])
SHARES = np.bincount(TRUTH) / PEOPLE
MECHANISMS = ("grr", "oue", "olh", "ss", "she", "the", "blh", "sue", "exp")


class Told(NamedTuple):
    """Of one run: estimates and their variances."""

    estimates: Floats
    variances: Floats


def accusations(found: Sequence[Told], truth: Floats) -> set[str]:
    """What is wrong with the bias, the variances or the intervals."""
    estimates, variances = (np.array([one[place] for one in found]) for place in (0, 1))
    apart, stated = estimates - truth, variances.mean(axis=0)
    wrong = set()
    for place in range(apart.shape[1]):
        scores = apart[:, place] / np.sqrt(stated[place])
        chance = FAILURE / apart.shape[1]
        if stats.chi2.sf(float(scores.sum()) ** 2 / len(found), 1) < chance:
            wrong.add("bias")
        if not chance < stats.chi2.sf(float((scores**2).sum()), len(found)) < 1 - chance:
            wrong.add("variance")
        covered = int((np.abs(apart[:, place]) <= stats.norm.ppf(0.975) * np.sqrt(variances[:, place])).sum())
        if stats.binomtest(covered, len(found), 0.95).pvalue < chance:
            wrong.add("coverage")
    return wrong


def check(found: Sequence[Told], truth: Floats) -> None:
    """Right as they are; wrong if they were shifted, or if their variances were others."""
    assert accusations(found, truth) == set()
    shifted = [Told(one.estimates + 1.5 * np.sqrt(one.variances), one.variances) for one in found]
    assert "bias" in accusations(shifted, truth)
    for factor in (0.4, 2.5):
        assert "variance" in accusations([one._replace(variances=factor * one.variances) for one in found], truth)


def drawing(found: Drawn, name: str) -> Callable[[Integers, int], Any]:
    """Reports of some values in a run, with coins of their own."""

    def draw(values: Integers, number: int) -> Any:
        key = field_key(bytes(range(32)), f"{name} {found.level} {found.values}")
        return found.draw(values, report_coins(key, number * PEOPLE, values.shape[0], found.words))

    return draw


def level_of(found: Drawn, reports: Any, measured: Floats | None = None) -> Level:
    of, squares = inverted(found), None
    count = int(reports.hashes.size if hasattr(reports, "hashes") else reports.shape[0])
    if measured is not None:
        sums = Measured(found, measured)
        sums.add(reports)
        squares = sums.squares
    return Level(of, count, of.rows(sums_of(found, reports) / count), squares=squares)


@pytest.mark.parametrize("name", MECHANISMS)
def test_levels_means_and_groups(name: str) -> None:
    """Two thirds report in full, one third at half; and as many report groups. What a mean is about has 4 values."""
    full, half, coarse = drawn(name, 4, 2.0), drawn(name, 4, 1.0), drawn(name, 2, 2.0)
    draw = [drawing(each, name) for each in (full, half, coarse)]
    size, members = np.array([-1.5, -0.5, 0.5, 1.5]), np.array([0, 1, 1, 0])
    measured = np.array([size, members == 0, members == 1], dtype=np.float64) if name in ("olh", "blh") else None
    lot = np.arange(PEOPLE) % 3
    found = []
    for number in range(ROUNDS):
        levels = [
            level_of(full, draw[0](TRUTH[lot < 2], number), measured),
            level_of(half, draw[1](TRUTH[lot == 2], number), measured),
        ]
        weights = weights_of(levels, "precision")
        shares = pooled(levels, weights)
        mean = pooled_sum(levels, weights, size, np.clip(shares.frequencies, 0.0, 1.0))
        told = [level if measured is None else level._replace(squares=level.squares[1:]) for level in levels]  # type: ignore[index]
        groups = pooled_groups(told, level_of(coarse, draw[2](members[TRUTH], number)), members, 2, "precision")
        estimates = np.concatenate([shares.frequencies, [mean.estimate], groups.frequencies])
        variances = np.concatenate([shares.variances, [mean.variance], groups.variances])
        found.append(Told(estimates, variances))
    truth = np.concatenate([SHARES, [(SHARES * size).sum()], np.bincount(members, weights=SHARES)])
    check(found, truth)


@pytest.mark.parametrize("name", ["grr", "oue", "olh", "ss", "she"])
def test_lists_of_which_one_slot_is_reported(name: str) -> None:
    slots, found_by = 3, drawn(name, 5, 2.0)
    lists = [[0], [0, 1], [2, 0, 3], []]
    filled = np.array([[*each, *[4] * (slots - len(each))] for each in lists])[np.arange(PEOPLE) % 4]
    truth = np.array([0.75, 0.25, 0.25, 0.25, slots - 1.5])
    draw, coins = drawing(found_by, name), np.random.default_rng(5)
    found = []
    for number in range(ROUNDS):
        chosen = filled[np.arange(PEOPLE), coins.integers(slots, size=PEOPLE)]
        told = pooled([level_of(found_by, draw(chosen, number))], np.ones(1), slots, empty=4)
        found.append(Told(slots * told.frequencies, slots**2 * told.variances))
    assert accusations([Told(one.estimates[:4], one.variances[:4]) for one in found], truth[:4]) == set()
    assert "bias" not in accusations(found, truth)  # the variance of the empty slots' share is bounded, not known
    check([Told(one.estimates[:4], one.variances[:4]) for one in found], truth[:4])


@pytest.mark.parametrize(("one", "other"), [("grr", "grr"), ("oue", "olh"), ("ss", "she"), ("top_k", "grr")])
def test_joint_tables(one: str, other: str) -> None:
    first, second = drawn(one, 4, 2.0, **OPTIONS.get(one, {})), drawn(other, 3, 2.0)
    beside = (TRUTH + np.arange(PEOPLE) % 2) % 3
    truth = np.zeros((4, 3))
    np.add.at(truth, (TRUTH, beside), 1 / PEOPLE)
    if one == "top_k":
        truth = np.array([truth[2], truth[0], truth[1] + truth[3]])
    draw = drawing(first, one), drawing(second, other)
    found = []
    for number in range(ROUNDS):
        tally = PairTally(first, second)
        tally.add(draw[0](TRUTH, number), draw[1](beside, number + ROUNDS))
        told = joint_of([tally], "shares")
        found.append(Told(told.frequencies.ravel(), told.variances.ravel()))
    check(found, truth.ravel())


def test_users_who_report_kept_bits_again_and_again() -> None:
    """Twenty users of very many reports: taken for independent ones, the variance would be stated too low."""
    found_by = drawn("rappor", 3, 3.0)
    assert isinstance(found_by, DrawnRappor)
    users, each = 20, 30
    values = np.repeat(np.arange(users) % 3, each)
    truth = np.bincount(values) / values.shape[0]
    key, found, apart = field_key(bytes(32), "kept"), [], []
    for number in range(ROUNDS):
        names = [b"%d of %d" % (user, number) for user in range(users) for _ in range(each)]
        coins = memoised_coins(key, names, values, number * values.shape[0], found_by.words)
        level = level_of(found_by, found_by.draw(values, coins))
        for again, lot in ((users * each * each - users * each, found), (0, apart)):
            told = pooled([level._replace(again=again)], np.ones(1))
            lot.append(Told(told.frequencies, told.variances))
    check(found, truth)
    assert {"variance", "coverage"} <= accusations(apart, truth)


SEQUENCE = [0, 0, 1, 1, 1, 2, 0, 0, 2, 2]
USERS = 300


def inputs_of(values: Sequence[int], names: Sequence[str]) -> Iterator[Kept]:
    for step, value in enumerate(values):
        for user in range(USERS):
            document = orjson.dumps({"activity": names[value], "battery": 1})
            at = step * USERS + user
            yield Kept(at, b"user-%d" % user, document, START_MS + 1000 * step)


@pytest.mark.parametrize("mechanism", ["randomised_response", "optimal", "marginal_preserving", "top_k_grr"])
def test_functionals_of_sequences(mechanism: str) -> None:
    """Sums over each user's releases whose channel tells of a value: of what they are about, and of their noise."""
    model = model_of(3)
    names = [str(model.alphabet.value_at(place)) for place in range(3)]
    inputs = list(inputs_of(SEQUENCE, names))
    finished = run(3, model=model, inputs=inputs, mechanism=mechanism, epsilon=1.5, nats="unlimited")
    public = finished.task().public
    parsed = Reader(public.form).read(finished.released())
    events = rows_of(parsed, np.arange(len(finished.released()))).events
    found = new_heard(events.shape[0], 3)
    desk, book = new_desk(public.states, 3, public.distance), new_book(USERS, public.states)
    hear(public.rules, public.law, desk, book, new_workplace(3), events, new_verdicts(events.shape[0]), found)
    assert (found.kind == TOLD).all()
    true = np.array(SEQUENCE)[events[:, STEP] - 1]
    apart = found.functional - found.known * (true[:, None] == np.arange(3))
    noise = found.functional * (found.functional - found.known)
    runs = []
    for user in range(USERS):
        own = events[:, USER] == user
        runs.append(Told(apart[own].sum(axis=0), noise[own].sum(axis=0)))
    if mechanism == "randomised_response":
        assert found.known.all()
        check(runs, np.zeros(3))
    estimates, variances = (np.array([one[place] for one in runs]) for place in (0, 1))
    for value in np.flatnonzero(found.known.any(axis=0)).tolist():
        error = np.sqrt(estimates[:, value].var() / USERS)
        assert abs(estimates[:, value].mean()) < 5 * error
        # Where channels change with what was released, variances do, too; their mean is that of the squares.
        squares = estimates[:, value] ** 2 - variances[:, value]
        assert abs(squares.mean()) < 5 * squares.std() / np.sqrt(USERS)
        assert variances[:, value].mean() > 0.2 * estimates[:, value].var()
