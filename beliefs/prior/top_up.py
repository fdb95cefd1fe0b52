"""Noise that is added to a sum which already has some, so that all of it has a larger scale. Proof: calibration.md."""

from __future__ import annotations

from fractions import Fraction

from beliefs.checks import Invalid


def share_kept(before: Fraction, after: Fraction) -> Fraction:
    """With this chance nothing is added to Laplace noise of the scale `before`, otherwise noise of scale `after`."""
    if not 0 < before <= after:
        raise Invalid("after", "must be at least the scale that there is, and that above 0")
    return (before / after) ** 2


def share_kept_geometric(before: Fraction, after: Fraction) -> Fraction:
    """The same of two-sided geometric noise: a whole number k has a chance in proportion to ratio^|k|."""
    if not 0 < before <= after < 1:
        raise Invalid("after", "must be at least the ratio that there is, and both between 0 and 1")
    return before * (1 - after) ** 2 / (after * (1 - before) ** 2)
