"""What the positions of a window have to do with one another: how far the noise of their sum is more than their own.

A sum over positions has as its variance the mean of its square, less the square of what it counts. The latter is made
of products of two values, whose functional is the product of both positions' functionals, less the stranger's share:
the mean of that product under the law before the window. These means are carried along the chain. Proof: windows.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefs.native import kernel
from stream.audit.amounts import Floats, Integers
from stream.audit.book import CLOCK, Rules
from stream.audit.law import Law, by_value, carry, differs
from stream.audit.window_book import Strip, Windows
from stream.estimation.functionals import Heard


class Ties(NamedTuple):
    """One row for each event. `alone` marks those whose own channel may be counted by itself; `share` and `nth` are the
    coin of its window and the place in it, counted from 0. `all` is what is to be added to the noise where the sum goes
    over all positions, `told` where it goes over those that are marked; a column for each value, and one for numbers.
    """

    alone: Integers
    share: Floats
    nth: Integers
    all: Floats
    told: Floats
    weights: Floats
    """What each of these columns counts: a row for each, a column for each value."""
    moments: Floats
    """Scratch space over states: the law, its first and second moments of a count, and room to move them."""

    def only(self, which: Integers | slice) -> Ties:
        rows = self.alone[which], self.share[which], self.nth[which], self.all[which], self.told[which]
        return Ties(*rows, self.weights, self.moments)


MASS, FIRST, SECOND, MOVED = range(4)


class Running(NamedTuple):
    """Open windows, a row a user: how the functionals so far add up, the channels' own and those without the stranger;
    the law of the last state times what is counted before it; whether all were known.
    """

    own: Floats
    found: Floats
    counted: Floats
    whole: Integers


def new_ties(events: int, states: int, weights: Floats) -> Ties:
    table = (events, weights.shape[0])
    alone, nth = np.zeros(events, dtype=np.int64), np.zeros(events, dtype=np.int64)
    return Ties(alone, np.zeros(events), nth, np.zeros(table), np.zeros(table), weights, np.zeros((4, states)))


def weights_of(symbols: int, coefficients: Floats | None) -> Floats:
    """One row counts each value; the last adds up numbers."""
    numbers = np.zeros(symbols) if coefficients is None else coefficients
    return np.concatenate([np.eye(symbols), numbers[None]])


def new_running(users: int, states: int, symbols: int) -> Running:
    counts = (users, symbols + 1)
    whole: Integers = np.zeros(counts, dtype=np.int64)
    return Running(np.zeros(counts), np.zeros(counts), np.zeros((*counts, states)), whole)


def grown_running(running: Running, users: int) -> Running:
    more = new_running(users - running.own.shape[0], running.counted.shape[2], running.own.shape[1] - 1)
    whole = np.concatenate([running.whole, more.whole])
    sums = np.concatenate([running.own, more.own]), np.concatenate([running.found, more.found])
    return Running(*sums, np.concatenate([running.counted, more.counted]), whole)


@kernel
def weighed(weight: Floats, numbers: Floats) -> float:
    total = 0.0
    for v in range(weight.shape[0]):
        total += weight[v] * numbers[v]
    return total


@kernel
def all_known(weight: Floats, known: Integers) -> bool:
    found = True
    for v in range(weight.shape[0]):
        found = found and (weight[v] == 0.0 or known[v] == 1)
    return found


@kernel
def add_ties(windows: Windows, strip: Strip, ahead: Floats, share: float, heard: Heard, ties: Ties) -> None:
    """Of a whole window, to its first event. The functionals are still the channels' own."""
    length = heard.kind.shape[0]
    for k in range(ties.weights.shape[0]):
        weight, whole = ties.weights[k], True
        own = own_squares = found = found_squares = 0.0
        for at in range(length):
            whole = whole and all_known(weight, heard.known[at])
            by_value(windows.law, strip.blind[at], strip.shown)
            one = weighed(weight, heard.functional[at])
            other = (one - share * weighed(weight, strip.shown)) / (1.0 - share)
            own, own_squares = own + one, own_squares + one * one
            found, found_squares = found + other, found_squares + other * other
        ties.all[0, k] = 0.0
        if whole and length > 1:
            pairs = _pairs(windows.law, strip, ahead, length, weight, ties.moments)
            products = (own * own - own_squares - share * pairs) / (1.0 - share)
            ties.all[0, k] = found * found - found_squares - products


@kernel
def _pairs(law: Law, strip: Strip, ahead: Floats, length: int, weight: Floats, moments: Floats) -> float:
    """What is expected before the window of the sum over all pairs of positions, in either order, of the products of
    what they count.
    """
    total = 0.0
    for s in range(ahead.shape[0]):
        total += ahead[s]
    for s in range(ahead.shape[0]):
        moments[MASS, s] = ahead[s] / total
        moments[FIRST, s] = moments[SECOND, s] = 0.0
    for at in range(length):
        if at > 0:
            for row in (MASS, FIRST, SECOND):
                move(law, strip.steps[at], moments[row], moments)
        for s in range(ahead.shape[0]):
            count = weight[law.ends[s]]
            moments[SECOND, s] += 2.0 * count * moments[FIRST, s]
            moments[FIRST, s] += count * moments[MASS, s]
    found = 0.0
    for s in range(ahead.shape[0]):
        found += moments[SECOND, s]
    return found


@kernel
def move(law: Law, steps: int, mass: Floats, moments: Floats) -> None:
    """Masses on by so many steps, as they come; steps that change nothing more need not be worked out."""
    moved, left = moments[MOVED], steps
    while left > 0:
        carry(law, mass, moved)
        left = left - 1 if differs(moved, mass) else 0
        for s in range(mass.shape[0]):
            mass[s] = moved[s]


@kernel
def carry_running(rules: Rules, user: Integers, time: int) -> int:
    """How many steps of the model lie before this event, as far as the user has come."""
    if rules.interval == 0:
        return 1
    return int(min(max(time // rules.interval - user[CLOCK], 0), rules.most_steps))


@kernel
def begin_running(running: Running, user: int) -> None:
    for k in range(running.own.shape[1]):
        running.own[user, k] = running.found[user, k] = 0.0
        running.whole[user, k] = 1
        for s in range(running.counted.shape[2]):
            running.counted[user, k, s] = 0.0


@kernel
def add_to_running(
    windows: Windows,
    strip: Strip,
    blind: Floats,
    steps: int,
    running: Running,
    user: int,
    share: float,
    heard: Heard,
    i: int,
    ties: Ties,
) -> None:
    """The next position of an open window, whose law before the window is `blind`: what it has to do with those before
    it. The functionals are still the channel's own.
    """
    law = windows.law
    by_value(law, blind, strip.shown)
    for k in range(ties.weights.shape[0]):
        weight, counted = ties.weights[k], running.counted[user, k]
        if not all_known(weight, heard.known[i]):
            running.whole[user, k] = 0
        ties.all[i, k] = 0.0
        if running.whole[user, k] == 0:
            continue
        if ties.nth[i] > 0:
            move(law, steps, counted, ties.moments)
        pairs = 0.0
        for s in range(blind.shape[0]):
            pairs += weight[law.ends[s]] * counted[s]
            counted[s] += weight[law.ends[s]] * blind[s]
        own = weighed(weight, heard.functional[i])
        found = (own - share * weighed(weight, strip.shown)) / (1.0 - share)
        products = (own * running.own[user, k] - share * pairs) / (1.0 - share)
        ties.all[i, k] = 2.0 * (found * running.found[user, k] - products)
        running.own[user, k] += own
        running.found[user, k] += found
