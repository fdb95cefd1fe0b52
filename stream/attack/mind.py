"""What an adversary keeps in mind about each user, and how it goes on from one event to the next.

Two beliefs over the states of the adversary's law: of somebody who reads every release, and of somebody who reads none
and knows as much besides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefs.native import kernel
from stream.audit.amounts import Floats, Integers
from stream.audit.book import STEP, TIME, USER, Rules
from stream.audit.law import Law, begin, differs, foresee

# Columns of what is kept about a user: events so far, the latest interval of the clock, and whether the user is lost.
EVENTS, CLOCK, GONE = range(3)


class Mind(NamedTuple):
    """One row a user: what is believed after the last event, over the states of the adversary's law."""

    told: Floats
    blind: Floats
    stands: Integers


class Slate(NamedTuple):
    """Scratch space: over states, and over values."""

    ahead: Floats
    unaided: Floats
    spare: Floats
    values: Floats
    unaided_values: Floats
    after: Floats
    column: Floats


def new_mind(users: int, states: int) -> Mind:
    stands: Integers = np.zeros((users, 3), dtype=np.int64)
    return Mind(np.zeros((users, states)), np.zeros((users, states)), stands)


def grown_mind(mind: Mind, users: int) -> Mind:
    more = new_mind(users - mind.told.shape[0], mind.told.shape[1])
    return Mind(*(np.concatenate(pair) for pair in zip(mind, more, strict=True)))


def new_slate(states: int, symbols: int) -> Slate:
    return Slate(*(np.zeros(size) for size in (states, states, states, symbols, symbols, symbols, symbols)))


@kernel
def pass_unseen(rules: Rules, own: Law, mind: Mind, slate: Slate, event: Integers) -> None:
    """The user's events before this one of which nothing was seen."""
    user = event[USER]
    while mind.stands[user, EVENTS] < event[STEP] - 1:
        expect(rules, own, mind, slate, user, event[TIME])
        copy(slate.ahead, mind.told[user])
        copy(slate.unaided, mind.blind[user])


@kernel
def expect(rules: Rules, own: Law, mind: Mind, slate: Slate, user: int, time: int) -> tuple[int, int]:
    """What is expected of the user's next event, with the releases so far and without any; answers the numbers of the
    steps that the law has taken to it: the first one, and the one after the last.
    """
    stand = mind.stands[user]
    if stand[EVENTS] == 0:
        begin(own, slate.ahead)
        begin(own, slate.unaided)
    else:
        copy(mind.told[user], slate.ahead)
        copy(mind.blind[user], slate.unaided)
    first, stop = steps_to(rules, stand, time)
    move(own, slate.ahead, slate.spare, first, stop)
    move(own, slate.unaided, slate.spare, first, stop)
    return first, stop


@kernel
def steps_to(rules: Rules, stand: Integers, time: int) -> tuple[int, int]:
    """The numbers of the steps before the user's next event, who has then come to it: one for each event, or by the
    clock one for each interval that has begun, up to the most that the settings name; none before the first event.
    """
    first = stop = 0
    if rules.interval > 0:
        now = time // rules.interval
        if stand[EVENTS] > 0:
            first, stop = max(now - rules.most_steps, stand[CLOCK]) + 1, now + 1
        stand[CLOCK] = max(stand[CLOCK], now) if stand[EVENTS] > 0 else now
    elif stand[EVENTS] > 0:
        first, stop = stand[EVENTS], stand[EVENTS] + 1
    stand[EVENTS] += 1
    return first, stop


@kernel
def move(law: Law, belief: Floats, spare: Floats, first: int, stop: int) -> None:
    """By these steps; those that change nothing more need not be worked out."""
    moving = True
    for step in range(first, stop):
        if moving:
            foresee(law, belief, spare, step)
            moving = law.phases > 1 or differs(spare, belief)
            copy(spare, belief)


@kernel
def copy(source: Floats, target: Floats) -> None:
    for s in range(source.shape[0]):
        target[s] = source[s]


@kernel
def keep(law: Law, ahead: Floats, column: Floats, known: int, belief: Floats) -> None:
    """Bayes' rule over states. A law that has no room for what was seen gives way to what was seen."""
    total = 0.0
    for s in range(ahead.shape[0]):
        belief[s] = ahead[s] * column[law.ends[s]] if known < 0 or law.ends[s] == known else 0.0
        total += belief[s]
    if total <= 0.0:
        for s in range(ahead.shape[0]):
            belief[s] = column[law.ends[s]] if known < 0 or law.ends[s] == known else 0.0
            total += belief[s]
    if total <= 0.0:
        for s in range(ahead.shape[0]):
            belief[s] = 1.0 if law.ends[s] == known else 0.0
            total += belief[s]
    for s in range(ahead.shape[0]):
        belief[s] /= total
