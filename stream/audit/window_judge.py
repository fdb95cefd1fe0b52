"""What had to happen to a window, and what it costs: the reserve, forecasts, windows of which nothing was seen."""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import DRIFT_UNKNOWN, UNBOUNDED, Floats, Integers, added, cost, level_of
from stream.audit.book import (
    ABOVE_EPSILON,
    ADRIFT,
    DRIFT,
    IMPOSSIBLE_VALUE,
    LEAST_LOWER,
    LEAST_UPPER,
    LOWER,
    MARKS,
    MOST_LOWER,
    MOST_UPPER,
    NEEDLESS_FORECAST,
    NOT_CERTIFIED,
    NOT_LIKELIEST,
    OVER_BUDGET,
    SPENT_DRAW,
    SPENT_SUPPRESS,
    STEPS,
    STOPPED,
    SYMBOL,
    UPPER,
    Book,
    Desk,
    Rules,
)
from stream.audit.follow import DOUBLES, KEPT_SHORT, LONGEST_GAP, enter_window, look_ahead, pass_hidden, shrunk
from stream.audit.judge import IMPOSSIBLE, SPENT, SPENT_PERHAPS, UNCERTIFIED, WITHIN, shift_of
from stream.audit.latest import forget_oldest, note
from stream.audit.law import Law, keep_short, share_out
from stream.audit.listing import keep_listed
from stream.audit.window_book import DRAWN, LONGEST, Strip, Windows
from stream.audit.window_law import likeliest, look_blindly, told_units
from stream.audit.window_steps import go_on

_DRAWN_AT_ALL = 2.0**-62
"""What is less likely is never drawn. Where several laws are added up, half of it leaves room for their roundings."""


@kernel
def judge_window(rules: Rules, windows: Windows, user: Integers, drift: int) -> int:
    """A window is built for so many units on both sides, and that is what is reserved, whatever its values."""
    units = windows.units[level_of(drift)]
    reserve = cost(units, added(units, units), shift_of(rules, drift), rules.epsilon)
    return UNCERTIFIED if units <= 0 else judge_reserve(rules, user, reserve, reserve)


@kernel
def judge_reserve(rules: Rules, user: Integers, upper: int, lower: int) -> int:
    """Whether a worst case may happen that costs so much on either side."""
    if max(upper, lower) > rules.epsilon:
        return UNCERTIFIED
    if rules.budget == UNBOUNDED:
        return WITHIN
    if max(upper, lower) > rules.budget:
        return IMPOSSIBLE
    if max(added(user[LEAST_UPPER], upper), added(user[LEAST_LOWER], lower)) > rules.budget:
        return SPENT
    if max(added(user[MOST_UPPER], upper), added(user[MOST_LOWER], lower)) > rules.budget:
        return SPENT_PERHAPS
    return WITHIN


@kernel
def costs_of(rules: Rules, plan: Floats, drift: int, highest: float, lowest: float) -> tuple[int, int]:
    """What a window has told, on both sides; the spread between two paths is at most both together."""
    above, below = told_units(plan, highest, lowest)
    shift, spread = shift_of(rules, drift), added(above, below)
    return cost(above, spread, shift, rules.epsilon), cost(below, spread, shift, rules.epsilon)


@kernel
def charge(rules: Rules, user: Integers, upper: int, lower: int, last: int) -> int:
    """Charge it to its last value, `last` places behind the user's next event; a window of the budget that holds more
    than its budget was let in wrongly.
    """
    user[UPPER], user[LOWER] = added(user[UPPER], upper), added(user[LOWER], lower)
    user[MOST_UPPER], user[MOST_LOWER] = added(user[MOST_UPPER], upper), added(user[MOST_LOWER], lower)
    user[LEAST_UPPER], user[LEAST_LOWER] = added(user[LEAST_UPPER], upper), added(user[LEAST_LOWER], lower)
    if rules.sliding > 0:
        note(user, rules.sliding, last, upper, lower)
    spent = max(user[LEAST_UPPER], user[LEAST_LOWER])
    return OVER_BUDGET if rules.budget < UNBOUNDED and spent > rules.budget else 0


@kernel
def take_places(rules: Rules, user: Integers, count: int) -> None:
    """A window of so many values begins with the user's next event, which has been entered: the others take places."""
    if rules.sliding > 0:
        for ahead in range(1, count):
            forget_oldest(user, rules.sliding, ahead)


@kernel
def let_in(state: int) -> int:
    """What is wrong with a release in this state."""
    if state == UNCERTIFIED:
        return NOT_CERTIFIED
    return OVER_BUDGET if state in (SPENT, IMPOSSIBLE) else 0


@kernel
def beyond_epsilon(rules: Rules, upper: int, lower: int) -> int:
    return ABOVE_EPSILON if max(upper, lower) > rules.epsilon else 0


