"""`sottovoce explain`: what a pipeline promises, against whom, what it does not promise, and what to expect."""

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from beliefs.distance import EQUAL
from beliefs.ledger import spread_counts
from beliefs.model_file import Model
from beliefs.rounding import INFINITE, UNITS_PER_NAT
from mechanisms.contract import design_units
from mechanisms.registry import MECHANISMS
from mechanisms.sequence.near_value import SYMBOLS_MAX, near_value
from stream.aggregates.opening import open_aggregates
from stream.commands.aggregate_facts import aggregate_facts
from stream.commands.aggregate_words import write_aggregates
from stream.commands.compiling import compiling_told
from stream.commands.crowd_facts import crowd_facts
from stream.commands.crowd_words import write_crowds
from stream.commands.expectation import DAY_MS, Expectation, Promised, one_day, without_budget
from stream.commands.field_words import field_facts
from stream.commands.learning_words import learning_facts, learning_promised, write_learning
from stream.commands.memory import memory_of, whom_served
from stream.commands.prose import write_explanation
from stream.commands.report import errors_told, hint, say, say_json
from stream.crowds.opening import open_crowds
from stream.least_belief import belief_floor, least_belief
from stream.names import EXIT_DONE
from stream.opening import Opened, open_pipeline
from stream.policy import Policy
from stream.policy_units import apart_units
from stream.promise import Promise
from stream.serving import Serving
from stream.settings.kinds import Sliding
from stream.settings.load import Released, released_in
from stream.settings.model import DEFAULT_DEADLINE_MS, Settings, WindowSettings
from stream.windows.dual import Sequences

Writer = Callable[[Mapping[str, Any]], str]


def explain_command(file: Path, events_per_day: int, as_json: bool) -> int:
    """Print the explanation as text, or its figures as JSON."""
    with errors_told(as_json=as_json):
        kind = released_in(file)
        if kind != "events":
            about, write = _OF_WINDOWS[kind](file)
            say_json({"ok": True, **about}) if as_json else say(write(about))
            return EXIT_DONE
        opened = open_pipeline(file, os.environ)
        with compiling_told(hint):
            facts = explain(opened, events_per_day)
        if as_json:
            say_json({"ok": True, **facts})
        else:
            say(write_learning(facts) if "learning" in facts else write_explanation(facts))
    return EXIT_DONE


def _aggregates(file: Path) -> tuple[dict[str, Any], Writer]:
    return aggregate_facts(open_aggregates(file, os.environ)), write_aggregates


def _crowds(file: Path) -> tuple[dict[str, Any], Writer]:
    return crowd_facts(open_crowds(file, os.environ)), write_crowds


_OF_WINDOWS: Final[dict[Released, Callable[[Path], tuple[dict[str, Any], Writer]]]] = {
    "aggregates": _aggregates,
    "crowds": _crowds,
}


def explain(opened: Opened, events_per_day: int) -> dict[str, Any]:
    """Every figure of the explanation. Leakage in nats, shares and probabilities between 0 and 1. Where several models
    serve, what depends on the model stands in `segments`, and the worst of all segments beside it.
    """
    if opened.promise.learning is not None:
        return {**_common(opened), **learning_facts(opened, opened.promise.learning)}
    if not opened.settings.follows:
        return {**_common(opened), "events_per_day": events_per_day}
    of_models = []
    for serving, promise in _served(opened):
        its = _promised_of(opened.settings, serving.model, promise)
        expected = _expected_of(opened.settings, serving.model, promise, its["worst_per_event"], events_per_day)
        of_models.append({**its, **expected})
    common = {**_common(opened), "events_per_day": events_per_day}
    if common["release_window"] is not None:
        common["release_window"] |= _kept(opened.promise)
    worst = max(facts["worst_per_day"] for facts in of_models)
    return {**_together(opened, common, of_models), "worst_per_day": worst}


def promised_facts(opened: Opened) -> dict[str, Any]:
    """Those of them that say what is promised; what is to be expected takes seconds to compute."""
    if opened.promise.learning is not None:
        return {**_common(opened), **learning_promised(opened, opened.promise.learning)}
    if not opened.settings.follows:
        return _common(opened)
    of_models = [_promised_of(opened.settings, serving.model, each) for serving, each in _served(opened)]
    return _together(opened, _common(opened), of_models)


def _served(opened: Opened) -> list[tuple[Serving, Promise]]:
    return list(zip(opened.servings, opened.promise.served, strict=True))


def _together(opened: Opened, common: dict[str, Any], of_models: list[dict[str, Any]]) -> dict[str, Any]:
    segments = opened.promise.segments
    if segments is None:
        return {**common, **of_models[0]}
    return {
        **common,
        "model": opened.promise.beliefs_name,
        "segments_by": str(segments.rule.path),
        **_worst(of_models),
        "segments": [{**whom, **facts} for whom, facts in zip(whom_served(opened), of_models, strict=True)],
    }


def _worst(of_models: list[dict[str, Any]]) -> dict[str, float | None]:
    """Of all segments; the mechanism decides whether anything is known under any model, so all know it or none."""
    worst = {name: max(facts[name] for facts in of_models) for name in ("worst_per_event", "apart")}
    known = of_models[0]["worst_under_any_model"] is not None
    most = max(facts["worst_under_any_model"] for facts in of_models) if known else None
    return {**worst, "built_for": min(facts["built_for"] for facts in of_models), "worst_under_any_model": most}


