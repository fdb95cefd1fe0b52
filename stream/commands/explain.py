"""`sottovoce explain`: what a pipeline promises, against whom, what it does not promise, and what to expect."""

import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from beliefs.rounding import INFINITE, UNITS_PER_NAT
from mechanisms.contract import design_units
from mechanisms.registry import MECHANISMS
from stream.commands.compiling import compiling_told
from stream.commands.expectation import DAY_MS, Expectation, Promised, one_day, without_budget
from stream.commands.memory import memory_of
from stream.commands.prose import write_explanation
from stream.commands.report import errors_told, hint, say, say_json
from stream.names import EXIT_DONE
from stream.opening import Opened, belief_floor, least_belief, open_pipeline
from stream.settings.model import DEFAULT_DEADLINE_MS, WindowSettings
from stream.windows.dual import Sequences


def explain_command(file: Path, events_per_day: int, as_json: bool) -> int:
    """Print the explanation as text, or its figures as JSON."""
    with errors_told(as_json=as_json):
        opened = open_pipeline(file, os.environ)
        with compiling_told(hint):
            facts = explain(opened, events_per_day)
        if as_json:
            say_json({"ok": True, **facts})
        else:
            say(write_explanation(facts))
    return EXIT_DONE


def explain(opened: Opened, events_per_day: int) -> dict[str, Any]:
    """Every figure of the explanation. Leakage in nats, shares and probabilities between 0 and 1."""
    settings, chain = opened.settings, opened.model.chain
    policy = opened.promise.policy
    epsilon = settings.mechanism.epsilon
    promised = Promised(policy, opened.promise.windows, opened.promise.distance)
    even = settings.model.step is None and settings.window is None
    single = without_budget(promised, chain, DAY_MS if even else DAY_MS // events_per_day)
    day = one_day(promised, chain, events_per_day)
    rows = MECHANISMS[settings.mechanism.name].row_epsilons
    built = epsilon - policy.shift / UNITS_PER_NAT
    least = least_belief(chain, settings.model.step)
    worst = worst_per_event(policy.holds_epsilon, epsilon, least, rows)
    full = policy.budget // policy.epsilon if policy.budget < INFINITE else None
    return {
        "file": str(opened.file),
        "pipeline": settings.pipeline.name,
        "policy": opened.promise.policy_name,
        "model": opened.model.short,
        "values": opened.model.alphabet.size,
        **memory_of(opened),
        "record": _record(opened),
        "mechanism": settings.mechanism.name,
        "epsilon": epsilon,
        "factor": math.exp(epsilon),
        "radius": settings.mechanism.radius,
        "built_for": built,
        "holds_epsilon": policy.holds_epsilon,
        "belief_floor": belief_floor(epsilon),
        "least_belief": least,
        "budget": settings.budget.nats,
        "window_ms": settings.budget.window,
        "when_spent": settings.budget.when_spent,
        "full_releases_per_window": full,
        "worst_per_event": worst,
        "worst_under_any_model": rows * built if rows < math.inf else None,
        "worst_per_day": worst_per_day(settings.budget.nats, settings.budget.window, worst * events_per_day),
        "release_window": None if settings.window is None else _window(settings.window) | _kept(opened),
        "events_per_day": events_per_day,
        "single": asdict(single),
        "day": asdict(day),
        "references": references(epsilon, opened.model.alphabet.size, single),
        "warnings": list(opened.warnings),
    }


def _window(window: WindowSettings) -> dict[str, Any]:
    deadline = None if window.order == "natural" else window.deadline or DEFAULT_DEADLINE_MS
    return {
        "events": window.events,
        "stretch_ms": window.stretch,
        "order": window.order,
        "deadline_ms": deadline,
    }


def _kept(opened: Opened) -> dict[str, Any]:
    """Where a window goes through one channel: what a new user's first one keeps, and the most that any could."""
    promise = opened.promise
    if promise.windows is None or not promise.windows.dual:
        return {}
    policy = promise.policy
    epsilon = (policy.epsilon - policy.shift) / UNITS_PER_NAT
    units = design_units(policy.epsilon, 0, policy.shift)
    value = Sequences(promise.chain, promise.windows.events).value(units, epsilon)
    return {"kept": value.agreement, "kept_at_most": value.most, "gap_at_most": value.gap}


def _record(opened: Opened) -> dict[str, Any]:
    record = opened.settings.record
    return {
        "protected": str(record.protect.path),
        "public": [str(path) for path in record.public],
        "headers": list(record.headers),
        "key": record.release_key,
    }


def worst_per_event(holds_epsilon: bool, epsilon: float, least: float, row_epsilons: float = math.inf) -> float:
    """The most that one release may tell, on either side; unbounded: log(e + (1-e)/b) at the least belief b."""
    if holds_epsilon:
        return epsilon
    if row_epsilons < math.inf:
        return row_epsilons * epsilon
    if least <= 0.0:
        return math.inf
    share = math.exp(-epsilon)
    return max(epsilon, math.log(share + (1.0 - share) / least))


def worst_per_day(budget: float, window: int | None, all_events: float) -> float:
    """The most that any 24 hours may tell: windows of W hours touch any 24 hours at most ceil(24/W) + 1 times."""
    windows = 1 if window is None else -(-DAY_MS // window) + 1
    return min(windows * budget, all_events)


def references(epsilon: float, size: int, single: Expectation) -> dict[str, float]:
    """The agreement of randomised response that needs no model, at epsilon and at twice epsilon, for comparison."""
    return {
        "randomised_response": _randomised_response(epsilon, size),
        "randomised_response_twice": _randomised_response(2 * epsilon, size),
        "sottovoce": single.agreement,
    }


def _randomised_response(epsilon: float, size: int) -> float:
    """e^epsilon / (e^epsilon + k - 1), written so that nothing overflows."""
    return 1.0 / (1.0 + (size - 1) * math.exp(-epsilon))
