"""Follow windows whose values are released together: their records are gathered, the window is worked out from what its
channels gave, and what was shown, charged and believed must follow from that.
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import Floats, Integers, level_of
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
    NOT_FOLLOWED,
    OUT_OF_ORDER,
    OUTCOME,
    STEP,
    STEPS,
    STOPPED,
    SYMBOL,
    TIME,
    USER,
    WRONG,
    Book,
    Desk,
    Rules,
)
from stream.audit.dual_prices import Slate
from stream.audit.follow import enter_window
from stream.audit.window_book import (
    LENGTH,
    MISPLACED,
    NTH,
    OTHER_STRETCH,
    SHARE,
    TOO_LONG,
    WAITS,
    WRONG_SHOWN,
    Cut,
    Strip,
    Windows,
)
from stream.audit.window_dual import check_dual
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
    take_places,
)
from stream.audit.window_law import look_blindly, meet, mix, replay, to_show
from stream.audit.window_steps import steps_to


@kernel
def follow_whole(
    rules: Rules,
    windows: Windows,
    desk: Desk,
    strip: Strip,
    slate: Slate,
    book: Book,
    events: Integers,
    verdicts: Integers,
    final: bool,
) -> None:
    """The events of one user after those of another, each user's in the order of the partition. A window whose rest may
    still come is marked as waiting, unless the records are `final`.
    """
    i = 0
    while i < events.shape[0]:
        event, verdict = events[i], verdicts[i]
        user = book.users[event[USER]]
        count, after = 1, i + 1
        strip.rows[0] = i
        if event[STEP] <= user[STEPS]:
            verdict[WRONG] = OUT_OF_ORDER
            i = after
            continue
        wrong = NOT_FOLLOWED
        if user[MARKS] & ADRIFT == 0:
            wrong = _beginning(windows.cut, event)
            if wrong == 0:
                count, after = _gather(strip, events, verdicts, i)
                ends = after == events.shape[0] or events[after, USER] != event[USER]
                if count < event[LENGTH] and ends and not final:
                    _mark(strip, verdicts, 0, count, WAITS)
                    i = after
                    continue
                wrong = _cut_wrongly(windows.cut, strip, events, count)
            missing = event[STEP] - 1 - user[STEPS]
            if missing:
                verdict[LOST] += pass_gap(rules, windows, desk, book, event[USER], missing)
            if wrong:
                user[MARKS] |= ADRIFT
                if wrong == MISPLACED and _ends_early(events, after, event, count):
                    verdict[LOST] += event[LENGTH] - count
            elif user[MARKS] & ADRIFT:
                wrong = LOST_BEFORE
            else:
                wrong = _check(rules, windows, desk, strip, slate, book, events, verdicts, count)
        verdict[WRONG] |= wrong
        if user[MARKS] & ADRIFT:
            _mark(strip, verdicts, 1, count, NOT_FOLLOWED)
        user[STEPS] = event[STEP] + count - 1
        i = after


@kernel
def _mark(strip: Strip, verdicts: Integers, start: int, count: int, what: int) -> None:
    for at in range(start, count):
        verdicts[strip.rows[at], WRONG] |= what


@kernel
def _beginning(cut: Cut, event: Integers) -> int:
    if event[LENGTH] > cut.events:
        return TOO_LONG
    return 0 if event[NTH] == 1 and event[LENGTH] >= 1 else MISPLACED


@kernel
def _gather(strip: Strip, events: Integers, verdicts: Integers, i: int) -> tuple[int, int]:
    """The rows of the window that begins with row i: how many there are, and which row is the next."""
    first, count, at = events[i], 1, i + 1
    while at < events.shape[0] and count < first[LENGTH]:
        event = events[at]
        if event[USER] != first[USER]:
            break
        if event[STEP] < first[STEP] + count:
            verdicts[at, WRONG] = OUT_OF_ORDER
            at += 1
            continue
        same = event[LENGTH] == first[LENGTH] and event[OUTCOME] == first[OUTCOME]
        if event[STEP] != first[STEP] + count or event[NTH] != count + 1 or not same:
            break
        strip.rows[count] = at
        count, at = count + 1, at + 1
    return count, at


@kernel
def _cut_wrongly(cut: Cut, strip: Strip, events: Integers, count: int) -> int:
    """Values are missing, or some belong to a later stretch than the first."""
    first = events[strip.rows[0]]
    if count < first[LENGTH]:
        return MISPLACED
    for at in range(1, count):
        if cut.stretch > 0 and events[strip.rows[at], TIME] // cut.stretch > first[TIME] // cut.stretch:
            return OTHER_STRETCH
    return 0


@kernel
def _ends_early(events: Integers, after: int, first: Integers, count: int) -> bool:
    """Whether values are missing, and not only numbered wrongly: nothing follows, or something with a later step."""
    if first[NTH] != 1 or count >= first[LENGTH]:
        return False
    follows = after < events.shape[0] and events[after, USER] == first[USER]
    return not follows or events[after, STEP] > first[STEP] + count


@kernel
def _check(
    rules: Rules,
    windows: Windows,
    desk: Desk,
    strip: Strip,
    slate: Slate,
    book: Book,
    events: Integers,
    verdicts: Integers,
    count: int,
) -> int:
    """One whole window: what is wrong with it. It is charged whether or not it was allowed."""
    first = strip.rows[0]
    number, latest = events[first, USER], events[first, TIME]
    user, belief = book.users[number], book.beliefs[number]
    drift = look_ahead_of_window(rules, windows.law, desk, user, belief, latest)
    for at in range(1, count):
        time = events[strip.rows[at], TIME]
        strip.steps[at], latest = steps_to(rules, user, time), max(latest, time)
    enter_window(rules, user, latest)
    if user[MARKS] & STOPPED:
        user[MARKS] |= ADRIFT
        return AFTER_STOP
    if windows.cut.dual:
        take_places(rules, user, count)
        return check_dual(rules, windows, desk, strip, slate, book, events, verdicts, count, drift)
    state = judge_window(rules, windows, user, drift)
    take_places(rules, user, count)
    if events[first, OUTCOME] == FORECAST:
        wrong, rounded = check_forecast(rules, windows, desk, strip, events, count, state)
        for x in range(belief.shape[0]):
            belief[x] = strip.blind[count - 1, x]
        keep(windows.law, desk, book, number, drift, rounded)
        return wrong
    rounded = look_blindly(windows.law, desk.states, count, strip)
    plan = windows.plans[level_of(drift), count]
    for column in range(plan.shape[0]):
        strip.plan[column] = plan[column]
    highest, lowest = replay(windows, plan, events, desk, strip, count)
    if highest == 0.0:
        user[MARKS] |= ADRIFT
        return IMPOSSIBLE_VALUE
    upper, lower = costs_of(rules, plan, drift, highest, lowest)
    verdicts[first, COST_UPPER], verdicts[first, COST_LOWER] = upper, lower
    wrong = let_in(state) | charge(rules, user, upper, lower, count - 1) | beyond_epsilon(rules, upper, lower)
    _check_shown(windows, desk, plan, strip, events, verdicts, count)
    for x in range(belief.shape[0]):
        belief[x] = strip.mixed[x]
    keep(windows.law, desk, book, number, drift, rounded)
    return wrong


@kernel
def _check_shown(
    windows: Windows, desk: Desk, plan: Floats, strip: Strip, events: Integers, verdicts: Integers, count: int
) -> None:
    """Each value that is shown is the best one to show; `strip.mixed` is left as the law of the last position."""
    for at in range(count):
        meet(at, count, strip)
        mix(plan[SHARE], strip.blind[at], strip.own, strip.mixed)
        if to_show(windows, desk, strip.mixed, strip) != events[strip.rows[at], SYMBOL]:
            verdicts[strip.rows[at], WRONG] |= WRONG_SHOWN
