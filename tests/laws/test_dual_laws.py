"""Windows through one channel: the promise in fractions for all that can happen, and that faults would be seen."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from planted import source_of

from beliefs.chain import Chain
from beliefs.forward import chain_arrays, normalise
from beliefs.rounding import UNITS_PER_NAT, budget_units, log_units_up
from mechanisms.contract import SHAVE_UNITS, TOTAL, Floats, constants_of
from mechanisms.sequence import dual
from mechanisms.sequence.dual_prices import DualRoom, new_rooms
from mechanisms.sequence.dual_sequences import law_of_sequences

SIZES = [(n, w) for n in (2, 3, 4) for w in range(1, 6) if n**w <= 256]
EPSILONS = (0.02, 0.5, 1.0, 2.0, 4.0, 9.0)


def law_of(kind: str, symbols: int, length: int, seed: int) -> Floats:
    """The law of a window's sequences under a chain and some belief about its first value."""
    random = np.random.default_rng(seed)
    start = random.dirichlet(np.full(symbols, 0.5))
    if kind == "sticky":
        rows = np.full((symbols, symbols), 0.1 / symbols) + 0.9 * np.eye(symbols)
    elif kind == "random":
        rows = random.dirichlet(np.full(symbols, 0.7), size=symbols)
    elif kind == "iid":
        rows = np.tile(random.dirichlet(np.full(symbols, 2.0)), (symbols, 1))
    else:  # a ring, in which most sequences are impossible, and a first value that is known
        start, rows = np.eye(symbols)[0], 0.5 * (np.eye(symbols) + np.roll(np.eye(symbols), 1, axis=1))
    chain = Chain.from_dense(start, rows / rows.sum(axis=1, keepdims=True))
    law = np.zeros(symbols**length)
    law_of_sequences(chain_arrays(chain), chain.start.copy(), length, law)
    normalise(law)
    return law


def rows_of(law: Floats, room: DualRoom, module: Any = dual) -> list[list[int]]:
    rows = []
    for x in range(law.shape[0]):
        module.row(x, room)
        rows.append([int(units) for units in room.row[: room.counts[dual.COUNT]]])
    return rows


def worst_of(law: Floats, rows: list[list[int]]) -> tuple[Fraction, Fraction]:
    """The largest a/p and p/a over every sequence and every release, exactly."""
    exact = [Fraction(float(mass)) for mass in law]
    total = sum(exact)
    upper = lower = Fraction(1)
    for column in zip(*rows, strict=True):
        marginal = sum(mass * units for mass, units in zip(exact, column, strict=True)) / total
        upper, lower = max(upper, max(column) / marginal), max(lower, marginal / min(column))
    return upper, lower


@pytest.mark.parametrize("kind", ["sticky", "random", "iid", "ring"])
@pytest.mark.parametrize(("symbols", "length"), SIZES)
def test_no_window_of_values_tells_more_than_epsilon(kind: str, symbols: int, length: int) -> None:
    room = new_rooms(symbols, length)[-1]
    released = set()
    for epsilon in EPSILONS:
        law = law_of(kind, symbols, length, seed=length)
        units = budget_units(epsilon)
        ratios = dual.prepare(law, np.array(constants_of(units - SHAVE_UNITS)), room)
        rows = rows_of(law, room)
        released.add(len(rows[0]))
        assert all(sum(row) == TOTAL and min(row) > 0 for row in rows)
        upper, lower = worst_of(law, rows)
        bound = Fraction(math.exp(units / UNITS_PER_NAT)) * (1 - Fraction(1, 2**50))
        assert max(upper, lower) <= bound
        assert Fraction(ratios[0]) >= upper
        assert Fraction(ratios[1]) >= lower
        spread = max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))
        assert Fraction(ratios[2]) >= spread
        assert max(log_units_up(ratio) for ratio in ratios[:2]) <= units
        for i, column in enumerate(zip(*rows, strict=True)):
            told = dual.column(i, law, room)
            assert room.likelihood.tolist() == [float(units) for units in column]
            assert all(one <= most for one, most in zip(told, ratios, strict=True))
    assert max(released) > 1 or kind == "ring"


def test_a_window_of_1296_sequences_keeps_epsilon() -> None:
    room = new_rooms(6, 4)[-1]
    law = law_of("random", 6, 4, seed=2)
    ratios = dual.prepare(law, np.array(constants_of(UNITS_PER_NAT - SHAVE_UNITS)), room)
    rows = np.array(rows_of(law, room))
    assert rows.shape[1] > 1
    assert (rows.sum(axis=1) == TOTAL).all()
    marginal = (law[:, None] * rows).sum(axis=0)
    upper, lower = (rows.max(axis=0) / marginal).max(), (marginal / rows.min(axis=0)).max()
    assert max(upper, lower) <= min(max(ratios[:2]), math.e)


def interpreted(*changes: tuple[str, str]) -> Any:
    """Prices with these changes, and the channel that is made with them, both uncompiled."""
    module: Any = source_of("dual")
    module.climb = source_of("dual_prices", *changes).climb
    return module


@pytest.mark.parametrize(("kind", "symbols", "length"), [("random", 2, 3), ("ring", 3, 2), ("iid", 2, 4)])
def test_the_interpreter_computes_the_same_bits(kind: str, symbols: int, length: int) -> None:
    law, module = law_of(kind, symbols, length, seed=3), interpreted()
    for epsilon in (0.5, 3.0):
        constants = np.array(constants_of(budget_units(epsilon) - SHAVE_UNITS))
        compiled, plain = new_rooms(symbols, length)[-1], new_rooms(symbols, length)[-1]
        assert module.prepare(law, constants, plain) == dual.prepare(law, constants, compiled)
        assert rows_of(law, plain, module) == rows_of(law, compiled)


UNCHECKED = ("if max(upper, lower) <= constants[UPPER] else _constant_channel(room)", "")
FAULTS = {
    "cap of K a tenth too high": ("constants[CAP] * (1.0 - MARGIN)", "1.1 * constants[CAP]"),
    "bases a tenth too low": ("constants[LOWER] * (1.0 + MARGIN)", "0.9 * constants[LOWER]"),
    "no dilution": ("    if worst > cap:", "    if worst < 0.0:"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_channel_that_tells_too_much_is_not_used(fault: str) -> None:
    """The check of the very numbers that are sampled stands between a fault and a release."""
    law, room = law_of("random", 2, 4, seed=5), new_rooms(2, 4)[-1]
    constants = np.array(constants_of(UNITS_PER_NAT - SHAVE_UNITS))
    changes = (FAULTS[fault], ("\nCUTS = 12", "\nCUTS = 1"))
    assert source_of("dual", *changes).prepare(law, constants, room) == (1.0, 1.0, 1.0)
    assert rows_of(law, room) == [[TOTAL]] * 16
    source_of("dual", *changes, UNCHECKED).prepare(law, constants, room)
    assert max(worst_of(law, rows_of(law, room))) > Fraction(math.e)


def test_releases_that_are_not_asked_would_have_had_no_weight() -> None:
    everybody = interpreted(("lists[BELOW, y] <= least + 16 * softness", "True"))
    for kind, (symbols, length) in itertools.product(("sticky", "random"), ((2, 3), (3, 2))):
        law = law_of(kind, symbols, length, seed=7)
        constants = np.array(constants_of(UNITS_PER_NAT - SHAVE_UNITS))
        some, everyone = new_rooms(symbols, length)[-1], new_rooms(symbols, length)[-1]
        dual.prepare(law, constants, some)
        everybody.prepare(law, constants, everyone)
        assert rows_of(law, some) == rows_of(law, everyone)
