"""Releases of a pipeline that learns its model: under which model each was made, and what is said of it then.

Which epoch a release belongs to stands in its header `model`. What a blind epoch does follows from the settings alone;
an informed one's model stands in its record in the belief topic, which is as public as the releases. Proof: epochs.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

import numpy as np

from beliefs.learning.online import uniform_chain
from beliefs.model_file import InvalidModel, parse
from stream import names
from stream.audit.amounts import Floats, Integers
from stream.audit.book import STEPS
from stream.audit.epoch_records import Epoch, epoch_of
from stream.audit.epochs import adopt, public_in
from stream.audit.public import Public
from stream.audit.records import Record
from stream.estimation.crossed import Beside
from stream.estimation.sequence import Part, Windows
from stream.learning.record import DRIFT, START, epoch_number, model_of_epoch

_DIGITS_MOST: Final = 18
_NO_EPOCH: Final = 0


@dataclass
class Epochs:
    """What is known of the epochs of each partition; `base` is what holds in all of them."""

    base: Public
    _known: dict[tuple[int, bytes], Public | None] = field(default_factory=dict)

    def add(self, partition: int, record: bytes) -> None:
        """A record of the belief topic; one that cannot be read is as if it were not there, and its releases are."""
        try:
            document = json.loads(record)
            epoch = epoch_of(document, int(document["epoch"]))
        except (InvalidModel, ValueError, KeyError, TypeError):
            return
        public = public_in(self.base, epoch)
        self._known[partition, public.form.model] = public

    def add_record(self, partition: int, record: Record) -> None:
        """A record of the belief topic, which is one of an epoch, or of something else."""
        if record.value is not None and epoch_number(record.key or b"") is not None:
            self.add(partition, record.value)

    def public(self, partition: int, name: bytes) -> Public | None:
        """What holds for a release that bears this name of a model; None where that is not known."""
        place = partition, name
        if place not in self._known:
            self._known[place] = self._blind(name)
        return self._known[place]

    def _blind(self, name: bytes) -> Public | None:
        digits = name.partition(b":")[0]
        if not digits.isdigit() or len(digits) > _DIGITS_MOST:
            return None
        alphabet, number = self.base.form.alphabet, int(digits)
        for because in (START, DRIFT):
            model = parse(model_of_epoch(alphabet, uniform_chain(alphabet.size), number, because))
            if name == f"{number}:{model.short}".encode():
                return public_in(self.base, Epoch(number, 0, because, model, 0, 0, None, None))
        return None


class EpochPart(Part):
    """The users of one partition, under one model after the other."""

    def __init__(self, epochs: Epochs, number: int, coefficients: Floats | None, *, transitions: bool) -> None:
        super().__init__(epochs.base, coefficients, number << 32, transitions=transitions)
        self._epochs, self._number, self._tag = epochs, number, _NO_EPOCH
        self._last: Integers = np.zeros(0, dtype=np.int64)

    def take(self, records: Sequence[Record], places: Integers, windows: Windows, beside: Beside | None = None) -> int:
        """Records under a model that is not known are passed over, and so are their users' from then on."""
        late = 0
        for name, which in _by_model(records):
            public = self._epochs.public(self._number, name)
            if public is not None:
                self._enter(public)
                late += super().take(records[which], places[which], windows, beside)
        return late

    def _enter(self, public: Public) -> None:
        if public.tag != self._tag:
            self._tag = public.tag
            self._listener.enter(public)
            self._reader.form = public.form

    def _before(self, users: Integers) -> None:
        """Users who come from another epoch."""
        book = self._listener.book
        more = book.users.shape[0] - self._last.shape[0]
        self._last = np.concatenate([self._last, np.full(max(more, 0), _NO_EPOCH, dtype=np.int64)])
        here = np.unique(users)
        new = here[(self._last[here] != self._tag) & (book.users[here, STEPS] > 0)]
        adopt(book, new, self._listener.settle)
        self._last[here] = self._tag


def _by_model(records: Sequence[Record]) -> Iterator[tuple[bytes, slice]]:
    start = 0
    for name, group in groupby(records, key=lambda record: dict(record.headers or ()).get(names.HEADER_MODEL, b"")):
        stop = start + sum(1 for _ in group)
        yield name, slice(start, stop)
        start = stop
