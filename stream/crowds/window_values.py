"""What a window of a crowd releases: one number or two, counts of values, or boxes of people; exact, or with the noise
that is lacking.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mechanisms.aggregate.coin_stream import CoinStream
from mechanisms.aggregate.geometric import Geometric
from mechanisms.crowds.mondrian import Crowds, mondrian
from stream.crowds.entries import Group
from stream.crowds.promise import Release
from stream.gathering.numbers import exact, near, rounded_up


class Noise(NamedTuple):
    """Noise of one scale, and the coins that it is drawn with."""

    scale: Fraction
    coins: CoinStream

    def draw(self) -> int:
        return Geometric(self.scale.numerator, self.scale.denominator).draw(self.coins)


def value_of(release: Release, group: Group, noise: Noise | None) -> dict[str, Any]:
    """Of everything but records."""
    return {"kind": release.kind, **_VALUES[release.kind](release, group, noise)}


def crowds_of(release: Release, group: Group) -> Crowds:
    """Of records: whom they stand for in the order of their boxes, whoever the people are."""
    if release.attributes is None or release.rule is None:
        raise ValueError("only records are divided into crowds")
    places = group.cells - np.array(release.offsets, np.int64)
    named = len(release.attributes)
    sensitive = places[:, named] if release.sensitive is not None else None
    return mondrian(release.attributes, places[:, :named], sensitive, release.rule)


def loss_of(crowds: Crowds) -> Fraction | None:
    """The mean over the people who are in a crowd, exactly; None where nobody is."""
    people = sum(group.size for group in crowds.groups)
    if people == 0:
        return None
    lost = (Fraction(loss) * group.size for loss, group in zip(crowds.losses, crowds.groups, strict=True))
    return sum(lost, Fraction(0)) / people


def _count(release: Release, group: Group, noise: Noise | None) -> dict[str, Any]:
    return {"value": _total(group, noise), **_scale(release, noise)}


def _sum(release: Release, group: Group, noise: Noise | None) -> dict[str, Any]:
    return {
        "value": exact(_total(group, noise), release.grid),
        "grid": exact(1, release.grid),
        **_scale(release, noise),
    }


def _mean(release: Release, group: Group, noise: Noise | None) -> dict[str, Any]:
    total = _total(group, noise)
    return {
        "value": near(Fraction(total, group.users) * Fraction(release.grid), ROUND_HALF_EVEN),
        "sum": exact(total, release.grid),
        "users": group.users,
        "grid": exact(1, release.grid),
        **_scale(release, noise),
    }


def _range(release: Release, group: Group, noise: Noise | None) -> dict[str, Any]:  # noqa: ARG001 - it never has any
    cells = group.cells[:, 0]
    return {"low": exact(int(cells.min()), release.grid), "high": exact(int(cells.max()), release.grid)}


def _histogram(release: Release, group: Group, noise: Noise | None) -> dict[str, Any]:
    counts = np.bincount(group.cells[:, 0], minlength=len(release.labels)).tolist()
    shown = [count + (0 if noise is None else noise.draw()) for count in counts]
    cells = [{"value": label, "count": count} for label, count in zip(release.labels, shown, strict=True)]
    return {"cells": cells, **_scale(release, noise)}


def _total(group: Group, noise: Noise | None) -> int:
    return int(group.cells[:, 0].sum()) + (0 if noise is None else noise.draw())


def _scale(release: Release, noise: Noise | None) -> dict[str, Any]:
    return {"noise_scale": None if noise is None else rounded_up(noise.scale * Fraction(release.grid))}


_VALUES: dict[str, Callable[[Release, Group, Noise | None], dict[str, Any]]] = {
    "count": _count,
    "sum": _sum,
    "mean": _mean,
    "range": _range,
    "histogram": _histogram,
}
