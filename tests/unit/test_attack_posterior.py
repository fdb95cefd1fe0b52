"""What the adversary believes is Bayes on the joint law of small cases, and the fast way is the plain one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from attack_help import longer_memory, watched
from audit_world import model_of, run
from phase_models import random_phases
from tail_models import zipf_chain

from beliefs.alphabet import IntegerRange
from beliefs.model_file import Model, parse, serialise
from stream.adversary.facts import Known
from stream.adversary.hindsight import beliefs_about
from stream.attack.posterior import (
    Refuted,
    Transitions,
    forth_and_back,
    given,
    moves_by_clock,
    moves_by_event,
)
from stream.attack.scores import FAR_U
from stream.attack.watch import BEFORE, BLIND, FAR_DOWN, FAR_UP, GIVEN, KIND, SILENT, SURE
from stream.audit.amounts import Floats
from stream.audit.book import STEP, USER
from stream.audit.law import Law, law_of

EVENTS = 5


def joint(law: Law, moves: Any, weights: Floats) -> dict[tuple[int, ...], float]:
    """The weight of every path of states, from the definition: a law with its steps between two events multiplied."""
    size, steps = law.start.shape[0], Transitions(law)
    tables = []
    for move in moves:
        table = np.eye(size)
        for step in move:
            table = np.array([steps.forward(row, step) for row in table])
        tables.append(table)
    paths = {}
    for path in itertools.product(range(size), repeat=len(moves)):
        weight = float(law.start[path[0]])
        for at in range(1, len(path)):
            weight *= float(tables[at][path[at - 1], path[at]])
        for at, state in enumerate(path):
            weight *= float(weights[at, law.ends[state]])
        paths[path] = weight
    return paths


def values_at(paths: dict[tuple[int, ...], float], at: int, law: Law) -> Floats:
    found = np.zeros(law.begin.shape[0] - 1)
    for path, weight in paths.items():
        found[law.ends[path[at]]] += weight
    return np.asarray(found / found.sum())


MODELS = [model_of(3), model_of(3, sparse=True), longer_memory(2, 3), random_phases(2, 2, 3, 5)]


@pytest.mark.parametrize("model", MODELS, ids=["full", "holes", "order2", "phases"])
@pytest.mark.parametrize("known", [{}, {1: 0}, {0: 0, 3: 1}], ids=["nothing", "one", "two"])
@pytest.mark.parametrize("by_clock", [False, True])
def test_the_posterior_is_bayes_on_the_joint_law(model: Model, known: dict[int, int], by_clock: bool) -> None:
    law = law_of(model.chain)
    symbols = law.begin.shape[0] - 1
    source = np.random.default_rng(7)
    weights = given(source.uniform(0.05, 1, size=(EVENTS, symbols)), known)
    times = np.array([0, 5, 31, 26, 90])
    moves = moves_by_clock(times, 10, 4) if by_clock else moves_by_event(EVENTS)
    found = forth_and_back(law, moves, weights)
    for at in range(EVENTS):
        so_far, one_less = np.ones(weights.shape), np.ones(weights.shape)
        so_far[: at + 1], one_less[:at] = weights[: at + 1], weights[:at]
        assert found.before[at] == pytest.approx(values_at(joint(law, moves, one_less), at, law), abs=1e-12)
        assert found.after[at] == pytest.approx(values_at(joint(law, moves, so_far), at, law), abs=1e-12)
        assert found.in_the_end[at] == pytest.approx(values_at(joint(law, moves, weights), at, law), abs=1e-12)


def test_a_clock_moves_once_for_each_interval_that_begins_and_never_back() -> None:
    moves = moves_by_clock(np.array([0, 5, 31, 26, 90, 200]), 10, 4)
    assert [list(move) for move in moves] == [[], [], [1, 2, 3], [], [6, 7, 8, 9], [17, 18, 19, 20]]


def test_what_cannot_happen_has_no_posterior() -> None:
    law = law_of(model_of(3, sparse=True).chain)
    with pytest.raises(Refuted, match="event 1 "):
        forth_and_back(law, moves_by_event(2), given(np.ones((2, 3)), {0: 2}))


PIPELINES: list[dict[str, Any]] = [
    {"nats": "unlimited"},
    {"nats": 3, "when_spent": "suppress", "window": "1s"},
    {"nats": "unlimited", "step": "10s", "most": 7},
    {"nats": "unlimited", "mechanism": "published_crr"},
    {"nats": "unlimited", "mechanism": "marginal_preserving"},
    {"nats": "unlimited", "mechanism": "top_k_grr"},
    {"nats": 5, "mechanism": "randomised_response_double", "when_spent": "forecast_draw"},
    {"nats": "unlimited", "model": random_phases(3, 2, 2, 4)},
    {"nats": "unlimited", "model": longer_memory(3, 6), "step": "10s", "most": 3},
    {"nats": "unlimited", "mechanism": "near", "distance": "absolute", "alphabet": IntegerRange(0, 2)},
]


@pytest.mark.parametrize("settings", PIPELINES, ids=range(len(PIPELINES)))
@pytest.mark.parametrize("own", [None, longer_memory(3, 9), random_phases(3, 2, 2, 8)], ids=["true", "other", "phases"])
def test_the_fast_way_is_the_plain_way(settings: dict[str, Any], own: Model | None) -> None:
    finished = run(3, events=260, users=6, **settings)
    side = Known(by_step={(b"user-0-1", 2): 1, (b"user-0-2", 5): 0})
    seen = watched(finished, own, side)
    assert set(seen.rows[:, KIND]) <= {1.0, float(SILENT), float(GIVEN)}
    compared = 0
    for user in range(len(seen.watched.keys)):
        mine = seen.events[:, USER] == user
        events, rows = seen.events[mine], seen.rows[mine]
        both = beliefs_about(seen.watched.adversary, events)
        if both is None:
            assert settings.get("mechanism") == "published_crr"
            continue
        told, blind = both
        at = events[:, STEP] - 1
        free = rows[:, KIND] != GIVEN
        compared += int(free.sum())
        assert rows[free, SURE] == pytest.approx(told.after[at][free].max(axis=1), abs=1e-9)
        assert rows[:, BEFORE] == pytest.approx(told.before[at].max(axis=1), abs=1e-9)
        assert rows[:, BLIND] == pytest.approx(blind.before[at].max(axis=1), abs=1e-9)
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = np.log(told.after[at] / blind.before[at])
        assert rows[free, FAR_UP] == pytest.approx(np.nan_to_num(moved, nan=0).max(axis=1)[free].clip(0), abs=1e-8)
        lower = np.where(blind.before[at] > 0, -moved, 0.0)
        assert rows[free, FAR_DOWN] == pytest.approx(lower.max(axis=1)[free].clip(0), abs=1e-8)
    assert compared > 50


def test_under_a_model_with_a_tail_the_adversary_keeps_every_entry() -> None:
    """The pipeline lists twenty of three hundred masses; its reader need not, and is held to the same epsilon."""
    chain = zipf_chain(300, left=0.3)
    model = parse(serialise(model_of(300).alphabet, chain, {}))
    finished = run(300, events=400, users=6, model=model, listed=", listed: 20", nats="unlimited")
    seen = watched(finished)
    told, _ = beliefs_about(seen.watched.adversary, seen.events[seen.events[:, USER] == 0]) or (None, None)
    assert told is not None
    rows = seen.rows[seen.events[:, USER] == 0]
    assert rows[:, SURE] == pytest.approx(told.after.max(axis=1), abs=1e-9)
    assert seen.watched.scores.released > 380
    assert seen.watched.scores.beyond == 0
    assert (seen.watched.scores.users[:6, FAR_U] <= seen.watched.accounts() / 2**40).all()


def test_it_does_not_matter_how_the_records_are_cut() -> None:
    finished = run(3, events=260, users=6, nats="unlimited")
    assert np.array_equal(watched(finished, chunk=1).rows, watched(finished, chunk=999).rows)
