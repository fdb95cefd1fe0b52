"""Windows that say nothing about the user: what the channels give is drawn from their own law, as under heads."""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import WHOLE, Floats
from stream.audit.book import Desk
from stream.audit.channel import COLUMN
from stream.audit.law import by_value
from stream.audit.window_book import FIRST_CAP, Strip, Windows
from stream.audit.window_law import LEAST_CAP, answer, ask, forget, meet, pass_back, pass_forth


@kernel
def play_stranger(windows: Windows, desk: Desk, strip: Strip, coins: Floats) -> None:
    """One more window like the one that was followed last, with a coin for each position: its factors are left in
    `strip.told`. The law before that window is still on the desk, and its plan and steps on the strip.
    """
    length, cap, ahead = coins.shape[0], strip.plan[FIRST_CAP], desk.states
    forget(windows, ahead, length, strip)
    for turn in range(length):
        if cap < LEAST_CAP:
            continue
        at = windows.orders[length, turn]
        meet(at, length, strip)
        by_value(windows.law, strip.own, strip.asked)
        ask(windows, strip.asked, cap, desk, strip)
        cap /= _draw(windows, coins[at], desk, strip, strip.told[at])
        pass_forth(windows.law, ahead, at, length, strip)
        pass_back(windows, at, length, strip)


@kernel
def _draw(windows: Windows, coin: float, desk: Desk, strip: Strip, told: Floats) -> float:
    """One value by the channel's own law: its factors, and the largest of them."""
    place, reached = -1, -1.0
    law = 0.0
    while reached < coin and place + 1 < desk.channel.size[0]:
        place += 1
        law = answer(windows, strip.asked, place, desk)
        reached = max(reached, 0.0) + law / WHOLE
    most = 0.0
    for x in range(told.shape[0]):
        told[x] = float(desk.channel.units[COLUMN, x]) / law
        most = max(most, told[x])
    return most
