"""Everything that a command needs before it may start, of a pipeline of crowds. Nothing here talks to Kafka."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Final

from beliefs.alphabet import Categories
from beliefs.checks import Invalid
from beliefs.crowd.account import CrowdAccount
from beliefs.crowd.law_file import CrowdLaw, InvalidCrowdLaw, parse
from beliefs.crowd.total import Total
from stream.crowds.compiled import places_of, release_of
from stream.crowds.promise import CrowdPromise, FlowTiming, Release, Target, Timing
from stream.errors import ConfigurationRefused, Problem
from stream.house import Found, keys_of, many_empty, problem_in, read_file, seen_by_others
from stream.keys import KeyRing
from stream.names import UNKNOWN_TYPE
from stream.records.fields import FieldForm
from stream.settings.crowd import CrowdSettings
from stream.settings.load import crowd_fingerprint, load_settings
from stream.settings.model import Settings

EVERYBODY: Final = "default"
"""The only type of people where a law names no others, or where there is none."""

LAW: Final = ("crowd", "believes", "law")
_MOST: Final = 20
_MOST_COUNTED: Final = 2
"""Types of people beside counts of single values and an adversary who knows some people: of two a window of 100,000
takes a second, of three one of 10,000 takes a minute.
"""
_FEW_TYPES: Final = 3


@dataclass(frozen=True)
class OpenedCrowds:
    """A pipeline that may be started: everything in it has been found right."""

    file: Path
    settings: Settings
    declared: CrowdSettings
    law: CrowdLaw | None
    promise: CrowdPromise
    warnings: tuple[str, ...]

    @property
    def ring(self) -> KeyRing:
        return self.promise.ring


def open_crowds(file: Path, environment: Mapping[str, str]) -> OpenedCrowds:
    """Read and check the settings file and all that it names, or raise ConfigurationRefused with every problem."""
    settings = load_settings(file)
    declared = settings.crowd
    problems: list[Problem] = []
    if declared is None:
        found, fix = "no crowd", "declare one, or use a command about single events"
        raise ConfigurationRefused(str(file), [problem_in(file, ("crowd",), found, "a crowd", fix)])
    told = partial(problem_in, file)
    ring = keys_of(settings, file, environment, problems)
    law = load_law(declared, told, problems)
    if problems or ring is None:
        raise ConfigurationRefused(str(file), problems)
    try:
        promise = compile_crowds(settings, declared, ring, law)
    except Invalid as error:
        found = f"{declared.believes.law}: {error.field} {error.reason}"
        fix = "correct the law, or declare the release in fewer values, such as a wider grid"
        raise ConfigurationRefused(str(file), [told(LAW, found, "a law that can be worked with", fix)]) from None
    return OpenedCrowds(file, settings, declared, law, promise, tuple(_warnings(settings, promise, law)))


def compile_crowds(
    settings: Settings, declared: CrowdSettings, ring: KeyRing, law: CrowdLaw | None = None
) -> CrowdPromise:
    """`Invalid` where the law is one that cannot be worked with."""
    release, believes, target = release_of(declared), declared.believes, _target(declared)
    account = _account(declared, release, law)
    several = None if account is None or target is None or target.horizon == 1 else Total(account, target.horizon)
    types = (EVERYBODY,) if law is None or law.household is not None else tuple(law.types)
    by = believes.by
    return CrowdPromise(
        pipeline=settings.pipeline.name,
        record=settings.record,
        ring=ring,
        policy_version=settings.policy_version,
        policy_fingerprint=crowd_fingerprint(settings, None if law is None else law.digest),
        k=declared.k,
        over=declared.over,
        timing=_timing(declared),
        flow=None if declared.delay is None else FlowTiming(declared.delay.events, declared.delay.time),
        release=release,
        types=types,
        type_form=None if by is None else FieldForm("type", by, Categories(types), unfit=UNKNOWN_TYPE),
        household_path=believes.household,
        household_most=None if law is None or law.household is None else law.members,
        known=share_known(declared),
        windows=believes.windows,
        account=account,
        total=several,
        target=target,
    )


def load_law(declared: CrowdSettings, found: Found, problems: list[Problem]) -> CrowdLaw | None:
    """What is wrong with the file, or does not fit the settings, is added to the problems."""
    name = declared.believes.law
    if name is None:
        return None
    allowed = "a law of the values of people"
    data = read_file(name, LAW, allowed, found, problems)
    if data is None:
        return None
    try:
        law = parse(data)
    except InvalidCrowdLaw as error:
        fix = "correct the file"
        problems += [found(LAW, f"{name}: {each.field} {each.reason}", allowed, fix) for each in error.problems[:_MOST]]
        return None
    problems += _misfits(declared, law, found)
    return law


def _misfits(declared: CrowdSettings, law: CrowdLaw, found: Found) -> Iterator[Problem]:
    believes, places = declared.believes, places_of(release_of(declared))
    if law.places != places:
        said = f"a law of {law.places:,} values, where a person may have {places:,}"
        fix = "write a chance for each value, in their order; law and values have to be declared alike"
        yield found(LAW, said, f"chances of {places:,} values", fix)
    if law.household is not None and believes.household is None:
        fix = "add household: the public field that says who belongs together, or give a law of types"
        yield found(LAW, "a law of households, and nothing that says who is of which", "household beside it", fix)
    kind = release_of(declared).kind
    if law.household is not None and kind in ("histogram", "records"):
        fix = "give a law of types, or release a count, sum, mean or range"
        yield found(LAW, f"a law of households beside {kind}", "people who are independent: no bound is known", fix)
    if kind in ("histogram", "records") and believes.known and len(law.types) > _MOST_COUNTED:
        fix = (
            "believe in fewer types, or write known: 0; whom of many types it hurts most to know takes minutes a window"
        )
        said = f"{len(law.types)} types of people beside {kind} and known"
        yield found(LAW, said, f"at most {_MOST_COUNTED} types there", fix)
    if law.household is None and believes.household is not None:
        place, fix = ("crowd", "believes", "household"), "remove it, or give the law of a household in the file"
        yield found(place, "households beside a law of types, who are independent", "a law of households", fix)
    if law.household is None and believes.by is None and len(law.types) > 1:
        fix = "add by: the public field that names a user's type, or keep one law"
        yield found(LAW, f"{len(law.types)} types of people, and nothing that says who is which", "by beside it", fix)


def share_known(declared: CrowdSettings) -> Fraction:
    """The share as it is written, not the double next to it."""
    return Fraction(str(declared.believes.known))


def _timing(declared: CrowdSettings) -> Timing | None:
    if declared.window is None or declared.start is None:
        return None
    return Timing(declared.window, declared.start, declared.lateness, declared.grace, declared.ahead)


def _target(declared: CrowdSettings) -> Target | None:
    target = declared.target
    return None if target is None else Target(target.epsilon, target.delta, target.windows, target.beyond)


def _account(declared: CrowdSettings, release: Release, law: CrowdLaw | None) -> CrowdAccount | None:
    target = declared.target
    if law is None or target is None:
        return None
    return CrowdAccount(
        release.kind,
        tuple(law.types.values()),
        epsilon=target.epsilon,
        delta=target.delta,
        known=share_known(declared),
        household=law.household,
    )


def _warnings(settings: Settings, promise: CrowdPromise, law: CrowdLaw | None) -> Iterator[str]:
    if law is None:
        yield (
            f"nothing is declared of what an adversary believes: crowds of at least {promise.k:,} people are promised, "
            "and no bound on what they tell (delta is 1)"
        )
    elif promise.windows == "any":
        yield "windows may depend on each other in any way: each window's guarantee stands alone, and none is composed"
    if promise.known and len(promise.types) > _FEW_TYPES:
        yield (
            f"of more than {_FEW_TYPES} types of people it is only bounded, far above the truth, what an adversary is "
            "told who knows some: declare few types, or known: 0"
        )
    if law is not None and (missing := _impossible(law)):
        yield (
            f"the law gives {missing:,} of {law.places:,} values no chance: nothing is promised to people who have one "
            "of these all the same"
        )
    if promise.timing is not None:
        yield from many_empty(promise.timing.start, promise.timing.length)
    yield from seen_by_others(settings)


def _impossible(law: CrowdLaw) -> int:
    """How many values some type of people is said never to have."""
    if law.household is not None:
        others = tuple(range(1, law.household.ndim))
        return int((law.household.sum(axis=others) == 0.0).sum())
    return max(int((each == 0.0).sum()) for each in law.types.values())
