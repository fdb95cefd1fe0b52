"""From counts and a choice to a model: the laws that are written, in the form that fits them.

* Up to `TAIL_FROM` values: every row in full (version 1), or with pasts that matter listed (version 2).
* More values: rows that name the values seen often enough after theirs, and the law of all events as the tail that
  takes the rest (version 3). Only orders 0 and 1.

Every value keeps a probability above 0: laws are mixed with the uniform one at the bottom, and a row never leaves its
tail less than `LEAST_LEFT`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from beliefs.chain import Chain, Indices, Row
from beliefs.contexts import Context
from beliefs.learning.choice import Chosen
from beliefs.learning.levels import Flags, Keeping, Level, Mixture, lower_probabilities, mixed
from beliefs.simplex import TOLERANCE, Vector, normalised

TAIL_FROM = 257
LEAST_LEFT = 2 * TOLERANCE
"""A row that leaves its tail less than the tolerance counts as one that leaves nothing (`chain.named_row`)."""
MOST_CONTEXTS = 4096
LEAST_GAIN = 2.0
"""Nats by which a past must make its own events likelier, all together, to be listed."""
NAMED_MOST = 2000
"""As many entries as a belief over a long alphabet keeps by themselves; beyond that, drift is charged (`listed.md`)."""


@dataclass(frozen=True)
class Learnt:
    """Laws that are ready to be written. Of order 1 there is a `chain`, of higher ones there are `laws`."""

    order: int
    start: Vector
    chain: Chain | None
    laws: Mapping[Context, Row]
    deepest: Vector
    """The written probability of each entry of the level of the order (of level 1 where the order is 0)."""
    listed: int
    """How many pasts of more than one value are listed."""
    lost: float
    """Nats an event that pasts would explain which are not listed, on the events that were learnt from."""


def keepings_of(levels: Sequence[Level], symbols: int, least: int) -> list[Keeping]:
    """Which counts take part at each level; a long alphabet names the values that follow most often, and no others."""
    if symbols < TAIL_FROM or len(levels) < 2:
        return [Keeping() for _ in levels]
    seen = levels[1].totals >= least
    often = np.bincount(levels[1].values[seen], weights=levels[1].totals[seen], minlength=symbols)
    named = np.zeros(symbols, dtype=bool)
    named[np.argsort(-often, kind="stable")[:NAMED_MOST]] = True
    return [Keeping(least, named) for _ in levels]


def learn(
    levels: Sequence[Level], chosen: Chosen, keepings: Sequence[Keeping], symbols: int, starts: Indices
) -> Learnt:
    """The laws of the chosen order from all counts."""
    mixtures: list[Mixture] = []
    for level, strength, keeping in zip(levels, chosen.strengths, keepings, strict=True):
        lower = lower_probabilities(level, mixtures[-1] if mixtures else None, symbols)
        mixtures.append(mixed(level, level.totals, strength, keeping, lower))
    always = _root(levels[0], mixtures[0], symbols)
    start = _start(starts, always)
    if chosen.order <= 1:
        return _first_order(levels[1], mixtures[1] if chosen.order == 1 else None, always, start)
    return _with_contexts(levels[: chosen.order + 1], mixtures, always, start)


def _root(level: Level, mixture: Mixture, symbols: int) -> Vector:
    law = np.full(symbols, float(mixture.backed_off[0]) / symbols)
    law[level.values] += mixture.own
    return normalised(law)


def _start(starts: Indices, always: Vector) -> Vector:
    """First values, mixed with the law of all events: one event for each kind of first value seen."""
    kinds = float(np.count_nonzero(starts))
    law: Vector = (starts + kinds * always) / (float(starts.sum()) + kinds) if kinds else always
    return normalised(law)


def _first_order(level: Level, mixture: Mixture | None, always: Vector, start: Vector) -> Learnt:
    symbols = always.size
    rows: list[Row] = [(np.zeros(0, dtype=np.int64), np.zeros(0))] * symbols
    backed_off = np.ones(symbols)
    deepest = always[level.values]
    if mixture is not None:
        own, share = _with_least_left(level, mixture) if symbols >= TAIL_FROM else (mixture.own, mixture.backed_off)
        ends = np.searchsorted(level.contexts, np.arange(level.pasts.size + 1))
        for number, past in enumerate(level.pasts.tolist()):
            entries = np.arange(ends[number], ends[number + 1])
            entries = entries[own[entries] > 0]
            rows[past - 1] = (level.values[entries], own[entries])
        backed_off[level.pasts - 1] = share
        deepest = own + share[level.contexts] * always[level.values]
    if symbols >= TAIL_FROM:
        chain = Chain.from_tail(start, always, rows)
    else:
        matrix = backed_off[:, None] * always[None, :]
        for past, (values, masses) in enumerate(rows):
            matrix[past, values] += masses
        chain = Chain.from_dense(start, np.array([normalised(row) for row in matrix]))
    return Learnt(0 if mixture is None else 1, start, chain, {}, deepest, 0, 0.0)


def _with_least_left(level: Level, mixture: Mixture) -> tuple[Vector, Vector]:
    """Where a row would leave its tail nearly nothing, it leaves `LEAST_LEFT`, taken from all that it names."""
    share = np.maximum(mixture.backed_off, LEAST_LEFT)
    scale = (1.0 - share) / np.maximum(1.0 - mixture.backed_off, LEAST_LEFT)
    return mixture.own * scale[level.contexts], share


def _with_contexts(levels: Sequence[Level], mixtures: Sequence[Mixture], always: Vector, start: Vector) -> Learnt:
    """Single values are all listed; of the longer pasts those that gain most."""
    kept = _worth_listing(levels, mixtures)
    order = max((level.order for level, flags in zip(levels, kept, strict=True) if flags.any()), default=1)
    if order <= 1:
        return _first_order(levels[1], mixtures[1], always, start)
    written = always[levels[0].values]
    for level, mixture, flags in zip(levels[1 : order + 1], mixtures[1:], kept[1:], strict=False):
        own = flags[level.contexts]
        written = np.where(own, mixture.probabilities, written[level.lower_entries])
    whole = levels[order]
    gone = np.log(mixtures[order].probabilities / written)
    lost = float((whole.totals * gone).sum() / whole.totals.sum())
    laws = _laws(levels[: order + 1], mixtures, kept, always)
    listed = sum(len(context) > 1 for context in laws)
    return Learnt(order, start, None, laws, written, listed, lost)


def _worth_listing(levels: Sequence[Level], mixtures: Sequence[Mixture]) -> list[Flags]:
    gains = []
    for level, mixture, below in zip(levels[2:], mixtures[2:], mixtures[1:], strict=False):
        better = np.log(mixture.probabilities / below.probabilities[level.lower_entries])
        gains.append(level.context_sums(level.totals * better))
    ranked = np.sort(np.concatenate(gains))[::-1]
    bar = max(LEAST_GAIN, float(ranked[MOST_CONTEXTS])) if ranked.size > MOST_CONTEXTS else LEAST_GAIN
    return [np.ones(level.pasts.size, dtype=bool) for level in levels[:2]] + [gain > bar for gain in gains]


def _laws(
    levels: Sequence[Level], mixtures: Sequence[Mixture], kept: Sequence[Flags], always: Vector
) -> dict[Context, Row]:
    base, every = always.size + 1, np.arange(always.size, dtype=np.int64)
    known: dict[tuple[int, int], Vector] = {(0, 0): always}
    ends = [np.searchsorted(level.contexts, np.arange(level.pasts.size + 1)) for level in levels]

    def law_of(order: int, number: int) -> Vector:
        if (order, number) not in known:
            level, mixture = levels[order], mixtures[order]
            law = mixture.backed_off[number] * law_of(order - 1, int(level.lower_contexts[number]))
            inside = slice(int(ends[order][number]), int(ends[order][number + 1]))
            law[level.values[inside]] += mixture.own[inside]
            known[order, number] = law
        return known[order, number]

    laws: dict[Context, Row] = {}
    for order, (level, flags) in enumerate(zip(levels, kept, strict=False)):
        for number in np.flatnonzero(flags).tolist():
            context = past_values(int(level.pasts[number]), order, base)
            laws[context] = (every, normalised(law_of(order, number)))
    return laws


def past_values(past: int, order: int, base: int) -> Context:
    """The values of a past, the oldest first."""
    return tuple(past // base**digit % base - 1 for digit in reversed(range(order)))
