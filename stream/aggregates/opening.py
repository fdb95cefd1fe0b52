"""Everything that a command needs before it may start, of a pipeline of aggregates. Nothing here talks to Kafka."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from beliefs.rounding import budget_units, nats
from stream.aggregates.claims import claim_for
from stream.aggregates.compiled import queries_of
from stream.aggregates.expected import fitting_windows, topped_up
from stream.aggregates.promise import AggregatePromise
from stream.errors import ConfigurationRefused, Problem
from stream.house import keys_of, problem_in, seen_by_others
from stream.keys import KeyRing
from stream.protocol.limits import wall_clock_ms
from stream.settings.aggregate import AggregateSettings
from stream.settings.kinds import write_duration
from stream.settings.load import aggregate_fingerprint, load_settings
from stream.settings.model import Settings

_MANY_EMPTY: Final = 100_000
"""So many windows in the past are worth a word: each of them has a record."""


@dataclass(frozen=True)
class OpenedAggregates:
    """A pipeline of aggregates that may be started: everything in it has been found right."""

    file: Path
    settings: Settings
    declared: AggregateSettings
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
    if ring is None:
        raise ConfigurationRefused(str(file), problems)
    promise = compile_aggregates(settings, declared, ring)
    problems += _beyond_target(promise, file)
    if problems:
        raise ConfigurationRefused(str(file), problems)
    return OpenedAggregates(file, settings, declared, promise, tuple(_warnings(settings, promise)))


def compile_aggregates(settings: Settings, declared: AggregateSettings, ring: KeyRing) -> AggregatePromise:
    nats_allowed = declared.target.nats
    queries = queries_of(declared)
    return AggregatePromise(
        pipeline=settings.pipeline.name,
        record=settings.record,
        ring=ring,
        policy_version=settings.policy_version,
        policy_fingerprint=aggregate_fingerprint(settings, {}),
        length=declared.window,
        start=declared.start,
        lateness=declared.lateness,
        grace=declared.grace,
        ahead=declared.ahead,
        queries=queries,
        claim=claim_for(declared),
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
    past = (wall_clock_ms() - promise.start) // promise.length
    if past > _MANY_EMPTY:
        yield (
            f"{past:,} windows of {write_duration(promise.length)} lie between `from` and now; each has a record of "
            "its own, also where it is empty"
        )
    yield from seen_by_others(settings)
