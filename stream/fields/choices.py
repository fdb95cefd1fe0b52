"""The fields of a partition's events: what the gate lets each event tell, and its reports.

    the words of the users -> the gate's table -> one choice for each event and field -> reports, and the words after it

The choices depend on what was told of a user before, never on a value; an event that is read again meets the same
account, or is passed over like the rest of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mechanisms.contract import Floats, Integers
from stream.fields.draw import FieldDraw
from stream.fields.gate import SIGNS, WITHHELD, Choices
from stream.fields.promise import FieldsPromise
from stream.fields.rows import ACCOUNT, WINDOW, seal_words, words_of_fields
from stream.fields.step import carry_on
from stream.policy import REPLAYED, Events, Releases
from stream.protocol.ports import Loaded
from stream.protocol.texts import Texts
from stream.records.assemble import Reported
from stream.records.columns import Columns

_SIGNS = np.frombuffer(SIGNS.encode(), dtype=np.uint8)


class FieldsTold(NamedTuple):
    """For whoever counts: how often each choice was made of each field, and what a few reports of a field really told
    of each field that it may give away, itself among them, in nats.
    """

    choices: Mapping[str, Sequence[int]]
    realised: Mapping[tuple[str, str], Floats]


class Chosen(NamedTuple):
    """One row of choices for each event of a block; events that are read again have the choices of nobody."""

    names: tuple[str, ...]
    choices: Choices
    counted: np.ndarray[tuple[int], np.dtype[np.bool_]]

    def signs(self, events: Integers) -> Texts:
        """How the header writes the choices of these events."""
        return Texts.of_rows(np.ascontiguousarray(_SIGNS[self.choices[events]]))

    def counts(self) -> dict[str, list[int]]:
        made = self.choices[self.counted]
        counts = [np.bincount(made[:, place], minlength=len(SIGNS)).tolist() for place in range(len(self.names))]
        return dict(zip(self.names, counts, strict=True))


class FieldChoices:
    """Of one partition."""

    def __init__(self, promise: FieldsPromise, partition_key: bytes) -> None:
        self._promise = promise
        self._words = words_of_fields(len(promise.forms))
        self._draws = [FieldDraw(form, partition_key, promise.lasting_key) for form in promise.forms]

    def followed(self, rows: Loaded) -> Loaded:
        """The rows without the words of the fields, in arrays of their own."""
        return rows._replace(heads=np.ascontiguousarray(rows.heads[:, : -self._words]))

    def choose(self, rows: Loaded, followed: Loaded, events: Events, releases: Releases) -> Chosen:
        """Take the step's words back into the rows, and add what the events tell to the words of the fields."""
        rows.heads[:, : -self._words] = followed.heads
        words = np.ascontiguousarray(rows.heads[:, -self._words :])
        counted = releases.outcome != REPLAYED
        turns, windows = self._promise.turns, words[:, WINDOW].copy()
        # Of the users, and behind them of somebody of whom nothing has been told.
        nobody = np.zeros((1, self._words - ACCOUNT), dtype=np.int64)
        numbers = turns.number_of(np.concatenate([words[:, ACCOUNT:], nobody]))
        nothing, numbers = int(numbers[-1]), numbers[:-1].copy()
        before = np.empty(events.slot.shape[0], dtype=np.int64)
        at, length = 0, self._promise.window
        while True:
            # The table's arrays are replaced as it grows, so they are taken anew.
            at = carry_on(
                at, events.slot, events.time, counted, length, nothing, turns.following, windows, numbers, before
            )
            if at == before.shape[0]:
                break
            turns.work_out(int(numbers[events.slot[at]]))
        choices = np.full((before.shape[0], len(self._draws)), WITHHELD, dtype=np.int8)
        choices[counted] = turns.choices[before[counted]]
        words[:, WINDOW], words[:, ACCOUNT:] = windows, turns.accounts[numbers]
        seal_words(words, self._promise.tag)
        rows.heads[:, -self._words :] = words
        return Chosen(tuple(form.name for form in self._promise.forms), choices, counted)

    def reports(self, chosen: Chosen, columns: Columns, events: Integers, users: Sequence[bytes]) -> list[Reported]:
        """Of these events, one entry for each field."""
        offsets, choices = columns.offsets[events], chosen.choices[events]
        drawn = zip(self._draws, columns.fields, range(len(self._draws)), strict=True)
        return [draw.reports(choices[:, place], values[events], users, offsets) for draw, values, place in drawn]

    def told(self, chosen: Chosen) -> FieldsTold:
        """After the reports were drawn. A report's chances under a value of another field are sums of its weights."""
        realised = {}
        for (source, target), law in self._promise.laws.items():
            weighed = self._draws[source].weighed
            if weighed.shape[0]:
                chances = weighed @ law.T
                realised[chosen.names[source], chosen.names[target]] = np.log(chances.max(axis=1) / chances.min(axis=1))
        return FieldsTold(chosen.counts(), realised)
