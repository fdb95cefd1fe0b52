"""An adversary reads released records one after the other, and guesses each value: the fast way over many users.

The channel of a release is a function of what is public, and is worked out from the pipeline's model by the auditor's
code. What is believed about the value is the adversary's own: its law may be another one, and it may know some raw
values. Two beliefs are kept for each user, one of somebody who reads every release, and one of somebody who reads none
and knows as much besides. `posterior.py` says the same once more, slowly; `bounds.md` what the figures are good for.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beliefs.native import kernel
from stream.audit.amounts import WHOLE, Floats, Integers
from stream.audit.book import (
    AFTER_STOP,
    IMPOSSIBLE_VALUE,
    LOST,
    LOST_BEFORE,
    NOT_FOLLOWED,
    OUT_OF_ORDER,
    OUTCOME,
    RELEASE,
    STEP,
    TIME,
    USER,
    WRONG,
    Book,
    Desk,
    Rules,
)
from stream.audit.channel import COLUMN
from stream.audit.follow import follow
from stream.audit.judge import write_column
from stream.audit.law import Law, begin, by_value, differs, foresee

ASTRAY = IMPOSSIBLE_VALUE | AFTER_STOP | NOT_FOLLOWED | LOST_BEFORE
LEAST = 2.0**-900
"""A chance below this is no longer held exactly: no ratio is taken of it."""

# Columns of what is kept about a user: events so far, the latest interval of the clock, and whether the user is lost.
EVENTS, CLOCK, GONE = range(3)
# Columns of what is known about an event beforehand: its value for scoring, its value known to the adversary; or -1.
TRUTH, KNOWN = range(2)
# Columns of what is seen of an event: its kind; chances of the likeliest value, without any release, before this one,
# after it; whether each of these guesses is right; the chance that a release about nothing would have led to the right
# guess; the largest log ratio of a value's chance after to that before, and minus the smallest; the same to the chance
# without any release; what was learnt about the value in nats, as the adversary believes; whether its law was refuted.
KIND, BLIND, BEFORE, SURE, BLIND_RIGHT, BEFORE_RIGHT, RIGHT, DUMMY, UP, DOWN, FAR_UP, FAR_DOWN, GAIN, REFUTED = range(
    14
)
SEEN = 14
# Kinds: not followed; a value was released; nothing was told; the adversary knew the value.
NONE, RELEASED, SILENT, GIVEN = range(4)


class Mind(NamedTuple):
    """One row a user: what is believed after the last event, over the states of the adversary's law."""

    told: Floats
    blind: Floats
    stands: Integers


class Slate(NamedTuple):
    """Scratch space: over states, and over values."""

    ahead: Floats
    unaided: Floats
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
    return Slate(*(np.zeros(size) for size in (states, states, symbols, symbols, symbols, symbols)))


@kernel
def watch(
    rules: Rules,
    law: Law,
    desk: Desk,
    book: Book,
    own: Law,
    mind: Mind,
    slate: Slate,
    events: Integers,
    facts: Integers,
    verdicts: Integers,
    seen: Floats,
) -> None:
    """The events in the order of their partition; `law` is the pipeline's and `own` the adversary's. `verdicts` and
    `seen` have a row of zeros for each."""
    for i in range(events.shape[0]):
        event, user = events[i], events[i, USER]
        stand = mind.stands[user]
        follow(rules, law, desk, book, events[i : i + 1], verdicts[i : i + 1])
        if verdicts[i, WRONG] == OUT_OF_ORDER:
            continue
        if verdicts[i, WRONG] & ASTRAY or verdicts[i, LOST]:
            stand[GONE] = 1
        if stand[GONE]:
            continue
        while stand[EVENTS] < event[STEP] - 1:
            _advance(rules, own, stand, event[TIME], mind.told[user], slate.ahead)
            _advance(rules, own, stand, event[TIME], mind.blind[user], slate.unaided)
            _copy(slate.ahead, mind.told[user])
            _copy(slate.unaided, mind.blind[user])
            stand[EVENTS] += 1
        _advance(rules, own, stand, event[TIME], mind.told[user], slate.ahead)
        _advance(rules, own, stand, event[TIME], mind.blind[user], slate.unaided)
        if rules.interval > 0:
            now = event[TIME] // rules.interval
            stand[CLOCK] = now if stand[EVENTS] == 0 else max(stand[CLOCK], now)
        stand[EVENTS] += 1
        _hear(rules, desk, own, slate, event, facts[i], seen[i])
        _keep(own, slate.ahead, slate.column, facts[i, KNOWN], mind.told[user])
        for x in range(slate.column.shape[0]):
            slate.column[x] = 1.0
        _keep(own, slate.unaided, slate.column, facts[i, KNOWN], mind.blind[user])


