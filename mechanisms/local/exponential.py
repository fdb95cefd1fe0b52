"""The exponential mechanism with the utility "is it the value": weights e^(epsilon/2) and 1. Proof: exponential.md."""

from __future__ import annotations

from mechanisms.local.grr import Response


def exponential(values: int, epsilon: float) -> Response:
    """Randomised response of half the epsilon, which is also its true level."""
    return Response(values, epsilon / 2.0)
