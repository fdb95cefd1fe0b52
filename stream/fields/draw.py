"""Reports of one field, drawn with the coins of their offsets and written as JSON.

The coins of a field are words of a keystream of its own, the same for an offset for ever; the last word of an offset
chooses the slot of a list. Kept bits follow from user and value alone, under a key that neither topic nor partition
changes: drawn anew they would tell once more what they may tell once. Bits of another chance have another key.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.coins import Coins
from mechanisms.contract import Floats, Integers
from mechanisms.local.coins import KeptCoins, coins_at, field_key
from mechanisms.local.contract import Drawn
from mechanisms.local.likelihood import few_of, weights_of
from mechanisms.local.rappor import DrawnRappor
from mechanisms.local.texts import texts_of
from stream.fields.forms import Form, Reporter
from stream.fields.gate import FULL, Choices
from stream.protocol.texts import Texts
from stream.records.assemble import Reported
from stream.records.lookups import ABSENT

MOST_WEIGHED = 8


class FieldDraw:
    """The reports of one field of one partition. `weighed` are the likelihoods of a few of the reports of single values
    that were drawn last, for whoever meters what reports really told.
    """

    def __init__(self, form: Form, partition_key: bytes, lasting_key: bytes) -> None:
        self._form = form
        self._key = field_key(partition_key, form.name)
        self._kept = KeptCoins(field_key(lasting_key, form.kept), form.alphabet.size)
        self.weighed: Floats = np.zeros((0, form.alphabet.size))
        self._words = max(_fresh_words(reporter.drawn) for reporter in form.reporters.values())

    def reports(self, choices: Choices, values: Integers, users: Sequence[bytes], offsets: Integers) -> Reported:
        """One report for each event whose choice is not to withhold it; values of lists have a column for each slot."""
        coins = coins_at(self._key, offsets, self._words + (self._form.at_most is not None))
        if self._form.at_most is not None:
            values = _one_slot(values, coins[:, self._words])
        found: list[tuple[Integers, Reported]] = []
        self.weighed = self.weighed[:0]
        for choice, reporter in self._form.reporters.items():
            events = np.flatnonzero(choices == choice)
            if events.shape[0]:
                chosen = values[events] if reporter.groups is None else reporter.groups[values[events]]
                reports = reporter.drawn.draw(chosen, self._coins_of(reporter, chosen, users, events, coins))
                if choice == FULL and self._form.at_most is None:
                    self.weighed = weights_of(reporter.drawn, few_of(reports, MOST_WEIGHED))
                data, ends, at = texts_of(reporter.shape, reports)
                found.append((events, Reported(Texts(data, ends), at)))
        return _together(choices.shape[0], found)

    def _coins_of(
        self, reporter: Reporter, values: Integers, users: Sequence[bytes], events: Integers, coins: Coins
    ) -> Coins:
        """Of these events; `users` and `coins` are those of all."""
        fresh = coins[events, : _fresh_words(reporter.drawn)]
        if isinstance(reporter.drawn, DrawnRappor):
            return self._kept.beside([users[i] for i in events.tolist()], values, fresh)
        return np.ascontiguousarray(fresh)


def _fresh_words(drawn: Drawn) -> int:
    return drawn.values if isinstance(drawn, DrawnRappor) else drawn.words


def _one_slot(values: Integers, coins: Coins) -> Integers:
    """One of the slots of each list, all alike but for 2^-32 of the chance of each."""
    slots = np.uint64(values.shape[1])
    place = ((coins >> np.uint64(32)) * slots) >> np.uint64(32)
    return values[np.arange(values.shape[0]), place.astype(np.int64)]


def _together(count: int, found: Sequence[tuple[Integers, Reported]]) -> Reported:
    """The reports of some events each, as those of all events."""
    at = np.full(count, ABSENT, dtype=np.int64)
    data, ends = [np.zeros(0, dtype=np.uint8)], [np.zeros(0, dtype=np.int64)]
    texts = size = 0
    for events, reported in found:
        at[events] = reported.at + texts
        data.append(reported.texts.data)
        ends.append(reported.texts.ends + size)
        texts, size = texts + len(reported.texts), size + reported.texts.data.shape[0]
    return Reported(Texts(np.concatenate(data), np.concatenate(ends)), at)
