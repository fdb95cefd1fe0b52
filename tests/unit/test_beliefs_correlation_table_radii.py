"""Radii of counts: the formula, rounded up, and the same bits everywhere."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import pytest

from beliefs.correlation.table_radii import counted_radii


def test_radii_of_counts_are_the_same_on_every_machine_and_never_too_small() -> None:
    radii = counted_radii([250, 0, 1, 10_000], 12, 0.05, 3)
    needed = 12 * math.log(2.0) + math.log(4 * 3 / 0.05)
    with localcontext() as context:
        context.prec, failure = 60, 0.05
        exact = [(12 * Decimal(2).ln() + (12 / Decimal(failure)).ln()) / (2 * people) for people in (250, 10_000)]
    assert radii.tolist() == pytest.approx([math.sqrt(needed / 500), 1.0, 1.0, math.sqrt(needed / 20_000)], rel=1e-14)
    assert all(Decimal(radius) ** 2 >= truth for radius, truth in zip(radii.tolist()[::3], exact, strict=True))
    assert radii[0].hex() == "0x1.54383b161d195p-3"
