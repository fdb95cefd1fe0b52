"""How small a belief may become: mechanisms whose bound depends on beliefs keep epsilon only above some floor."""

from __future__ import annotations

import itertools
import math

import numpy as np

from beliefs.chain import Chain
from mechanisms.registry import MECHANISMS


def exceeds_epsilon(name: str, epsilon: float, chain: Chain, step: int | None = None) -> bool:
    """Whether one release of this mechanism may tell more than epsilon under this model."""
    mechanism = MECHANISMS[name]
    if mechanism.holds_epsilon:
        return False
    if mechanism.row_epsilons < math.inf:
        # Randomised response at 2 epsilon keeps epsilon only where every belief is 1/(e^epsilon + 1) exactly.
        return chain.size > 1
    return least_belief(chain, step) < belief_floor(epsilon)


def belief_floor(epsilon: float) -> float:
    """The belief below which `published_crr` tells more than epsilon."""
    return 1.0 / (math.exp(epsilon) + 1.0)


def least_belief(chain: Chain, step: int | None = None) -> float:
    """A bound below every belief in a value that can be positive, whatever was released before.

    A predicted belief in y is an average over the states before it of what leads from there to y, so it is at least the
    smallest of these; a value that can never occur has no belief at all. By the clock a second event within a step is
    not predicted: its belief is what a release has left, for which there is no bound.
    """
    if step is not None:
        return 0.0
    ways = np.zeros(chain.symbols)
    smallest = np.full(chain.symbols, np.inf)
    for state, phase in itertools.product(range(chain.size), range(chain.phases)):
        following, probabilities = chain.row(state, phase)
        values = chain.symbol_of[following]
        ways[values] += 1
        smallest[values] = np.minimum(smallest[values], probabilities)
    smallest[ways < chain.size * chain.phases] = 0.0
    possible = ways > 0
    possible[chain.symbol_of[chain.start > 0]] = True
    smallest[ways == 0] = np.inf
    positive_start = chain.start[chain.start > 0]
    return float(min(smallest[possible].min(initial=np.inf), positive_start.min(initial=np.inf)))
