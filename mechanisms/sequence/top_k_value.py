"""The best that is epsilon-LDP whatever the belief: randomised response on the likeliest symbols.

On k symbols it keeps a value with E/(E + k - 1); every other value is released as one of the k, all alike. Its accuracy
is E b(top k)/(E + k - 1), where b(top k) is the mass of the k likeliest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beliefs.simplex import Vector, normalised


class TopKValue(NamedTuple):
    size: int
    accuracy: float


def top_k_value(prior: Vector, epsilon: float) -> TopKValue:
    """The best size, the smallest of equals, and its accuracy."""
    masses = np.cumsum(np.sort(normalised(prior))[::-1])
    sizes = np.arange(1, prior.size + 1)
    accuracies = masses / (1.0 + (sizes - 1) * math.exp(-epsilon))
    best = int(np.argmax(accuracies))
    return TopKValue(best + 1, min(1.0, float(accuracies[best])))
