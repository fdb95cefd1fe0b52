"""What all releases about one user tell together, exactly: about the whole sequence of values, and about each value.

The counters add the worst of each release, as if one path of values could be the worst for all of them. Here the paths
are those that the model allows, and the beliefs are those of a reader who rounds nothing. For a path x and releases y

    log P(y|x)/P(y) = sum of log a_k(y_k|x_k) - log P(y),

so the best and the worst path that end in each value are carried along, a pass over the transitions for each event. The
posterior of each value, given all releases, comes from the events before it and, backwards, from those behind it.

Of the columns a_k(y_k|.) nothing is stored while the topic is read: the few events of a sampled user are followed once
more, with a book of their own. An event of which nothing was told has a column of ones. The proof is
that of beliefs/leakage/whole.md; none of its code is used.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beliefs.native import kernel
from stream.audit.amounts import WHOLE, Floats, Integers, added, nats_of
from stream.audit.book import (
    AFTER_STOP,
    COST_LOWER,
    COST_UPPER,
    IMPOSSIBLE_VALUE,
    LOST,
    LOST_BEFORE,
    LOWER,
    NOT_FOLLOWED,
    OUT_OF_ORDER,
    OUTCOME,
    RELEASE,
    STEP,
    UPPER,
    USER,
    WRONG,
    Book,
    Desk,
    Rules,
    new_book,
    new_verdicts,
)
from stream.audit.channel import COLUMN
from stream.audit.follow import follow
from stream.audit.law import Law, begin, foresee
from stream.audit.public import Public

MOST_NUMBERS = 4_000_000
"""A user with more events than this over the number of values is left out: three tables of that size are kept."""

_LEAST = 2.0**-900
_HALF_PLACE = 2.0**-53
_ASTRAY = IMPOSSIBLE_VALUE | AFTER_STOP | NOT_FOLLOWED | LOST_BEFORE

# What is found about a user: best and worst path, log P(y); the extreme ratios of one value.
BEST, WORST, CHANCE, RAISED, LOWERED = range(5)


class Told(NamedTuple):
    """In nats, rounded up: the sum over the releases, the larger counter, the sequence, the worst single value."""

    sum_of_releases: float
    counters: float
    sequence: float
    single_value: float


class Pages(NamedTuple):
    """A row for each event: its column; what is believed after it; what would be without any release."""

    columns: Floats
    known: Floats
    blind: Floats


def told_about(public: Public, desk: Desk, events: Integers) -> Told | None:
    """Of one user's released events, in their order; None where they cannot be followed, or not without rounding."""
    rows, states = int(events[:, STEP].max()), public.states
    if rows * states > MOST_NUMBERS:
        return None
    events = np.ascontiguousarray(events[:, : OUTCOME + 1])
    events[:, USER] = 0
    book, verdicts = new_book(1, states, sliding=public.rules.sliding), new_verdicts(events.shape[0])
    pages = Pages(np.ones((rows, states)), np.zeros((rows, states)), np.zeros((rows, states)))
    if not write_columns(public.rules, public.law, desk, book, events, verdicts, pages.columns):
        return None
    found = np.zeros(5)
    if not look_at_all(public.law, pages, np.zeros((4, states)), found):
        return None
    total = 0
    for upper, lower in verdicts[:, [COST_UPPER, COST_LOWER]].tolist():
        total = int(added(total, max(upper, lower)))
    counters = int(max(book.users[0, UPPER], book.users[0, LOWER]))
    return Told(nats_of(total), nats_of(counters), _sequence(found, rows, states), _single(found, rows, states))


@kernel
def write_columns(
    rules: Rules, law: Law, desk: Desk, book: Book, events: Integers, verdicts: Integers, columns: Floats
) -> bool:
    """False where the user cannot be followed to the end."""
    for i in range(events.shape[0]):
        follow(rules, law, desk, book, events[i : i + 1], verdicts[i : i + 1])
        if verdicts[i, WRONG] == OUT_OF_ORDER:
            continue
        if verdicts[i, WRONG] & _ASTRAY or verdicts[i, LOST]:
            return False
        if events[i, OUTCOME] == RELEASE:
            for x in range(columns.shape[1]):
                columns[events[i, STEP] - 1, x] = float(desk.channel.units[COLUMN, x]) / WHOLE
    return True