def _promised_of(settings: Settings, model: Model, promise: Promise) -> dict[str, Any]:
    """What is promised under this model."""
    epsilon, chain, policy = settings.mechanism.epsilon, model.chain, promise.policy
    rows = MECHANISMS[settings.mechanism.name].row_epsilons
    # The least belief takes seconds for a large model, and only a mechanism without any bound depends on it.
    bounded = policy.holds_epsilon or rows < math.inf
    least = 0.0 if bounded else least_belief(chain, settings.model.step)
    worst = max(worst_per_event(policy.holds_epsilon, epsilon, least, rows), settings.mechanism.upper or 0.0)
    built = epsilon - policy.shift / UNITS_PER_NAT
    any_model = rows * built if policy.rising is None else _any_reader(policy)
    return {
        "model": model.short,
        **memory_of(model, settings.model, promise),
        "apart": apart_units(settings, model) / UNITS_PER_NAT,
        "built_for": built,
        "worst_under_any_model": any_model if rows < math.inf else None,
        "worst_per_event": worst,
    }


def _expected_of(
    settings: Settings, model: Model, promise: Promise, worst: float, events_per_day: int
) -> dict[str, Any]:
    """What is to be expected under this model, and the most that a day may tell at that rate."""
    epsilon, chain, policy = settings.mechanism.epsilon, model.chain, promise.policy
    promised = Promised(policy, promise.windows, promise.distance)
    even = settings.model.step is None and settings.window is None
    single = without_budget(promised, chain, DAY_MS if even else DAY_MS // events_per_day)
    day = one_day(promised, chain, events_per_day)
    return {
        "least_belief": least_belief(chain, settings.model.step),
        "worst_per_day": worst_per_day(
            settings.budget.nats, settings.budget.window, worst * events_per_day, events_per_day
        ),
        "single": asdict(single),
        "near": _near(settings, model, promise),
        "day": asdict(day),
        "references": references(epsilon, model.alphabet.size, single),
    }


def _near(settings: Settings, model: Model, promise: Promise) -> dict[str, float] | None:
    """What an error in a new user's first value costs by `near`, and at least by any mechanism; where that is known."""
    distance, chain, policy = promise.distance, model.chain, promise.policy
    known = settings.window is None and chain.size == chain.symbols <= SYMBOLS_MAX
    if distance is None or distance.kind == EQUAL or not known:
        return None
    value = near_value(chain.start, distance, *_built(policy))
    return {"first": value.cost, "least": value.least, "gap_at_most": value.gap}


def _built(policy: Policy) -> tuple[int, float]:
    """The units that a new user's first channel is built for, and the epsilon that any other could use, in nats."""
    return design_units(policy.epsilon, 0, policy.shift), (policy.epsilon - policy.shift) / UNITS_PER_NAT


def _common(opened: Opened) -> dict[str, Any]:
    """What is the same whatever the model."""
    settings, policy = opened.settings, opened.promise.policy
    epsilon = settings.mechanism.epsilon
    return {
        "file": str(opened.file),
        "pipeline": settings.pipeline.name,
        "policy": opened.promise.policy_name,
        "values": opened.model.alphabet.size,
        "record": _record(opened),
        "mechanism": settings.mechanism.name,
        "epsilon": epsilon,
        "factor": math.exp(epsilon),
        "upper": settings.mechanism.upper,
        "radius": settings.mechanism.radius,
        "chain_error": settings.mechanism.chain_error,
        "holds_epsilon": policy.holds_epsilon,
        "belief_floor": belief_floor(epsilon),
        "budget": settings.budget.nats,
        "window_ms": settings.budget.length or None,
        "window_events": settings.budget.sliding,
        "when_spent": settings.budget.when_spent,
        "full_releases_per_window": _full_releases(policy),
        "release_window": None if settings.window is None else _window(settings.window),
        "fields": None if opened.promise.fields is None else field_facts(opened.promise.fields),
        "warnings": list(opened.warnings),
    }


def _full_releases(policy: Policy) -> int | None:
    """How many releases the budget pays for at least. One that may tell more upwards takes no more than is left."""
    if policy.budget >= INFINITE:
        return None
    if policy.rising is None:
        return policy.budget // policy.epsilon
    most = int(policy.rising.levels[-1])
    return policy.budget // most + int(policy.budget % most >= policy.epsilon)


def _any_reader(policy: Policy) -> float:
    """How far rows of two_budget are apart at most, in nats: epsilon where it is built for half of it either way."""
    if policy.rising is None or spread_counts(policy.shift, policy.epsilon):
        return policy.epsilon / UNITS_PER_NAT
    return (policy.epsilon + int(policy.rising.levels[-1]) - 2 * policy.shift) / UNITS_PER_NAT


def _window(window: WindowSettings) -> dict[str, Any]:
    deadline = None if window.order == "natural" else window.deadline or DEFAULT_DEADLINE_MS
    return {
        "events": window.events,
        "stretch_ms": window.stretch,
        "order": window.order,
        "deadline_ms": deadline,
    }


def _kept(promise: Promise) -> dict[str, Any]:
    """Where a window goes through one channel: what a new user's first one keeps, and the most that any could. It
    depends on the model, and is left out where several models serve.
    """
    if promise.windows is None or not promise.windows.dual or promise.segments is not None:
        return {}
    value = Sequences(promise.chain, promise.windows.events).value(*_built(promise.policy))
    return {"kept": value.agreement, "kept_at_most": value.most, "gap_at_most": value.gap}


def _record(opened: Opened) -> dict[str, Any]:
    record = opened.settings.record
    return {
        "protected": None if record.protect.path is None else str(record.protect.path),
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


def worst_per_day(budget: float, window: int | Sliding | None, all_events: float, events: int = 1) -> float:
    """The most that any 24 hours may tell: windows of W hours touch any 24 hours at most ceil(24/W) + 1 times, and n
    events are covered by ceil(n/N) stretches of N.
    """
    if isinstance(window, Sliding):
        windows = -(-events // window.events)
    else:
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
