"""Everything that a command needs before it may start, of a pipeline of aggregates. Nothing here talks to Kafka."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from beliefs.checks import Invalid
from beliefs.rounding import budget_units, nats
from stream.aggregates.claims import claim_for
from stream.aggregates.compiled import queries_of
from stream.aggregates.expected import fitting_windows, topped_up
from stream.aggregates.laws import USERS, WINDOWS, Laws, load_laws
from stream.aggregates.promise import AggregatePromise
from stream.errors import ConfigurationRefused, Problem
from stream.house import keys_of, many_empty, problem_in, seen_by_others
from stream.keys import KeyRing
from stream.settings.aggregate import AggregateSettings
from stream.settings.load import aggregate_fingerprint, load_settings
from stream.settings.model import Settings

_NO_LAWS: Final = Laws()
_PLACES: Final = {
    "users": (USERS, "a law of users that says what each tells of the others, beside windows: fresh"),
    "windows": (WINDOWS, "a Markov chain of one user's contributions that keeps its law"),
    "protects": (("aggregate", "protects"), "one_window beside a law of windows"),
}


@dataclass(frozen=True)
class OpenedAggregates:
    """A pipeline of aggregates that may be started: everything in it has been found right."""

    file: Path
    settings: Settings
    declared: AggregateSettings
    laws: Laws
    promise: AggregatePromise
    warnings: tuple[str, ...]

    @property
    def ring(self) -> KeyRing:
        return self.promise.ring


def open_aggregates(file: Path, environment: Mapping[str, str]) -> OpenedAggregates:
    """Read and check the settings file and all that it names, or raise ConfigurationRefused with every problem."""
    settings = load_settings(file)
    declared = settings.aggregate
    problems: list[Problem] = []
    if declared is None:
        found, fix = "no aggregates", "declare some, or use a command about single events"
        raise ConfigurationRefused(str(file), [problem_in(file, ("aggregate",), found, "aggregates", fix)])
    ring = keys_of(settings, file, environment, problems)
    laws = load_laws(declared.dependence, partial(problem_in, file), problems)
    if problems or ring is None:
        raise ConfigurationRefused(str(file), problems)
    try:
        promise = compile_aggregates(settings, declared, ring, laws)
    except Invalid as error:
        place, allowed = _PLACES.get(error.field, _PLACES["users"])
        fix = "correct the law, or declare users and windows in a way that needs none"
        found = f"{error.field} that carry no claim: they {error.reason}"
        raise ConfigurationRefused(str(file), [problem_in(file, place, found, allowed, fix)]) from None
    problems += _beyond_target(promise, file)
    if problems:
        raise ConfigurationRefused(str(file), problems)
    return OpenedAggregates(file, settings, declared, laws, promise, tuple(_warnings(settings, promise)))


def compile_aggregates(
    settings: Settings, declared: AggregateSettings, ring: KeyRing, laws: Laws = _NO_LAWS
) -> AggregatePromise:
    """`Invalid` where the declared dependence carries no claim."""
    nats_allowed = declared.target.nats
    queries = queries_of(declared)
    return AggregatePromise(
        pipeline=settings.pipeline.name,
        record=settings.record,
        ring=ring,
        policy_version=settings.policy_version,
        policy_fingerprint=aggregate_fingerprint(settings, laws.digests),
        length=declared.window,
        start=declared.start,
        lateness=declared.lateness,
        grace=declared.grace,
        ahead=declared.ahead,
        queries=queries,
        claim=claim_for(declared, queries, laws),
        protects=declared.protects,
        horizon=declared.target.windows,
        target=None if math.isinf(nats_allowed) else budget_units(nats_allowed),
        beyond=declared.target.beyond,
    )


def _beyond_target(promise: AggregatePromise, file: Path) -> Iterator[Problem]:
    """A target that not even one window fits: nothing could ever be released."""
    if promise.target is None or fitting_windows(promise) > 0 or topped_up(promise) is not None:
        return
    least = nats(promise.claim.leak([promise.window_loss]))
    found = f"{nats(promise.target):g}, below the {least:.4g} that one window tells: nothing could ever be released"
    fix = f"raise it to at least {least:.4g}, better to a multiple of it, or lower each epsilon"
    yield problem_in(file, ("aggregate", "target", "nats"), found, "at least what one window tells", fix)


def _warnings(settings: Settings, promise: AggregatePromise) -> Iterator[str]:
    fit, horizon = fitting_windows(promise), promise.horizon
    if promise.target is None:
        yield "the target is unlimited: what is told about a user grows with every window, without end"
    elif fit < horizon:
        yield (
            f"the target pays for {fit:,} of any {horizon:,} windows in a row; the others are withheld"
            f"{' or have more noise' if promise.beyond == 'top_up' else ''}"
        )
    yield from many_empty(promise.start, promise.length)
    yield from seen_by_others(settings)