@kernel
def look_ahead_of_window(rules: Rules, law: Law, desk: Desk, user: Integers, belief: Floats, time: int) -> int:
    """As for one event. A longer memory's span may have begun inside a window: all of that window's rounding counts."""
    before: int = user[DRIFT]
    events: int = user[STEPS]
    drift: int = look_ahead(rules, law, desk, user, belief, time)
    if law.span == 1 or rules.interval > 0 or events == 0 or before == DRIFT_UNKNOWN:
        return drift
    if events % law.span == 0:
        more = law.span * (KEPT_SHORT + 2 * DOUBLES) + LONGEST * DOUBLES
        before = min(before, shrunk(before, law.contraction) + more)
    return min(before + DOUBLES, DRIFT_UNKNOWN)


@kernel
def keep(law: Law, desk: Desk, book: Book, number: int, drift: int, rounded: int) -> None:
    """The belief after a window, as it is kept; its laws may have rounded so often."""
    user, belief, words = book.users[number], book.beliefs[number], book.words[number]
    known = DRIFT_UNKNOWN if drift == DRIFT_UNKNOWN else min(drift + rounded * DOUBLES, DRIFT_UNKNOWN)
    if words.shape[0] > 0:
        known = keep_listed(law.tail, desk.tray, belief, words, known)
        fine = known != DRIFT_UNKNOWN
    else:
        fine = keep_short(belief)
    user[DRIFT] = min(known + KEPT_SHORT, DRIFT_UNKNOWN) if fine else DRIFT_UNKNOWN


@kernel
def check_forecast(
    rules: Rules, windows: Windows, desk: Desk, strip: Strip, events: Integers, length: int, state: int
) -> tuple[int, int]:
    """A window of which nothing was told: each value the likeliest of its position, or all of them a stranger's; what
    is wrong with it, and how often its laws may have rounded.
    """
    hides = rules.when_spent >= SPENT_SUPPRESS
    wrong = NEEDLESS_FORECAST if state == WITHIN or (hides and state != UNCERTIFIED) else 0
    rounded = look_blindly(windows.law, desk.states, length, strip)
    for at in range(length):
        if events[strip.rows[at], DRAWN] >= 0:
            wrong |= IMPOSSIBLE_VALUE
        if rules.when_spent == SPENT_DRAW:
            continue
        if likeliest(windows.law, strip.blind[at], strip) != events[strip.rows[at], SYMBOL]:
            wrong |= NOT_LIKELIEST
    if rules.when_spent == SPENT_DRAW and not _walks(windows.law, desk, strip, events, length):
        wrong |= NOT_LIKELIEST
    return wrong, rounded


@kernel
def _walks(law: Law, desk: Desk, strip: Strip, events: Integers, length: int) -> bool:
    """Whether a stranger can have gone through these values. His states are not public: each that ends with the value
    and can be drawn, after any that he may have been in, may be his.
    """
    may_be, states = 1, strip.row
    for s in range(states.shape[0]):
        states[s] = desk.states[s]
    for at in range(length):
        least = _DRAWN_AT_ALL if may_be == 1 else _DRAWN_AT_ALL / 2.0
        if at > 0:
            go_on(law, strip.own, strip.steps[at], strip.spare, states)
            least /= may_be if strip.steps[at] > 1 else 1
        may_be = 0
        for s in range(states.shape[0]):
            drawn = law.ends[s] == events[strip.rows[at], SYMBOL] and states[s] >= least
            strip.own[s] = 1.0 if drawn else 0.0
            may_be += 1 if drawn else 0
        if may_be == 0:
            return False
    return True


@kernel
def pass_gap(rules: Rules, windows: Windows, desk: Desk, book: Book, number: int, missing: int) -> int:
    """Events of which nothing was seen: how many of them should have been.

    Where windows wait, only the first is known to begin a window, but the belief is kept after each value. What one of
    unknown length reserves for one channel is not known: nearly the units that it is built for, and never more.
    """
    user = book.users[number]
    if rules.when_spent < SPENT_SUPPRESS or missing > LONGEST_GAP:
        user[MARKS] |= ADRIFT
        return missing
    lost = 0
    for place in range(missing):
        begins = place == 0 or windows.cut.natural or windows.cut.events == 1
        lost += _pass_one(rules, windows, desk, book, number, begins)
    if lost:
        user[MARKS] |= ADRIFT
    return lost


@kernel
def _pass_one(rules: Rules, windows: Windows, desk: Desk, book: Book, number: int, begins: bool) -> int:
    user, belief = book.users[number], book.beliefs[number]
    drift = look_ahead_of_window(rules, windows.law, desk, user, belief, 0)
    if rules.sliding > 0:
        enter_window(rules, user, 0)
    state = WITHIN if user[MARKS] & STOPPED else judge_window(rules, windows, user, drift)
    if not begins and user[MARKS] & STOPPED == 0:
        state = SPENT
    lost = pass_hidden(rules, user, state)
    for x in range(belief.shape[0]):
        belief[x] = desk.states[x]
    share_out(belief)
    keep(windows.law, desk, book, number, drift, 1)
    user[STEPS] += 1
    return lost
