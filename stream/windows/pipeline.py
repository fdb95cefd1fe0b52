"""The straight line of one block where events are released in windows: records in, effects out.

    the door -> the users' rows and what is held about them -> windows.step -> releases, changed rows, what is held now

As with single events, the same records, rows, policy and key give the same effects however often they are repeated and
however they were cut into blocks: a window's values are settled by its user's own records, or by a clock mark that is
committed before the window is closed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mechanisms.coins import Coins
from mechanisms.contract import Integers
from mechanisms.sequence.window_running import COUNT
from stream import names
from stream.door import Door, Entered, without_unreadable
from stream.errors import StateRefused
from stream.policy import Bench
from stream.promise import Promise
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Codes, Heads, UserStore
from stream.records.columns import ColumnWriter
from stream.segments import owners_of
from stream.state import Word, head_words
from stream.windows.deadlines import WindowDeadlines
from stream.windows.held import HELD_BYTES_MAX, NEVER, Seals, Unsealable, Waiting, head_of, readable_head
from stream.windows.outbox import Changes, Outbox
from stream.windows.step import OpenWindow, Told, WindowStep


@dataclass(slots=True)
class _User:
    """One user of a block at work: the codes of his row as the store has them, and whose model serves him."""

    key: bytes
    head: Integers
    row: Codes
    old: Integers
    waiting: list[Waiting] = field(default_factory=list)
    opened: OpenWindow | None = None
    due: int = NEVER
    changed: bool = False
    before: int = 0
    weight: int = 0
    was_held: bool = False
    segment: int = 0
    width: int = 0

    @property
    def codes(self) -> Codes:
        """Those that belong to the user's model."""
        return self.row[: self.width]


