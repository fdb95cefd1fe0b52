"""What a block releases, gathered one window after the other, and then written as columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from mechanisms.contract import Integers
from mechanisms.sequence.window import NOTHING_DRAWN
from stream import names
from stream.decimals import decimals
from stream.policy import FORECAST, RELEASED
from stream.promise import Promise, model_names
from stream.protocol.columns import RecordBlock
from stream.protocol.effects import Effects
from stream.protocol.ports import Codes, Heads, Outgoing
from stream.protocol.texts import Texts
from stream.records.columns import ColumnWriter
from stream.release_ids import release_id_texts
from stream.segments import row_texts
from stream.windows.held import Waiting
from stream.windows.step import Told

_HEADER_NAMES: Final = tuple(
    name.encode()
    for name in (
        names.HEADER_RELEASE_ID,
        names.HEADER_POLICY,
        names.HEADER_MODEL,
        names.HEADER_STEP,
        names.HEADER_WINDOW,
        names.HEADER_OUTCOME,
    )
)


class _Visible(NamedTuple):
    """One record to be released."""

    user: bytes
    text: bytes
    headers: tuple[tuple[str, bytes], ...]
    offset: int
    time: int
    step: int
    window: bytes
    forecast: bool
    segment: int


@dataclass(frozen=True, slots=True)
class Changes:
    """The users that a block has changed: their rows before and after, and what is held about them now; `widths` are
    how many codes each row has, where not all have the same.
    """

    keys: list[bytes]
    heads: Heads
    before: Heads
    codes: Codes
    held: Mapping[bytes, bytes]
    held_change: int
    widths: Integers | None = None


class Outbox:
    """The releases of one block of one partition."""

    def __init__(self, promise: Promise, topic_id: bytes, partition: int, writer: ColumnWriter) -> None:
        self._promise, self._topic_id, self._partition, self._writer = promise, topic_id, partition, writer
        self._records: list[_Visible] = []
        self._outcomes: Counter[int] = Counter()
        self._upper: list[int] = []
        self._lower: list[int] = []
        self._appended: list[int] = []
        self._uncertified = 0

    def add(
        self,
        user: bytes,
        events: Sequence[Waiting],
        told: Told,
        step: int,
        place: int,
        length: int | None,
        segment: int = 0,
    ) -> None:
        """What became of these events of one window: the first is the user's event number `step` and the window's
        value number `place`. Without delay nobody knows yet how many values the window will hold. `segment` says whose
        model it was.
        """
        self._outcomes[told.outcome] += len(events)
        self._appended += [event.appended for event in events]
        self._uncertified += len(events) if told.uncertified else 0
        if told.outcome == RELEASED:
            self._upper.append(told.upper)
            self._lower.append(told.lower)
        for i, (event, symbol, drawn) in enumerate(zip(events, told.symbols, told.drawn, strict=True)):
            if symbol >= 0:
                self._records.append(
                    _Visible(
                        user,
                        self._writer.rewritten(event.text, symbol),
                        event.headers,
                        event.offset,
                        event.time,
                        step + i,
                        window_text(place + i, length, drawn),
                        told.outcome == FORECAST,
                        segment,
                    )
                )

    def effects(self, changes: Changes, timestamp: int, counts: Mapping[str, int], cut_short: int) -> Effects:
        """The whole block; `counts` are of records that were not carried out here."""
        outcomes = {name: self._outcomes[code] for code, name in enumerate(names.STEP_OUTCOMES)}
        return Effects(
            next_offset=0,
            releases=self._block(),
            dead_letters=[],
            changelog=_changelog(changes, timestamp),
            keys=changes.keys,
            heads=changes.heads,
            codes=changes.codes,
            outcomes={**outcomes, **counts},
            upper_units=np.array(self._upper, dtype=np.int64),
            lower_units=np.array(self._lower, dtype=np.int64),
            before=changes.before,
            uncertified=self._uncertified,
            cut_short=cut_short,
            held=changes.held,
            held_change=changes.held_change,
            appended=np.array(self._appended, dtype=np.int64),
        )

    def _block(self) -> RecordBlock:
        records, promise = self._records, self._promise
        offsets = np.array([record.offset for record in records], dtype=np.int64)
        steps = np.array([record.step for record in records], dtype=np.int64)
        owners = np.array([record.segment for record in records], dtype=np.int64)
        extra = [record.headers for record in records]
        return RecordBlock(
            keys=Texts.of([record.user for record in records]),
            values=Texts.of([record.text for record in records]),
            timestamps=np.array([record.time for record in records], dtype=np.int64),
            header_names=_HEADER_NAMES,
            header_values=(
                release_id_texts(self._topic_id, self._partition, offsets, promise.policy_fingerprint),
                promise.policy_name.encode(),
                model_names(promise, owners),
                decimals(steps),
                Texts.of([record.window for record in records]),
                names.FORECAST.encode(),
            ),
            header_masks=(None,) * 5 + (np.array([record.forecast for record in records], dtype=np.int8),),
            extra=extra if any(extra) else None,
        )


def window_text(place: int, length: int | None, drawn: int) -> bytes:
    """`place/length/drawn`: which value of its window, of how many if that is known, and what the channel drew, as an
    index of the alphabet, if it drew anything. All three are covered by the window's bound; an auditor needs them.
    """
    known = "" if length is None else str(length)
    return f"{place}/{known}/{'' if drawn == NOTHING_DRAWN else drawn}".encode()


def _changelog(changes: Changes, timestamp: int) -> RecordBlock:
    count = len(changes.keys)
    rows = RecordBlock(
        keys=Texts.of([names.CHANGELOG_USER_PREFIX + key for key in changes.keys]),
        values=row_texts(changes.heads, changes.codes, changes.widths),
        timestamps=np.full(count, timestamp, dtype=np.int64),
    )
    held = [Outgoing(names.CHANGELOG_HELD_PREFIX + key, record, timestamp) for key, record in changes.held.items()]
    return rows.with_records(held)
