"""Every figure that `explain` gives of a pipeline of aggregates, in nats and in the units of the fields."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

from beliefs.rounding import INFINITE, nats
from stream.aggregates.expected import fitting_windows, mean_within, topped_up
from stream.aggregates.laws import said_by, together
from stream.aggregates.opening import OpenedAggregates
from stream.aggregates.promise import AggregatePromise
from stream.aggregates.query import Query
from stream.aggregates.release import CONFIDENCE, CONFIDENCE_OF_A_PART
from stream.settings.aggregate import AggregateSettings

DAY_MS: Final = 86_400_000
USERS: Final = (100, 1_000, 10_000)
"""Over so many users in a window the width of a mean's interval is said."""


def aggregate_facts(opened: OpenedAggregates) -> dict[str, Any]:
    settings, promise = opened.declared, opened.promise
    return {
        "file": str(opened.file),
        "pipeline": promise.pipeline,
        "policy": promise.policy_name,
        "from_ms": promise.start,
        "window_ms": promise.length,
        "windows_a_day": DAY_MS / promise.length,
        "lateness_ms": promise.lateness,
        "grace_ms": promise.grace,
        "ahead_ms": promise.ahead,
        "released_topic": opened.settings.kafka.released_topic,
        "aggregates": [query_facts(query) for query in promise.queries],
        **_assumed(settings, promise),
        **_baselines(opened),
        **_told(promise),
        "warnings": list(opened.warnings),
    }


def query_facts(query: Query) -> dict[str, Any]:
    """`moves` is how far one user can move each part at most, in its unit."""
    grid = Fraction(query.grid)
    confidence = CONFIDENCE_OF_A_PART if query.kind == "mean" else CONFIDENCE
    units = (grid, Fraction(1)) if query.kind == "mean" else (grid,)
    parts = [
        {"scale": float(noise.scale * unit), "interval": float(noise.interval(confidence) * unit)}
        for noise, unit in zip(query.noise, units, strict=True)
    ]
    return {
        "name": query.name,
        "kind": query.kind,
        "path": None if query.form is None else str(query.form.path),
        "take": None if query.form is None else query.take,
        "at_most": query.at_most,
        "epsilon": nats(query.loss),
        "moves": [float(move * unit) for move, unit in zip(moves_of(query), units, strict=True)],
        "low": None if query.labels or query.form is None else float(query.least * grid),
        "high": None if query.labels or query.form is None else float(query.most * grid),
        "grid": None if query.labels or query.form is None else float(grid),
        "cells": len(query.labels) or None,
        "shown": query.shown,
        "noise": parts,
        "mean_within": {str(users): mean_within(query, users) for users in USERS} if query.kind == "mean" else None,
    }


def moves_of(query: Query) -> tuple[int, ...]:
    """How far one user can move each part of the query at most, in steps: a histogram by two in all its cells."""
    if query.kind == "count":
        return (1,)
    if query.labels:
        return (2,)
    width = query.most - query.least
    if query.kind == "mean":
        return (width, 1)
    return (max(abs(query.least), abs(query.most), width),)


def _assumed(settings: AggregateSettings, promise: AggregatePromise) -> dict[str, Any]:
    users, windows = settings.dependence.users, settings.dependence.windows
    return {
        "users": "law" if users.law is not None else "independent" if users.group is None else "group",
        "group": users.group,
        "users_law": users.law,
        "windows": "law" if windows.law is not None else "fresh" if windows.fresh else "any",
        "windows_law": windows.law,
        "protects": promise.protects,
        "adversary": promise.claim.adversary,
        "method": promise.claim.method,
    }


def _baselines(opened: OpenedAggregates) -> dict[str, Any]:
    """What would be claimed without the laws: of users as groups as large as they may be, of windows as a sum."""
    promise, laws = opened.promise, opened.laws
    loss, horizon = promise.window_loss, promise.horizon
    leak = promise.claim.leak([loss])
    group = None
    if laws.users is not None:
        size = together(said_by(laws.users))
        group = {"size": size, "leak": nats(size * loss), "noise": size * loss / leak}
    added = None if laws.windows is None else {"told": nats(horizon * loss)}
    return {"group_baseline": group, "windows_baseline": added}


def _told(promise: AggregatePromise) -> dict[str, Any]:
    """What windows tell about one user, and what the gate makes of that."""
    loss, horizon, leak = promise.window_loss, promise.horizon, promise.claim.leak
    told, target = leak([loss] * horizon), INFINITE if promise.target is None else promise.target
    return {
        "window_loss": nats(loss),
        "window_leak": nats(leak([loss])),
        "horizon": horizon,
        "horizon_ms": horizon * promise.length,
        "horizon_told": nats(told),
        "target": nats(target),
        "beyond": promise.beyond,
        "fit": fitting_windows(promise),
        "more_noise": topped_up(promise),
        "factor": math.exp(min(700.0, nats(min(told, target)))),
    }
