"""Crowds of a stream: what every grouper of events promises, and what all of them hold. Proof: flow.md.

A grouper decides who joins whom and when a crowd is let out. What waits, the delay, the users of a crowd and the state
between two events are the same for all and stand here, in waiting.py and in kept.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from beliefs.checks import Invalid, require
from mechanisms.crowds.attributes import Attributes, Box
from mechanisms.crowds.diversity import Rule
from mechanisms.crowds.packed import pack, unpack
from mechanisms.crowds.waiting import Arrival, Waiting

EVENTS_MOST = 10_000
STATE_VERSION = 1

Reason = Literal["too_few", "not_diverse", "loss"]


class Emitted(NamedTuple):
    """Events that leave together: into the box of a crowd, or, for a reason, into nothing."""

    seqs: tuple[int, ...]  # ascending
    users: int  # distinct ones of the crowd that the box was made of; of what is kept back, those of the events
    box: Box | None  # None where there is a reason
    loss: float  # of the box; 1 where there is none
    reused: bool  # the box was let out before, for the crowd whose users are counted here
    reason: Reason | None


@dataclass(frozen=True)
class FlowForm:
    """What a grouper is made of. An event leaves before `events` later ones are taken, or once it is `time` old."""

    attributes: Attributes
    rule: Rule
    events: int
    time: int

    def __post_init__(self) -> None:
        require(self.rule.k <= self.events <= EVENTS_MOST, f"a delay has from k to {EVENTS_MOST} events")
        require(self.time >= 1, "a delay has a length")


class Flow(Protocol):
    """One stream's crowds. The same calls give the same answers everywhere, and after `restore` as well."""

    @property
    def waiting(self) -> int: ...

    @property
    def merged(self) -> int:
        """How many clusters were merged into others, so that somebody who was due had a crowd; since this flow was
        made or restored, for whoever watches."""

    @property
    def oldest(self) -> tuple[int, int] | None:
        """The sequence number and the time of the event that leaves next, at `time` + the form's at the latest."""

    def take(self, seq: int, time: int, user: int | bytes, cells: tuple[int, ...], sensitive: int) -> list[Emitted]:
        """One event more: `seq` rises, by 1 where the whole delay is to be used; `time` never falls (the caller hands
        the later of the event's and of its clock); `sensitive` is -1 where the rule has no such values."""

    def overdue(self, time: int) -> list[Emitted]:
        """What leaves because the clock says so."""

    def state(self) -> bytes:
        """All but the waiting events themselves."""

    def restore(self, state: bytes, waiting: Sequence[Arrival]) -> None:
        """Makes a new flow of the same form go on exactly as the one whose state this is; `waiting` as it was taken."""


class Grouper(ABC):
    """The delay, kept for every grouper: what is due leaves, and leaves once."""

    NAME: str

    def __init__(self, form: FlowForm) -> None:
        self.form = form
        self.merged = 0
        self.held = Waiting(form.attributes, form.rule, form.events + 1)

    @property
    def waiting(self) -> int:
        return self.held.count

    @property
    def oldest(self) -> tuple[int, int] | None:
        slot = self.held.oldest()
        return None if slot < 0 else (int(self.held.seqs[slot]), int(self.held.times[slot]))

    def take(self, seq: int, time: int, user: int | bytes, cells: tuple[int, ...], sensitive: int) -> list[Emitted]:
        found = self.overdue(time)
        require(seq > self.held.newest, "sequence numbers rise")
        if seq > self.held.newest + 1:  # numbers were left out: their events are over, too
            self._let_go(found, seq - self.form.events - 1)
        slot = self.held.add(Arrival(seq, time, user, cells, sensitive))
        found += self._join(slot)
        self._let_go(found, seq - self.form.events)
        return found

    def overdue(self, time: int) -> list[Emitted]:
        self.held.clock(time)
        found: list[Emitted] = []
        while (slot := self.held.oldest()) >= 0 and self.held.times[slot] + self.form.time <= time:
            found += self._leave(slot)
        return found

    def state(self) -> bytes:
        return pack((STATE_VERSION, *self.NAME.encode(), 0, *self.held.numbers(), *self._numbers()))

    def restore(self, state: bytes, waiting: Sequence[Arrival]) -> None:
        require(self.held.newest < 0, "only a new flow takes up a state")
        numbers = unpack(state)
        try:
            for written in (STATE_VERSION, *self.NAME.encode(), 0):
                if next(numbers) != written:
                    raise Invalid("state", f"is not one of {self.NAME}, version {STATE_VERSION}")
            self.held.resume(numbers, waiting)
            self._resume(numbers)
        except StopIteration:
            raise Invalid("state", "ends too early") from None
        if next(numbers, None) is not None:
            raise Invalid("state", "holds more than it should")

    def _let_go(self, found: list[Emitted], last: int) -> None:
        while (slot := self.held.oldest()) >= 0 and self.held.seqs[slot] <= last:
            found += self._leave(slot)

    @abstractmethod
    def _join(self, slot: int) -> list[Emitted]:
        """An event has come into this slot; what leaves at once because of it."""

    @abstractmethod
    def _leave(self, slot: int) -> list[Emitted]:
        """The oldest event has to leave: it and all that leave with it, taken out of `held`."""

    @abstractmethod
    def _numbers(self) -> Iterable[int]:
        """The grouper's own state: whole numbers, no slot among them (they are numbered anew)."""

    @abstractmethod
    def _resume(self, numbers: Iterator[int]) -> None:
        """Reads them again; `held` is as it was."""
