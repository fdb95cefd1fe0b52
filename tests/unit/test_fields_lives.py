"""Five correlated fields and fifty events a life: what the reports really tell, by the exact joint law."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from gate_worlds import Drawn, gate_of

from beliefs.rounding import nats
from mechanisms.contract import TOTAL
from mechanisms.local.grr import DrawnResponse
from mechanisms.local.registry import drawn
from mechanisms.local.unary import DrawnBits
from stream.fields.gate import COARSE, WITHHELD, Gate

SIZES, EPSILON, CAP, EVENTS = (3, 2, 4, 2, 3), 0.4, 4.0, 50
Columns = np.ndarray


def life(gate: Gate, names: tuple[str, ...], values: list[int], generator: np.random.Generator) -> list[Columns]:
    """The logarithms of the chances of all of a user's reports, for each field given each of its values."""
    account, seen = gate.totals.nothing, [np.zeros(size) for size in SIZES]
    for _ in range(EVENTS):
        turn = gate.turn(account)
        account = turn.account
        for place, choice in enumerate(turn.choices.tolist()):
            if choice == WITHHELD:
                continue
            groups = np.array(gate.totals.fields[place].groups) if choice == COARSE else np.arange(SIZES[place])
            epsilon = EPSILON / 2 ** (choice if choice < COARSE else 0)
            mechanism = drawn(names[place], int(groups.max()) + 1, epsilon)
            coins = generator.integers(0, 1 << 64, size=(1, mechanism.words), dtype=np.uint64)
            report = mechanism.draw(groups[[values[place]]], coins)
            seen[place] += log_chances(mechanism, report)[groups]
    return seen


def log_chances(mechanism: object, report: np.ndarray) -> Columns:
    """Of one report, for each value."""
    if isinstance(mechanism, DrawnResponse):
        high, low = (math.log(each / TOTAL) for each in (mechanism.high, mechanism.low))
        return np.where(np.arange(mechanism.values) == report[0], high, low)
    assert isinstance(mechanism, DrawnBits)
    own, other = (np.log([1 - each / TOTAL, each / TOTAL]) for each in (mechanism.one, mechanism.other))
    bits = report[0]
    found: Columns = other[bits].sum() - other[bits] + own[bits]
    return found


def told(weights: np.ndarray, inside: list[int], seen: list[Columns], secret: int) -> float:
    """The largest log ratio of the chances of all reports under two values of the secret, the table being the law."""
    chances = weights
    for axis, place in enumerate(inside):
        shape = [-1 if other == axis else 1 for other in range(weights.ndim)]
        chances = chances * np.exp(seen[place] - seen[place].max()).reshape(shape)
    others = tuple(axis for axis in range(weights.ndim) if axis != inside.index(secret))
    ratios = np.log(chances.sum(axis=others) / weights.sum(axis=others))
    return float(ratios.max() - ratios.min())


@pytest.mark.parametrize("kinds", [("grr",) * 5, ("grr", "oue", "grr", "grr", "oue")])
@pytest.mark.parametrize("beyond", [0, 1, 2])
def test_what_reports_really_tell_is_never_above_the_cap(kinds: tuple[str, ...], beyond: int) -> None:
    """The likeliest values are the worst, which some lives have; nearly the whole cap is then told."""
    generator, most = np.random.default_rng([91, beyond, len(set(kinds))]), 0.0
    fields = [Drawn(size, True, kinds[place] == "grr", EPSILON, beyond, CAP, 0.0) for place, size in enumerate(SIZES)]
    gate = gate_of(fields, 7)
    assert gate.totals.table is not None
    weights = gate.totals.table.responses.weights
    inside = list(range(5))
    for _ in range(25):
        cell = int(generator.choice(weights.size, p=(weights / weights.sum()).ravel()))
        values = [int(each) for each in np.unravel_index(cell, weights.shape)]
        seen = life(gate, kinds, values, generator)
        for secret in range(5):
            leak = told(weights, inside, seen, secret)
            assert leak <= CAP
            most = max(most, leak)
    assert most > CAP / 4


@pytest.mark.parametrize("beyond", [0, 1])
def test_the_worst_reports_tell_exactly_the_total(beyond: int) -> None:
    """Every report of a field names one and the same value: of all such lives the worst tells what was summed up."""
    gate = gate_of([Drawn(size, True, True, EPSILON, beyond, CAP, 0.0) for size in SIZES], 7)
    assert gate.totals.table is not None
    weights, account = gate.totals.table.responses.weights, gate.totals.nothing
    totals: tuple[int, ...] = ()
    for _ in range(EVENTS):
        _, account, totals = gate.turn(account)
    worst = np.zeros(5)
    for named in itertools.product(*map(range, SIZES)):
        seen = [np.eye(size)[value] * nats(fine) for size, value, fine in zip(SIZES, named, account[::2], strict=True)]
        worst = np.maximum(worst, [told(weights, list(range(5)), seen, secret) for secret in range(5)])
    assert worst.tolist() == pytest.approx([nats(total) for total in totals], abs=1e-9)
    assert CAP - EPSILON / 4 < worst.max() <= CAP
