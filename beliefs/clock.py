"""How many steps of the model lie between two events, when the model goes by the clock. Proof: clock.md."""

from __future__ import annotations

from beliefs.native import kernel


@kernel
def steps_between(reached: int, now: int, most: int) -> int:
    """From the step that the user has reached to that of the event, each floor(time / interval).

    None within one step, and none back: what is late is taken for another look at the value that has been reached. At
    most `most`, which bounds the work for one event; the belief is then that after `most` steps.
    """
    return min(max(now - reached, 0), most)
