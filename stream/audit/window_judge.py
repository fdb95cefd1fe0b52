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
    Desk,
    Rules,
)
from stream.audit.channel import PLACE, drawn
from stream.audit.follow import DOUBLES, KEPT_SHORT, LONGEST_GAP, look_ahead, pass_hidden
from stream.audit.judge import IMPOSSIBLE, SPENT, SPENT_PERHAPS, UNCERTIFIED, WITHIN, shift_of
from stream.audit.law import keep_short, share_out
from stream.audit.window_book import DRAWN, Strip, Windows
from stream.audit.window_law import carry, look_blindly, told_units, top


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
def charge(rules: Rules, user: Integers, upper: int, lower: int) -> int:
    """Charge it; a window of the budget that holds more than its budget was let in wrongly."""
    user[UPPER], user[LOWER] = added(user[UPPER], upper), added(user[LOWER], lower)
    user[MOST_UPPER], user[MOST_LOWER] = added(user[MOST_UPPER], upper), added(user[MOST_LOWER], lower)
    user[LEAST_UPPER], user[LEAST_LOWER] = added(user[LEAST_UPPER], upper), added(user[LEAST_LOWER], lower)
    spent = max(user[LEAST_UPPER], user[LEAST_LOWER])
    return OVER_BUDGET if rules.budget < UNBOUNDED and spent > rules.budget else 0


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
def keep(user: Integers, belief: Floats, drift: int, length: int) -> None:
    """The belief after a window, as it is kept; each of its positions may have rounded."""
    fine = keep_short(belief)
    user[DRIFT] = min(drift + length * DOUBLES + KEPT_SHORT, DRIFT_UNKNOWN) if fine else DRIFT_UNKNOWN


@kernel
def check_forecast(
    rules: Rules, windows: Windows, desk: Desk, strip: Strip, events: Integers, length: int, state: int
) -> int:
    """A window of which nothing was told: each value the likeliest of its position, or all of them a stranger's."""
    hides = rules.when_spent >= SPENT_SUPPRESS
    wrong = NEEDLESS_FORECAST if state == WITHIN or (hides and state != UNCERTIFIED) else 0
    look_blindly(windows.law, desk.ahead, length, strip)
    for x in range(desk.ahead.shape[0]):
        strip.row[x] = desk.ahead[x]
    for at in range(length):
        event = events[strip.rows[at]]
        if event[DRAWN] >= 0:
            wrong |= IMPOSSIBLE_VALUE
        if rules.when_spent != SPENT_DRAW:
            if top(strip.blind[at]) != event[SYMBOL]:
                wrong |= NOT_LIKELIEST
            continue
        drawn(strip.row, desk.channel)
        if desk.channel.units[PLACE, event[SYMBOL]] < 0:
            wrong |= NOT_LIKELIEST
        for x in range(strip.own.shape[0]):
            strip.own[x] = 1.0 if x == event[SYMBOL] else 0.0
        carry(windows.law, strip.own, strip.row)
    return wrong


@kernel
def pass_gap(rules: Rules, windows: Windows, desk: Desk, user: Integers, belief: Floats, missing: int) -> int:
    """Events of which nothing was seen: how many of them should have been.

    Where windows wait, only the first is known to begin a window, but the belief is kept after each value. What one of
    unknown length reserves for one channel is not known: nearly the units that it is built for, and never more.
    """
    if rules.when_spent < SPENT_SUPPRESS or missing > LONGEST_GAP:
        user[MARKS] |= ADRIFT
        return missing
    lost = 0
    for place in range(missing):
        begins = place == 0 or windows.cut.natural or windows.cut.events == 1
        lost += _pass_one(rules, windows, desk, user, belief, begins)
    if lost:
        user[MARKS] |= ADRIFT
    return lost


@kernel
def _pass_one(rules: Rules, windows: Windows, desk: Desk, user: Integers, belief: Floats, begins: bool) -> int:
    drift = look_ahead(rules, windows.law, desk, user, belief, 0)
    state = WITHIN if user[MARKS] & STOPPED else judge_window(rules, windows, user, drift)
    if not begins and user[MARKS] & STOPPED == 0:
        state = SPENT
    lost = pass_hidden(rules, user, state)
    for x in range(belief.shape[0]):
        belief[x] = desk.ahead[x]
    share_out(belief)
    keep(user, belief, drift, 1)
    user[STEPS] += 1
    return lost
