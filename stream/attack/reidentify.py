"""Half of each user's stream trains, the other half is attacked: how often is the right user named first?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stream.attack.bounds import interval_of
from stream.attack.ngrams import ngram_scores
from stream.attack.recurrent import Training, recurrent_scores
from stream.audit.amounts import Floats, Integers


@dataclass(frozen=True)
class Attempt:
    """How often the right user was named first, over so many attacked pieces of so many users."""

    first: int
    pieces: int
    users: int

    @property
    def rate(self) -> float:
        return self.first / self.pieces

    @property
    def interval(self) -> tuple[float, float]:
        return interval_of(self.first, self.pieces, 0.99)

    @property
    def chance(self) -> float:
        return 1.0 / self.users

    @property
    def beats_chance(self) -> bool:
        return self.interval[0] > self.chance


@dataclass(frozen=True)
class Halves:
    """Of each user the first half, and the second in pieces; `owners` says whose each piece is."""

    training: list[Integers]
    pieces: list[Integers]
    owners: list[int]


def halves_of(sequences: Sequence[Integers], pieces: int) -> Halves:
    """The second half is cut into so many pieces of equal length; what is left over at its end is not used."""
    training, cut, owners = [], [], []
    for user, sequence in enumerate(sequences):
        middle = sequence.shape[0] // 2
        training.append(sequence[:middle])
        length = (sequence.shape[0] - middle) // pieces
        for piece in range(pieces):
            cut.append(sequence[middle + piece * length : middle + (piece + 1) * length])
            owners.append(user)
    return Halves(training, cut, owners)


def attempts(halves: Halves, symbols: int, *, order: int = 3, how: Training | None = None) -> Mapping[str, Attempt]:
    """By habits and by a net, each with and without knowledge of how values hang together."""
    how = how or Training()
    training = [each.tolist() for each in halves.training]
    pieces = [each.tolist() for each in halves.pieces]
    scores = {
        "habits, in order": ngram_scores(training, pieces, symbols, order),
        "habits, without order": ngram_scores(training, pieces, symbols, 1),
        "net, in order": recurrent_scores(halves.training, halves.pieces, symbols, how),
        "net, without order": recurrent_scores(halves.training, halves.pieces, symbols, how, in_order=False),
    }
    return {name: attempt_of(table, halves.owners) for name, table in scores.items()}


def attempt_of(scores: Floats, owners: Sequence[int]) -> Attempt:
    """The first of equals is not enough: a user counts as named only if nobody else scores as much."""
    own = scores[np.arange(len(owners)), owners]
    others = (scores >= own[:, None]).sum(axis=1)
    return Attempt(int((others == 1).sum()), len(owners), scores.shape[1])
