"""Follow each user's releases one by one, and say for each whether the promise was kept.

    foresee -> work out the channel -> what had to happen? -> what did happen, and what it cost -> learn -> keep short

Nothing but the released records and the public model goes in. Steps that are missing between two records are suppressed
events, if the settings allow that and the budget was spent; the belief goes on without learning anything.
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import DRIFT_UNKNOWN, UNBOUNDED, Floats, Integers, added, cost, log_units
from stream.audit.book import (
    ABOVE_EPSILON,
    ADRIFT,
    AFTER_STOP,
    CLOCK,
    COST_LOWER,
    COST_UPPER,
    DRIFT,
    FORECAST,
    HIDDEN,
    IMPOSSIBLE_VALUE,
    LEAST_LOWER,
    LEAST_UPPER,
    LOST,
    LOST_BEFORE,
    LOWER,
    MARKS,
    MOST_LOWER,
    MOST_UPPER,
    NEEDLESS_FORECAST,
    NEVER,
    NOT_CERTIFIED,
    NOT_FOLLOWED,
    NOT_LIKELIEST,
    NOTHING,
    OUT_OF_ORDER,
    OUTCOME,
    OVER_BUDGET,
    SPENT_DRAW,
    SPENT_STOP,
    SPENT_SUPPRESS,
    STEP,
    STEPS,
    STOPPED,
    SYMBOL,
    TIME,
    UNSETTLED,
    UNSURE,
    UPPER,
    USER,
    WINDOW,
    WRONG,
    Book,
    Desk,
    Rules,
)
from stream.audit.channel import ABOVE, ACROSS, BELOW, COLUMN, PLACE, Channel, drawn, empty, likeliest
from stream.audit.judge import (
    IMPOSSIBLE,
    SPENT,
    UNCERTIFIED,
    WITHIN,
    height_of,
    judge,
    most_upwards,
    shift_of,
    write_column,
)
from stream.audit.latest import forget_oldest, note
from stream.audit.law import Law, begin, by_value, differs, foresee, keep_short, learn, share_out, take_over
from stream.audit.listing import Words, keep_listed
from stream.audit.settle import come_to_rest

# Rounding of one event, in drift steps: 2 * 2^-26 for the kept masses and one for what that leaves out; one for all
# doubles.
KEPT_SHORT = 129
DOUBLES = 1
# A gap is followed event by event, at about a million a second.
LONGEST_GAP = 10**8


@kernel
def follow(rules: Rules, law: Law, desk: Desk, book: Book, events: Integers, verdicts: Integers) -> None:
    """The events in the order of their partition; `verdicts` has a row of zeros for each."""
    for i in range(events.shape[0]):
        event, verdict = events[i], verdicts[i]
        user = book.users[event[USER]]
        missing = event[STEP] - 1 - user[STEPS]
        if missing < 0:
            verdict[WRONG] = OUT_OF_ORDER
            continue
        last_hidden = event[STEP] - 1
        if event[OUTCOME] == NOTHING:
            missing, last_hidden = missing + 1, event[STEP]
        if missing and (rules.when_spent < SPENT_SUPPRESS or missing > LONGEST_GAP):
            user[MARKS] |= ADRIFT
            verdict[LOST] = missing
        while user[STEPS] < event[STEP] and user[MARKS] & ADRIFT == 0:
            belief = book.beliefs[event[USER]]
            drift = look_ahead(rules, law, desk, user, belief, event[TIME])
            hidden = user[STEPS] < last_hidden
            if not hidden or rules.sliding > 0:
                enter_window(rules, user, event[TIME])
            state = WITHIN if user[MARKS] & STOPPED else judge(rules, desk, user, drift)
            if hidden:
                verdict[LOST] += pass_hidden(rules, user, state)
            else:
                verdict[WRONG] = _check(rules, desk, user, event, state, drift, verdict)
            nothing = hidden or event[OUTCOME] == FORECAST
            fine = _learn(law, desk, user, belief, book.words[event[USER]], nothing, drift)
            come_to_rest(rules, user, fine)
            user[STEPS] += 1
            if verdict[LOST] and user[STEPS] == last_hidden:
                user[MARKS] |= ADRIFT
        if user[STEPS] < event[STEP]:
            verdict[WRONG] |= LOST_BEFORE if verdict[LOST] else NOT_FOLLOWED
            user[STEPS] = event[STEP]


@kernel
def look_ahead(rules: Rules, law: Law, desk: Desk, user: Integers, belief: Floats, time: int) -> int:
    """The belief about the next value, and how far it may be off, in drift steps.

    By the clock no event is hidden, so `time` is that of the event.
    """
    drift = 0
    if user[STEPS] == 0:
        begin(law, desk.states)
        drift = 0 if rules.settle == NEVER else DRIFT_UNKNOWN
    elif rules.interval > 0:
        drift = _let_time_pass(rules, law, desk, user, belief, time)
    else:
        foresee(law, belief, desk.states, user[STEPS])
        drift = _after_one(law, user[DRIFT], user[STEPS])
        if rules.settle != NEVER and user[UNSETTLED] == 1:
            drift = rules.settled
    if rules.interval > 0 and (user[STEPS] == 0 or time // rules.interval > user[CLOCK]):
        user[CLOCK] = time // rules.interval
    by_value(law, desk.states, desk.ahead)
    return drift


@kernel
def _let_time_pass(rules: Rules, law: Law, desk: Desk, user: Integers, belief: Floats, time: int) -> int:
    """One prediction for each interval that has begun, up to the most; where none has, the belief is as it was.

    A mass that a further prediction begins with is kept at 2^-512 at least, and if it was less, nothing is known of how
    far the belief may be off. A prediction that changes nothing is the last that is worked out.
    """
    moving = True
    for s in range(belief.shape[0]):
        desk.states[s] = belief[s]
    now = time // rules.interval
    left = min(now - user[CLOCK], rules.most_steps)
    drift: int = user[DRIFT]
    if left <= 0:
        share_out(desk.states)
        return min(drift + DOUBLES, DRIFT_UNKNOWN)
    while left > 0:
        for step in range(now - left + 1, now - left + 1 + min(left, law.span)):
            if moving:
                drift = drift if take_over(desk.states, belief) else DRIFT_UNKNOWN
                foresee(law, belief, desk.states, step)
                moving = law.phases > 1 or differs(desk.states, belief)
        if drift != DRIFT_UNKNOWN:
            if left >= law.span:
                drift = shrunk(drift, law.contraction)
            drift = min(drift + min(left, law.span) * DOUBLES, DRIFT_UNKNOWN)
        left -= law.span
    return drift


@kernel
def _after_one(law: Law, before: int, events: int) -> int:
    """The drift after one prediction. One of a longer memory shrinks at the end of each span: then what survives, and
    all that the span has added, is looked at instead, if it is less."""
    if before == DRIFT_UNKNOWN:
        return DRIFT_UNKNOWN
    drift: int = before
    if law.span == 1:
        drift = shrunk(before, law.contraction)
    elif events % law.span == 0:
        drift = min(before, shrunk(before, law.contraction) + law.span * (KEPT_SHORT + DOUBLES))
    return min(drift + DOUBLES, DRIFT_UNKNOWN)


@kernel
def shrunk(drift: int, contraction: int) -> int:
    """drift * contraction needs up to 64 bits; the upper and the lower half of the contraction, 2^32 at most, are
    multiplied apart."""
    survives: int = (drift * (contraction >> 16) + ((drift * (contraction & 0xFFFF) + 0xFFFF) >> 16) + 0xFFFF) >> 16
    return survives


@kernel
def enter_window(rules: Rules, user: Integers, time: int) -> None:
    """What the next event finds spent; the time of one that was not seen is not looked at where windows slide."""
    if rules.sliding > 0:
        forget_oldest(user, rules.sliding, 0)
        return
    window = time // rules.window if rules.window > 0 else 0
    if window > user[WINDOW]:
        user[WINDOW] = window
        user[LEAST_UPPER] = user[LEAST_LOWER] = 0
        if user[MARKS] & UNSURE == 0:
            user[MOST_UPPER] = user[MOST_LOWER] = 0


@kernel
def pass_hidden(rules: Rules, user: Integers, state: int) -> int:
    """One event of which nothing was seen: 1 if something should have been."""
    stopped = user[MARKS] & STOPPED != 0
    if rules.window == 0:
        user[WINDOW] = 0
    elif stopped or user[STEPS] == 0 or state == IMPOSSIBLE:
        # Its time is not known: it may have opened a window in which even the first release does not fit.
        user[MARKS] |= UNSURE
        user[LEAST_UPPER] = user[LEAST_LOWER] = 0
    if rules.when_spent == SPENT_STOP:
        user[MARKS] |= STOPPED
    if not stopped and state in (WITHIN, UNCERTIFIED):
        return 1
    user[HIDDEN] += 1
    return 0


@kernel
def _check(rules: Rules, desk: Desk, user: Integers, event: Integers, state: int, drift: int, verdict: Integers) -> int:
    """One event that was seen: what is wrong with it. Its cost is charged whether or not it was allowed."""
    if user[MARKS] & STOPPED:
        user[MARKS] |= ADRIFT
        return AFTER_STOP
    if event[OUTCOME] == FORECAST:
        return _check_forecast(rules, desk, state, event[SYMBOL])
    place = desk.channel.units[PLACE, event[SYMBOL]]
    if place < 0:
        user[MARKS] |= ADRIFT
        return IMPOSSIBLE_VALUE
    write_column(rules.mechanism, place, desk)
    wrong = _settle(rules, desk.channel, user, place, drift, verdict)
    if state == UNCERTIFIED:
        return wrong | NOT_CERTIFIED
    return wrong | OVER_BUDGET if state in (SPENT, IMPOSSIBLE) else wrong


@kernel
def _check_forecast(rules: Rules, desk: Desk, state: int, value: int) -> int:
    hides = rules.when_spent >= SPENT_SUPPRESS
    wrong = NEEDLESS_FORECAST if state == WITHIN or (hides and state != UNCERTIFIED) else 0
    if rules.when_spent == SPENT_DRAW:
        drawn(desk.ahead, desk.channel)
        possible = desk.channel.units[PLACE, value] >= 0
    else:
        empty(desk.channel)
        possible = likeliest(desk.ahead, desk.channel) == value
    return wrong if possible else wrong | NOT_LIKELIEST


@kernel
def _settle(rules: Rules, channel: Channel, user: Integers, place: int, drift: int, verdict: Integers) -> int:
    """Charge what the release told; a window that holds more than its budget was let in wrongly."""
    shift = shift_of(rules, drift)
    widest = log_units(channel.reals[ACROSS, place])
    upper = cost(log_units(channel.reals[ABOVE, place]), widest, shift, rules.epsilon)
    lower = cost(log_units(channel.reals[BELOW, place]), widest, shift, rules.epsilon)
    promised = most_upwards(rules, height_of(rules, user, shift))
    verdict[COST_UPPER], verdict[COST_LOWER] = upper, lower
    user[UPPER], user[LOWER] = added(user[UPPER], upper), added(user[LOWER], lower)
    user[MOST_UPPER], user[MOST_LOWER] = added(user[MOST_UPPER], upper), added(user[MOST_LOWER], lower)
    user[LEAST_UPPER], user[LEAST_LOWER] = added(user[LEAST_UPPER], upper), added(user[LEAST_LOWER], lower)
    if rules.sliding > 0:
        note(user, rules.sliding, 0, upper, lower)
    wrong = ABOVE_EPSILON if rules.keeps_epsilon and (upper > promised or lower > rules.epsilon) else 0
    if rules.budget < UNBOUNDED and max(user[LEAST_UPPER], user[LEAST_LOWER]) > rules.budget:
        wrong |= OVER_BUDGET
    return wrong


@kernel
def _learn(law: Law, desk: Desk, user: Integers, belief: Floats, words: Words, nothing: bool, drift: int) -> bool:
    """The belief after the event, as it is kept; False if its numbers say little."""
    possible = True
    if nothing:
        for s in range(belief.shape[0]):
            belief[s] = desk.states[s]
    elif user[MARKS] & ADRIFT:
        return True
    else:
        possible = learn(law, desk.states, desk.channel.units[COLUMN], belief)
    if words.shape[0] > 0:
        drift = keep_listed(law.tail, desk.tray, belief, words, drift)
        fine = drift != DRIFT_UNKNOWN and possible
    else:
        fine = keep_short(belief) and possible
    user[DRIFT] = min(drift + KEPT_SHORT, DRIFT_UNKNOWN) if fine else DRIFT_UNKNOWN
    return fine
