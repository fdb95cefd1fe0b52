"""Which events of a block are looked at once more, for the monitor of the model and the users' accounts.

The choice is made from what is settled before any coin of the block is looked at, and from nothing secret: the users'
steps and keys, and where the block begins and ends. Of the events of a block those are tested whose step is a multiple
of 16 and that are their user's first of the block, at most 32 of them, or
fewer where a law has many values. A user is followed whose key has one of the
smallest CRC-32 among those that this worker has met; to save time they are met at their first block, or else at one
that they begin with a multiple of 16 events behind them. That hash is public, and anybody may find out who is followed,
or choose a key that is: all that is worked out about a followed user, everybody can work out from the released topic.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mechanisms.coins import Coins
from mechanisms.contract import Constant, Integers
from mechanisms.registry import MECHANISMS
from stream.policy import Events, Policy
from stream.protocol.ports import Loaded
from stream.state import Codes, Word

_FEW_OUTPUTS: Final = (MECHANISMS["optimal"].code, MECHANISMS["near"].code)
EVERY: Final = 16
MOST_TESTED: Final = 32
# How many products the laws of a block's tested releases may take, some 2 ns each; and those of a single one.
_WORK_OF_BLOCK: Final = 200_000
_WORK_OF_ONE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Watched:
    """The events to be repeated, with copies of their users' rows as they were before the block. `followed` are the
    keys of the rows whose users' accounts are kept; of the others, None.
    """

    followed: list[bytes | None]
    heads: Integers
    codes: Codes
    events: Events
    coins: Coins
    tested: NDArray[np.bool_]

    def __repr__(self) -> str:
        return f"Watched(events={self.tested.shape[0]})"


class Following:
    """Who is followed: at most so many users, those whose keys have the smallest hashes of all that came."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._largest_first: list[tuple[int, int, bytes]] = []
        self._places: dict[tuple[int, bytes], int] = {}
        self._free = list(range(most))[::-1]

    @property
    def limit(self) -> int:
        """Keys of this hash or a larger one are not admitted."""
        return -self._largest_first[0][0] if len(self._largest_first) == self.most else 1 << 32

    def wanted(self, partition: int, slots: Mapping[bytes, int], considered: Iterable[bytes]) -> list[int]:
        """The slots of those users who are followed already, and of those considered who would be admitted."""
        if not self.most:
            return []
        found = {slots[key] for at, key in self._places if at == partition and key in slots}
        limit = self.limit
        small = [(h, slots[key]) for key in considered if (h := crc32(key)) < limit]
        found.update(slot for _, slot in heapq.nsmallest(self.most, small))
        return sorted(found)

    def place_of(self, partition: int, key: bytes) -> int | None:
        """Where this user's account is kept."""
        return self._places.get((partition, key))

    def admit(self, partition: int, key: bytes) -> int | None:
        """Follow this user, in place of another if need be: where the account begins, if it begins only now."""
        if not self.most or (partition, key) in self._places or crc32(key) >= self.limit:
            return None
        if not self._free:
            _, at, gone = heapq.heappop(self._largest_first)
            self._free.append(self._places.pop((at, gone)))
        heapq.heappush(self._largest_first, (-crc32(key), partition, key))
        place = self._places[partition, key] = self._free.pop()
        return place

    def lost(self, partition: int) -> list[int]:
        """The partition went away, and its users with it; answers their places."""
        gone = [each for each in self._places if each[0] == partition]
        places = [self._places.pop(each) for each in gone]
        self._free += places
        self._largest_first = [entry for entry in self._largest_first if entry[1] != partition]
        heapq.heapify(self._largest_first)
        return places


def most_in_a_block(policy: Policy, symbols: int) -> int:
    """Of one block. `optimal` and `near` release at most so many values as their cap says, and a rare one."""
    few = int(policy.constants[0][int(Constant.CAP)]) + 2
    outputs = min(symbols, few) if policy.mechanism in _FEW_OUTPUTS else symbols
    work = outputs * symbols
    return min(MOST_TESTED, max(1, _WORK_OF_BLOCK // work)) if work <= _WORK_OF_ONE else 0


class Watch:
    """Chooses for one partition; `following` is shared by all partitions of a worker."""

    def __init__(self, following: Following, partition: int, policy: Policy, symbols: int) -> None:
        self._following, self._partition = following, partition
        self._most = most_in_a_block(policy, symbols)

    def choose(self, slots: Mapping[bytes, int], rows: Loaded, events: Events, coins: Coins) -> Watched | None:
        """To be called before the block is carried out; `events.slot` numbers the keys in the order of `slots`, and
        each has an event.
        """
        keys, behind = list(slots), rows.heads[:, Word.STEPS] % EVERY
        tested = np.flatnonzero(behind == EVERY - 1)[: self._most]
        considered = [keys[slot] for slot in np.flatnonzero(behind == 0).tolist()] if self._following.most else []
        followed = np.array(self._following.wanted(self._partition, slots, considered), dtype=np.int64)
        if not (tested.size or followed.size) or not events.slot.size:
            return None
        count = events.slot.shape[0]
        first = np.zeros(len(keys), dtype=np.int64)
        first[events.slot[::-1]] = np.arange(count, dtype=np.int64)[::-1]  # the last that is written is the first event
        is_followed = np.zeros(len(keys), dtype=np.bool_)
        is_followed[followed] = True
        is_tested = np.zeros(count, dtype=np.bool_)
        is_tested[first[tested]] = True
        chosen = np.flatnonzero(is_tested | is_followed[events.slot])
        users, local = np.unique(events.slot[chosen], return_inverse=True)
        spare = np.append(users, users[0])  # one row more, for scratch
        return Watched(
            followed=[keys[slot] if is_followed[slot] else None for slot in users.tolist()],
            heads=rows.heads[spare],
            codes=rows.codes[users],
            events=Events(local.astype(np.int64), *(column[chosen] for column in events[1:])),
            coins=coins[chosen],
            tested=is_tested[chosen],
        )
