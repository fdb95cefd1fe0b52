"""Densities of a law with Laplace noise at all places of its sum, and how far they are apart. Proof: atoms.md.

Each kernel comes twice: in doubles, and in parts and powers for what is too far away for them. A law without mass does
not occur; its first density is marked, and nothing is compared with it.
"""

from __future__ import annotations

import math

from beliefs.native import kernel
from beliefs.prior.scaled import EMPTY, Floats, Powers, above, add, times


@kernel
def near_densities(masses: Floats, decay: Floats, shown: Floats) -> None:
    """At each place: what comes from the left, the place itself, and what comes from the right. Changes the masses."""
    values, size = masses.shape
    for value in range(values):
        total = 0.0
        for atom in range(size):
            total += masses[value, atom]
        shown[value, 0] = -1.0
        if total == 0.0:
            continue
        run = 0.0
        for atom in range(size):
            masses[value, atom] /= total
            run = run * decay[atom] + masses[value, atom]
            shown[value, atom] = run
        back = 0.0
        for atom in range(size - 1, -1, -1):
            shown[value, atom] += back
            back = (back + masses[value, atom]) * decay[atom]


@kernel
def far_densities(
    part: Floats, power: Powers, decay_part: Floats, decay_power: Powers, shown: Floats, height: Powers
) -> None:
    """The same; what is below 2^-200 of what it is added to is left out."""
    values, size = part.shape
    for value in range(values):
        total_part, total_power = 0.0, EMPTY
        for atom in range(size):
            total_part, total_power = add(total_part, total_power, part[value, atom], power[value, atom])
        height[value, 0] = EMPTY
        if total_part == 0.0:
            continue
        run, run_power = 0.0, EMPTY
        for atom in range(size):
            if part[value, atom] > 0.0:
                mantissa, exponent = math.frexp(part[value, atom] / total_part)
                part[value, atom] = mantissa
                power[value, atom] += exponent - total_power
            run, run_power = times(run, run_power, decay_part[atom], decay_power[atom])
            run, run_power = add(run, run_power, part[value, atom], power[value, atom])
            shown[value, atom], height[value, atom] = run, run_power
        back, back_power = 0.0, EMPTY
        for atom in range(size - 1, -1, -1):
            shown[value, atom], height[value, atom] = add(shown[value, atom], height[value, atom], back, back_power)
            back, back_power = add(back, back_power, part[value, atom], power[value, atom])
            back, back_power = times(back, back_power, decay_part[atom], decay_power[atom])


@kernel
def compare_near(shown: Floats, best: Floats) -> bool:
    """Keeps the largest ratio of two densities at one place in `best`: ratio, power of two, -, place, high, low."""
    values, size = shown.shape
    found = False
    for atom in range(size):
        high, low = -1, -1
        for value in range(values):
            if shown[value, 0] < 0.0:
                continue
            if high < 0 or shown[value, atom] > shown[high, atom]:
                high = value
            if low < 0 or shown[value, atom] < shown[low, atom]:
                low = value
        if high != low and shown[high, atom] > best[0] * shown[low, atom]:
            best[0] = shown[high, atom] / shown[low, atom]
            best[3], best[4], best[5] = atom, high, low
            found = True
    return found


@kernel
def compare_far(shown: Floats, height: Powers, best: Floats) -> bool:
    values, size = shown.shape
    found = False
    for atom in range(size):
        high, low = -1, -1
        for value in range(values):
            if height[value, 0] == EMPTY:
                continue
            if high < 0 or above(shown[value, atom], height[value, atom], shown[high, atom], height[high, atom]):
                high = value
            if low < 0 or above(shown[low, atom], height[low, atom], shown[value, atom], height[value, atom]):
                low = value
        if high != low:
            ratio, exponent = math.frexp(shown[high, atom] / shown[low, atom])
            size_of = float(height[high, atom] - height[low, atom] + exponent)
            if best[0] == 0.0 or size_of > best[1] or (size_of == best[1] and ratio > best[0]):
                best[0], best[1] = ratio, size_of
                best[3], best[4], best[5] = atom, high, low
                found = True
    return found


@kernel
def pairs_near(shown: Floats, logs: Floats) -> None:
    """logs[one, two]: the largest log ratio of one's density to that of two."""
    values, size = shown.shape
    for one in range(values):
        for two in range(values):
            if shown[one, 0] >= 0.0 and shown[two, 0] >= 0.0:
                most = 1.0
                for atom in range(size):
                    most = max(most, shown[one, atom] / shown[two, atom])
                logs[one, two] = math.log(most)


@kernel
def pairs_far(shown: Floats, height: Powers, logs: Floats) -> None:
    values, size = shown.shape
    for one in range(values):
        for two in range(values):
            if height[one, 0] != EMPTY and height[two, 0] != EMPTY:
                most = 0.0
                for atom in range(size):
                    turns = float(height[one, atom] - height[two, atom])
                    most = max(most, turns * math.log(2.0) + math.log(shown[one, atom] / shown[two, atom]))
                logs[one, two] = most
