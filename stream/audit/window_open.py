"""Follow windows whose values are shown one by one. A window is open until it is full, or until its user's next event
lies in a later stretch; only then is its belief kept. An event that the budget does not let through is a window by
itself.
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import DRIFT_UNKNOWN, Integers, level_of
from stream.audit.book import (
    ADRIFT,
    AFTER_STOP,
    COST_LOWER,
    COST_UPPER,
    FORECAST,
    IMPOSSIBLE_VALUE,
    LOST,
    LOST_BEFORE,
    MARKS,
    NEEDLESS_FORECAST,
    NOT_FOLLOWED,
    OUT_OF_ORDER,
    OUTCOME,
    STEP,
    STEPS,
    STOPPED,
    SYMBOL,
    TIME,
    USER,
    WINDOW,
    WRONG,
    Book,
    Desk,
    Rules,
)
from stream.audit.follow import enter_window
from stream.audit.judge import WITHIN
from stream.audit.latest import hand_on
from stream.audit.law import by_value, share_out
from stream.audit.window_book import (
    CAP_LEFT,
    COUNT,
    DRAWN,
    DRIFT_BEFORE,
    FIRST_CAP,
    FIRST_TIME,
    HIGHEST,
    LENGTH,
    LEVEL,
    LONGEST,
    LOWEST,
    MISPLACED,
    NTH,
    OTHER_STRETCH,
    ROLLED,
    ROUNDED,
    SHARE,
    TOLD_LOWER,
    TOLD_UPPER,
    TOO_LONG,
    WRONG_SHOWN,
    Cut,
    Opened,
    Strip,
    Windows,
)
from stream.audit.window_judge import (
    beyond_epsilon,
    charge,
    check_forecast,
    costs_of,
    judge_window,
    keep,
    let_in,
    look_ahead_of_window,
    pass_gap,
)
from stream.audit.window_law import LEAST_CAP, hear, mix, to_show
from stream.audit.window_steps import go_on, go_on_blindly, steps_to


@kernel
def follow_open(
    rules: Rules,
    windows: Windows,
    desk: Desk,
    strip: Strip,
    book: Book,
    opened: Opened,
    events: Integers,
    verdicts: Integers,
) -> None:
    for i in range(events.shape[0]):
        event, verdict = events[i], verdicts[i]
        user = book.users[event[USER]]
        if event[STEP] <= user[STEPS]:
            verdict[WRONG] = OUT_OF_ORDER
            continue
        missing = event[STEP] - 1 - user[STEPS]
        if missing and user[MARKS] & ADRIFT == 0:
            verdict[LOST] = pass_unseen(rules, windows, desk, book, opened, event[USER], missing)
        if user[MARKS] & ADRIFT:
            verdict[WRONG] = LOST_BEFORE if verdict[LOST] else NOT_FOLLOWED
        else:
            strip.rows[0] = i
            verdict[WRONG] = _check(rules, windows, desk, strip, book, opened, events, verdict)
        if user[MARKS] & ADRIFT:
            opened.marks[event[USER], COUNT] = 0
        user[STEPS] = event[STEP]


@kernel
def pass_unseen(
    rules: Rules, windows: Windows, desk: Desk, book: Book, opened: Opened, number: int, missing: int
) -> int:
    """Events of which nothing was seen; an open window's next value is always seen, so they lie in a later stretch."""
    user, marks, stretch = book.users[number], opened.marks[number], windows.cut.stretch
    if marks[COUNT]:
        if stretch == 0:
            user[MARKS] |= ADRIFT
            return missing
        _close(windows, desk, book, opened, number)
        enter_window(rules, user, (marks[FIRST_TIME] // stretch + 1) * stretch)
    return pass_gap(rules, windows, desk, book, number, missing)


@kernel
def _close(windows: Windows, desk: Desk, book: Book, opened: Opened, number: int) -> None:
    """The window is over: what it told becomes the belief."""
    marks, belief = opened.marks[number], book.beliefs[number]
    share = windows.plans[marks[LEVEL], LONGEST, SHARE]
    mix(share, opened.blind[number], opened.own[number], belief)
    keep(windows.law, desk, book, number, marks[DRIFT_BEFORE], marks[ROUNDED])
    marks[COUNT] = 0


@kernel
def _cut_wrongly(cut: Cut, marks: Integers, event: Integers, beyond: bool) -> int:
    """Whether the event has another place than the one that its user's window gives it."""
    going = marks[COUNT] > 0 and not beyond
    if event[NTH] > cut.events:
        return TOO_LONG
    if event[NTH] == (marks[COUNT] + 1 if going else 1) and event[LENGTH] < 0:
        return NEEDLESS_FORECAST if going and event[OUTCOME] == FORECAST else 0
    return OTHER_STRETCH if beyond and event[NTH] == marks[COUNT] + 1 else MISPLACED


@kernel
def _check(
    rules: Rules,
    windows: Windows,
    desk: Desk,
    strip: Strip,
    book: Book,
    opened: Opened,
    events: Integers,
    verdict: Integers,
) -> int:
    """One event that was seen: what is wrong with it."""
    event = events[strip.rows[0]]
    number, cut = event[USER], windows.cut
    user, marks = book.users[number], opened.marks[number]
    beyond = cut.stretch > 0 and marks[COUNT] > 0 and event[TIME] // cut.stretch > marks[FIRST_TIME] // cut.stretch
    wrong = _cut_wrongly(cut, marks, event, beyond)
    if wrong:
        user[MARKS] |= ADRIFT
        return wrong
    if beyond:
        _close(windows, desk, book, opened, number)
    if marks[COUNT] == 0:
        state, drift = _begin(rules, windows, desk, strip, book, opened, event)
        if user[MARKS] & STOPPED:
            user[MARKS] |= ADRIFT
            return AFTER_STOP
        if event[OUTCOME] == FORECAST:
            wrong, rounded = check_forecast(rules, windows, desk, strip, events, 1, state)
            belief = book.beliefs[number]
            for x in range(belief.shape[0]):
                belief[x] = strip.blind[0, x]
            keep(windows.law, desk, book, number, drift, rounded)
            return wrong
        wrong = let_in(state)
    else:
        _step_on(windows, strip, opened, number, steps_to(rules, user, event[TIME]))
        if rules.sliding > 0:
            hand_on(user, rules.sliding)
    wrong |= _hear_next(rules, windows, desk, strip, user, opened, event, verdict)
    if marks[COUNT] == cut.events:
        _close(windows, desk, book, opened, number)
    return wrong


@kernel
def _begin(
    rules: Rules, windows: Windows, desk: Desk, strip: Strip, book: Book, opened: Opened, event: Integers
) -> tuple[int, int]:
    """A window that begins with this event, should the budget let it in; answers that, and the drift. What is believed
    before it is looked at in a copy: it stays in the row until the window is over.
    """
    number = event[USER]
    user, marks, amounts = book.users[number], opened.marks[number], opened.amounts[number]
    for s in range(strip.row.shape[0]):
        strip.row[s] = book.beliefs[number, s]
    drift = look_ahead_of_window(rules, windows.law, desk, user, strip.row, event[TIME])
    before = user[WINDOW]
    enter_window(rules, user, event[TIME])
    marks[FIRST_TIME], marks[LEVEL], marks[DRIFT_BEFORE] = event[TIME], level_of(drift), drift
    marks[TOLD_UPPER] = marks[TOLD_LOWER] = 0
    marks[ROUNDED] = 1
    marks[ROLLED] = 1 if user[WINDOW] > before else 0
    amounts[CAP_LEFT] = windows.plans[marks[LEVEL], LONGEST, FIRST_CAP]
    amounts[HIGHEST] = amounts[LOWEST] = 1.0
    for s in range(desk.states.shape[0]):
        opened.blind[number, s] = opened.own[number, s] = desk.states[s]
    share_out(opened.blind[number])
    share_out(opened.own[number])
    return WITHIN if user[MARKS] & STOPPED else judge_window(rules, windows, user, drift), drift


@kernel
def _step_on(windows: Windows, strip: Strip, opened: Opened, number: int, steps: int) -> None:
    """The two laws of the window's next value."""
    law, marks, blind, own = windows.law, opened.marks[number], opened.blind[number], opened.own[number]
    fine = go_on_blindly(law, blind, steps, strip.spare, strip.row)
    go_on(law, own, steps, strip.spare, strip.mixed)
    share_out(strip.mixed)
    for s in range(own.shape[0]):
        blind[s], own[s] = strip.row[s], strip.mixed[s]
    marks[ROUNDED] = min(marks[ROUNDED] + max(steps, 1), DRIFT_UNKNOWN) if fine else DRIFT_UNKNOWN


@kernel
def _hear_next(
    rules: Rules,
    windows: Windows,
    desk: Desk,
    strip: Strip,
    user: Integers,
    opened: Opened,
    event: Integers,
    verdict: Integers,
) -> int:
    """The next value of an open window: what its channel gave, what was shown, and what more is told."""
    number = event[USER]
    marks, amounts, own = opened.marks[number], opened.amounts[number], opened.own[number]
    plan, told = windows.plans[marks[LEVEL], LONGEST], strip.told[0]
    most = 1.0 if event[DRAWN] < 0 else 0.0
    if amounts[CAP_LEFT] >= LEAST_CAP:
        by_value(windows.law, own, strip.shown)
        most, least = hear(windows, event[DRAWN], amounts[CAP_LEFT], desk, strip, told)
        amounts[CAP_LEFT], amounts[HIGHEST] = amounts[CAP_LEFT] / most, amounts[HIGHEST] * most
        amounts[LOWEST] *= least
        for x in range(own.shape[0]):
            own[x] *= told[windows.law.ends[x]]
        share_out(own)
    if most == 0.0:
        user[MARKS] |= ADRIFT
        return IMPOSSIBLE_VALUE
    marks[COUNT] += 1
    upper, lower = costs_of(rules, plan, marks[DRIFT_BEFORE], amounts[HIGHEST], amounts[LOWEST])
    upper, lower = max(upper, marks[TOLD_UPPER]), max(lower, marks[TOLD_LOWER])
    verdict[COST_UPPER], verdict[COST_LOWER] = upper - marks[TOLD_UPPER], lower - marks[TOLD_LOWER]
    marks[TOLD_UPPER], marks[TOLD_LOWER] = upper, lower
    wrong = charge(rules, user, verdict[COST_UPPER], verdict[COST_LOWER], 0) | beyond_epsilon(rules, upper, lower)
    mix(plan[SHARE], opened.blind[number], own, strip.mixed)
    return wrong if to_show(windows, desk, strip.mixed, strip) == event[SYMBOL] else wrong | WRONG_SHOWN
