"""Windows whose values went through one channel for their sequence: what it gave is looked up in the channel that is
worked out for the belief, and what it tells, costs and leaves to be believed follows from its column.
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import Floats, Integers, cost, level_of, log_units
from stream.audit.book import (
    ADRIFT,
    COST_LOWER,
    COST_UPPER,
    FORECAST,
    IMPOSSIBLE_VALUE,
    MARKS,
    OUTCOME,
    SYMBOL,
    USER,
    WRONG,
    Book,
    Desk,
    Rules,
)
from stream.audit.dual import rate, work_out
from stream.audit.dual_prices import Slate
from stream.audit.judge import UNCERTIFIED, shift_of
from stream.audit.law import share_out
from stream.audit.window_book import DRAWN, WRONG_SHOWN, Strip, Windows
from stream.audit.window_judge import beyond_epsilon, charge, check_forecast, judge_reserve, keep, let_in


@kernel
def check_dual(
    rules: Rules,
    windows: Windows,
    desk: Desk,
    strip: Strip,
    slate: Slate,
    book: Book,
    events: Integers,
    verdicts: Integers,
    length: int,
    drift: int,
) -> int:
    """One window, its belief looked ahead to and its budget's window entered: what is wrong with it."""
    first, level = strip.rows[0], level_of(drift)
    who = events[first, USER]
    user, belief = book.users[who], book.beliefs[who]
    state, law = UNCERTIFIED, slate.chance[: _count(length, slate)]
    _write_law(windows, desk.ahead, law)
    if windows.units[level] > 0:
        above, below, across = work_out(law, rules.numbers[level], length, slate)
        upper, lower = _costs(rules, drift, above, below, across)
        state = judge_reserve(rules, user, upper, lower)
    if events[first, OUTCOME] == FORECAST:
        wrong, rounded = check_forecast(rules, windows, desk, strip, events, length, state)
        for x in range(belief.shape[0]):
            belief[x] = strip.blind[length - 1, x]
        keep(windows.law, desk, book, who, drift, rounded)
        return wrong
    number = _drawn(strip, events, verdicts, length, slate)
    if windows.units[level] <= 0 or number < 0 or slate.law[number] == 0.0:
        user[MARKS] |= ADRIFT
        return IMPOSSIBLE_VALUE
    above, below, across = rate(number, law, slate)
    upper, lower = _costs(rules, drift, above, below, across)
    verdicts[first, COST_UPPER], verdicts[first, COST_LOWER] = upper, lower
    wrong = let_in(state) | charge(rules, user, upper, lower, length - 1) | beyond_epsilon(rules, upper, lower)
    _learn(law, slate)
    for x in range(belief.shape[0]):
        belief[x] = slate.last[x]
    keep(windows.law, desk, book, who, drift, length)
    return wrong


@kernel
def _count(length: int, slate: Slate) -> int:
    count = 1
    for _ in range(length):
        count *= slate.symbols
    return count


@kernel
def _write_law(windows: Windows, ahead: Floats, law: Floats) -> None:
    """The chance of each sequence: of its first value, times one factor for each step."""
    symbols = ahead.shape[0]
    for number in range(law.shape[0]):
        place = law.shape[0] // symbols
        before = number // place
        chance = ahead[before]
        while place > 1:
            place //= symbols
            value = number // place % symbols
            chance *= _step(windows, before, value)
            before = value
        law[number] = chance
    share_out(law)


@kernel
def _step(windows: Windows, before: int, value: int) -> float:
    for place in range(windows.first[before], windows.first[before + 1]):
        if windows.after[place] == value:
            return float(windows.chance[place])
    return 0.0


@kernel
def _drawn(strip: Strip, events: Integers, verdicts: Integers, length: int, slate: Slate) -> int:
    """The number of the sequence that was drawn, or -1; each value that is shown is the one that was drawn."""
    number = 0
    for at in range(length):
        event = events[strip.rows[at]]
        if not 0 <= event[DRAWN] < slate.symbols:
            return -1
        if event[SYMBOL] != event[DRAWN]:
            verdicts[strip.rows[at], WRONG] |= WRONG_SHOWN
        number = number * slate.symbols + event[DRAWN]
    return int(number)


@kernel
def _costs(rules: Rules, drift: int, above: float, below: float, across: float) -> tuple[int, int]:
    shift, spread = shift_of(rules, drift), log_units(across)
    return cost(log_units(above), spread, shift, rules.epsilon), cost(log_units(below), spread, shift, rules.epsilon)


@kernel
def _learn(law: Floats, slate: Slate) -> None:
    """The law of the last value, after the column that `rate` has left."""
    for x in range(slate.symbols):
        slate.last[x] = 0.0
        for number in range(x, law.shape[0], slate.symbols):
            slate.last[x] += law[number] * slate.column[number]
    share_out(slate.last)
