"""The charges of a user's last events, in the last words of a head, where any so many events in a row have a budget.

Two rings, as in beliefs/sliding.py: the upper charges, then the lower ones. Their sums are the head's two words for
what the present window has spent. A window of values is charged at its last event. Proof: beliefs/sliding.md.
"""

from __future__ import annotations

import numpy as np

from beliefs.native import kernel
from beliefs.rounding import INFINITE, add_units
from beliefs.sliding import turn
from mechanisms.contract import Integers
from stream import state
from stream.policy import LOWER, STEPS, UPPER, WINDOW_LOWER, WINDOW_UPPER


@kernel
def turn_both(head: Integers, events: int, count: int, carries: bool) -> None:
    """Make room for the next `count` events. With `carries` the last event's charge moves to the last of them."""
    first = head.shape[0] - 2 * events
    head[WINDOW_UPPER] = _turn_on(head[first : first + events], head[STEPS], count, carries)
    head[WINDOW_LOWER] = _turn_on(head[first + events :], head[STEPS], count, carries)


@kernel
def _turn_on(ring: Integers, step: int, count: int, carries: bool) -> int:
    """Answers what the ring holds afterwards; `step` is the next event's, counted from 0."""
    carried = 0
    if carries:
        carried = ring[(step - 1) % ring.shape[0]]
        turn(ring, step - 1, 0)
    for place in range(count):
        turn(ring, step + place, 0)
    turn(ring, step + count - 1, carried)
    spent = 0
    for slot in range(ring.shape[0]):
        spent = add_units(spent, ring[slot])
    return spent


@kernel
def charge_both(head: Integers, events: int, upper: int, lower: int) -> None:
    """More that was told by the user's latest event."""
    first, slot = head.shape[0] - 2 * events, (head[STEPS] - 1) % events
    head[first + slot] = add_units(head[first + slot], upper)
    head[first + events + slot] = add_units(head[first + events + slot], lower)


def relaid(row: bytes, codes: int, words: int, tag: int, *, listed: bool) -> bytes | None:
    """A row that was written under a budget over another number of events, or under none over events, as one of
    `words` words; None if it is not such a row.

    Lifetime amounts, steps and belief mean the same under every budget. Of the last events those charges are taken over
    that the row knows. All that was ever charged beside these is taken for a charge of the latest event that it does
    not know: nothing can have been charged later, so no window is believed to have spent less than it did.
    """
    old_words = (len(row) - 4 * codes) // state.WORD_BYTES
    if len(row) != state.row_bytes(codes, old_words) or not _same_but_for_rings(old_words, words):
        return None
    heads, kept, verdicts = state.from_rows([row], codes, tag, old_words, listed)
    if verdicts[0] != state.Unreadable.FINE:
        return None
    plain = state.head_words(words % 2 == 1)
    old, new = heads[0], np.zeros(words, dtype=np.int64)
    new[:plain] = old[:plain]
    _fill(old[plain:], new[plain:], old)
    if words > plain:
        new[WINDOW_UPPER], new[WINDOW_LOWER] = 0, 0
        for word, ring in zip((WINDOW_UPPER, WINDOW_LOWER), np.split(new[plain:], 2), strict=True):
            for charge in ring.tolist():
                new[word] = add_units(int(new[word]), charge)
    state.seal(new, kept[0], int(old[0] >> 8) & state.STOPPED, tag, listed)
    return state.to_rows(new[None, :], kept)[0]


def _same_but_for_rings(old_words: int, words: int) -> bool:
    """Both by the clock or neither, and no row shorter than a head."""
    return old_words >= state.head_words(words % 2 == 1) and old_words % 2 == words % 2 and old_words != words


def _fill(old: Integers, new: Integers, head: Integers) -> None:
    """The rings of `new` from those of `old`; either may be empty."""
    if new.shape[0] == 0:
        return
    events, steps = new.shape[0] // 2, int(head[STEPS])
    known = old.shape[0] // 2
    for ring, kept, total in zip(np.split(new, 2), np.split(old, 2), (int(head[UPPER]), int(head[LOWER])), strict=True):
        rest = total
        for back in range(1, min(events, known, steps) + 1):
            charge = int(kept[(steps - back) % known])
            ring[(steps - back) % events] = charge
            rest = max(0, rest - charge) if total < INFINITE else total
        if known < min(events, steps):
            ring[(steps - known - 1) % events] = rest
