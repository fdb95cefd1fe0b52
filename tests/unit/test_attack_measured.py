"""What adversaries achieve over whole pipelines, beside what epsilon allows: every mechanism that has a bound, users of
three kinds, readers of three kinds; and how near they come where the bound can be attained.

Each interval is Clopper and Pearson's at 99.9 %. Of the first release of each user it is a theorem, for users are
independent; of all releases it is for orientation, and the seeds are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import orjson
import pytest
from attack_help import attacked, longer_memory, truth_of
from audit_memory import START_MS, Kept
from audit_world import Run, model_of, run

from beliefs.alphabet import Alphabet, IntegerRange
from beliefs.chain import Chain
from beliefs.model_file import Model, parse, serialise
from mechanisms.registry import MECHANISMS
from stream.adversary.facts import Known
from stream.attack.bounds import interval_of
from stream.attack.scores import ROUNDING, Scores

pytestmark = pytest.mark.timeout(600)  # the first of each kind compiles
VALUES, USERS, EACH = 4, 150, 12
BOUNDED = [name for name, one in MECHANISMS.items() if 0.0 < one.row_epsilons < math.inf]
ALPHABETS: dict[str, Alphabet | None] = {"near": IntegerRange(0, VALUES - 1)}
MORE: dict[str, dict[str, Any]] = {"near": {"distance": "absolute"}, "two_budget": {"nats": 400}}
Draw = Callable[[Chain, np.random.Generator], list[int]]


def by_the_model(chain: Chain, source: np.random.Generator) -> list[int]:
    values = [int(source.choice(chain.size, p=chain.start / chain.start.sum()))]
    while len(values) < EACH:
        following, chances = chain.row(values[-1])
        values.append(int(source.choice(following, p=np.asarray(chances) / np.sum(chances))))
    return values


def steady(chain: Chain, source: np.random.Generator) -> list[int]:
    return [int(source.integers(chain.symbols))] * EACH


def restless(chain: Chain, source: np.random.Generator) -> list[int]:
    first = int(source.integers(chain.symbols))
    return [(first + step) % chain.symbols for step in range(EACH)]


def raw(model: Model, draw: Draw) -> Sequence[Kept]:
    """Users take turns, each with values of this kind."""
    source = np.random.default_rng(9)
    paths = [draw(model.chain, source) for _ in range(USERS)]
    values = [(user, paths[user][step]) for step in range(EACH) for user in range(USERS)]
    return [
        Kept(at, b"user-%d" % user, orjson.dumps({"activity": model.alphabet.value_at(value)}), START_MS + at)
        for at, (user, value) in enumerate(values)
    ]


def released(name: str, draw: Draw, model: Model | None = None, epsilon: float = 1.0) -> Run:
    model = model or model_of(VALUES, alphabet=ALPHABETS.get(name))
    settings = {"nats": "unlimited", "epsilon": epsilon, **MORE.get(name, {})}
    return run(model=model, inputs=raw(model, draw), mechanism=name, **settings)


def some_values(finished: Run) -> Known:
    """Every seventh; users take turns, so that these are of all of them."""
    truth = truth_of(finished).by_id
    return Known(by_id=dict(list(truth.items())[::7]))


def check_below(scores: Scores, least: int) -> None:
    assert scores.beyond == 0
    assert scores.largest <= max(scores.limits.up, scores.limits.down) + ROUNDING
    assert not scores.too_often
    assert scores.scored == scores.released >= least
    assert interval_of(scores.right, scores.scored)[0] <= scores.allowed / scores.scored
    users, right, allowed = scores.one_each
    assert users == USERS
    assert interval_of(right, users)[0] <= allowed


@pytest.mark.parametrize("draw", [by_the_model, steady, restless])
@pytest.mark.parametrize("name", BOUNDED)
def test_no_reader_is_measured_beyond_what_epsilon_allows(name: str, draw: Draw) -> None:
    finished = released(name, draw)
    true, other = attacked(finished, smooth=True), attacked(finished, longer_memory(VALUES, 11))
    side = attacked(finished, side=some_values(finished))
    for result, least in ((true, 1500), (other, 1500), (side, 1000)):
        assert (result.beyond_the_ledger, result.lost) == (0, 0)
        assert result.exit_status == 0
        check_below(result.scores, least)
    assert side.scores.given > 200
    assert side.scores.limits.reader >= true.scores.limits.reader


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("name", ["optimal", "near"])
@pytest.mark.parametrize("stay", [0.5, 0.9])
def test_where_the_bound_is_attainable_they_come_within_a_tenth_of_it(name: str, epsilon: float, stay: float) -> None:
    """Two values: there an error costs the same wherever it is, and both release a value as often as epsilon allows."""
    alphabet = IntegerRange(0, 1) if name == "near" else None
    chain = Chain.from_dense([0.5, 0.5], [[stay, 1 - stay], [1 - stay, stay]])
    model = parse(serialise(alphabet or model_of(2).alphabet, chain, {}))
    result = attacked(released(name, by_the_model, model, epsilon))
    scores = result.scores
    check_below(scores, 1500)
    assert 0.9 * scores.allowed <= scores.right
    assert scores.allowed / scores.scored >= 1 - math.exp(-epsilon) / 2 - 1e-9
    assert scores.largest == pytest.approx(epsilon, rel=1e-6)
    assert scores.right > 1.05 * scores.blind_right
