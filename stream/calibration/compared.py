"""What is published about the same fields, beside what holds: totals, budgets, and the two benchmarks.

Everything here is a comparison. The first benchmark asks how far several ways to estimate what one field tells of
another are from the exact leak, over all ordered pairs; the second what each mechanism tells beside how exact its
frequencies are, at one epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from beliefs.correlation.benchmarks import Scores, scores
from beliefs.correlation.bound import Matrix, bound
from beliefs.correlation.frontier import Frontier
from beliefs.correlation.outputs import response_leak, sets_leak
from beliefs.correlation.published import algorithm_3
from beliefs.correlation.tables import conditional_of, correlation_of
from beliefs.simplex import Vector
from mechanisms.local.registry import local
from mechanisms.local.utility import noise_of
from stream.calibration.choice import MECHANISMS, RESPONSES, Asked, Choice
from stream.calibration.source import Sample, Told

STEPS: Final = 400
"""The published algorithm goes up in steps of a 400th of the cap: .01 at 4 nats, as printed."""
_THRESHOLDS: Final = (0.2, 0.4)
_PAIRS_MAX: Final = 110
"""Ordered pairs up to which the published algorithm is run, which looks at all of them in each of its steps."""


class Pair(NamedTuple):
    """What a secret's neighbour may tell of it by itself."""

    secret: int
    neighbour: int
    laws: Matrix
    pearson: float


class Estimate(NamedTuple):
    """One way to estimate the leaks of pairs: its name, whether it is never too low, and how far it is off."""

    name: str
    sound: bool
    scores: Scores


class Standing(NamedTuple):
    """One mechanism at the benchmark's epsilon: leaks as shares of the bound's, and the relative squared error.

    `attacked` is the share as published, of a guess made from the report.
    """

    mechanism: str
    exact: float
    attacked: float
    error: float


class Published(NamedTuple):
    """`sums` are totals as published; `budget` that of the published algorithm, and the largest total it really has."""

    sums: tuple[float, ...]
    budget: float | None
    reached: float | None
    estimates: tuple[Estimate, ...]
    standings: tuple[Standing, ...]


def pairs_of(sample: Sample, told: Told) -> list[Pair]:
    count = len(sample.names)
    found = []
    for secret in range(count):
        told("looking at pairs", secret, count)
        for neighbour in range(count):
            if neighbour != secret:
                table = sample.pair(secret, neighbour)
                found.append(Pair(secret, neighbour, conditional_of(table).laws, correlation_of(table).pearson))
    return found


def published(sample: Sample, asked: Asked, choice: Choice, epsilon: float, told: Told) -> Published:
    """Of the chosen mechanisms at their unequal budgets; the benchmarks at one report of that epsilon."""
    pairs = pairs_of(sample, told)
    budgets = [budget.level * asked.reports for budget in choice.unequal]
    sums = list(budgets)
    for pair in pairs:
        sums[pair.secret] += _leak(pair.laws, choice.mechanisms[pair.neighbour], budgets[pair.neighbour])
    budget = _algorithm_3(sample, choice.mechanisms, min(asked.caps), told)
    return Published(
        tuple(sums),
        budget,
        None if budget is None else float(choice.meter.totals(np.full(len(budgets), budget)).max()),
        tuple(_estimates(pairs, choice.mechanisms, epsilon)),
        tuple(_standings(sample, pairs, epsilon, asked.people, told)),
    )


def _leak(laws: Matrix, mechanism: str, level: float) -> float:
    """Through reports of that level in sum: randomised response has a formula, of the others the bound holds."""
    if mechanism in RESPONSES:
        return response_leak(laws, level)
    return bound(laws, level).epsilon


def _algorithm_3(sample: Sample, mechanisms: Sequence[str], cap: float, told: Told) -> float | None:
    """One budget for all fields, as printed; for tables of few fields."""
    count = len(sample.names)
    if sample.weights is None or not 0 < count * (count - 1) <= _PAIRS_MAX:
        return None
    told("the published algorithm", 0, 1)
    if all(name in RESPONSES for name in mechanisms):
        return algorithm_3(sample.weights, response_leak, cap, cap / STEPS)
    frontiers: dict[int, Frontier] = {}

    def leak(laws: Matrix, level: float) -> float:
        if id(laws) not in frontiers:  # the algorithm asks for the same laws in each of its steps
            frontiers[id(laws)] = Frontier(laws)
        return frontiers[id(laws)].bound(level)

    return algorithm_3(sample.weights, leak, cap, cap / STEPS)


def _estimates(pairs: Sequence[Pair], mechanisms: Sequence[str], epsilon: float) -> Iterator[Estimate]:
    """The reference is the exact leak through the outputs that the neighbour's mechanism really has."""
    exact = np.array([_exact(pair, mechanisms[pair.neighbour], epsilon) for pair in pairs])
    response = np.array([response_leak(pair.laws, epsilon) for pair in pairs])
    guessed = np.array([_attacked(pair, mechanisms[pair.neighbour], epsilon) for pair in pairs])
    bounded = np.array([bound(pair.laws, epsilon).epsilon for pair in pairs])
    back = {(pair.secret, pair.neighbour): leak for pair, leak in zip(pairs, exact.tolist(), strict=True)}
    least = np.array([min(back[pair[:2]], back[pair[1], pair[0]]) for pair in pairs])
    everything = np.full(len(pairs), epsilon)
    yield Estimate("bound for any mechanism", True, scores(exact, bounded, epsilon))
    yield Estimate("SPL-ANL: epsilon itself", True, scores(exact, everything, epsilon))
    yield Estimate("ITS: formula of grr", False, scores(exact, response, epsilon))
    yield Estimate("attack: leak of a guess", False, scores(exact, guessed, epsilon))
    yield Estimate("CBP, a stand-in: smaller direction", False, scores(exact, least, epsilon))
    for threshold in _THRESHOLDS:
        chosen = np.where([abs(pair.pearson) >= threshold for pair in pairs], epsilon, 0.0)
        yield Estimate(f"GRF: epsilon where |PCC| >= {threshold}", False, scores(exact, chosen, epsilon))


def _standings(sample: Sample, pairs: Sequence[Pair], epsilon: float, people: int, told: Told) -> Iterator[Standing]:
    most = math.fsum(bound(pair.laws, epsilon).epsilon for pair in pairs)
    laws = [sample.law(place) for place in range(len(sample.names))]
    for number, name in enumerate(MECHANISMS):
        told("the benchmark of mechanisms", number, len(MECHANISMS))
        exact = math.fsum(_exact(pair, name, epsilon) for pair in pairs)
        guessed = math.fsum(_attacked(pair, name, epsilon) for pair in pairs)
        errors = [_relative_error(name, law, epsilon, people) for law in laws]
        yield Standing(name, _share(exact, most), _share(guessed, most), math.fsum(errors) / len(errors))


def _relative_error(name: str, law: Vector, epsilon: float, people: int) -> float:
    """The expected sum of squared errors, relative to the sum of the squared frequencies."""
    return noise_of(local(name, law.size, epsilon), law) / people / math.fsum((law**2).tolist())


def _share(leak: float, most: float) -> float:
    return leak / most if most > 0.0 else 1.0


def _exact(pair: Pair, name: str, epsilon: float) -> float:
    chosen = local(name, pair.laws.shape[1], epsilon)
    return sets_leak(pair.laws, chosen.worst_sets(), chosen.level)


def _attacked(pair: Pair, name: str, epsilon: float) -> float:
    return response_leak(pair.laws, local(name, pair.laws.shape[1], epsilon).guess().effective)
