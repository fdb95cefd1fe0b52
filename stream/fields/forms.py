"""One field of an event, compiled: how each choice of the gate reports it.

A field has a reporter for each choice that may be made of it: the declared mechanism; the same at a half, a quarter and
an eighth of epsilon, where budgets may be lowered; the same over groups of values, where they may be coarsened.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from beliefs.alphabet import Alphabet, Categories
from beliefs.rounding import budget_units, units_up
from mechanisms.contract import Integers
from mechanisms.local.contract import Drawn
from mechanisms.local.rappor import DrawnRappor
from mechanisms.local.registry import drawn
from mechanisms.local.slots import Slots
from mechanisms.local.wire import Shape, shape_of
from stream.fields.gate import COARSE, EIGHTH, FULL, HALF, QUARTER, Beyond
from stream.fields.meaning import kept_name
from stream.records.paths import Path
from stream.settings.fields import FieldSettings


class Reporter(NamedTuple):
    """One way to report a field: what is drawn, how it is written, what it tells in units; `groups` is what of each
    value is reported, where that is not the value itself.
    """

    drawn: Drawn
    shape: Shape
    level: int
    groups: Integers | None = None


@dataclass(frozen=True)
class Form:
    """One field. Amounts are in units of 2^-40 nat; a cap of None is none. `longitudinal` is what all reports of one
    value that lasts tell together, where that has an end; the bits that are kept for it are drawn for `kept`.
    """

    name: str
    path: Path
    alphabet: Alphabet
    mechanism: str
    at_most: int | None
    lasting: bool
    beyond: Beyond
    cap: int | None
    longitudinal: int | None
    kept: str
    reporters: Mapping[int, Reporter] = field(repr=False)


def form_of(name: str, settings: FieldSettings) -> Form:
    reporters = {FULL: _reporter(settings, settings.epsilon)}
    if settings.beyond == "lower":
        for choice in (HALF, QUARTER, EIGHTH):
            reporters[choice] = _reporter(settings, settings.epsilon / 2**choice)
    if settings.coarser is not None:
        reporters[COARSE] = _coarse(settings, settings.coarser)
    kept = reporters[FULL].drawn
    return Form(
        name=name,
        path=settings.path,
        alphabet=settings.values,
        mechanism=settings.mechanism.name,
        at_most=settings.at_most,
        lasting=settings.lasting,
        beyond=settings.beyond,
        cap=None if math.isinf(settings.cap) else budget_units(settings.cap),
        longitudinal=units_up(kept.longitudinal) if isinstance(kept, DrawnRappor) else None,
        kept=kept_name(name, settings),
        reporters=reporters,
    )


def _reporter(settings: FieldSettings, epsilon: float) -> Reporter:
    """A field that holds lists has one value more: the slot that is empty."""
    values = settings.values if settings.at_most is None else Slots(settings.values)
    found = drawn(settings.mechanism.name, values.size, epsilon, **_options(settings))
    return Reporter(found, shape_of(found, values), units_up(found.level))


def _coarse(settings: FieldSettings, coarser: Mapping[str, Sequence[Any]]) -> Reporter:
    groups = np.empty(settings.values.size, dtype=np.int64)
    for number, members in enumerate(coarser.values()):
        for member in members:
            groups[settings.values.index_of(member)] = number
    found = drawn(settings.mechanism.name, len(coarser), settings.epsilon)
    return Reporter(found, shape_of(found, Categories(list(coarser))), units_up(found.level), groups)


def _options(settings: FieldSettings) -> dict[str, Any]:
    mechanism = settings.mechanism
    options = {name: getattr(mechanism, name) for name in ("report_zero", "report_one")}
    given = {name: share for name, share in options.items() if share is not None}
    if mechanism.top is not None:
        given["top"] = [settings.values.index_of(member) for member in mechanism.top]
    return given
