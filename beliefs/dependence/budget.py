"""The largest loss whose leak keeps within a target, rounded down. Proof: budget.md."""

from __future__ import annotations

from collections.abc import Callable

CLOSE = 1 << 38
"""The loss is found up to this share of itself, or to one unit."""


def largest_loss(leak: Callable[[int], int], target: int, most: int, close: int = CLOSE) -> int:
    """`leak` never falls; no loss above `most` is looked at. What is returned was measured to keep the target, or is 0.

    A straight line between the two ends guesses; where that gains little, the middle does.
    """
    if target <= 0 or most <= 0:
        return 0
    high = most
    over = leak(high)
    if over <= target:
        return high
    low, under, halve = 0, 0, False
    while high - low > 1 + low // close:
        width = high - low
        guess = low + width // 2
        if not halve:
            guess = low + (target - under) * width // max(1, over - under)
            guess = min(max(guess, low + 1), high - 1)
        told = leak(guess)
        if told <= target:
            low, under = guess, told
        else:
            high, over = guess, told
        halve = high - low > width // 2 and not halve
    return low
