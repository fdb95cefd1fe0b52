"""Which order and which smoothing predict users best of whom nothing was learnt.

Users stand in groups. For each group the laws are learnt from all others and asked for every event of the group that
has a predecessor; the score is the mean of -ln p, in nats an event. `levels.md` says what the score and its standard
error mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beliefs.chain import Indices
from beliefs.checks import Invalid
from beliefs.learning.levels import (
    STRENGTHS,
    Flags,
    Keeping,
    Level,
    Mixture,
    Rows,
    Strength,
    lower_probabilities,
    mixed,
    summed,
)
from beliefs.simplex import Vector

TRIFLE = 0.001
"""A gain of less than so many nats an event is worth no longer memory, however certain it is."""


@dataclass(frozen=True)
class Score:
    """How well laws of one order predict: nats an event, and the share of events whose likeliest value came."""

    order: int
    strength: Strength
    loss: float
    error: float
    accuracy: float
    losses: Vector
    """The sum of -ln p in each group."""


@dataclass(frozen=True)
class Chosen:
    order: int
    scores: tuple[Score, ...]
    events: Vector
    """How many events were scored in each group."""

    @property
    def strengths(self) -> tuple[Strength, ...]:
        return tuple(score.strength for score in self.scores)


@dataclass
class _Fold:
    """One group that is held out: its rows, and for each its probability under the deepest level so far."""

    rows: Indices
    told: Vector
    right: Vector
    """Whether the deepest law so far says the row's value is the likeliest."""
    mixture: Mixture | None = None
    best: tuple[Vector, Indices] | None = None
    """Of each context of the deepest level: the largest probability, and the value that has it."""


def choose(
    levels: Sequence[Level], rows: Rows, symbols: int, keepings: Sequence[Keeping], only: int | None = None
) -> Chosen:
    """Score every order and choose one: the smallest that is within one standard error of the best, or `only`."""
    if not levels:
        raise Invalid("data", "hold no two that follow each other")
    scored = rows.entries[0] >= 0
    groups = int(rows.groups.max(initial=0)) + 1
    events = summed(rows.groups[scored], rows.counts[scored], groups)
    if np.count_nonzero(events) < 2:
        raise Invalid("data", "are of too few users with two events or more: nothing can be held out to judge by")
    folds = [_fold(np.flatnonzero(rows.groups == group), symbols) for group in range(groups)]
    scores = [_level_score(level, rows, folds, symbols, keepings[level.order], scored, events) for level in levels]
    order = smallest_good(scores, events) if only is None else only
    return Chosen(order, tuple(scores), events)


def smallest_good(scores: Sequence[Score], events: Vector) -> int:
    """The smallest order whose loss is above the best one's by at most one standard error of the difference, and a
    trifle.
    """
    best = min(scores, key=lambda score: score.loss)
    for score in scores[: best.order]:
        difference = score.losses - best.losses
        if score.loss - best.loss <= standard_error(difference, events) + TRIFLE:
            return score.order
    return best.order


def standard_error(sums: Vector, events: Vector) -> float:
    """Of the mean sum(sums)/sum(events), the groups being independent and alike."""
    mean = float(sums.sum() / events.sum())
    some = events > 0
    count = int(np.count_nonzero(some))
    spread = float(((sums - mean * events)[some] ** 2).sum()) * count / (count - 1)
    return float(np.sqrt(spread) / events.sum())


def _fold(rows: Indices, symbols: int) -> _Fold:
    return _Fold(rows, np.full(rows.size, 1.0 / symbols), np.zeros(rows.size))


def _level_score(
    level: Level, rows: Rows, folds: Sequence[_Fold], symbols: int, keeping: Keeping, scored: Flags, events: Vector
) -> Score:
    """Choose the strength of this level given those of the levels below, and carry every fold up to this level."""
    entries = rows.entries[level.order]
    tried: dict[Strength, Vector] = {}
    trained, lowers = [], []
    for fold in folds:
        held = fold.rows[entries[fold.rows] >= 0]
        own = summed(entries[held], rows.counts[held], level.totals.size)
        trained.append(level.totals - own)
        lowers.append(lower_probabilities(level, fold.mixture, symbols))
    for strength in STRENGTHS:
        losses = np.zeros(len(folds))
        for group, fold in enumerate(folds):
            laws = mixed(level, trained[group], strength, keeping, lowers[group])
            told = _told(fold, laws, entries)
            losses[group] = _loss(told, fold, rows, scored)
        tried[strength] = losses
    strength = min(tried, key=lambda candidate: float(tried[candidate].sum()))
    hits = 0.0
    for group, fold in enumerate(folds):
        laws = mixed(level, trained[group], strength, keeping, lowers[group])
        fold.told = _told(fold, laws, entries)
        fold.best = _best(level, laws, fold.best)
        there = entries[fold.rows] >= 0
        at = entries[fold.rows[there]]
        fold.right[there] = fold.best[1][level.contexts[at]] == level.values[at]
        asked = scored[fold.rows]
        hits += float((fold.right[asked] * rows.counts[fold.rows][asked]).sum())
        fold.mixture = laws
    losses, whole = tried[strength], float(events.sum())
    return Score(
        level.order, strength, float(losses.sum()) / whole, standard_error(losses, events), hits / whole, losses
    )


def _told(fold: _Fold, laws: Mixture, entries: Indices) -> Vector:
    told = fold.told.copy()
    there = entries[fold.rows] >= 0
    told[there] = laws.probabilities[entries[fold.rows[there]]]
    return told


def _loss(told: Vector, fold: _Fold, rows: Rows, scored: Flags) -> float:
    asked = scored[fold.rows]
    return -float((np.log(told[asked]) * rows.counts[fold.rows][asked]).sum())


def _best(level: Level, laws: Mixture, below: tuple[Vector, Indices] | None) -> tuple[Vector, Indices]:
    """The likeliest value after each context: one of its own entries, or what the shorter context holds likeliest.

    No other value can win: beyond its own entries a context only scales the shorter one's law. Of equals the context's
    own entry wins, and of these the last.
    """
    order = np.lexsort((laws.probabilities, level.contexts))
    ends = np.append(np.flatnonzero(np.diff(level.contexts[order])), order.size - 1)
    likeliest = order[ends]
    largest, values = laws.probabilities[likeliest], level.values[likeliest]
    if below is None:
        return largest, values
    inherited = laws.backed_off * below[0][level.lower_contexts]
    better = inherited > largest
    return np.where(better, inherited, largest), np.where(better, below[1][level.lower_contexts], values)
