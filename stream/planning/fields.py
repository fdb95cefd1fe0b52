"""What other levels would make of the declared fields: how many reports the caps leave, and what they are worth.

The levels of all fields are taken by the same factors. How many reports a user makes in a day is known in advance,
because the gate looks at no value; what they are worth is said in people: so many are needed until the share of a value
is known to a standard error of one point, if all values are alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from beliefs.checks import Invalid
from beliefs.rounding import nats
from mechanisms.local.inverted import inverted
from stream.fields.expected import stretches
from stream.fields.forms import Form, form_of
from stream.fields.gate import CHOICE_NAMES, COARSE, SIGNS, WITHHELD
from stream.fields.joint import Joint
from stream.fields.promise import FieldsPromise, compile_fields
from stream.settings.fields import FieldSettings, FieldsSettings
from stream.settings.model import Settings

FACTORS: Final = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
POINT: Final = 0.01
_NO_KEY: Final = bytes(32)


@dataclass(frozen=True)
class FieldOutlook:
    """Of one field after a day of one user: `reports` by choice, and the people whose reports give one point; None
    where nothing is reported of a single value.
    """

    name: str
    epsilon: float
    reports: Mapping[str, int]
    total: float
    cap: float | None
    people: int | None


@dataclass(frozen=True)
class Outlook:
    """All fields with their levels times `factor`; 1 is what the settings say."""

    factor: Fraction
    fields: tuple[FieldOutlook, ...]


def outlooks(settings: Settings, joint: Joint | None, per_day: int) -> list[Outlook]:
    """Factors at which a level would leave its limits, or be above its cap, are left out."""
    return [_outlook(each, factor, joint, per_day) for factor in FACTORS for each in _scaled(settings, factor)]


def _scaled(settings: Settings, factor: Fraction) -> Iterator[Settings]:
    declared = settings.fields
    if declared is None:
        return
    each = {
        name: field.model_copy(update={"epsilon": field.epsilon * float(factor)})
        for name, field in declared.each.items()
    }
    if all(field.epsilon <= field.cap and _is_drawable(name, field) for name, field in each.items()):
        yield settings.model_copy(update={"fields": declared.model_copy(update={"each": each})})


def _is_drawable(name: str, field: FieldSettings) -> bool:
    """Mechanisms have limits of their own, also for the levels to which a field may be lowered."""
    try:
        form_of(name, field)
    except Invalid:
        return False
    return True


def _outlook(settings: Settings, factor: Fraction, joint: Joint | None, per_day: int) -> Outlook:
    promise = compile_fields(settings, joint, _NO_KEY)
    if promise is None or settings.fields is None:
        raise ValueError("no field is declared")
    made, totals = _day(promise, per_day)
    found = []
    for place, (name, field) in enumerate(settings.fields.each.items()):
        reports = dict(zip(CHOICE_NAMES, made[place].tolist(), strict=True))
        cap = promise.forms[place].cap
        shown = None if cap is None else nats(cap)
        found.append(
            FieldOutlook(
                name,
                field.epsilon,
                reports,
                nats(totals[place]),
                shown,
                _people(promise.forms[place], made[place].tolist()),
            )
        )
    return Outlook(factor, tuple(found))


def _day(promise: FieldsPromise, per_day: int) -> tuple[np.ndarray[Any, np.dtype[np.int64]], Sequence[int]]:
    """How often each choice is made of each field, and the totals after the day."""
    made = np.zeros((len(promise.forms), len(SIGNS)), dtype=np.int64)
    totals: Sequence[int] = promise.totals.of(promise.totals.nothing)
    for stretch in stretches(promise, per_day):
        last = per_day if stretch.last is None else min(stretch.last, per_day)
        for place, choice in enumerate(stretch.choices):
            made[place, choice] += max(0, last - stretch.first + 1)
        totals = stretch.totals
    return made, totals


def _people(form: Form, made: Sequence[int]) -> int | None:
    """Reports of several levels are weighed by their variances: what they are worth adds up. The noise of kept bits is
    the same in all reports of a person, so that more of them do not lessen it.
    """
    worth = 0.0
    for choice, count in enumerate(made):
        if choice in (COARSE, WITHHELD) or not count:
            continue
        of = inverted(form.reporters[choice].drawn)
        noise = of.others + (of.own - of.others) / form.reporters[choice].drawn.values
        worth += 1.0 / (of.kept + (noise - of.kept) / count)
    lists = form.at_most or 1
    return math.ceil(lists**2 / (worth * POINT**2)) if worth > 0.0 else None


def figures(found: Sequence[Outlook], per_day: int, fields: FieldsSettings) -> dict[str, Any]:
    return {
        "events_per_day": per_day,
        "window_ms": fields.length or None,
        "levels": [
            {
                "factor": float(each.factor),
                "fields": {
                    one.name: {
                        "epsilon": one.epsilon,
                        "reports": dict(one.reports),
                        "total_nats": None if math.isinf(one.total) else one.total,
                        "cap_nats": one.cap,
                        "people_for_a_point": one.people,
                    }
                    for one in each.fields
                },
            }
            for each in found
        ],
    }


def told(found: Sequence[Outlook], per_day: int) -> str:
    lines = [
        f"A user's first day of {per_day} events, by the levels of the fields (1: as declared).",
        "People: as many are needed until the share of a value is known to a standard error of one point.",
        "",
        _line("levels", "field", "epsilon", "reported", "less", "withheld", "told", "cap", "people"),
    ]
    for each in found:
        for place, one in enumerate(each.fields):
            less = sum(one.reports[choice] for choice in CHOICE_NAMES[1:5])
            cap = "none" if one.cap is None else f"{one.cap:.4g}"
            people = "-" if one.people is None else f"{one.people:,}"
            factor = _written(each.factor) if place == 0 else ""
            counts = (f"{count:,}" for count in (one.reports["full"], less, one.reports["withheld"]))
            lines.append(_line(factor, one.name, f"{one.epsilon:.4g}", *counts, f"{one.total:.4g}", cap, people))
    return "\n".join(lines)


def _line(factor: str, name: str, *columns: str) -> str:
    return f"{factor:>6}  {name:<16.16} " + " ".join(f"{each:>9}" for each in columns)


def _written(factor: Fraction) -> str:
    return f"x {factor}" if factor != 1 else "1"
