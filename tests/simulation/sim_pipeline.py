"""A pipeline that is small and touchy: each release depends on every earlier one of its user, or on which others its
window held, so nothing can go wrong unseen.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from stream import names
from stream.protocol.columns import RecordBlock
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Codes, Heads, Outgoing, UserStore

WATERMARK, SUM, SEGMENT, STEPS = 1, 2, 3, 6
WINDOWED = (b"cy", b"dee")
"""Users whose events wait for one another."""
WINDOW = 3
DEADLINE_MS = 300
MASK = (1 << 40) - 1


class SimRows:
    """Rows without a check: what the simulation tears is the log, not the bytes in it."""

    symbols = 1

    def from_rows(self, rows: Sequence[bytes]) -> tuple[Heads, Codes, NDArray[np.bool_]]:
        heads = np.frombuffer(b"".join(rows), np.int64).reshape(len(rows), 8)
        return heads, np.zeros((len(rows), 1), np.uint32), np.ones(len(rows), np.bool_)

    def to_rows(self, heads: Heads, codes: Codes) -> list[bytes]:
        return [head.tobytes() for head in heads]

    def new_users(self, count: int) -> tuple[Heads, Codes]:
        heads = np.zeros((count, 8), np.int64)
        heads[:, WATERMARK] = -1
        return heads, np.zeros((count, 1), np.uint32)


def number_alone(number: int) -> bytes:
    return b"%d" % number


def segment_of(raw: bytes) -> int:
    """Whoever begins in one segment is never served in the other; which one it was, only his row tells."""
    return 1 + (int(raw) % 4 == 0)


def keyed_noise(partition: int, offset: int) -> int:
    return crc32(b"secret %d %d" % (partition, offset))


@dataclass(frozen=True)
class Released:
    """What one input must become."""

    step: int
    total: int


def follow(state: Released, raw: bytes, noise: int) -> Released:
    return Released(state.step + 1, (31 * state.total + int(raw) + noise) & MASK)


def release_value(partition: int, offset: int, released: Released) -> bytes:
    return b"%d:%d:%d:%d" % (partition, offset, released.step, released.total)


def window_value(partition: int, offset: int, offsets: Sequence[int], noise: int) -> bytes:
    return b"%d:%d:%s:%d" % (partition, offset, b"-".join(b"%d" % o for o in offsets), noise)


def dead_letter_value(partition: int, offset: int) -> bytes:
    return b"%d:%d:dead" % (partition, offset)


class SimDeadlines:
    def __init__(self) -> None:
        self.due: dict[bytes, int] = {}

    def set(self, user: bytes, record: bytes | None) -> None:
        self.due.pop(user, None)
        if record:
            self.due[user] = json.loads(record)["due"]

    def first(self) -> int | None:
        return min(self.due.values(), default=None)


@dataclass
class Work:
    """One block at work."""

    rows: dict[bytes, list[int]]
    held: dict[bytes, list[int]]
    before: int
    releases: list[Outgoing] = field(default_factory=list)
    letters: list[Outgoing] = field(default_factory=list)
    changed: dict[bytes, None] = field(default_factory=dict)
    touched: dict[bytes, int] = field(default_factory=dict)
    repeated: int = 0


class SimPipeline:
    def __init__(self, partition: int) -> None:
        self._partition = partition
        self.deadlines = SimDeadlines()

    def noise(self, offset: int) -> int:
        return keyed_noise(self._partition, offset)

    def is_repeated(self, offset: int, watermark: int) -> bool:
        return offset <= watermark

    def is_stranger(self, row: Sequence[int], raw: bytes) -> bool:
        return row[SEGMENT] not in (0, segment_of(raw))

    def adopt(self, store: UserStore) -> int:
        self.deadlines.due.clear()
        for user, record in store.held():
            self.deadlines.set(user, record)
        return len(self.deadlines.due)

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:
        users = list(dict.fromkeys(record.key for record in records if record.value is not None and record.key))
        work = self._work(store, users)
        for record in records:
            if record.value is None or record.key is None:
                letter = dead_letter_value(self._partition, record.offset)
                work.letters.append(Outgoing(None, letter, record.timestamp))
                continue
            row = work.rows[record.key]
            if self.is_repeated(record.offset, row[WATERMARK]):
                work.repeated += 1
                continue
            if record.key not in WINDOWED and self.is_stranger(row, record.value):
                letter = dead_letter_value(self._partition, record.offset)
                work.letters.append(Outgoing(None, letter, record.timestamp))
                continue
            row[WATERMARK] = record.offset
            row[SEGMENT] = segment_of(record.value)
            work.changed[record.key] = None
            if record.key in WINDOWED:
                work.held[record.key].append(record.offset)
                work.touched[record.key] = record.timestamp + DEADLINE_MS
                if len(work.held[record.key]) == WINDOW:
                    self._close(record.key, work)
                continue
            now = follow(Released(row[STEPS], row[SUM]), record.value, self.noise(record.offset))
            row[STEPS], row[SUM] = now.step, now.total
            value = release_value(self._partition, record.offset, now)
            work.releases.append(Outgoing(record.key, value, record.timestamp))
        return self._effects(work, records[-1].offset + 1)

    def cut(self, store: UserStore, first: int) -> None:
        return None

    def prepare_overdue(self, store: UserStore, clock: int) -> Effects | None:
        """One window at a time, so that a crash may fall between two of them."""
        overdue = sorted(user for user, due in self.deadlines.due.items() if due <= clock)[:1]
        if not overdue:
            return None
        work = self._work(store, overdue)
        for user in overdue:
            self._close(user, work)
            work.changed[user] = None
        return self._effects(work, 0)

    def _work(self, store: UserStore, users: Sequence[bytes]) -> Work:
        rows = dict(zip(users, store.load(users).heads.tolist(), strict=True))
        found = zip(users, store.load_held(users), strict=True)
        held = {user: json.loads(record)["offsets"] if record else [] for user, record in found}
        return Work(rows, held, sum(map(len, held.values())))

    def _close(self, user: bytes, work: Work) -> None:
        """The values say which events the window held: had it been closed twice, they would differ."""
        offsets, row = work.held[user], work.rows[user]
        row[STEPS] += len(offsets)
        for offset in offsets:
            value = window_value(self._partition, offset, offsets, self.noise(offsets[0]))
            work.releases.append(Outgoing(user, value, 0))
        work.held[user] = []
        work.touched.setdefault(user, 0)

    def _effects(self, work: Work, next_offset: int) -> Effects:
        keys = list(work.changed)
        heads = np.array([work.rows[key] for key in keys], np.int64).reshape(len(keys), 8)
        held = {
            user: json.dumps({"due": due, "offsets": work.held[user]}).encode() if work.held[user] else b""
            for user, due in work.touched.items()
        }
        rows = [Outgoing(b"u" + key, head.tobytes(), 0) for key, head in zip(keys, heads, strict=True)]
        rows += [Outgoing(b"h" + user, record, 0) for user, record in held.items()]
        counts = {
            names.RELEASED: len(work.releases),
            names.DEAD_LETTERED: len(work.letters),
            names.REPLAYED: work.repeated,
        }
        return Effects(
            next_offset=next_offset,
            releases=work.releases,
            dead_letters=work.letters,
            changelog=RecordBlock.of(rows),
            keys=keys,
            heads=heads,
            codes=np.zeros((len(keys), 1), np.uint32),
            outcomes=counts,
            held=held,
            held_change=sum(map(len, work.held.values())) - work.before,
        )
