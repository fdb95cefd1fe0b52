"""An adversary reads windows whose values are shown one by one, and guesses each when it is shown.

While a window is open its coin is unknown, so two laws are carried along: one in case that its channels see a
stranger's values, which is what was believed before the window, and one in case that they see the user's own. When the
window is over the two become one. `windows.md`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beliefs.native import kernel
from stream.attack.mind import GONE, Mind, Slate, copy, expect, keep, move, pass_unseen
from stream.attack.span import weigh
from stream.attack.watch import DUMMY, KNOWN, SPENT, TRUTH, compare, likeliest
from stream.audit.amounts import CAP, WHOLE, Floats, Integers
from stream.audit.book import ADRIFT, MARKS, OUT_OF_ORDER, OUTCOME, RELEASE, TIME, USER, WRONG, Book, Desk, Rules
from stream.audit.channel import COLUMN
from stream.audit.law import Law, by_value
from stream.audit.window_book import DRAWN, LEVEL, LONGEST, NTH, SHARE, Opened, Strip, Windows
from stream.audit.window_law import answer, ask
from stream.audit.window_open import follow_open

# Of an open window: whether there is one; how likely its coin shows tails; how likely the true values make what was
# told, under tails, beside all values (NaN: not all are known).
OPEN, TAILS, TRUE_ONES = range(3)


class Halves(NamedTuple):
    """One row a user: the law of the last state if the coin shows tails, and the figures. Heads are in the mind."""

    own: Floats
    figures: Floats


class Ears(NamedTuple):
    """Scratch space: the law under tails over states, before a channel speaks and after; over values, before and after;
    what the channel says of each value; nothing.
    """

    ahead: Floats
    after: Floats
    values: Floats
    after_values: Floats
    said: Floats
    nothing: Floats


def new_halves(users: int, states: int) -> Halves:
    return Halves(np.zeros((users, states)), np.zeros((users, 3)))


def grown_halves(halves: Halves, users: int) -> Halves:
    more = new_halves(users - halves.own.shape[0], halves.own.shape[1])
    return Halves(*(np.concatenate(pair) for pair in zip(halves, more, strict=True)))


def new_ears(states: int, symbols: int) -> Ears:
    ahead, after = np.zeros(states), np.zeros(states)
    return Ears(ahead, after, np.zeros(symbols), np.zeros(symbols), np.ones(symbols), np.ones(symbols))


@kernel
def watch_open(
    rules: Rules,
    windows: Windows,
    desk: Desk,
    strip: Strip,
    opened: Opened,
    book: Book,
    own: Law,
    mind: Mind,
    halves: Halves,
    slate: Slate,
    ears: Ears,
    events: Integers,
    facts: Integers,
    verdicts: Integers,
    seen: Floats,
) -> None:
    """The events in the order of their partition."""
    for i in range(events.shape[0]):
        event, user = events[i], events[i, USER]
        figures = halves.figures[user]
        follow_open(rules, windows, desk, strip, book, opened, events[i : i + 1], verdicts[i : i + 1])
        if verdicts[i, WRONG] == OUT_OF_ORDER:
            continue
        if book.users[user, MARKS] & ADRIFT:
            mind.stands[user, GONE] = 1
            continue
        released = event[OUTCOME] == RELEASE
        if event[NTH] == 1 and figures[OPEN] > 0.0:
            _end(mind, halves, user)
        pass_unseen(rules, own, mind, slate, event)
        first, stop = expect(rules, own, mind, slate, user, event[TIME])
        if event[NTH] == 1:
            share = windows.plans[opened.marks[user, LEVEL], LONGEST, SHARE] if released else 1.0
            figures[OPEN], figures[TAILS], figures[TRUE_ONES] = 1.0 if released else 0.0, 1.0 - share, 1.0
            copy(slate.ahead, ears.ahead)
        else:
            copy(halves.own[user], ears.ahead)
            move(own, ears.ahead, slate.spare, first, stop)
        for x in range(ears.said.shape[0]):
            ears.said[x] = strip.told[0, x] if released and event[DRAWN] >= 0 else 1.0
        if released and facts[i, TRUTH] >= 0:
            share = windows.plans[opened.marks[user, LEVEL], LONGEST, SHARE]
            seen[i, SPENT] = math.log(share + (1.0 - share) * figures[TRUE_ONES])
            asked, tails = event[DRAWN] >= 0, figures[TAILS]
            seen[i, DUMMY] = _by_chance(windows, desk, strip, own, slate, ears, asked, tails, facts[i, TRUTH])
        _hear(own, mind, halves, slate, ears, user, facts[i, KNOWN])
        compare(slate, released, True, facts[i], seen[i])
        figures[TRUE_ONES] *= ears.said[facts[i, TRUTH]] if facts[i, TRUTH] >= 0 else np.nan


@kernel
def _end(mind: Mind, halves: Halves, user: int) -> None:
    """The window is over: its coin no longer matters for what comes."""
    tails = halves.figures[user, TAILS]
    for s in range(halves.own.shape[1]):
        mind.told[user, s] = (1.0 - tails) * mind.told[user, s] + tails * halves.own[user, s]
    halves.figures[user, OPEN] = 0.0


@kernel
def _hear(own: Law, mind: Mind, halves: Halves, slate: Slate, ears: Ears, user: int, known: int) -> None:
    """Bayes' rule for the coin and for the value, under either side of it; the chances of the value are left on the
    slate: without any release, before the window, and now.
    """
    by_value(own, slate.ahead, slate.values)
    by_value(own, slate.unaided, slate.unaided_values)
    copy(slate.ahead, slate.spare)
    heads = weigh(own, ears.nothing, known, slate.spare)
    copy(ears.ahead, ears.after)
    tails = weigh(own, ears.said, known, ears.after)
    keep(own, slate.ahead, ears.nothing, known, mind.told[user])
    keep(own, slate.unaided, ears.nothing, known, mind.blind[user])
    keep(own, ears.ahead, ears.said, known, halves.own[user])
    before = halves.figures[user, TAILS]
    both = (1.0 - before) * heads + before * tails
    now = before * tails / both if both > 0.0 else 0.0
    halves.figures[user, TAILS] = now
    by_value(own, mind.told[user], slate.after)
    by_value(own, halves.own[user], ears.after_values)
    for x in range(slate.after.shape[0]):
        slate.after[x] = (1.0 - now) * slate.after[x] + now * ears.after_values[x]


@kernel
def _by_chance(
    windows: Windows,
    desk: Desk,
    strip: Strip,
    own: Law,
    slate: Slate,
    ears: Ears,
    asked: bool,
    tails: float,
    truth: int,
) -> float:
    """How likely the guess is right when what is shown next is drawn from the channel's own law, whatever the value; if
    no channel is asked, nothing is said.
    """
    by_value(own, slate.ahead, slate.values)
    by_value(own, ears.ahead, ears.values)
    if asked and windows.near:  # what was shown has been looked for among other lots since
        ask(windows, strip.asked, strip.numbers[CAP], desk, strip)
    chance, places = 0.0, desk.channel.size[0] if asked else 1
    for place in range(places):
        law = answer(windows, strip.asked, place, desk) if asked else WHOLE
        for x in range(slate.after.shape[0]):
            said = float(desk.channel.units[COLUMN, x]) / law if asked else 1.0
            slate.after[x] = (1.0 - tails) * slate.values[x] + tails * ears.values[x] * said
        if likeliest(slate.after) == truth:
            chance += law / WHOLE
    return chance
