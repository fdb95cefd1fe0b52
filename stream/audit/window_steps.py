"""How a window's laws go from one of its values to the next, and back: no step of the model, one, or several.

The rule, in words. Without a step masses stay as they are. One step carries them on as they come. Where there are
several they are divided by their sum after each. The law before the window is divided by its sum after each step, and
without one, too; what a step begins with is 2^-512 at least where it is positive at all, and if it was less, nobody
knows how far the law may be off. Steps that change nothing more need not be worked out.
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import Floats, Integers
from stream.audit.book import CLOCK, Rules
from stream.audit.law import Law, carry, differs, foresee, share_out, take_over
from stream.audit.window_book import Windows


@kernel
def carry_back(windows: Windows, mass: Floats, moved: Floats) -> None:
    """What masses of the next state say about this one."""
    for x in range(mass.shape[0]):
        total = 0.0
        for place in range(windows.first[x], windows.first[x + 1]):
            total += mass[windows.after[place]] * windows.chance[place]
        moved[x] = total
    law = windows.law
    if law.tail.shape[0] > 0:
        heard = 0.0
        for y in range(mass.shape[0]):
            heard += mass[y] * law.tail[y]
        for x in range(mass.shape[0]):
            moved[x] += heard * law.left[x]


@kernel
def _copy(mass: Floats, other: Floats) -> None:
    for s in range(mass.shape[0]):
        other[s] = mass[s]


@kernel
def go_on(law: Law, mass: Floats, steps: int, spare: Floats, moved: Floats) -> None:
    if steps == 0:
        _copy(mass, moved)
        return
    carry(law, mass, moved)
    left = steps - 1
    if left > 0:
        share_out(moved)
    while left > 0:
        _copy(moved, spare)
        foresee(law, spare, moved)
        left = left - 1 if differs(moved, spare) else 0


@kernel
def go_back(windows: Windows, mass: Floats, steps: int, spare: Floats, moved: Floats) -> None:
    if steps == 0:
        _copy(mass, moved)
        return
    carry_back(windows, mass, moved)
    left = steps - 1
    if left > 0:
        share_out(moved)
    while left > 0:
        _copy(moved, spare)
        carry_back(windows, spare, moved)
        share_out(moved)
        left = left - 1 if differs(moved, spare) else 0


@kernel
def go_on_blindly(law: Law, before: Floats, steps: int, spare: Floats, ahead: Floats) -> bool:
    """The law before the window; False where it is not known how far it may be off."""
    fine, left = True, steps
    _copy(before, ahead)
    if left == 0:
        share_out(ahead)
    while left > 0:
        fine = take_over(ahead, spare) and fine
        foresee(law, spare, ahead)
        left = left - 1 if differs(ahead, spare) else 0
    return fine


@kernel
def steps_to(rules: Rules, user: Integers, time: int) -> int:
    """How many steps lie before an event of this time that is not its window's first; the user has then reached it."""
    if rules.interval == 0:
        return 1
    index = time // rules.interval
    steps = index - user[CLOCK]
    if steps <= 0:
        return 0
    user[CLOCK] = index
    return int(min(steps, rules.most_steps))
