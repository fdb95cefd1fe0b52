"""Which choices the gate makes for the events of a block, one after the other.

A user's account is the number of a row in the gate's table; the table says which row follows, whoever the user is. It
is worked out as far as users have come, so that the loop meets a row without a successor only now and then.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel
from mechanisms.contract import Integers

UNKNOWN = -1


@kernel
def carry_on(
    first: int,
    slot: Integers,
    times: Integers,
    counted: NDArray[np.bool_],
    length: int,
    nothing: int,
    following: Integers,
    windows: Integers,
    numbers: Integers,
    before: Integers,
) -> int:
    """Carry out the events from `first` on, and answer where it ended: at an event whose account has no successor yet,
    or behind the last one. `windows` and `numbers` are the users'; `before` becomes each event's account before it.

    A late event belongs to the window that its user has reached; a new window begins with `nothing`.
    """
    for i in range(first, slot.shape[0]):
        if not counted[i]:
            before[i] = UNKNOWN
            continue
        user = slot[i]
        if length > 0 and times[i] // length > windows[user]:
            windows[user] = times[i] // length
            numbers[user] = nothing
        after = following[numbers[user]]
        if after == UNKNOWN:
            return i
        before[i] = numbers[user]
        numbers[user] = after
    return int(slot.shape[0])
