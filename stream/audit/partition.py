"""The audit of one partition: its released records, in order, against the states that its changelog holds.

The states are those of one moment, the end of the changelog when it was read. A record whose step is beyond its user's
stored steps came later; it is not audited this time, and must not be older than the beginning of the audit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from stream.audit.amounts import Integers
from stream.audit.book import (
    ABOVE_EPSILON,
    ADRIFT,
    AFTER_STOP,
    COST_LOWER,
    COST_UPPER,
    FORECAST,
    HIDDEN,
    IMPOSSIBLE_VALUE,
    LOST,
    LOST_BEFORE,
    MARKS,
    NEEDLESS_FORECAST,
    NOT_CERTIFIED,
    NOT_FOLLOWED,
    NOT_LIKELIEST,
    NOTHING,
    OUT_OF_ORDER,
    OUTCOME,
    OVER_BUDGET,
    STEPS,
    UNSURE,
    USER,
    WRONG,
    Desk,
    events_of,
    grown,
    new_book,
    new_desk,
    new_verdicts,
)
from stream.audit.field_follow import FieldFollower
from stream.audit.field_records import FORMS_OF_FIELDS
from stream.audit.findings import PLACES_SHOWN, Findings
from stream.audit.follow import follow
from stream.audit.held import Held, Seen, waiting_of, wrongly_held
from stream.audit.public import Public
from stream.audit.records import (
    BROKER_TIME,
    ID_BYTES,
    OTHER_MODEL,
    OTHER_POLICY,
    STRANGE_FIELD,
    STRANGE_HEADER,
    UNUSABLE,
    Parsed,
    Reader,
    Record,
)
from stream.audit.repeats import IdIndex
from stream.audit.rows import StoredRows, Truths, differences, wrong_watermarks
from stream.audit.sample import Sample
from stream.audit.tally import Tally
from stream.audit.window_book import MISPLACED, OTHER_STRETCH, TOO_LONG, WRONG_SHOWN
from stream.audit.windows import Rows, WindowFollower, rows_of

_OF_FORM: Final = (
    (OTHER_POLICY, "wrong_policy"),
    (OTHER_MODEL, "wrong_model"),
    (STRANGE_HEADER | STRANGE_FIELD, "strange_field"),
    *FORMS_OF_FIELDS,
    (BROKER_TIME, "broker_time"),
    (UNUSABLE, "unusable_record"),
)
_OF_EVENTS: Final = (
    (OUT_OF_ORDER, "out_of_order"),
    (NEEDLESS_FORECAST, "needless_forecast"),
    (OVER_BUDGET, "over_budget"),
    (NOT_LIKELIEST, "not_likeliest"),
    (ABOVE_EPSILON, "above_epsilon"),
    (IMPOSSIBLE_VALUE, "impossible_value"),
    (AFTER_STOP, "after_stop"),
    (NOT_CERTIFIED, "not_certified"),
    (TOO_LONG, "long_window"),
    (MISPLACED, "wrong_place"),
    (OTHER_STRETCH, "wrong_stretch"),
    (WRONG_SHOWN, "wrong_shown"),
)


class PartitionAudit:
    """Takes released records in the order of the partition; `close` makes the comparison."""

    def __init__(
        self, public: Public, partition: int, stored: StoredRows | None, settled: int, findings: Findings, ids: IdIndex
    ) -> None:
        self._public, self._partition, self._stored, self._settled = public, partition, stored, settled
        self._findings, self._ids = findings, ids
        self._known = 0 if stored is None else len(stored.users)
        numbers = [] if stored is None else [*stored.users, *stored.quarantined]
        self._reader = Reader(public.form, {user: number for number, user in enumerate(numbers)})
        self._set_aside = len(numbers) - self._known
        self._desk: Desk = new_desk(public.states, public.symbols, public.distance)
        self._book = new_book(self._known, public.states, public.listed, public.rules.sliding)
        self._last_ids = np.zeros(self._known, dtype=f"V{ID_BYTES}")
        windows = public.windows
        self._windows = None if windows is None else WindowFollower(public.rules, windows)
        fields = self._reader.fields
        self._fields = None if fields is None or public.fields is None else FieldFollower(public.fields, fields.signs)
        self.held: Mapping[bytes, Held] = {}
        self.sample: Sample | None = None
        self.segment = 0
        self.tally = Tally()

    def take(self, records: Sequence[Record]) -> None:
        parsed = self._reader.read(records)
        self.tally.records += len(records)
        self._report_form(parsed)
        usable = parsed.form & UNUSABLE == 0
        self._ids.add(self._partition, parsed, usable)
        self._make_room()
        audited = usable & self._within_states(parsed, usable)
        if audited.any():
            self._follow(parsed, np.flatnonzero(audited))

    def _report_form(self, parsed: Parsed) -> None:
        if not parsed.form.any():
            return
        for mask, code in _OF_FORM:
            which = np.flatnonzero(parsed.form & mask)
            self._findings.add(code, which.shape[0], self._records_at(parsed.offset[which[:PLACES_SHOWN]]))

    def _make_room(self) -> None:
        """The book grows by half at least, so that copying it stays cheap however many users come."""
        users = len(self._reader.users)
        if users > self._book.users.shape[0]:
            size = max(users, self._book.users.shape[0] * 3 // 2, 1024)
            self._book = grown(self._book, size)
            self._last_ids = np.concatenate(
                [self._last_ids, np.zeros(size - len(self._last_ids), self._last_ids.dtype)]
            )

    def _within_states(self, parsed: Parsed, usable: Truths) -> Truths:
        """Which records the stored states speak of. Without a changelog, all."""
        if self._stored is None:
            return np.ones(usable.shape[0], dtype=np.bool_)
        known = usable & (parsed.user < self._known)
        unreadable = usable & ~known & (parsed.user < self._known + self._set_aside)
        within = np.zeros(usable.shape[0], dtype=np.bool_)
        within[known] = parsed.step[known] <= self._stored.rows["steps"][parsed.user[known]]
        within |= unreadable
        early = usable & ~within & (parsed.offset < self._settled)
        for code, which in (("state_missing", early & ~known), ("state_behind", early & known)):
            found = np.flatnonzero(which)
            self._findings.add(code, found.shape[0], self._records_at(parsed.offset[found[:PLACES_SHOWN]]))
        later = usable & ~within & ~early
        self.tally.later += int(later.sum())
        # Records of users without any state are followed all the same: what they told is still to be judged.
        return within | (early & ~known)

    def _follow(self, parsed: Parsed, which: Integers) -> None:
        rows = rows_of(parsed, which)
        if self._fields is not None:
            self._follow_fields(self._fields, parsed, which)
        if self.sample is not None:
            self.sample.take(self._partition, self._reader.users, rows.events, self.segment)
        if self._windows is not None:
            self._count(*self._windows.take(self._book, self._desk, rows))
            return
        verdicts = new_verdicts(which.shape[0])
        follow(self._public.rules, self._public.law, self._desk, self._book, rows.events, verdicts)
        self._count(rows, verdicts)

    def _follow_fields(self, fields: FieldFollower, parsed: Parsed, which: Integers) -> None:
        columns = [column[which] for column in (parsed.user, parsed.step, parsed.time, parsed.signs, parsed.offset)]
        for code, name, offset in fields.take(len(self._reader.users), *columns):
            self._findings.add(code, 1, self._records_at(np.array([offset])), detail=name)

    def _count(self, rows: Rows, verdicts: Integers) -> None:
        events = rows.events
        counted = verdicts[:, WRONG] != OUT_OF_ORDER
        forecasts = int((events[counted, OUTCOME] == FORECAST).sum())
        self.tally.forecast += forecasts
        self.tally.released += int(counted.sum()) - forecasts
        self._last_ids[events[counted, USER]] = rows.ids[counted]
        self._measure(verdicts)
        if verdicts[:, WRONG].any():
            self._report_events(rows.offsets, verdicts)

    def _measure(self, verdicts: Integers) -> None:
        for side, charges in enumerate((verdicts[:, COST_UPPER], verdicts[:, COST_LOWER])):
            self.tally.above_epsilon[side] += int((charges > self._public.rules.epsilon).sum())
            self.tally.largest[side] = max(self.tally.largest[side], int(charges.max(initial=0)))

    def _report_events(self, offsets: Integers, verdicts: Integers) -> None:
        for mask, code in _OF_EVENTS:
            which = np.flatnonzero(verdicts[:, WRONG] & mask)
            self._findings.add(code, which.shape[0], self._records_at(offsets[which[:PLACES_SHOWN]]))
        lost = np.flatnonzero(verdicts[:, LOST])
        places = [f"before {place}" for place in self._records_at(offsets[lost[:PLACES_SHOWN]])]
        self._findings.add("lost_event", int(verdicts[:, LOST].sum()), places)
        self.tally.not_followed += int((verdicts[:, WRONG] & (NOT_FOLLOWED | LOST_BEFORE) != 0).sum())

    def close(self, topic_id: bytes | None) -> None:
        """Compare with the stored states; `topic_id` is that of the raw topic, where the changelog names it."""
        self._make_room()
        users = len(self._reader.users)
        if self._windows is not None:
            rows, verdicts = self._windows.rest(self._book, self._desk, decided=self._stored is not None)
            self._count(rows, verdicts)
            self.tally.later += self._windows.left
        if self._stored is not None:
            latest = self._book.column(STEPS)[: self._known].copy()
            self._catch_up(self._stored)
            self._compare(self._stored, latest, topic_id)
        if self._fields is not None:
            self.tally.fields = self._fields.tally()
        book = self._book
        self.tally.users = int((book.column(STEPS)[:users] > 0).sum())
        self.tally.suppressed = int(book.column(HIDDEN)[:users].sum())
        self.tally.users_not_followed = int((book.column(MARKS)[:users] & ADRIFT != 0).sum())
        self.tally.users_unsure = int((book.column(MARKS)[:users] & UNSURE != 0).sum())

    def _catch_up(self, stored: StoredRows) -> None:
        """Events after a user's last release were suppressed, or are missing."""
        steps, book = stored.rows["steps"], self._book
        # Every event has an offset of its own, so a user cannot have taken more steps than there were offsets.
        endless = steps > stored.rows["watermark"] + 1
        self._findings.add(
            "state_differs", int(endless.sum()), self._states_at(stored, np.flatnonzero(endless)), "steps"
        )
        book.users[np.flatnonzero(endless), MARKS] |= ADRIFT
        behind = np.flatnonzero(steps > book.column(STEPS)[: self._known])
        if self._windows is not None:
            lost = self._windows.catch_up(book, self._desk, behind, steps[behind])
        else:
            none = np.zeros_like(behind)
            unseen = events_of(behind, steps[behind], none, none, none + NOTHING)
            verdicts = new_verdicts(behind.shape[0])
            follow(self._public.rules, self._public.law, self._desk, book, unseen, verdicts)
            lost = verdicts[:, LOST]
        self._findings.add("lost_event", int(lost.sum()), self._states_at(stored, behind[lost > 0]))

    def _compare(self, stored: StoredRows, latest: Integers, topic_id: bytes | None) -> None:
        self.tally.states = self._known
        users = np.arange(self._known)
        set_aside = [self._changelog_at(offset) for offset in stored.quarantined.values()]
        self._findings.add("quarantined_rows", len(set_aside), set_aside)
        waiting = waiting_of(self.held, stored.users)
        empty = np.flatnonzero((stored.rows["steps"] <= 0) & (waiting == 0))
        self._findings.add("state_extra", empty.shape[0], self._states_at(stored, empty))
        self._compare_windows(stored)
        if self._fields is not None:
            for name, others in self._fields.differences(stored.rows["steps"], stored.words).items():
                self._findings.add("field_account", len(others), self._states_at(stored, others), detail=name)
        for name, rows in differences(self._book, users, stored.rows, self._public.tag).items():
            which = np.flatnonzero(rows)
            self._findings.add("state_differs", which.shape[0], self._states_at(stored, which), detail=name)
        if topic_id is None:
            return
        visible = np.flatnonzero((latest == stored.rows["steps"]) & (latest > 0) & (waiting == 0))
        wrong = wrong_watermarks(
            stored.rows["watermark"][visible].tolist(),
            [bytes(seen) for seen in self._last_ids[visible].tolist()],
            topic_id,
            self._partition,
            self._public.fingerprint,
        )
        self._findings.add("wrong_watermark", len(wrong), self._states_at(stored, visible[wrong]))

    def _compare_windows(self, stored: StoredRows) -> None:
        open_users = np.zeros(self._known, dtype=np.bool_)
        if self._windows is not None:
            open_users = self._windows.open_users(self._book)[: self._known]
            self._windows.show_open(self._book, stored.rows["drift"])
        cut = None if self._public.windows is None else self._public.windows.cut
        adrift = self._book.column(MARKS)[: self._known] & ADRIFT != 0
        wrong = wrongly_held(cut, self.held, stored, Seen(open_users, open_users | adrift))
        self._findings.add("wrongly_held", len(wrong), [self._changelog_at(offset) for offset in wrong[:PLACES_SHOWN]])

    @property
    def users(self) -> Iterable[bytes]:
        return self._reader.users

    def _records_at(self, offsets: Integers) -> list[str]:
        return [f"{self._public.released_topic}, partition {self._partition}, offset {at}" for at in offsets.tolist()]

    def _states_at(self, stored: StoredRows, users: Iterable[int]) -> list[str]:
        return [self._changelog_at(int(stored.offsets[user])) for user in list(users)[:PLACES_SHOWN]]

    def _changelog_at(self, offset: int) -> str:
        return f"{self._public.changelog_topic}, partition {self._partition}, offset {offset}"
