"""Windows for many events at once, without a store, keys or records: what `explain` computes its figures with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefs.distance import Distance
from beliefs.forward import ChainArrays
from mechanisms.coins import Coins
from mechanisms.contract import Integers
from mechanisms.sequence.window_running import COUNT
from stream.policy import Events, Policy, Releases, new_bench, new_releases
from stream.promise import WindowRules
from stream.state import Codes, codes_of, head_words, new_users
from stream.windows.step import OpenWindow, Told, WindowStep


class Rehearsed(NamedTuple):
    """The releases, with a window's charge at its last value; how many windows there were, and for how many
    milliseconds each value waited.
    """

    releases: Releases
    windows: int
    waits: Integers


def rehearse(
    policy: Policy,
    rules: WindowRules,
    chain: ChainArrays,
    events: Events,
    coins: Coins,
    distance: Distance | None = None,
) -> Rehearsed:
    """The events of new users, in the order of their times."""
    count, states = events.slot.shape[0], chain.start.shape[0]
    releases = new_releases(count)
    waits = np.zeros(count, dtype=np.int64)
    bench = new_bench(states, int(chain.symbol_of.max()) + 1, distance, listed=policy.listed > 0)
    step, windows = WindowStep(policy, chain, rules.back, bench, longest=rules.at_once), 0
    row = codes_of(states, policy.listed), head_words(policy.interval > 0, policy.sliding)
    order = np.argsort(events.slot, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(events.slot[order])) + 1):
        head, codes = (rows[0] for rows in new_users(1, *row))
        releases.step[places] = np.arange(1, places.shape[0] + 1)
        if rules.natural:
            windows += _one_by_one(step, rules, (events, coins, places), head, codes, releases)
            continue
        for window, end in _windows(events.time, rules, places.tolist()):
            told = step.close(head, codes, events.time[window], events.symbol[window], coins[window])
            _write(told, window, releases)
            waits[window] = end - events.time[window]
            windows += 1
    return Rehearsed(releases, windows, waits)


def _windows(times: Integers, rules: WindowRules, places: list[int]) -> list[tuple[Integers, int]]:
    """A user's events, cut into windows by number, stretch and deadline; and when each window ends."""
    windows: list[tuple[Integers, int]] = []
    held: list[int] = []
    for place, following in zip(places, [*places[1:], -1], strict=True):
        held.append(place)
        time = int(times[place])
        due = time + rules.deadline
        upcoming = int(times[following]) if following >= 0 else due + 1
        beyond = rules.is_beyond(upcoming, int(times[held[0]]))
        if len(held) == rules.events or beyond or upcoming > due:
            end = time if len(held) == rules.events else min(upcoming, due)
            windows.append((np.array(held, dtype=np.int64), end))
            held = []
    return windows


def _one_by_one(
    step: WindowStep,
    rules: WindowRules,
    given: tuple[Events, Coins, Integers],
    head: Integers,
    codes: Codes,
    releases: Releases,
) -> int:
    (events, coins, places), windows = given, 0
    opened: OpenWindow | None = None
    for place in places.tolist():
        time, symbol = int(events.time[place]), int(events.symbol[place])
        if opened is not None and rules.is_beyond(time, opened.time):
            step.end(head, codes, opened)
            opened = None
        windows += opened is None
        told, opened = step.next(head, codes, opened, time, symbol, coins[place : place + 1])
        _write(told, np.array([place]), releases)
        if opened is not None and int(opened.running.marks[COUNT]) >= rules.events:
            step.end(head, codes, opened)
            opened = None
    return windows


def _write(told: Told, places: Integers, releases: Releases) -> None:
    releases.symbol[places] = told.symbols
    releases.outcome[places] = told.outcome
    releases.upper[places[-1]], releases.lower[places[-1]] = told.upper, told.lower
    releases.uncertified[0] += places.shape[0] if told.uncertified else 0
