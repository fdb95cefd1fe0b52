"""Pipelines that begin without a model and learn one, on synthetic users whose chain is known: what a reader who knows
it learns from each release, and what is kept in the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from online_life import Life, Told, charged, gap, informed_alone, setup_of, traffic

from beliefs.chain import Chain
from stream.policy import RELEASED, Events

USERS, EARLY = 60, 40
INFORMED = 60_000


@dataclass(frozen=True)
class Setting:
    """`learns` is when the switch is expected; every user begins with the first value, which nobody was told."""

    rows: tuple[tuple[float, ...], ...]
    epsilon: float
    learns: int

    @property
    def chain(self) -> Chain:
        return Chain.from_dense([1.0] + [0.0] * (len(self.rows) - 1), [list(row) for row in self.rows])


QUICK = Setting(((0.6, 0.4), (0.35, 0.65)), 3.0, 131_072)
STICKY = Setting(((0.7, 0.3), (0.3, 0.7)), 2.0, 1_048_576)
THREE = Setting(((0.6, 0.2, 0.2), (0.2, 0.6, 0.2), (0.2, 0.2, 0.6)), 3.0, 1_048_576)


def lived(setting: Setting, seed: int, **faults: bool) -> tuple[Life, Told, Events]:
    count = setting.learns + INFORMED
    events = traffic(setting.chain, USERS, EARLY, count, setting.learns, seed)
    key = np.random.default_rng(seed).bytes(32)
    life = Life(setting.chain, setup_of(len(setting.rows), setting.epsilon), USERS, key, **faults)
    return life, life.run(events), events


def check_run(setting: Setting, life: Life, told: Told, events: Events) -> float:
    """At no step more than epsilon against the true model, never more than was charged, and the gap in the end."""
    assert life.switched == setting.learns
    assert (told.releases.outcome == RELEASED).all()
    assert told.worst.max() <= setting.epsilon
    amounts = charged(told.releases)
    assert (told.told <= amounts).all()
    assert (amounts <= setting.epsilon).all()
    true = np.array(setting.rows)
    assert np.abs(np.log(life.learnt.chain.dense / true)).max() <= life.learnt.error
    lately = slice(setting.learns, None)
    return gap(told.same(events)[lately], informed_alone(setting.chain, setting.epsilon, USERS, events)[lately])


def check_runs(setting: Setting, seeds: range) -> None:
    gaps = [check_run(setting, *lived(setting, seed)) for seed in seeds]
    print(
        f"{len(gaps)} runs: {max(gaps):.4f} less kept than with the true model at worst, {np.mean(gaps):.4f} on average"
    )
    assert max(gaps) <= 0.02


@pytest.mark.parametrize("chunk", range(4))
def test_no_step_tells_more_than_epsilon_and_the_end_is_near_what_the_true_model_keeps(chunk: int) -> None:
    check_runs(QUICK, range(5 * chunk, 5 * chunk + 5))


def test_three_values() -> None:
    check_runs(THREE, range(1))


@pytest.mark.long
@pytest.mark.parametrize("setting", [QUICK, STICKY, THREE], ids=["quick", "sticky", "three"])
@pytest.mark.parametrize("chunk", range(20))
def test_the_same_in_a_hundred_runs(setting: Setting, chunk: int) -> None:
    check_runs(setting, range(100 + 5 * chunk, 105 + 5 * chunk))


def test_two_sticky_values_at_epsilon_two_whose_rows_settle_after_two_predictions() -> None:
    life, told, events = lived(STICKY, 3)
    assert check_run(STICKY, life, told, events) <= 0.02
    settle = life.policy.settle
    assert settle is not None and settle.predictions == 2
    informed = told.left[STICKY.learns :]
    seen = [int((informed == left).sum()) for left in range(4)]
    assert seen == [INFORMED - USERS - (USERS - EARLY), USERS, USERS - EARLY, 0]  # new users have an event before it


def test_a_model_that_is_trusted_too_much_tells_more_than_epsilon() -> None:
    """So the law above can fail."""
    _, told, _ = lived(QUICK, 0, withholds=False)
    assert told.worst.max() > QUICK.epsilon + 1e-4


def test_beliefs_of_the_blind_epoch_that_are_trusted_tell_more_than_epsilon() -> None:
    _, told, _ = lived(QUICK, 0, settles=False)
    assert told.worst.max() > QUICK.epsilon + 0.1


def test_the_same_events_and_coins_give_the_same_life() -> None:
    first, second = lived(QUICK, 7), lived(QUICK, 7)
    assert first[0].choices == second[0].choices
    assert first[0].learnt.error == second[0].learnt.error
    assert (first[1].releases.symbol == second[1].releases.symbol).all()
    assert (first[0].heads == second[0].heads).all() and (first[0].codes == second[0].codes).all()