@kernel
def look_at_all(law: Law, pages: Pages, scratch: Floats, found: Floats) -> bool:
    """Forth over all events, and back; False where a mass becomes too small to be held exactly."""
    best, worst, ahead, after = scratch[0], scratch[1], scratch[2], scratch[3]
    for at in range(pages.columns.shape[0]):
        if at == 0:
            begin(law, pages.blind[0])
            begin(law, ahead)
            for x in range(ahead.shape[0]):
                best[x], worst[x] = (0.0, 0.0) if ahead[x] > 0.0 else (-np.inf, np.inf)
        else:
            foresee(law, pages.blind[at - 1], pages.blind[at])
            foresee(law, pages.known[at - 1], ahead)
            _extend(law, best, after, 1.0)
            _extend(law, worst, after, -1.0)
        if not _hear(pages, at, best, worst, ahead, found):
            return False
    found[BEST], found[WORST] = -np.inf, np.inf
    for x in range(best.shape[0]):
        found[BEST], found[WORST] = max(found[BEST], best[x]), min(found[WORST], worst[x])
    _look_back(law, pages, after, ahead, found)
    return True


@kernel
def _extend(law: Law, paths: Floats, longer: Floats, sign: float) -> None:
    """From the best paths to each value to the best ones that are one value longer; the worst with the sign -1."""
    for y in range(paths.shape[0]):
        longer[y] = -np.inf * sign
        for place in range(law.first[y], law.first[y + 1]):
            if law.chance[place] > 0.0 and sign * paths[law.before[place]] > sign * longer[y]:
                longer[y] = paths[law.before[place]]
    for y in range(paths.shape[0]):
        paths[y] = longer[y]


@kernel
def _hear(pages: Pages, at: int, best: Floats, worst: Floats, ahead: Floats, found: Floats) -> bool:
    """One event's column: the scores of the paths, what is believed, and how likely the release was."""
    column, chance = pages.columns[at], 0.0
    for x in range(ahead.shape[0]):
        chance += ahead[x] * column[x]
    if not chance > 0.0:
        return False
    found[CHANCE] += math.log(chance)
    for x in range(ahead.shape[0]):
        if not ahead[x] > 0.0:
            if best[x] > -np.inf:
                return False
            continue
        pages.known[at, x] = ahead[x] * column[x] / chance
        if pages.blind[at, x] < _LEAST or (column[x] > 0.0 and pages.known[at, x] < _LEAST):
            return False
        score = math.log(column[x]) if column[x] > 0.0 else -np.inf
        best[x] += score
        worst[x] += score
    return True


@kernel
def _look_back(law: Law, pages: Pages, after: Floats, seen: Floats, found: Floats) -> None:
    """By how much the releases have raised, and lowered, the chance of any value at any place."""
    for x in range(after.shape[0]):
        after[x] = 1.0
    raised = lowered = 1.0
    for at in range(pages.columns.shape[0] - 1, -1, -1):
        total = 0.0
        for x in range(after.shape[0]):
            total += pages.known[at, x] * after[x]
        for x in range(after.shape[0]):
            if pages.blind[at, x] > 0.0:
                ratio = pages.known[at, x] * after[x] / total / pages.blind[at, x]
                raised, lowered = max(raised, ratio), min(lowered, ratio)
            seen[x] = pages.columns[at, x] * after[x]
        _carry_back(law, seen, after)
    found[RAISED], found[LOWERED] = raised, lowered


@kernel
def _carry_back(law: Law, seen: Floats, after: Floats) -> None:
    """What the events behind say about the value before, the largest being 1."""
    for x in range(after.shape[0]):
        after[x] = 0.0
    for y in range(seen.shape[0]):
        for place in range(law.first[y], law.first[y + 1]):
            after[law.before[place]] += seen[y] * law.chance[place]
    most = 0.0
    for x in range(after.shape[0]):
        most = max(most, after[x])
    for x in range(after.shape[0]):
        after[x] /= most


def _sequence(found: Floats, rows: int, states: int) -> float:
    upper, lower = float(found[BEST] - found[CHANCE]), float(found[CHANCE] - found[WORST])
    size = max(abs(float(each)) for each in found[: CHANCE + 1] if math.isfinite(each))
    return max(0.0, upper, lower) + _slack(rows, states, size)


def _single(found: Floats, rows: int, states: int) -> float:
    upper = math.log(found[RAISED])
    lower = -math.log(found[LOWERED]) if found[LOWERED] > 0.0 else math.inf
    return max(upper, lower) + _slack(2 * rows, states, max(upper, lower) if math.isfinite(lower) else upper)


def _slack(events: int, states: int, size: float) -> float:
    """More than all roundings: an event adds 2n + 8 of them to a product of nonnegative numbers, and each logarithm or
    sum of logarithms is off by at most its own last places.
    """
    return (events * (2 * states + 8) + 8 + 8 * events * max(1.0, size)) * _HALF_PLACE
