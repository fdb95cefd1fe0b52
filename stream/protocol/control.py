"""To whom the beliefs of a partition belong, and up to which input they count.

Some small records stand in every partition of the belief changelog beside the users' rows:

    key b"c"  the control record, JSON: which pipeline, topic, policy, model and key wrote these beliefs
    key b"o"  the progress mark, 8 bytes big-endian: the source offset from which the next block starts
    key b"t"  the clock mark, 16 bytes big-endian: a time, and the source offset at which windows due by then are closed
    key b"e"  where a model is learnt, the epoch mark: how far that has come (stream/learning/mark.py)
    key b"a"  where aggregates or crowds are released, how far that has come (stream/gathering)
    key b"E"  and 8 bytes big-endian, the number of an epoch: what it began with (stream/learning/record.py)

The control record is written in a partition's first transaction and checked at every load. The progress mark is
written in every transaction. It says the same as the consumer group's committed offset, but an operator can reset the
group and a broker forgets it after some days of silence; the mark stands in the same log as the beliefs and cannot
part from them. Records below it were dealt with, whatever the group says, so that even a dead letter, which no user's
watermark guards, is written once.

The clock mark exists where windows wait for silent users. It is committed before any window is closed on its account,
and no record is taken until all of them are: so which values a window holds when its time is over is settled before a
coin is looked at, and a worker that dies meanwhile is followed by one that closes the same windows with the same
values.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Final

from stream.errors import StateRefused
from stream.names import (
    AGGREGATES,
    CHANGELOG_AGGREGATE_KEY,
    CHANGELOG_CLOCK_KEY,
    CHANGELOG_CONTROL_KEY,
    CHANGELOG_EPOCH_PREFIX,
    CHANGELOG_LEARNING_KEY,
    CHANGELOG_PROGRESS_KEY,
    CROWDS,
)

CONTROL_KEY: Final = CHANGELOG_CONTROL_KEY
PROGRESS_KEY: Final = CHANGELOG_PROGRESS_KEY
CLOCK_KEY: Final = CHANGELOG_CLOCK_KEY
LEARNING_KEY: Final = CHANGELOG_LEARNING_KEY
AGGREGATE_KEY: Final = CHANGELOG_AGGREGATE_KEY
_MARKS: Final = (CONTROL_KEY, PROGRESS_KEY, CLOCK_KEY, LEARNING_KEY, AGGREGATE_KEY)

_OFFSET: Final = struct.Struct(">q")
_CLOCK: Final = struct.Struct(">qq")


@dataclass(frozen=True, slots=True)
class Control:
    """Whose beliefs these are.

    `topic_id` is the raw topic's own id, which a topic made again under the same name does not share.
    """

    pipeline: str
    topic_id: str
    partitions: int
    policy: str
    model: str
    key_epoch: int
    key_fingerprint: str
    first_key_fingerprint: str

    @property
    def is_of_windows(self) -> bool:
        """Of aggregates or crowds: nobody has a belief."""
        return self.model.startswith((f"{AGGREGATES}@", f"{CROWDS}@"))


# What may change when no record waits: every later offset then uses the new one, and no earlier one is ever repeated.
CHANGEABLE: Final = ("policy", "key_epoch", "key_fingerprint")


@dataclass(frozen=True, slots=True)
class Difference:
    field: str
    stored: str
    ours: str


_WHY: Final = {
    "pipeline": (
        "another pipeline has written these beliefs",
        "give each pipeline its own name, or point this one at its own belief changelog",
    ),
    "topic_id": (
        "the raw topic was deleted and made again: its offsets start anew, and no offset may use its coins twice",
        "give the pipeline a new name, so that it starts with new beliefs",
    ),
    "partitions": (
        "the raw topic's partition count has changed: users may now be in partitions that do not know them",
        "go back to the old partition count, or give the pipeline a new name",
    ),
    "policy": (
        "records wait that the old policy may have begun to release: a repeated block must use its first policy",
        "run with the old policy until the pipeline has caught up, stop it, then change the policy",
    ),
    "model": (
        "the stored beliefs are probabilities under another model and mean nothing under this one",
        "go back to the old model, or give the pipeline a new name",
    ),
    "key_epoch": (
        "records wait that the old key may have begun to release: a repeated block must use its first key",
        "run with the old key epoch until the pipeline has caught up, stop it, then change the epoch",
    ),
    "key_fingerprint": (
        "this epoch's secret key is not the one that drew its earlier coins",
        "put the old key back; a new key gets a new epoch (`sottovoce keys new --add-epoch`)",
    ),
    "first_key_fingerprint": (
        "pseudonyms come from the ring's first key: with another one every user would be a new user, with a new budget",
        "put the old ring back, or give the pipeline a new name",
    ),
}


_OF_AGGREGATES: Final = {
    "model": (
        "windows are open, or events wait, under the other settings, and what was told counts towards their target",
        "go back to the old settings, or give the pipeline a new name",
    ),
    "topic_id": (
        "the raw topic, or the one between both stages, was deleted and made again: no window may use a key twice",
        "give the pipeline a new name, so that it starts anew",
    ),
    "partitions": (
        "the raw topic's partition count has changed, and windows and crowds are made of what all of them send",
        "go back to the old partition count, or give the pipeline a new name",
    ),
}


def is_mark(key: bytes) -> bool:
    """Whether a record of the changelog is one of the small ones, and not a user's."""
    return key in _MARKS or key.startswith(CHANGELOG_EPOCH_PREFIX)


