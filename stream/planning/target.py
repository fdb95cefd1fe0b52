"""What somebody wants of a pipeline, and how far a point is from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

from stream.errors import CannotPlan
from stream.settings.model import Settings

if TYPE_CHECKING:
    from stream.planning.points import Point


@dataclass(frozen=True)
class Target:
    """Each part is None where nothing is asked: an agreement of at least so much, a mean distance, leakage in nats and
    a mean delay in milliseconds of at most so much.
    """

    agreement: float | None = None
    distance: float | None = None
    leakage: float | None = None
    delay: int | None = None

    @property
    def asked(self) -> dict[str, float]:
        """The parts that are asked for, by name."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: float(value) for name, value in given.items() if value is not None}

    def check(self) -> None:
        """Refuse what no pipeline could be."""
        for name, value in self.asked.items():
            if not value >= 0 or math.isinf(value):
                raise impossible(name, f"{value:g} is no amount from 0 on", "write a number that is not negative")
        if self.agreement is not None and not 0 < self.agreement <= 1:
            raise impossible(
                "agreement", f"{self.agreement:g} is no share above 0 and at most 1", "write for example 0.8"
            )
        if self.leakage == 0:
            raise impossible("leakage", "whatever depends on the values tells something", "allow more than 0 nats")


OPTIONS: Final = {
    "agreement": "--agreement",
    "distance": "--distance",
    "leakage": "--leakage-per-day",
    "delay": "--delay",
}


def impossible(name: str, why: str, fix: str) -> CannotPlan:
    return CannotPlan("What is asked for cannot be planned.", OPTIONS.get(name, name), why, fix)


def shown_by(point: Point, name: str) -> float:
    """What a point shows of a part of a target. A simulated share counts with the end of its interval that is worse,
    and leakage as far as a budget keeps it: how often events come is a guess, a budget is a promise.
    """
    if name == "agreement":
        return point.agreement - point.agreement_error
    if name == "distance":
        return math.inf if point.distance is None else point.distance + point.distance_error
    return point.kept_per_day if name == "leakage" else point.delay_ms


def gap(point: Point, name: str, wanted: float) -> float:
    """How much is missing, as a share of what is wanted; 0 where the part is met."""
    found = shown_by(point, name)
    missing = wanted - found if name == "agreement" else found - wanted
    if missing <= 0:
        return 0.0
    return missing / wanted if wanted > 0 else math.inf


def gaps(point: Point, target: Target) -> dict[str, float]:
    """What is missing of each part that is not met."""
    found = {name: gap(point, name, wanted) for name, wanted in target.asked.items()}
    return {name: amount for name, amount in found.items() if amount > 0}


def check_one_model(settings: Settings) -> None:
    if settings.model.learn is not None:
        fix = "run it until `sottovoce learnt` has a model to write, and give settings that name that file"
        raise impossible("the model", "these settings learn it while they run, so nothing is known to plan with", fix)
    if settings.model.file is None:
        fix = "give settings with model.file, one of those models"
        raise impossible("the model", "several models serve the users of these settings", fix)