class WindowPipeline:
    """The pipeline of one partition, with a bench for each model that serves; benches may be shared, because a block
    never waits half-way.
    """

    def __init__(self, promise: Promise, topic: str, topic_id: bytes, partition: int, *benches: Bench) -> None:
        if promise.windows is None:
            raise ValueError("the settings have no windows")
        self._promise, self._rules = promise, promise.windows
        self._where = f"topic {topic}, partition {partition}"
        self._topic_id, self._partition = topic_id, partition
        self._door = Door(promise, topic, topic_id, partition)
        self._writer = ColumnWriter(promise.record, promise.alphabet)
        self._seals = Seals(promise.ring, promise.pipeline, topic_id, partition)
        self._steps = [step_of(each, bench) for each, bench in zip(promise.served, benches, strict=True)]
        self._widths = np.array([each.width for each in promise.served], dtype=np.int64)
        self._words = head_words(promise.policy.interval > 0, promise.policy.sliding)
        self.deadlines = WindowDeadlines()

    def adopt(self, store: UserStore) -> int:
        """Take over what is held; every key that it was sealed with must be there."""
        heads = [head for _, record in store.held() if (head := readable_head(record)) is not None]
        missing = {head.epoch for head in heads if not self._seals.has(head.epoch)}
        if missing:
            raise StateRefused(
                "Events that wait in windows cannot be opened.",
                where=self._where,
                why=f"they were sealed with key epoch {min(missing)}, which the key ring does not have",
                fix="put that epoch back into the key ring; epochs are added, never removed",
            )
        self.deadlines.begin(store.held())
        return sum(head.waiting for head in heads)

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:
        entered = self._door.enter(records, store.unreadable)
        users, broken = self._load(store, list(dict.fromkeys(entered.users)))
        if broken:
            entered = without_unreadable(entered, broken)
        entered = self._settled(entered, users)
        outbox = self._outbox()
        replayed = self._take(records, entered, users, outbox)
        columns = entered.columns
        counts = {names.REPLAYED: replayed, names.DEAD_LETTERED: len(columns.rejected)}
        effects = self._effects(users.values(), outbox, max(0, int(records.timestamps[-1])), counts)
        effects.dead_letters = self._door.dead_letters(records, columns)
        effects.reasons = Counter(rejected.reason for _, rejected in columns.rejected)
        return effects

    def cut(self, store: UserStore, first: int) -> None:  # noqa: ARG002 - the shape that all share
        return None

    def prepare_overdue(self, store: UserStore, clock: int) -> Effects | None:
        overdue = self.deadlines.overdue(clock, self._rules.closed_together)
        users, broken = self._load(store, overdue)
        for key in broken:
            self.deadlines.set(key, None)  # its next event is dead-lettered, and says that the state is unreadable
        if not users:
            return self.prepare_overdue(store, clock) if overdue else None
        self._assign(list(users.values()), self._owners(users))
        outbox = self._outbox()
        for user in users.values():
            user.changed = True
            self._close(user, outbox)
        return self._effects(users.values(), outbox, clock, {})

    def _settled(self, entered: Entered, users: dict[bytes, _User]) -> Entered:
        """Each user gets his segment; the answer is the block without events of other ones."""
        place = {key: i for i, key in enumerate(users)}
        slot = np.array([place[user] for user in entered.users], dtype=np.int64)
        entered, _, owners = self._door.settle(
            entered, slot, _stacked([user.head for user in users.values()], self._words)
        )
        self._assign(list(users.values()), owners)
        return entered

    def _owners(self, users: dict[bytes, _User]) -> Integers:
        """The segments of users who have rows."""
        heads, segments = _stacked([user.head for user in users.values()], self._words), self._promise.segments
        return np.zeros(len(users), np.int64) if segments is None else owners_of(heads, segments.tags)

    def _assign(self, users: Sequence[_User], owners: Integers) -> None:
        for user, segment in zip(users, owners.tolist(), strict=True):
            user.segment, user.width = segment, int(self._widths[segment])

    def _outbox(self) -> Outbox:
        return Outbox(self._promise, self._topic_id, self._partition, self._writer)

    def _load(self, store: UserStore, keys: Sequence[bytes]) -> tuple[dict[bytes, _User], set[bytes]]:
        """The users' rows and what is held about them; and those of whom it cannot be opened."""
        rows = store.load(keys)
        old = rows.heads.copy()
        users: dict[bytes, _User] = {}
        broken: set[bytes] = set()
        for i, (key, record) in enumerate(zip(keys, store.load_held(keys), strict=True)):
            user = _User(key, rows.heads[i], rows.codes[i], old[i])
            if record is not None:
                try:
                    found = self._seals.unseal(key, record, int(user.head[Word.WATERMARK]))
                except Unsealable:
                    broken.add(key)
                    continue
                user.was_held = True
                if isinstance(found, OpenWindow):
                    user.opened = found
                else:
                    user.waiting, user.before, user.due = found, len(found), head_of(record).due
                    user.weight = sum(event.size for event in found)
            users[key] = user
        return users, broken

    def _take(self, records: InputBlock, entered: Entered, users: dict[bytes, _User], outbox: Outbox) -> int:
        """Carry out every event; answers how many had been carried out before."""
        columns = entered.columns
        count, replayed = len(entered.users), 0
        rows = np.arange(count, dtype=np.int64)
        texts = self._writer.texts(columns, rows, np.zeros(count, dtype=np.int64)).all()
        headers = self._door.passing_headers(records, columns.positions)
        coins = self._door.coins(columns.offsets)
        appended = records.timestamps[columns.positions].tolist()
        numbers = zip(columns.offsets.tolist(), columns.times.tolist(), columns.symbols.tolist(), strict=True)
        for i, (offset, time, symbol) in enumerate(numbers):
            user = users[entered.users[i]]
            if offset <= user.head[Word.WATERMARK]:
                replayed += 1
                continue
            passed = tuple(headers[i]) if headers else ()
            self._take_one(user, Waiting(offset, time, appended[i], symbol, texts[i], passed), coins[i : i + 1], outbox)
            user.due = appended[i] + self._rules.deadline
        return replayed

    def _take_one(self, user: _User, event: Waiting, coins: Coins, outbox: Outbox) -> None:
        rules = self._rules
        if user.opened is not None and (not rules.natural or rules.is_beyond(event.time, user.opened.time)):
            self._end(user)
        if user.waiting and (rules.natural or rules.is_beyond(event.time, user.waiting[0].time)):
            self._close(user, outbox)
        user.head[Word.WATERMARK] = event.offset
        user.changed = True
        step = self._steps[user.segment]
        if rules.natural and not step.is_stopped(user.head):
            self._release_next(user, event, coins, outbox)
            return
        user.waiting.append(event)
        user.weight += event.size
        if len(user.waiting) >= rules.events or user.weight > HELD_BYTES_MAX or step.is_stopped(user.head):
            self._close(user, outbox)

    def _release_next(self, user: _User, event: Waiting, coins: Coins, outbox: Outbox) -> None:
        step = int(user.head[Word.STEPS]) + 1
        windows, codes = self._steps[user.segment], user.codes
        told, user.opened = windows.next(user.head, codes, user.opened, event.time, event.symbol, coins)
        place = 1 if user.opened is None else int(user.opened.running.marks[COUNT])
        outbox.add(user.key, [event], told, step, place, None, user.segment)
        if user.opened is not None and place >= self._rules.events:
            self._end(user)

    def _end(self, user: _User) -> None:
        if user.opened is not None:
            self._steps[user.segment].end(user.head, user.codes, user.opened)
            user.opened = None

    def _close(self, user: _User, outbox: Outbox) -> None:
        """Release the values that wait."""
        events, user.waiting, user.weight = user.waiting, [], 0
        offsets, times, symbols = (
            np.array(column, dtype=np.int64)
            for column in zip(*((event.offset, event.time, event.symbol) for event in events), strict=True)
        )
        step = int(user.head[Word.STEPS]) + 1
        windows = self._steps[user.segment]
        told: Told = windows.close(user.head, user.codes, times, symbols, self._door.coins(offsets))
        outbox.add(user.key, events, told, step, 1, len(events), user.segment)

    def _effects(self, users: Iterable[_User], outbox: Outbox, timestamp: int, counts: dict[str, int]) -> Effects:
        changed = [user for user in users if user.changed]
        for user in changed:
            self._steps[user.segment].stamp(user.head, user.codes)
        held = {user.key: self._sealed(user) for user in changed if user.was_held or user.waiting or user.opened}
        codes = np.array([user.row for user in changed], dtype=np.uint32)
        after = Changes(
            keys=[user.key for user in changed],
            heads=_stacked([user.head for user in changed], self._words),
            before=_stacked([user.old for user in changed], self._words),
            codes=codes.reshape(len(changed), int(self._widths.max())),
            widths=self._widths[[user.segment for user in changed]] if len(self._steps) > 1 else None,
            held=held,
            held_change=sum(len(user.waiting) - user.before for user in changed),
        )
        return outbox.effects(after, timestamp, counts, sum(step.searches_cut_short() for step in self._steps))

    def _sealed(self, user: _User) -> bytes:
        watermark = int(user.head[Word.WATERMARK])
        if user.opened is not None:
            return self._seals.opened(user.key, user.opened, watermark)
        return self._seals.waiting(user.key, user.waiting, watermark, user.due) if user.waiting else b""


def step_of(promise: Promise, bench: Bench) -> WindowStep:
    """The windows of the users of one model."""
    if promise.windows is None:
        raise ValueError("the settings have no windows")
    return WindowStep(promise.policy, promise.chain, promise.windows.back, bench, longest=promise.windows.at_once)


def _stacked(heads: list[Integers], words: int) -> Heads:
    return np.array(heads, dtype=np.int64).reshape(len(heads), words)
