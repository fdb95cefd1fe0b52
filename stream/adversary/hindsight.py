"""A second look at the values of each user, when all releases have been read: forward and backward."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from stream.adversary.watcher import KNOWN_AT, TRUTH_AT, Adversary
from stream.attack.posterior import Beliefs, Refuted, forth_and_back, given, moves_by_clock, moves_by_event
from stream.attack.scores import ROUNDING
from stream.attack.watch import LEAST
from stream.audit.amounts import Floats, Integers
from stream.audit.book import OUTCOME, RELEASE, STEP, TIME, USER, new_book, new_desk, new_verdicts
from stream.audit.exact import MOST_NUMBERS, write_columns


@dataclass
class Hindsight:
    """Sums over the released values of all users. `far` has a row for each user who could be looked at: its number, the
    largest log ratio of a value's chance to that without any release, and what was learnt in all, in nats."""

    scored: int = 0
    right: int = 0
    released: int = 0
    sure: float = 0.0
    left_out: int = 0
    far: list[tuple[int, float, float]] = field(default_factory=list)

    def plus(self, other: Hindsight, users_before: int) -> None:
        self.scored, self.right = self.scored + other.scored, self.right + other.right
        self.released, self.sure = self.released + other.released, self.sure + other.sure
        self.left_out += other.left_out
        self.far += [(user + users_before, far, gain) for user, far, gain in other.far]

    def beyond(self, accounts: Floats) -> int:
        """How many users' values were moved further than the ledger's account of them, in nats."""
        return sum([far > accounts[user] + ROUNDING for user, far, _ in self.far])


def look_back(adversary: Adversary, kept: list[Integers]) -> Hindsight:
    """Over all users of one partition."""
    found = Hindsight()
    if not kept:
        return found
    events = np.concatenate(kept)
    events = events[np.argsort(events[:, USER], kind="stable")]
    for group in np.split(events, np.flatnonzero(np.diff(events[:, USER])) + 1):
        if group.shape[0]:
            _one_user(adversary, group, found)
    return found


def _one_user(adversary: Adversary, events: Integers, found: Hindsight) -> None:
    both = beliefs_about(adversary, events)
    if both is None:
        found.left_out += 1
        return
    told, blind = both
    released = (events[:, OUTCOME] == RELEASE) & (events[:, KNOWN_AT] < 0)
    at, truth = events[released, STEP] - 1, events[released, TRUTH_AT]
    end, unaided = told.in_the_end[at], blind.in_the_end[at]
    guess = end.argmax(axis=1)
    found.released += at.shape[0]
    found.sure += float(end.max(axis=1).sum())
    found.scored += int((truth >= 0).sum())
    found.right += int((guess == truth).sum())
    possible = (unaided >= LEAST) & (end >= LEAST)
    ratios = np.log(np.where(possible, end, 1.0) / np.where(possible, unaided, 1.0))
    ruled_out = bool(((unaided >= LEAST) & (end <= 0.0)).any())
    far = np.inf if ruled_out else float(np.abs(ratios).max(initial=0.0))
    found.far.append((int(events[0, USER]), far, float((end * ratios).sum())))


def beliefs_about(adversary: Adversary, events: Integers) -> tuple[Beliefs, Beliefs] | None:
    """With the releases and without them; None where the user cannot be followed, is too long, or where the adversary's
    law has no room for what was seen."""
    public, law = adversary.public, adversary.law
    rows = int(events[:, STEP].max())
    if rows * max(public.states, law.start.shape[0]) > MOST_NUMBERS:
        return None
    columns = np.ones((rows, public.symbols))
    table = np.ascontiguousarray(events[:, : OUTCOME + 1])
    table[:, USER] = 0
    desk = new_desk(public.states, public.symbols, public.distance)
    book, verdicts = new_book(1, public.states, public.listed, public.rules.sliding), new_verdicts(table.shape[0])
    if not write_columns(public.rules, public.law, desk, book, table, verdicts, columns):
        return None
    known = {int(step) - 1: int(value) for step, value in events[:, [STEP, KNOWN_AT]] if value >= 0}
    if public.rules.interval > 0:
        moves = moves_by_clock(table[:, TIME], public.rules.interval, public.rules.most_steps)
    else:
        moves = moves_by_event(rows)
    try:
        told = forth_and_back(law, moves, given(columns, known))
        return told, forth_and_back(law, moves, given(np.ones(columns.shape), known))
    except Refuted:
        return None
