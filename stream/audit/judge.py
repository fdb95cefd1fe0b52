"""What had to happen: the channel of the belief, its worst case, and whether epsilon and the budget let it happen."""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit import marginal, near, optimal, published, response
from stream.audit.amounts import DRIFT_STEP_UNITS, DRIFT_UNKNOWN, UNBOUNDED, Integers, added, cost, level_of, log_units
from stream.audit.book import (
    LEAST_LOWER,
    LEAST_UPPER,
    MARGINAL_PRESERVING,
    MOST_LOWER,
    MOST_UPPER,
    NEAR,
    OPTIMAL,
    PUBLISHED,
    Desk,
    Rules,
)
from stream.audit.channel import worst
from stream.audit.rising import highest_within

# A release fits; the account of most has no room for it, that of least has; it has no room; its worst case is above
# epsilon; it would not fit even a window that has spent nothing.
WITHIN, SPENT_PERHAPS, SPENT, UNCERTIFIED, IMPOSSIBLE = 0, 1, 2, 3, 4


@kernel
def shift_of(rules: Rules, drift: int) -> int:
    """What beliefs that are not the stored one cost, in units."""
    return UNBOUNDED if drift == DRIFT_UNKNOWN else drift * DRIFT_STEP_UNITS + rules.shift


@kernel
def height_of(rules: Rules, user: Integers, shift: int) -> int:
    """The level of a release. The accounts of most and of least differ only for users who are told nothing any more:
    where budgets are at least epsilon, an event is hidden in every window or in none.
    """
    if rules.levels.shape[0] == 0 or (shift > 0 and 2 * min(shift, rules.epsilon) >= rules.epsilon):
        return 0
    return highest_within(rules.levels, rules.budget, user[MOST_UPPER])


@kernel
def most_upwards(rules: Rules, height: int) -> int:
    return rules.levels[height] if height > 0 else rules.epsilon


@kernel
def judge(rules: Rules, desk: Desk, user: Integers, drift: int) -> int:
    """Work out the channel, and whether its worst case may happen."""
    shift = shift_of(rules, drift)
    height = height_of(rules, user, shift)
    numbers = rules.raised[height - 1, level_of(drift)] if height > 0 else rules.numbers[level_of(drift)]
    if rules.mechanism == MARGINAL_PRESERVING:
        above, below, across = marginal.work_out(desk.ahead, numbers, desk.channel)
    else:
        if rules.mechanism == OPTIMAL:
            optimal.work_out(desk.ahead, numbers, desk.channel)
        elif rules.mechanism == NEAR:
            near.work_out(desk.ahead, numbers, desk.nearby, desk.channel)
        elif rules.mechanism == PUBLISHED:
            published.work_out(desk.ahead, numbers, desk.channel)
        else:
            response.work_out(rules.mechanism, desk.ahead, numbers, desk.channel)
        above, below, across = worst(desk.channel)
    widest = log_units(across)
    upper = cost(log_units(above), widest, shift, rules.epsilon)
    lower = cost(log_units(below), widest, shift, rules.epsilon)
    if rules.keeps_epsilon and (upper > most_upwards(rules, height) or lower > rules.epsilon):
        return UNCERTIFIED
    if rules.budget == UNBOUNDED:
        return WITHIN
    if max(upper, lower) > rules.budget:
        return IMPOSSIBLE
    if added(user[LEAST_UPPER], upper) > rules.budget or added(user[LEAST_LOWER], lower) > rules.budget:
        return SPENT
    if added(user[MOST_UPPER], upper) > rules.budget or added(user[MOST_LOWER], lower) > rules.budget:
        return SPENT_PERHAPS
    return WITHIN


@kernel
def write_column(mechanism: int, place: int, desk: Desk) -> None:
    """The column of the value at this place, and its ratios."""
    if mechanism == OPTIMAL:
        optimal.write_column(place, desk.channel)
    elif mechanism == MARGINAL_PRESERVING:
        marginal.write_column(place, desk.channel)
        marginal.rate_column(place, desk.ahead, desk.channel)
    elif mechanism == NEAR:
        near.write_column(place, desk.nearby, desk.channel)
    elif mechanism == PUBLISHED:
        published.write_column(place, desk.channel)
    else:
        response.write_column(place, desk.channel)
