"""Users' streams as sequences, for the attack on who somebody is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from stream.adversary.watcher import TRUTH_AT, PartitionWatch
from stream.attack.reidentify import Attempt, attempts, halves_of
from stream.audit.amounts import Integers
from stream.audit.book import SYMBOL, USER
from stream.errors import CannotAudit

LEAST_EVENTS = 40
PIECES = 5


def reidentify(watches: Sequence[PartitionWatch], symbols: int, most: int) -> dict[str, Mapping[str, Attempt]]:
    """Of the users with the longest streams, at most so many: by what was released, and where the truth is known of all
    their events, by that, for comparison."""
    users = [group for watched in watches for group in _by_user(watched) if group.shape[0] >= LEAST_EVENTS]
    users = sorted(users, key=lambda group: -group.shape[0])[:most]
    if len(users) < 2:
        raise CannotAudit(
            "Nobody can be re-identified.",
            where="option --reidentify",
            why=f"fewer than two users have {LEAST_EVENTS} released records that can be followed",
            fix="wait until there are more, or leave the option out",
        )
    found = {"released": attempts(halves_of([group[:, SYMBOL] for group in users], PIECES), symbols)}
    if all((group[:, TRUTH_AT] >= 0).all() for group in users):
        found["raw"] = attempts(halves_of([group[:, TRUTH_AT] for group in users], PIECES), symbols)
    return found


def _by_user(watched: PartitionWatch) -> list[Integers]:
    if not watched.kept:
        return []
    events = np.concatenate(watched.kept)
    events = events[np.argsort(events[:, USER], kind="stable")]
    return [group for group in np.split(events, np.flatnonzero(np.diff(events[:, USER])) + 1) if group.shape[0]]
