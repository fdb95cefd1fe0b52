"""What is promised of a pipeline of crowds, worked out a second time from the public settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from beliefs.alphabet import Alphabet, Bins, Grid
from stream.audit.amounts import Floats
from stream.audit.crowd_attributes import Attribute, Steps, attribute_of
from stream.errors import CannotAudit
from stream.records.paths import Path
from stream.settings.crowd import CrowdSettings, ReleaseSettings
from stream.settings.model import Settings

MOST_PEOPLE: Final = 200_000
REMEMBERED: Final = 64
"""So many released windows are looked at before one whose people are nearly the same is released."""


@dataclass(frozen=True)
class Timing:
    """Windows of event time; all in milliseconds."""

    start: int
    length: int
    lateness: int
    grace: int
    ahead: int

    def number(self, time: int) -> int:
        return (time - self.start) // self.length

    def end(self, time: int) -> int:
        """Of the window in which this time lies."""
        return self.start + (self.number(time) + 1) * self.length


@dataclass(frozen=True)
class Mixed:
    """What a crowd's sensitive values must be: at most one in `diverse` of the people has the same, and their shares
    are at most so many millionths from those of everybody.
    """

    path: Path
    labels: tuple[Any, ...]
    index_of: Callable[[Any], int | None]
    diverse: int
    close: int | None

    def allows(self, people: Mapping[int, int], everybody: Mapping[int, int]) -> bool:
        """Of each value, how many have it. Whole numbers all through."""
        inside, total = sum(people.values()), sum(everybody.values())
        if max(people.values(), default=0) * self.diverse > inside:
            return False
        if self.close is None:
            return True
        apart = sum(abs(people.get(each, 0) * total - count * inside) for each, count in everybody.items())
        return apart * 1_000_000 <= 2 * self.close * inside * total


@dataclass(frozen=True)
class Asked:
    """The one thing that is released: a statistic of one field, or boxes."""

    kind: str
    take: str
    path: Path | None = None
    steps: Steps | None = None
    labels: tuple[Any, ...] = ()
    index_of: Callable[[Any], int | None] | None = None
    grouper: str | None = None
    attributes: tuple[Attribute, ...] = ()
    mixed: Mixed | None = None
    loss_most: Fraction = Fraction(1)


@dataclass(frozen=True)
class Believed:
    """The law of each type of people, by name; or of a household, whose members are alike."""

    types: Mapping[str, Floats]
    household: Floats | None
    by: Path | None
    belongs: Path | None
    known: Fraction
    fresh: bool

    @property
    def members(self) -> int:
        return 1 if self.household is None else self.household.ndim

    @property
    def adversaries(self) -> tuple[str, str]:
        """Who is told of: who knows nobody's value, and who knows some."""
        kind = "independent" if self.household is None else "dependent"
        return kind, f"{kind}_informed"


@dataclass(frozen=True)
class Goal:
    epsilon: float
    delta: float
    windows: int
    tops_up: bool


@dataclass(frozen=True)
class Crowds:
    """All that an audit of crowds must know."""

    pipeline: str
    policy: bytes
    fingerprint: bytes
    k: int
    over_all: bool
    timing: Timing | None
    delay: tuple[int, int] | None
    """Of flows: after so many events, and so many milliseconds, an event must be out."""
    asked: Asked
    believed: Believed | None
    goal: Goal | None

    @property
    def guards(self) -> bool:
        """Whether two windows with nearly the same people are kept apart."""
        return self.believed is None or not self.believed.fresh


def crowds_of(settings: Settings, law: Any, fingerprint: bytes) -> Crowds:
    """`law` is what the file holds that the settings name, if they name one."""
    crowd = settings.crowd
    if crowd is None:
        raise CannotAudit(
            "These settings release no crowds.",
            where="crowd",
            why="the section is missing",
            fix="name the settings that the pipeline ran with",
        )
    target = crowd.target
    return Crowds(
        pipeline=settings.pipeline.name,
        policy=f"{settings.policy_version}:{fingerprint.hex()[:8]}".encode(),
        fingerprint=fingerprint,
        k=crowd.k,
        over_all=crowd.over == "all",
        timing=_timing(crowd),
        delay=None if crowd.delay is None else (crowd.delay.events, crowd.delay.time),
        asked=_asked(crowd.release),
        believed=_believed(crowd, law),
        goal=None if target is None else Goal(target.epsilon, target.delta, target.windows, target.beyond == "top_up"),
    )


def _timing(crowd: CrowdSettings) -> Timing | None:
    if crowd.window is None or crowd.start is None:
        return None
    return Timing(crowd.start, crowd.window, crowd.lateness, crowd.grace, crowd.ahead)


def _believed(crowd: CrowdSettings, law: Any) -> Believed | None:
    if law is None:
        return None
    believes = crowd.believes
    types = {name: np.array(chances, dtype=np.float64) for name, chances in law.types.items()}
    known = Fraction(str(believes.known))
    return Believed(types, law.household, believes.by, believes.household, known, believes.windows == "fresh")


def _asked(release: ReleaseSettings) -> Asked:
    if release.kind == "records":
        return Asked(
            "records",
            release.take,
            grouper=release.records,
            attributes=tuple(attribute_of(name, each) for name, each in release.by.items()),
            mixed=_mixed(release),
            loss_most=Fraction(1) if release.loss_most is None else Fraction(release.loss_most),
        )
    if release.steps is not None:
        return Asked(release.kind, release.take, release.path, Steps.of(release.steps))
    among = release.of if release.kind == "count" else release.values
    if among is None:
        raise ValueError("settings that were found right name the values of a count and of a histogram")
    labels = tuple(among.value_at(place) for place in range(among.size))
    index_of = _counted(among) if release.kind == "count" else among.index_of
    return Asked(release.kind, release.take, release.path, None, labels, index_of)


def _counted(among: Alphabet) -> Callable[[Any], int | None]:
    """1 of a value that is one of these, 0 of any other of their kind, None of what is of another kind."""
    kinds = (int, float) if isinstance(among, Bins) else (type(among.value_at(0)),)

    def index_of(value: Any) -> int | None:
        if among.index_of(value) is not None:
            return 1
        if isinstance(among, Grid):
            return None if among.pair_in(value) is None else 0
        return 0 if type(value) in kinds else None

    return index_of


def _mixed(release: ReleaseSettings) -> Mixed | None:
    declared = release.sensitive
    if declared is None:
        return None
    values = declared.values
    close = None if declared.close is None else int(Fraction(str(declared.close)) * 1_000_000)
    labels = tuple(values.value_at(place) for place in range(values.size))
    return Mixed(declared.of, labels, values.index_of, declared.diverse or 1, close)
