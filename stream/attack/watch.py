"""An adversary reads released records one after the other, and guesses each value: the fast way over many users.

The channel of a release is a function of what is public, and is worked out from the pipeline's model by the auditor's
code. What is believed about the value is the adversary's own: its law may be another one, and it may know some raw
values. Two beliefs are kept for each user, one of somebody who reads every release, and one of somebody who reads none
and knows as much besides. `posterior.py` says the same once more, slowly; `bounds.md` what the figures are good for.
"""

from __future__ import annotations

import math

import numpy as np

from beliefs.native import kernel
from stream.attack.mind import GONE, Mind, Slate, expect, keep, pass_unseen
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
from stream.audit.law import Law, by_value

ASTRAY = IMPOSSIBLE_VALUE | AFTER_STOP | NOT_FOLLOWED | LOST_BEFORE
LEAST = 2.0**-900
"""A chance below this is no longer held exactly: no ratio is taken of it."""

# Columns of what is known about an event beforehand: its value for scoring, its value known to the adversary; or -1.
TRUTH, KNOWN = range(2)
# Columns of what is seen of an event: its kind; chances of the likeliest value, without any release, before this one,
# after it; whether each of these guesses is right; the chance that a release about nothing would have led to the right
# guess; the largest log ratio of a value's chance after to that before, and minus the smallest; the same to the chance
# without any release; what was learnt about the value in nats, as the adversary believes; whether its law was refuted.
# In windows also: by how much, as a logarithm, the true values have made likelier what their window has told before
# this value (NaN: not all are known); and the number of the window.
KIND, BLIND, BEFORE, SURE, BLIND_RIGHT, BEFORE_RIGHT, RIGHT, DUMMY, UP, DOWN, FAR_UP, FAR_DOWN, GAIN, REFUTED = range(
    14
)
SPENT, WINDOW, SEEN = 14, 15, 16
# Kinds: not followed; a value was released; nothing was told; the adversary knew the value.
NONE, RELEASED, SILENT, GIVEN = range(4)


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
        pass_unseen(rules, own, mind, slate, event)
        expect(rules, own, mind, slate, event[USER], event[TIME])
        _hear(rules, desk, own, slate, event, facts[i], seen[i])
        keep(own, slate.ahead, slate.column, facts[i, KNOWN], mind.told[user])
        for x in range(slate.column.shape[0]):
            slate.column[x] = 1.0
        keep(own, slate.unaided, slate.column, facts[i, KNOWN], mind.blind[user])


@kernel
def _hear(rules: Rules, desk: Desk, law: Law, slate: Slate, event: Integers, facts: Integers, seen: Floats) -> None:
    """The guesses about one event."""
    by_value(law, slate.ahead, slate.values)
    by_value(law, slate.unaided, slate.unaided_values)
    released = event[OUTCOME] == RELEASE
    for x in range(slate.column.shape[0]):
        slate.column[x] = float(desk.channel.units[COLUMN, x]) / WHOLE if released else 1.0
    total = 0.0
    for x in range(slate.column.shape[0]):
        slate.after[x] = slate.values[x] * slate.column[x]
        total += slate.after[x]
    for x in range(slate.column.shape[0]):
        slate.after[x] = slate.after[x] / total if total > 0.0 else slate.column[x]
    compare(slate, released, total > 0.0, facts, seen)
    if released and facts[TRUTH] >= 0:
        seen[DUMMY] = _by_chance(rules.mechanism, desk, slate.values, slate.after, facts[TRUTH])


@kernel
def compare(slate: Slate, released: bool, believed: bool, facts: Integers, seen: Floats) -> None:
    """The guesses about one event, by the chances of its values without any release, before and after what was told,
    and by how much these were moved, if the adversary's law has room for it.
    """
    truth = facts[TRUTH]
    blind, before, guess = likeliest(slate.unaided_values), likeliest(slate.values), likeliest(slate.after)
    seen[REFUTED] = 0.0 if believed else 1.0
    seen[KIND] = GIVEN if facts[KNOWN] >= 0 else RELEASED if released else SILENT
    seen[BLIND], seen[BEFORE] = slate.unaided_values[blind], slate.values[before]
    seen[SURE] = slate.after[guess]
    seen[BLIND_RIGHT], seen[BEFORE_RIGHT] = 1.0 if blind == truth else 0.0, 1.0 if before == truth else 0.0
    seen[RIGHT] = 1.0 if guess == truth else 0.0
    if not believed:
        return
    _measure(slate.values, slate.after, seen, UP)
    _measure(slate.unaided_values, slate.after, seen, FAR_UP)
    for x in range(slate.after.shape[0]):
        if slate.after[x] >= LEAST and slate.unaided_values[x] >= LEAST:
            seen[GAIN] += slate.after[x] * math.log(slate.after[x] / slate.unaided_values[x])


@kernel
def likeliest(weights: Floats) -> int:
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
        if likeliest(weights) == truth:
            chance += share
    return chance
