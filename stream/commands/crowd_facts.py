"""Every figure that `explain` gives of a pipeline of crowds."""

from __future__ import annotations

import math
from typing import Any, Final

from beliefs.crowd.account import CrowdAccount
from mechanisms.crowds.attributes import Tree
from stream.commands.aggregate_facts import DAY_MS
from stream.crowds.expected import Outlook, needed_users, outlook, present_of
from stream.crowds.opening import OpenedCrowds
from stream.crowds.promise import CrowdPromise, Release
from stream.settings.crowd import CrowdSettings, SensitiveSettings

USERS: Final = (10, 100, 1_000)
"""Of windows of so many people it is said what they tell."""
_MOST_TYPES: Final = 8
"""Of more types of people only the first ones are worked out."""


def crowd_facts(opened: OpenedCrowds, *, worked: bool = True) -> dict[str, Any]:
    """What windows of so many people tell, and how many it takes, is worked out only where it is asked for: that may
    take minutes, and a worker must be ready in seconds.
    """
    settings, promise = opened.declared, opened.promise
    kinds = range(min(len(promise.types), _MOST_TYPES) if worked else 0)
    return {
        "file": str(opened.file),
        "pipeline": promise.pipeline,
        "policy": promise.policy_name,
        "k": promise.k,
        "over": promise.over,
        "released_topic": opened.settings.kafka.released_topic,
        "window": _window(promise),
        "delay": None if promise.flow is None else {"events": promise.flow.events, "time_ms": promise.flow.time},
        "release": _release(settings, promise.release),
        "believes": _believes(opened),
        "target": _target(promise),
        "worked": [fact for kind in kinds for fact in _worked(promise, kind)],
        "needed": {}
        if promise.account is None
        else {promise.types[kind]: needed_users(promise, kind) for kind in kinds},
        "warnings": list(opened.warnings),
    }


def _window(promise: CrowdPromise) -> dict[str, Any] | None:
    timing = promise.timing
    if timing is None:
        return None
    return {
        "from_ms": timing.start,
        "window_ms": timing.length,
        "windows_a_day": DAY_MS / timing.length,
        "lateness_ms": timing.lateness,
        "grace_ms": timing.grace,
        "ahead_ms": timing.ahead,
    }


def _release(settings: CrowdSettings, release: Release) -> dict[str, Any]:
    declared = settings.release
    steps = declared.steps if release.kind in ("sum", "mean", "range") else None
    return {
        "kind": release.kind,
        "grouper": release.grouper,
        "path": None if declared.path is None else str(declared.path),
        "take": release.take,
        "low": None if steps is None else float(steps[0]),
        "high": None if steps is None else float(steps[1]),
        "grid": None if steps is None else float(steps[2]),
        "counted": None if declared.of is None else [declared.of.value_at(i) for i in range(declared.of.size)],
        "values": None if declared.values is None else declared.values.size,
        "places": math.prod(release.sizes),
        "by": _attributes(settings, release),
        "sensitive": None if declared.sensitive is None else _sensitive(declared.sensitive),
        "loss_most": declared.loss_most,
    }


def _attributes(settings: CrowdSettings, release: Release) -> list[dict[str, Any]]:
    found = []
    attributes = () if release.attributes is None else release.attributes.each
    for (name, declared), attribute in zip(settings.release.by.items(), attributes, strict=True):
        steps = declared.steps
        found.append(
            {
                "name": name,
                "path": str(declared.of),
                "cells": attribute.cells,
                "low": None if steps is None else float(steps[0]),
                "high": None if steps is None else float(steps[1]),
                "grid": None if steps is None else float(steps[2]),
                "groups": len(attribute.nodes) - attribute.cells if isinstance(attribute, Tree) else None,
            }
        )
    return found


def _sensitive(declared: SensitiveSettings) -> dict[str, Any]:
    return {
        "path": str(declared.of),
        "values": declared.values.size,
        "diverse": declared.diverse,
        "close": declared.close,
    }


def _believes(opened: OpenedCrowds) -> dict[str, Any] | None:
    believes, law = opened.declared.believes, opened.law
    if law is None:
        return None
    return {
        "law": believes.law,
        "types": list(opened.promise.types),
        "by": None if believes.by is None else str(believes.by),
        "household": None if believes.household is None else str(believes.household),
        "household_most": opened.promise.household_most,
        "known": believes.known,
        "windows": believes.windows,
    }


def _target(promise: CrowdPromise) -> dict[str, Any] | None:
    target = promise.target
    if target is None:
        return None
    return {
        "epsilon": target.epsilon,
        "factor": math.exp(target.epsilon),
        "delta": target.delta,
        "windows": target.horizon,
        "beyond": target.beyond,
    }


def _worked(promise: CrowdPromise, kind: int) -> list[dict[str, Any]]:
    account = promise.account
    if account is None:
        return []
    found = (outlook(promise, present_of(promise, users, kind)) for users in USERS)
    return [_worked_facts(promise.types[kind], account, each) for each in found]


def _worked_facts(kind: str, account: CrowdAccount, found: Outlook) -> dict[str, Any]:
    return {
        "type": kind,
        "users": found.present.users,
        "delta": found.delta,
        "released": found.released,
        "noise_scale": None if found.scale is None else float(found.scale),
        "adversaries": {
            told.adversary: {"delta": told.delta, "epsilon_at_target": told.epsilon, "method": told.method}
            for told in found.told(account)
        },
    }