def encode_control(control: Control) -> bytes:
    return json.dumps(asdict(control), separators=(",", ":"), sort_keys=True).encode()


def decode_control(raw: bytes, where: str) -> Control:
    """The control record, or a refusal: what cannot be read cannot be trusted to be ours."""
    refusal = StateRefused(
        "The control record of the belief changelog cannot be read.",
        where=where,
        why="it is not a JSON object with exactly the fields of this version",
        fix="point the pipeline at its own belief changelog, or give it a new name",
    )
    try:
        found = json.loads(raw)
    except ValueError:
        raise refusal from None
    wanted = {field.name: field.type for field in fields(Control)}
    if not isinstance(found, dict) or set(found) != set(wanted):
        raise refusal
    if any(type(found[name]).__name__ != getattr(kind, "__name__", kind) for name, kind in wanted.items()):
        raise refusal
    return Control(**found)


def differences(stored: Control, ours: Control) -> list[Difference]:
    before, now = asdict(stored), asdict(ours)
    return [Difference(name, str(before[name]), str(now[name])) for name in before if before[name] != now[name]]


def may_change(found: list[Difference]) -> bool:
    """Whether these differences are allowed once no record waits; a new key must come with a new epoch."""
    names = {difference.field for difference in found}
    return names <= set(CHANGEABLE) and ("key_fingerprint" not in names or "key_epoch" in names)


def worst(found: list[Difference]) -> Difference:
    """The difference to speak of: one that can never be allowed before one that only has to wait."""
    return min(found, key=lambda difference: list(_WHY).index(difference.field) + 10 * (difference.field in CHANGEABLE))


def refuse(difference: Difference, where: str, *, aggregates: bool = False) -> StateRefused:
    why, fix = (_OF_AGGREGATES if aggregates else {}).get(difference.field, _WHY[difference.field])
    what = f"The stored beliefs have {difference.field} {difference.stored}, this worker has {difference.ours}."
    return StateRefused(what, where=where, why=why, fix=fix)


def encode_progress(next_offset: int) -> bytes:
    return _OFFSET.pack(next_offset)


def decode_progress(raw: bytes, where: str) -> int:
    if len(raw) != _OFFSET.size:
        raise StateRefused(
            "The progress mark of the belief changelog cannot be read.",
            where=where,
            why=f"it has {len(raw)} bytes instead of {_OFFSET.size}",
            fix="point the pipeline at its own belief changelog, or give it a new name",
        )
    return int(_OFFSET.unpack(raw)[0])


def encode_clock(clock: int, offset: int) -> bytes:
    return _CLOCK.pack(clock, offset)


def closing_begun(marks: Mapping[bytes, bytes], where: str) -> int | None:
    """The time whose windows are being closed: a clock mark that was written where the beliefs stand. One that records
    have passed is settled.
    """
    mark, progress = marks.get(CLOCK_KEY), marks.get(PROGRESS_KEY)
    if mark is None or progress is None:
        return None
    if len(mark) != _CLOCK.size:
        raise StateRefused(
            "The clock mark of the belief changelog cannot be read.",
            where=where,
            why=f"it has {len(mark)} bytes instead of {_CLOCK.size}",
            fix="point the pipeline at its own belief changelog, or give it a new name",
        )
    clock, offset = _CLOCK.unpack(mark)
    return int(clock) if offset == decode_progress(progress, where) else None
