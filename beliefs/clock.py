"""How many steps of the model lie between two events, when the model goes by the clock. Proof: clock.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel

LEAST_MASS = 2.0**-512
"""Between two steps of one event no positive mass is smaller. A product with a probability of at least `LEAST_CHANCE`
and a likelihood of at least 2^-62 is then far from the smallest doubles, so that nothing possible is lost as a zero."""

LEAST_CHANCE = 2.0**-400
"""The smallest positive probability of a model that may go by the clock."""


@kernel
def steps_between(reached: int, now: int, most: int) -> int:
    """From the step that the user has reached to that of the event, each floor(time / interval).

    None within one step, and none back: what is late is taken for another look at the value that has been reached. At
    most `most`, which bounds the work for one event; the belief is then that after `most` steps.
    """
    return min(max(now - reached, 0), most)


@kernel
def at_rest(ahead: NDArray[np.float64], belief: NDArray[np.float64]) -> bool:
    """Whether the last step has changed nothing, to the last bit: then no further step does."""
    moved = False
    for s in range(ahead.shape[0]):
        moved = moved or ahead[s] != belief[s]
    return not moved


@kernel
def carry_over(ahead: NDArray[np.float64], belief: NDArray[np.float64]) -> bool:
    """The prediction becomes the belief that the next step begins with; False if a positive mass had to be raised."""
    exact = True
    for s in range(ahead.shape[0]):
        belief[s] = ahead[s]
        if 0.0 < ahead[s] < LEAST_MASS:
            belief[s] = LEAST_MASS
            exact = False
    return exact
