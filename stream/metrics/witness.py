"""What a worker works out beside its releases, after each commit: whether the model looks right, and what all recent
releases about a few users tell together.

Both take public quantities only, and neither is waited for: a block is committed before it is looked at. Accounts are
renewed one at a time, for a fiftieth of the time at most.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from beliefs.chain import Chain
from beliefs.checks import Invalid
from beliefs.leakage.whole import Following as Sequence
from beliefs.rounding import INFINITE, add_units, nats
from beliefs.score import Score, evidence, new_score
from mechanisms.coins import WORDS_PER_OFFSET
from mechanisms.contract import DRIFT_UNITS_PER_NAT, DRIFT_UNKNOWN, Integers
from stream.policy import Bench, Events, new_releases
from stream.promise import Promise
from stream.state import codes_of, head_words, new_users
from stream.watch import Following, Watched
from stream.witness import NOBODY, new_pages, witness_all

_RESTS: Final = 50
"""Behind each renewal of an account so many times its length passes without one."""


class Account(NamedTuple):
    """What one user's latest events tell, the larger side, in nats and rounded up: all their releases about the whole
    sequence of values, and about the worst single value; the larger of the two counters; the sum of the larger sides.
    """

    exact: float
    single_value: float
    counters: float
    sum: float


class Monitor(NamedTuple):
    """How well the model predicts. The means are of the logarithm of the chance of what was released: as seen, and as
    the model expects it. `evidence` is the largest so far.
    """

    releases: int
    seen: float
    expected: float
    evidence: float


class Witness:
    """Of one worker. `chain` is needed where accounts are kept; `events` is how many of each user's are."""

    def __init__(
        self,
        promise: Promise,
        bench: Bench,
        following: Following,
        chain: Chain | None = None,
        events: int = 1,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._promise, self._bench, self._following, self._clock = promise, bench, following, clock
        self._chain = chain
        states, symbols = promise.chain.start.shape[0], bench.belief.shape[0]
        self._pages = new_pages(following.most, events, states)
        self._law, self._score, self._evidence = np.zeros(symbols + 2), new_score(), 1.0
        self._found: dict[int, Account] = {}
        self._stale: dict[int, None] = {}
        self._rest_until = 0.0

    def look(self, partition: int, watched: Watched) -> None:
        """Take in the watched events of a block that was committed."""
        followed = [key for key in watched.followed if key is not None]
        for key in followed:  # all of them before a page is written: one may take the place of another
            begins = self._following.admit(partition, key)
            if begins is not None:
                self._forget(begins)
        places = [None if key is None else self._following.place_of(partition, key) for key in watched.followed]
        page = np.array([NOBODY if place is None else place for place in places], dtype=np.int64)
        self._repeat(watched, page[watched.events.slot])
        self._evidence = max(self._evidence, float(evidence(self._score)))
        self._stale.update(dict.fromkeys(place for place in places if place is not None))
        self._renew_one()

    def warm_up(self) -> None:
        """Compile what `look` needs: nobody waits for it then."""
        words = head_words(self._promise.policy.interval > 0, self._promise.policy.sliding)
        states, listed = self._pages.believed.shape[2], self._promise.policy.listed
        heads, codes = new_users(1, codes_of(states, listed), words)
        none = np.zeros(0, dtype=np.int64)
        coins = np.zeros((0, WORDS_PER_OFFSET), dtype=np.uint64)
        events = Events(none, none, none, none)
        self._repeat(Watched([], heads, codes, events, coins, none.astype(np.bool_)), none)

    def _repeat(self, watched: Watched, page: Integers) -> None:
        promise = self._promise
        witness_all(
            promise.policy,
            promise.chain,
            self._bench,
            watched.heads,
            watched.codes,
            watched.events,
            watched.coins,
            watched.tested,
            page,
            new_releases(page.shape[0]),
            self._law,
            self._score,
            self._pages,
        )

    def lost(self, partition: int) -> None:
        for place in self._following.lost(partition):
            self._forget(place)

    def monitor(self) -> Monitor | None:
        releases = int(self._score[Score.EVENTS])
        if not releases:
            return None
        seen, expected = (float(self._score[place]) / releases for place in (Score.SEEN, Score.EXPECTED))
        return Monitor(releases, seen, expected, self._evidence)

    def accounts(self) -> list[Account]:
        return list(self._found.values())

    def renew_all(self) -> None:
        """Bring every account up to date, however long that takes."""
        for place in list(self._stale):
            self._renew(place)

    def _forget(self, place: int) -> None:
        self._pages.events[place] = 0
        self._found.pop(place, None)
        self._stale.pop(place, None)

    def _renew_one(self) -> None:
        """The one that has waited longest, unless too little time has passed since the last."""
        now = self._clock()
        if not self._stale or now < self._rest_until:
            return
        self._renew(next(iter(self._stale)))
        end = self._clock()
        self._rest_until = end + _RESTS * (end - now)

    def _renew(self, place: int) -> None:
        del self._stale[place]
        if self._chain is not None and self._pages.events[place]:
            self._found[place] = self._account(self._chain, place)

    def _account(self, chain: Chain, place: int) -> Account:
        pages, kept = self._pages, self._pages.drift.shape[1]
        count = int(pages.events[place])
        order = [number % kept for number in range(max(0, count - kept), count)]
        upper, lower, total = 0, 0, 0
        for at in order:
            one, other = int(pages.upper[place, at]), int(pages.lower[place, at])
            upper, lower, total = add_units(upper, one), add_units(lower, other), add_units(total, max(one, other))
        counters = nats(max(upper, lower))
        drift = int(pages.drift[place, order[0]])
        if drift >= DRIFT_UNKNOWN or max(upper, lower) >= INFINITE:
            return Account(counters, counters, counters, nats(total))
        following = Sequence(chain, pages.believed[place, order[0]])
        try:
            for at in order:
                following.add(pages.said[place, at])
        except Invalid:  # a value that the belief calls impossible: the counters hold all the same
            return Account(counters, counters, counters, nats(total))
        told, off = following.accounts(), drift / DRIFT_UNITS_PER_NAT
        # The first belief is within exp(+-off) of the exact one: so is each chance that a ratio is made of, of one kind
        # in `whole`, of three in `single`.
        exact = min(counters, told.whole.epsilon + off)
        single = min(exact, max(leak.epsilon for leak in told.single) + 3 * off)
        return Account(exact, single, counters, nats(total))
