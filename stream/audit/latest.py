"""The charges of a user's last events, where any so many events in a row have a budget.

What the events before the next one count against it is added up anew for each event. Values that were released in
one window are charged at the last of them, so that whoever meets any of them later meets the charge.
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import Integers, added
from stream.audit.book import LEAST_LOWER, LEAST_UPPER, MOST_LOWER, MOST_UPPER, STEPS, WINDOW


@kernel
def forget_oldest(user: Integers, sliding: int, ahead: int) -> None:
    """The event `ahead` places behind the user's next one takes the place of the event that falls out of the row."""
    upper = user.shape[0] - 2 * sliding
    place = (user[STEPS] + ahead) % sliding
    user[upper + place] = user[upper + sliding + place] = 0
    above = below = 0
    for column in range(upper, upper + sliding):
        above, below = added(above, user[column]), added(below, user[column + sliding])
    user[MOST_UPPER] = user[LEAST_UPPER] = above
    user[MOST_LOWER] = user[LEAST_LOWER] = below
    user[WINDOW] = 0


@kernel
def note(user: Integers, sliding: int, ahead: int, upper: int, lower: int) -> None:
    """That event has told so much more."""
    place = user.shape[0] - 2 * sliding + (user[STEPS] + ahead) % sliding
    user[place] = added(user[place], upper)
    user[place + sliding] = added(user[place + sliding], lower)


@kernel
def hand_on(user: Integers, sliding: int) -> None:
    """The next event goes on with the window of the one before it, whose charge is then the next one's."""
    first = user.shape[0] - 2 * sliding
    before = (user[STEPS] - 1) % sliding
    upper, lower = user[first + before], user[first + sliding + before]
    user[first + before] = user[first + sliding + before] = 0
    forget_oldest(user, sliding, 0)
    note(user, sliding, 0, upper, lower)
    user[MOST_UPPER], user[MOST_LOWER] = added(user[MOST_UPPER], upper), added(user[MOST_LOWER], lower)
    user[LEAST_UPPER], user[LEAST_LOWER] = user[MOST_UPPER], user[MOST_LOWER]
