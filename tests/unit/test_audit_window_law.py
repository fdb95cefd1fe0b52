"""The auditor's own arithmetic of windows against the engine's, bit for bit: plans, orders, laws, factors, charges."""

from __future__ import annotations

import numpy as np
import pytest
from audit_world import model_of
from hypothesis import given, settings
from hypothesis import strategies as st

from beliefs.distance import equal
from beliefs.forward import chain_arrays, normalise, reversed_arrays
from beliefs.rounding import UNITS_PER_NAT, log_units_up
from mechanisms.contract import LEVEL_UNKNOWN, design_units
from mechanisms.sequence.window import (
    LEAST_CAP,
    LENGTH_MAX,
    coins_needed,
    plan_of,
    ratios_of,
    release_window,
)
from mechanisms.sequence.window_beliefs import new_room, new_tools
from mechanisms.sequence.window_order import bisected
from mechanisms.sequence.window_running import new_running, release_next
from stream.audit import window_law
from stream.audit.amounts import UNBOUNDED, constants_by_level
from stream.audit.book import OPTIMAL, RELEASE, SPENT_FORECAST, WRONG, Rules, new_book, new_desk, new_verdicts
from stream.audit.law import law_of
from stream.audit.window_book import DRAWN, FIRST_CAP, LEAN, LONGEST, SHARE, Cut, new_opened, new_strip
from stream.audit.window_open import follow_open


def test_limits_are_those_of_the_engine() -> None:
    assert (LONGEST, window_law.LEAST_CAP) == (LENGTH_MAX, LEAST_CAP)


@pytest.mark.parametrize("length", range(1, LENGTH_MAX + 1))
def test_the_order_is_that_of_the_engine(length: int) -> None:
    assert window_law.order_of(length) == list(bisected(length))


@given(st.integers(min_value=200, max_value=32 * UNITS_PER_NAT), st.sampled_from([1, 3, 64]))
@settings(max_examples=30, deadline=None)
def test_plans_are_those_of_the_engine(epsilon: int, events: int) -> None:
    symbols = 3
    windows = window_law.windows_of(Cut(events, 0, False), law_of(model_of(symbols).chain), epsilon)
    for level in (0, 1, 17, LEVEL_UNKNOWN):
        units = design_units(epsilon, level)
        assert windows.units[level] == units
        if units > 0:
            plan = plan_of(units / UNITS_PER_NAT, events, symbols)
            ours = windows.plans[level, events]
            assert (ours[SHARE], ours[FIRST_CAP], ours[LEAN]) == (plan.covered / 2**62, plan.cap, plan.shave)


@given(
    st.floats(min_value=1.0, max_value=1e9),
    st.floats(min_value=0.0, max_value=1.0),
    st.floats(min_value=0.01, max_value=20.0),
)
@settings(max_examples=100, deadline=None)
def test_what_a_window_told_is_what_the_engine_charges(highest: float, lowest: float, nats: float) -> None:
    plan = plan_of(nats, 7, 4)
    ours = np.array([plan.covered / 2**62, plan.cap, plan.shave])
    expected = tuple(log_units_up(ratio) for ratio in ratios_of(plan, highest, lowest))
    assert window_law.told_units(ours, highest, lowest) == expected


@pytest.mark.parametrize("length", [1, 2, 5, 13, 64])
@pytest.mark.parametrize(("symbols", "sparse"), [(1, False), (3, False), (3, True), (20, False), (20, True)])
def test_a_window_is_replayed_from_what_was_drawn(length: int, symbols: int, sparse: bool) -> None:
    """Priors, factors, beliefs and extremes of windows that the engine releases, from the drawn values alone."""
    chain = model_of(symbols, sparse=sparse).chain
    arrays, source = chain_arrays(chain), np.random.default_rng(length)
    tools, room = new_tools(arrays, reversed_arrays(chain)), new_room(LENGTH_MAX, symbols)
    windows = window_law.windows_of(Cut(length, 0, False), law_of(chain), 2 * UNITS_PER_NAT)
    desk, strip = new_desk(symbols, symbols, equal()), new_strip(symbols, symbols)
    shown = np.zeros(length, dtype=np.int64)
    engine, ours = plan_of(windows.units[0] / UNITS_PER_NAT, length, symbols), windows.plans[0, length]
    strip.rows[:] = np.arange(LONGEST)
    for _ in range(10):
        start = source.dirichlet(np.ones(symbols))
        values = source.integers(symbols, size=length)
        coins = source.integers(1 << 64, size=coins_needed(length), dtype=np.uint64)
        extremes = release_window(engine, tools, start, values, coins, room, shown)
        desk.states[:] = start
        events = np.zeros((length, 8), dtype=np.int64)
        events[:, DRAWN] = room.drawn[:length]
        window_law.look_blindly(windows.law, desk.states, length, strip)
        assert window_law.replay(windows, ours, events, desk, strip, length) == extremes
        assert np.array_equal(strip.blind[:length], room.priors[:length])
        for at in range(length):
            window_law.meet(at, length, strip)
            assert np.array_equal(strip.own, room.beliefs[at])
            window_law.mix(ours[SHARE], strip.blind[at], strip.own, strip.mixed)
            assert window_law.likeliest(windows.law, strip.mixed, strip) == shown[at]


@pytest.mark.parametrize(("symbols", "sparse"), [(1, False), (3, False), (3, True), (20, False), (20, True)])
def test_an_open_window_is_followed_value_by_value(symbols: int, sparse: bool) -> None:
    """Laws, caps and extremes between two values, from what was drawn and shown."""
    chain, source, epsilon = model_of(symbols, sparse=sparse).chain, np.random.default_rng(symbols), 3 * UNITS_PER_NAT
    tools, room = new_tools(chain_arrays(chain), reversed_arrays(chain)), new_room(LENGTH_MAX, symbols)
    rules = Rules(OPTIMAL, True, constants_by_level(epsilon), epsilon, UNBOUNDED, 0, SPENT_FORECAST, 0, 1)
    desk, strip = new_desk(symbols, symbols, equal()), new_strip(symbols, symbols)
    for _ in range(20):
        law = law_of(chain)._replace(start=source.dirichlet(np.ones(symbols)))
        windows = window_law.windows_of(Cut(LONGEST, 0, True), law, epsilon)
        plan = plan_of(windows.units[0] / UNITS_PER_NAT, LENGTH_MAX, symbols)
        book, opened, running, start = (
            new_book(1, symbols),
            new_opened(1, symbols),
            new_running(symbols),
            law.start.copy(),
        )
        normalise(start)
        for step in range(1, 9):
            coins = source.integers(1 << 64, size=3, dtype=np.uint64)
            shown, drawn = release_next(plan, tools, start, int(source.integers(symbols)), coins, room, running)
            event, verdicts = np.array([[0, step, 0, shown, RELEASE, step, -1, drawn]]), new_verdicts(1)
            follow_open(rules, windows, desk, strip, book, opened, event, verdicts)
            assert verdicts[0, WRONG] == 0
            assert np.array_equal(opened.blind[0], running.prior)
            assert np.array_equal(opened.own[0], running.belief)
            assert np.array_equal(opened.amounts[0], running.amounts)