@kernel
def _advance(rules: Rules, law: Law, stand: Integers, time: int, belief: Floats, ahead: Floats) -> None:
    """What is expected of the next event. By the clock, one prediction for each interval that has begun, up to the most
    that the settings name; `belief` is used up."""
    if stand[EVENTS] == 0:
        begin(law, ahead)
    elif rules.interval == 0:
        foresee(law, belief, ahead, stand[EVENTS])
    else:
        now = time // rules.interval
        _copy(belief, ahead)
        moving = True
        for step in range(max(now - rules.most_steps, stand[CLOCK]) + 1, now + 1):
            if moving:
                foresee(law, belief, ahead, step)
                moving = law.phases > 1 or differs(ahead, belief)
                _copy(ahead, belief)


@kernel
def _copy(source: Floats, target: Floats) -> None:
    for s in range(source.shape[0]):
        target[s] = source[s]


@kernel
def _hear(rules: Rules, desk: Desk, law: Law, slate: Slate, event: Integers, facts: Integers, seen: Floats) -> None:
    """The guesses about one event, and by how much they were moved."""
    by_value(law, slate.ahead, slate.values)
    by_value(law, slate.unaided, slate.unaided_values)
    released, truth = event[OUTCOME] == RELEASE, facts[TRUTH]
    for x in range(slate.column.shape[0]):
        slate.column[x] = float(desk.channel.units[COLUMN, x]) / WHOLE if released else 1.0
    total = 0.0
    for x in range(slate.column.shape[0]):
        slate.after[x] = slate.values[x] * slate.column[x]
        total += slate.after[x]
    seen[REFUTED] = 1.0 if total <= 0.0 else 0.0
    blind, before, guess = _likeliest(slate.unaided_values), _likeliest(slate.values), _likeliest(slate.after)
    for x in range(slate.column.shape[0]):
        slate.after[x] = slate.after[x] / total if total > 0.0 else slate.column[x]
    seen[KIND] = GIVEN if facts[KNOWN] >= 0 else RELEASED if released else SILENT
    seen[BLIND], seen[BEFORE] = slate.unaided_values[blind], slate.values[before]
    seen[SURE] = slate.after[guess]
    seen[BLIND_RIGHT], seen[BEFORE_RIGHT] = 1.0 if blind == truth else 0.0, 1.0 if before == truth else 0.0
    seen[RIGHT] = 1.0 if guess == truth else 0.0
    if total > 0.0:
        _measure(slate.values, slate.after, seen, UP)
        _measure(slate.unaided_values, slate.after, seen, FAR_UP)
        for x in range(slate.after.shape[0]):
            if slate.after[x] >= LEAST and slate.unaided_values[x] >= LEAST:
                seen[GAIN] += slate.after[x] * math.log(slate.after[x] / slate.unaided_values[x])
    if released and truth >= 0:
        seen[DUMMY] = _by_chance(rules.mechanism, desk, slate.values, slate.after, truth)


@kernel
def _likeliest(weights: Floats) -> int:
    best = 0
    for x in range(weights.shape[0]):
        if weights[x] > weights[best]:
            best = x
    return best


@kernel
def _measure(before: Floats, after: Floats, seen: Floats, place: int) -> None:
    for x in range(before.shape[0]):
        if before[x] >= LEAST:
            ratio = math.log(after[x] / before[x]) if after[x] > 0.0 else -np.inf
            seen[place], seen[place + 1] = max(seen[place], ratio), max(seen[place + 1], -ratio)


@kernel
def _by_chance(mechanism: int, desk: Desk, values: Floats, weights: Floats, truth: int) -> float:
    """How likely the guess is right when what is released is drawn from the channel's own law, whatever the value."""
    column, chance = desk.channel.units[COLUMN], 0.0
    for place in range(desk.channel.size[0]):
        write_column(mechanism, place, desk)
        share = 0.0
        for x in range(values.shape[0]):
            weights[x] = values[x] * (float(column[x]) / WHOLE)
            share += desk.ahead[x] * (float(column[x]) / WHOLE)
        if _likeliest(weights) == truth:
            chance += share
    return chance


@kernel
def _keep(law: Law, ahead: Floats, column: Floats, known: int, belief: Floats) -> None:
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
