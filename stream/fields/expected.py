"""What becomes of the fields of a user, event by event: known in advance, because it depends on no value.

Only the gate decides, from what was told before; so everybody's n-th event in a window is treated alike, and a few
stretches of events say all of it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from stream.fields.promise import FieldsPromise

MOST_EVENTS: Final = 10_000


class Stretch(NamedTuple):
    """Events from the first to the last, counted from 1 in their user's window, with the same choices; `last` is None
    where nothing changes any more. `totals` are those after the last of them, in units, the protected field's last.
    """

    first: int
    last: int | None
    choices: tuple[int, ...]
    totals: tuple[int, ...]


def stretches(promise: FieldsPromise, most: int = MOST_EVENTS) -> list[Stretch]:
    """Up to so many events of a user in a window; the last stretch may go on beyond."""
    gate, account = promise.gate, promise.totals.nothing
    found: list[Stretch] = []
    for event in range(1, most + 1):
        turn = gate.turn(account)
        choices, totals = tuple(int(choice) for choice in turn.choices), tuple(turn.totals)
        endless = tuple(turn.account) == account
        if found and found[-1].choices == choices:
            found[-1] = found[-1]._replace(last=None if endless else event, totals=totals)
        else:
            found.append(Stretch(event, None if endless else event, choices, totals))
        if endless:
            break
        account = tuple(turn.account)
    return found
