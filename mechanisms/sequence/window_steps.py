"""From one value of a window to the next: one step of the model, several, or none. Proof: window.md.

The order is part of the meaning: an auditor adds in the same order and gets the same bits.
* Masses: no step leaves them as they are; one is `push_into`, as they come; of several each is divided by its sum.
* The law before the window: no step is one division by the sum; others are predictions, and between two of them a
  positive mass below 2^-512 is raised to that, so that nothing possible is lost as a zero.
A step that changes nothing, to the last bit, is the last that is worked out: all further ones would repeat it.
"""

from __future__ import annotations

from beliefs.clock import at_rest, carry_over
from beliefs.forward import ChainArrays, normalise, predict_into, push_into
from beliefs.native import kernel
from mechanisms.contract import Floats


@kernel
def step_masses(mass: Floats, chain: ChainArrays, steps: int, spare: Floats, moved: Floats) -> None:
    """So many steps on, or back where the chain is the reversed one."""
    if steps == 0:
        for s in range(mass.shape[0]):
            moved[s] = mass[s]
        return
    push_into(mass, chain, moved)
    if steps > 1:
        normalise(moved)
    for _ in range(1, steps):
        for s in range(mass.shape[0]):
            spare[s] = moved[s]
        predict_into(spare, chain, moved)
        if at_rest(moved, spare):
            break


@kernel
def step_law(before: Floats, chain: ChainArrays, steps: int, spare: Floats, following: Floats) -> bool:
    """The law before the window, so many steps on; False if a mass had to be raised."""
    if steps == 0:
        for s in range(before.shape[0]):
            following[s] = before[s]
        normalise(following)
        return True
    exact = carry_over(before, spare)
    predict_into(spare, chain, following)
    for _ in range(1, steps):
        if at_rest(following, spare):
            break
        exact = carry_over(following, spare) and exact
        predict_into(spare, chain, following)
    return exact
