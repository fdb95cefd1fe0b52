"""Some users, of whom it is worked out exactly what all their releases tell together; reported as quantiles.

Those are taken whose keys have the smallest hashes: whoever is among them in the end was so at the first record, so no
record of theirs has been missed, and everybody who reads the topic takes the same. Nobody is named.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Final

import numpy as np

from stream.audit.amounts import Integers
from stream.audit.book import USER, new_desk
from stream.audit.exact import Told, told_about
from stream.audit.public import Public
from stream.errors import CannotAudit

SHARES: Final = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}


class Sample:
    """At most so many users of all partitions, and their released events. Where several models serve, `public` and the
    `others` are those of their segments.
    """

    def __init__(self, public: Public, most: int, *others: Public) -> None:
        self._publics, self._most = (public, *others), most
        for each in self._publics:
            refuse_unless_accountable(each)
        self._largest_first: list[tuple[int, int, int]] = []
        self._events: dict[tuple[int, int], list[Integers]] = {}
        self._met: dict[int, int] = {}
        self.users = 0

    def take(self, partition: int, users: Iterable[bytes], events: Integers, segment: int = 0) -> None:
        """The next events of one segment of a partition; `users` are its keys in the order of their numbers."""
        partition = partition * len(self._publics) + segment
        met = self._met.get(partition, 0)
        for key in islice(users, met, None):
            self._admit(key, partition, met)
            met += 1
        self._met[partition] = met
        chosen = [user for place, user in self._events if place == partition]
        ours = events[np.isin(events[:, USER], chosen)]
        ours = ours[np.argsort(ours[:, USER], kind="stable")]
        for group in np.split(ours, np.flatnonzero(np.diff(ours[:, USER])) + 1):
            if group.shape[0]:
                self._events[partition, int(group[0, USER])].append(group)

    def _admit(self, key: bytes, partition: int, user: int) -> None:
        self.users += 1
        entry = (-int.from_bytes(blake2b(key, digest_size=16).digest(), "big"), partition, user)
        if len(self._largest_first) < self._most:
            heapq.heappush(self._largest_first, entry)
        else:
            _, *gone = heapq.heappushpop(self._largest_first, entry)
            self._events.pop((gone[0], gone[1]), None)
            if gone == [partition, user]:
                return
        self._events[partition, user] = []

    def told(self) -> tuple[list[Told], int]:
        """What was told about each of them, and of how many it could not be worked out."""
        desks = [new_desk(public.states, public.symbols, public.distance) for public in self._publics]
        found = []
        for (place, _), parts in self._events.items():
            segment = place % len(self._publics)
            if parts:
                found.append(told_about(self._publics[segment], desks[segment], np.concatenate(parts)))
        known = [told for told in found if told is not None]
        return known, len(found) - len(known)

    def summary(self) -> dict[str, object]:
        """Quantiles over the users in nats: the least amount that so large a share of them stays within."""
        known, left_out = self.told()
        amounts = {name: quantiles([getattr(told, name) for told in known]) if known else None for name in Told._fields}
        return {"users": len(known), "left_out": left_out, "of": self.users, **amounts}


def quantiles(amounts: Sequence[float]) -> dict[str, float]:
    ordered = sorted(amounts)
    return {name: ordered[math.ceil(share * len(ordered)) - 1] for name, share in SHARES.items()}


def refuse_unless_accountable(public: Public) -> None:
    kind = ""
    if public.windows is not None:
        kind = "values are released in windows"
    elif public.rules.interval > 0:
        kind = "the model goes by the clock"
    elif public.states != public.symbols or public.law.span > 1:
        kind = "the model remembers more than the last value"
    elif public.law.phases > 1:
        kind = "the model has phases"
    if kind:
        raise CannotAudit(
            "The accounts of users cannot be worked out.",
            where="option --accounts",
            why=f"{kind}; they are known for single releases under a model of order 1, event by event, only",
            fix="leave the option out: the audit itself needs none of it",
        )
