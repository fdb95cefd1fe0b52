"""Every report that a drawn mechanism can make, with its chance: the oracle of whatever is computed from reports."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from mechanisms.contract import TOTAL
from mechanisms.local.contract import Drawn
from mechanisms.local.grr import DrawnResponse
from mechanisms.local.histogram import DrawnHistogram
from mechanisms.local.rappor import DrawnRappor
from mechanisms.local.registry import drawn
from mechanisms.local.subset import DrawnSubset
from mechanisms.local.top_k import DrawnTop, cells_of

OPTIONS: dict[str, dict[str, Any]] = {"top_k": {"top": [2, 0]}}
ENUMERATED = ("grr", "exp", "oue", "sue", "rappor", "ss", "the", "top_k")
HASHED = ("blh", "olh")


def made(name: str, values: int, epsilon: float) -> Drawn:
    return drawn(name, values, epsilon, **OPTIONS.get(name, {}))


def reports_about(found: Drawn, value: int) -> Iterator[tuple[Any, Fraction]]:
    """Each report in the mechanism's own form, a batch of one, and its chance."""
    if isinstance(found, DrawnTop):
        yield from reports_about(found.response, int(cells_of(found.values, found.top)[value]))
    elif isinstance(found, DrawnResponse):
        for report in range(found.values):
            yield np.array([report]), Fraction(found.high if report == value else found.low, TOTAL)
    elif isinstance(found, DrawnSubset):
        yield from _sets(found, value)
    elif isinstance(found, DrawnRappor):
        yield from _bits(found.values, value, *_told(found))
    elif isinstance(found, DrawnHistogram):
        raise ValueError("cells are too many to be enumerated together")
    else:
        one, other = (Fraction(units, TOTAL) for units in (found.one, found.other))  # type: ignore[attr-defined]
        yield from _bits(found.values, value, one, other)


def _bits(values: int, value: int, one: Fraction, other: Fraction) -> Iterator[tuple[Any, Fraction]]:
    for bits in itertools.product((0, 1), repeat=values):
        chance = Fraction(1)
        for place, bit in enumerate(bits):
            share = one if place == value else other
            chance *= share if bit else 1 - share
        yield np.array([bits]), chance


def _told(found: DrawnRappor) -> tuple[Fraction, Fraction]:
    units = (found.permanent.one, found.permanent.other)
    one, other = (Fraction(kept * found.if_one + (TOTAL - kept) * found.if_zero, TOTAL * TOTAL) for kept in units)
    return one, other


def _sets(found: DrawnSubset, value: int) -> Iterator[tuple[Any, Fraction]]:
    """Other values all alike, which Floyd's draws are to one in 2^40."""
    held = Fraction(found.own, TOTAL)
    sets = list(itertools.combinations(range(found.values), found.size))
    having = sum(value in chosen for chosen in sets)
    for chosen in sets:
        row = np.zeros((1, found.values), dtype=np.int64)
        row[0, list(chosen)] = 1
        yield row, held / having if value in chosen else (1 - held) / (len(sets) - having)
