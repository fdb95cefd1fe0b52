"""The same evidence against a model that is known up to a distance: the odds of each bet are those under the belief,
among all that are so near, for which the bet is worth the most. Proof: score.md, "A model that is known up to a
distance".
"""

from __future__ import annotations

import math

from beliefs.native import kernel
from beliefs.score import BETS, Floats, Score, place_bet

_MOST_APART = 300.0
_EVENTS = int(Score.EVENTS)


@kernel
def lay_bets(law: Floats, count: int, bets: Floats) -> None:
    """`law[:count]` is divided by its sum; of it the four bets' own laws are made, `bets[j, :count]`."""
    total = 0.0
    for i in range(count):
        total += law[i]
    many, roots, squares, cubes = 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        law[i] /= total
        p = law[i]
        many += 1.0 if p > 0.0 else 0.0
        roots += math.sqrt(p)
        squares += p * p
        cubes += p * math.sqrt(p)
    for i in range(count):
        p = law[i]
        bets[0, i] = 1.0 / many if p > 0.0 else 0.0
        bets[1, i] = math.sqrt(p) / roots
        bets[2, i] = p * math.sqrt(p) / cubes
        bets[3, i] = p * p / squares


@kernel
def most_worth(belief: Floats, worth: Floats, apart: float) -> float:
    """The largest expectation of `worth` under any belief that is within `apart` of this one in Hilbert's metric: it is
    this one with a factor of exp(apart) on all that is worth more than something. Not rounded.
    """
    growth, most = math.exp(min(apart, _MOST_APART)) - 1.0, 0.0
    for t in range(belief.shape[0]):
        if belief[t] > 0.0:
            mean, mass, above, above_mass = 0.0, 0.0, 0.0, 0.0
            for x in range(belief.shape[0]):
                mean += belief[x] * worth[x]
                mass += belief[x]
                if worth[x] >= worth[t]:
                    above += belief[x] * worth[x]
                    above_mass += belief[x]
            most = max(most, (mean + growth * above) / (mass + growth * above_mass))
    return most


@kernel
def observe_apart(score: Floats, law: Floats, bets: Floats, odds: Floats, released: int, careful: float) -> None:
    """Take in one release. `law` and `bets` are from `lay_bets`; `odds[j]` is what bet j may be worth in expectation;
    `careful` is at most 1, for what all of that may be off by.
    """
    events = score[_EVENTS] + 1.0
    score[_EVENTS] = events
    stake = 1.0 / (events * (events + 1.0))
    for j in range(BETS):
        place_bet(score, j, stake, bets[j, released] / max(odds[j], 1.0), law[released], careful)
