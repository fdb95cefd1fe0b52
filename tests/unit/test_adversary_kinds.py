"""The adversary of other kinds of pipelines: a bound for each side, budgets over events in a row, phases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from attack_help import adversary_of, attacked, watched
from audit_world import model_of, run
from phase_models import random_phases

from beliefs.chain import Chain
from beliefs.model_file import Model, parse, serialise
from stream.adversary.facts import Known
from stream.adversary.watcher import refuse_unless_followed
from stream.attack.bounds import ceiling_of
from stream.attack.scores import ROUNDING, Limits, Scores
from stream.attack.watch import DOWN, UP
from stream.errors import CannotAudit


def sticky(symbols: int, stay: float) -> Model:
    other = (1 - stay) / (symbols - 1)
    rows = [[stay if x == y else other for y in range(symbols)] for x in range(symbols)]
    return parse(serialise(model_of(symbols).alphabet, Chain.from_dense([1 / symbols] * symbols, rows), {}))


@pytest.mark.parametrize("levels", [(0.5, 2.0), (1.0, 1.5)])
def test_with_a_bound_for_each_side_nothing_is_beyond_either(levels: tuple[float, float]) -> None:
    """`two_budget`: epsilon downwards, more upwards; guesses are held to both, and come near the upper one."""
    epsilon, upper = levels
    settings = {"mechanism": "two_budget", "epsilon": epsilon, "upper": upper, "nats": 400}
    finished = run(4, events=4000, users=60, model=sticky(4, 0.25), **settings)
    plain, wrong = attacked(finished), attacked(finished, sticky(4, 0.97))
    for result in (plain, wrong):
        assert result.scores.scored == result.scores.released > 3000
        assert (result.scores.beyond, result.beyond_the_ledger, result.lost) == (0, 0, 0)
        assert result.stays_under_the_bound
    assert (plain.scores.limits.up, plain.scores.limits.down) == pytest.approx((upper, epsilon))
    assert wrong.scores.limits.up == wrong.scores.limits.down == pytest.approx(epsilon + upper)
    assert epsilon < plain.scores.largest <= upper + ROUNDING
    assert plain.scores.allowed < float(ceiling_of(np.array([0.25]), upper)[0]) * plain.scores.scored * 1.001
    rows = watched(finished).rows
    assert rows[:, DOWN].max() <= epsilon + ROUNDING
    assert rows[:, UP].max() == pytest.approx(plain.scores.largest)


def test_budgets_over_events_in_a_row_are_followed() -> None:
    finished = run(3, events=1500, users=20, nats=3, window="{events: 10}")
    result = attacked(finished, smooth=True)
    assert finished.report().agrees
    assert (result.lost, result.scores.beyond, result.beyond_the_ledger) == (0, 0, 0)
    assert result.scores.released == finished.outcomes["released"] > 100
    assert result.scores.silent == finished.outcomes["forecast"] > 100


def test_a_model_in_phases_is_followed_through_its_phases() -> None:
    """Wherever it is cut; another model, without phases, guesses worse."""
    finished = run(3, events=3000, users=40, nats="unlimited", model=random_phases(3, 1, 3, 2))
    true, flat = attacked(finished, smooth=True), attacked(finished, sticky(3, 1 / 3), smooth=True)
    for result in (true, flat):
        assert (result.scores.beyond, result.beyond_the_ledger, result.lost) == (0, 0, 0)
        assert result.stays_under_the_bound
    assert true.scores.sure > flat.scores.sure
    assert true.hindsight is not None
    assert true.hindsight.left_out == 0


def test_a_model_too_large_for_windows_through_one_channel_is_refused() -> None:
    adversary = adversary_of(run(4, events=1, windows="{events: 5, order: dual}"))
    refuse_unless_followed(adversary)
    large = replace(adversary, law=adversary.law._replace(start=np.zeros(5000)))
    with pytest.raises(CannotAudit, match="too large"):
        refuse_unless_followed(large)


def test_scores_of_partitions_add_up() -> None:
    empty = Scores(Limits(1.0, 1.0, 1.0, 1.0))
    assert (empty.rate("right"), empty.mean("sure"), empty.calibration_error, empty.one_each) == (
        None,
        None,
        None,
        (0, 0, 1.0),
    )
    assert not empty.too_often
    assert not Known()
