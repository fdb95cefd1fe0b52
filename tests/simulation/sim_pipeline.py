"""A pipeline that is small and touchy:

each release depends on every earlier one of its user, so nothing can go wrong unseen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from stream import names
from stream.protocol.columns import RecordBlock
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Codes, Heads, Outgoing, UserStore

WATERMARK, SUM, STEPS = 1, 2, 6
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


def dead_letter_value(partition: int, offset: int) -> bytes:
    return b"%d:%d:dead" % (partition, offset)


class SimPipeline:
    def __init__(self, partition: int) -> None:
        self._partition = partition

    def noise(self, offset: int) -> int:
        return keyed_noise(self._partition, offset)

    def is_repeated(self, offset: int, watermark: int) -> bool:
        return offset <= watermark

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:
        users = list(dict.fromkeys(record.key for record in records if record.value is not None and record.key))
        heads = store.load(users).heads
        rows = dict(zip(users, heads.tolist(), strict=True))
        releases, letters, changed = [], [], {}
        repeated = 0
        for record in records:
            if record.value is None or record.key is None:
                letters.append(Outgoing(None, dead_letter_value(self._partition, record.offset), record.timestamp))
                continue
            row = rows[record.key]
            if self.is_repeated(record.offset, row[WATERMARK]):
                repeated += 1
                continue
            now = follow(Released(row[STEPS], row[SUM]), record.value, self.noise(record.offset))
            row[STEPS], row[SUM], row[WATERMARK] = now.step, now.total, record.offset
            changed[record.key] = row
            releases.append(Outgoing(record.key, release_value(self._partition, record.offset, now), record.timestamp))
        return self._effects(records, releases, letters, changed, repeated)

    def _effects(
        self,
        records: InputBlock,
        releases: list[Outgoing],
        letters: list[Outgoing],
        changed: Mapping[bytes, list[int]],
        repeated: int,
    ) -> Effects:
        keys = list(changed)
        heads = np.array(list(changed.values()), np.int64).reshape(len(keys), 8)
        rows = (Outgoing(b"u" + key, head.tobytes(), 0) for key, head in zip(keys, heads, strict=True))
        counts = {
            names.RELEASED: len(releases),
            names.DEAD_LETTERED: len(letters),
            names.REPLAYED: repeated,
        }
        return Effects(
            next_offset=records[-1].offset + 1,
            releases=releases,
            dead_letters=letters,
            changelog=RecordBlock.of(list(rows)),
            keys=keys,
            heads=heads,
            codes=np.zeros((len(keys), 1), np.uint32),
            outcomes=counts,
        )
