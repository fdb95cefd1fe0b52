"""What the channels of a window of values say of each of them, without bias. Proof: windows.md.

The auditor's code has followed the window; what is public about it lies on its strip, or on its slate. The channels are
worked out once more, one position after the other, and each is inverted where it can be. Of windows with a coin a
functional is the channel's own, less what the coin's stranger adds to it on average.
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import CAP, Floats, Integers
from stream.audit.book import ADRIFT as LEFT
from stream.audit.book import MARKS, OUT_OF_ORDER, OUTCOME, RELEASE, TIME, USER, WRONG, Book, Desk, Rules
from stream.audit.channel import COLUMN, PLACE
from stream.audit.law import by_value
from stream.audit.window_book import DRAWN, FIRST_CAP, LEVEL, LONGEST, NTH, SHARE, Opened, Strip, Windows
from stream.audit.window_law import LEAST_CAP, answer, ask, forget, meet, mix, pass_back, pass_forth
from stream.audit.window_open import follow_open
from stream.estimation.functionals import AGAIN, ASTRAY, FORECAST, TOLD, Heard, write_to_basis
from stream.estimation.inverse import Workplace, fits, read_off
from stream.estimation.inverse_optimal import invert_optimal
from stream.estimation.window_ties import Running, Ties, add_ties, add_to_running, begin_running, carry_running


@kernel
def hear_window(
    windows: Windows,
    desk: Desk,
    strip: Strip,
    work: Workplace,
    events: Integers,
    heard: Heard,
    ties: Ties,
) -> None:
    """One window with a coin whose values were shown together, and which has just been followed."""
    length, cap = events.shape[0], strip.plan[FIRST_CAP]
    forget(windows, desk.states, length, strip)
    for turn in range(length):
        at = windows.orders[length, turn]
        ties.alone[at] = 1 if turn == 0 else 0
        if cap < LEAST_CAP:
            continue
        meet(at, length, strip)
        by_value(windows.law, strip.own, strip.asked)
        ask(windows, strip.asked, cap, desk, strip)
        cap /= _invert(windows, desk, strip, work, events[at, DRAWN], heard, at, strip.told[at])
        pass_forth(windows.law, desk.states, at, length, strip)
        pass_back(windows, at, length, strip)
    share = strip.plan[SHARE]
    add_ties(windows, strip, desk.states, share, heard, ties)
    for at in range(length):
        heard.kind[at], ties.share[at], ties.nth[at] = TOLD, share, at
        by_value(windows.law, strip.blind[at], strip.shown)
        _without_stranger(share, strip.shown, heard.functional[at], heard.known[at])
        for v in range(strip.shown.shape[0]):
            heard.column[at, v] = strip.told[at, v]
        meet(at, length, strip)
        mix(share, strip.blind[at], strip.own, strip.mixed)
        by_value(windows.law, strip.mixed, heard.believed[at])


@kernel
def _invert(
    windows: Windows, desk: Desk, strip: Strip, work: Workplace, drawn: int, heard: Heard, i: int, told: Floats
) -> float:
    """The functionals of the channel that has been asked, at what it gave; its factors are left in `told`, the largest
    of them is answered.
    """
    outputs, place = desk.channel.size[0], desk.channel.units[PLACE, drawn]
    inverted = not windows.near and invert_optimal(desk.channel, drawn, heard.functional[i], heard.known[i])
    if inverted:
        heard.large[i] = 0
    elif fits(outputs, work):
        for y in range(outputs):
            answer(windows, strip.asked, y, desk)
            write_to_basis(desk.channel.units[COLUMN], y, work)
        read_off(work, outputs, place, heard.functional[i], heard.known[i])
    else:
        heard.large[i] = 1
    law, most = answer(windows, strip.asked, place, desk), 0.0
    for x in range(told.shape[0]):
        told[x] = float(desk.channel.units[COLUMN, x]) / law
        most = max(most, told[x])
    return most


@kernel
def _without_stranger(share: float, blind: Floats, functional: Floats, known: Integers) -> None:
    """Under heads the functional is on average what was believed before the window, whatever the value is."""
    for v in range(blind.shape[0]):
        functional[v] = (functional[v] - share * blind[v]) / (1.0 - share) if known[v] == 1 else 0.0


@kernel
def hear_open(
    rules: Rules,
    windows: Windows,
    desk: Desk,
    strip: Strip,
    opened: Opened,
    book: Book,
    work: Workplace,
    running: Running,
    events: Integers,
    verdicts: Integers,
    heard: Heard,
    ties: Ties,
) -> None:
    """Events in the order of their partition, of windows whose values are shown one by one."""
    for i in range(events.shape[0]):
        event, user = events[i], events[i, USER]
        clock = carry_running(rules, book.users[user], event[TIME])
        follow_open(rules, windows, desk, strip, book, opened, events[i : i + 1], verdicts[i : i + 1])
        if verdicts[i, WRONG] == OUT_OF_ORDER:
            heard.kind[i] = AGAIN
        elif book.users[user, MARKS] & LEFT:
            heard.kind[i] = ASTRAY
        elif event[OUTCOME] != RELEASE:
            heard.kind[i] = FORECAST
        else:
            heard.kind[i] = TOLD
            share = windows.plans[opened.marks[user, LEVEL], LONGEST, SHARE]
            ties.share[i], ties.nth[i], ties.alone[i] = share, event[NTH] - 1, 1 if event[NTH] == 1 else 0
            by_value(windows.law, strip.mixed, heard.believed[i])
            if event[NTH] == 1:
                begin_running(running, user)
            _hear_next(windows, desk, strip, opened, work, running, event, clock, i, heard, ties)


@kernel
def _hear_next(
    windows: Windows,
    desk: Desk,
    strip: Strip,
    opened: Opened,
    work: Workplace,
    running: Running,
    event: Integers,
    steps: int,
    i: int,
    heard: Heard,
    ties: Ties,
) -> None:
    user = event[USER]
    if event[DRAWN] >= 0:
        ask(windows, strip.asked, strip.numbers[CAP], desk, strip)
        _invert(windows, desk, strip, work, event[DRAWN], heard, i, heard.column[i])
    add_to_running(windows, strip, opened.blind[user], steps, running, user, ties.share[i], heard, i, ties)
    by_value(windows.law, opened.blind[user], strip.shown)
    _without_stranger(ties.share[i], strip.shown, heard.functional[i], heard.known[i])
