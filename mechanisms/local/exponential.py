"""The exponential mechanism with the utility "is it the value": weights e^(epsilon/2) and 1. Proof: exponential.md."""

from __future__ import annotations

from fractions import Fraction

from mechanisms.local.grr import DrawnResponse, Response, response_units
from mechanisms.local.units import ratio_for, require_drawable


def exponential(values: int, epsilon: float) -> Response:
    """Randomised response of half the epsilon, which is also its true level."""
    return Response(values, epsilon / 2.0)


def drawn_exponential(values: int, epsilon: float) -> DrawnResponse:
    require_drawable(values, epsilon)
    return response_units(values, ratio_for(epsilon, Fraction(1, 2)))
