"""What a worker's meter is told of its settings, the words of the status page among it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version as version_of

from beliefs.rounding import INFINITE, budget_units
from stream.aggregates.opening import OpenedAggregates
from stream.commands.aggregate_facts import aggregate_facts
from stream.commands.aggregate_words import aggregate_words
from stream.commands.crowd_facts import crowd_facts
from stream.commands.crowd_words import crowd_words
from stream.commands.explain import promised_facts
from stream.commands.learning_words import learning_words
from stream.commands.promising import SPENT, promise_words
from stream.crowds.opening import OpenedCrowds
from stream.metrics.about import About, Said
from stream.metrics.meter import MeterSettings
from stream.names import DISTRIBUTION, GATHERED_OUTCOMES
from stream.opening import Opened
from stream.settings.model import WindowSettings
from stream.supervisor import RESTARTS_VARIABLE


def meter_settings_of(opened: Opened, row_bytes: int) -> MeterSettings:
    settings, policy = opened.settings, opened.promise.policy
    return MeterSettings(
        pipeline=settings.pipeline.name,
        policy=opened.promise.policy_name,
        model=opened.promise.beliefs_name,
        mechanism=settings.mechanism.name,
        epsilon=policy.epsilon,
        upper_budget=policy.budget,
        lower_budget=policy.budget,
        row_bytes=row_bytes,
        version=version_of(DISTRIBUTION),
        near_share=settings.metrics.near_budget,
        small_count_floor=settings.metrics.small_count_floor,
        windows=opened.promise.windows is not None,
        follows=settings.follows,
        restarts=int(os.environ.get(RESTARTS_VARIABLE, "0")),
        about=_about(opened),
    )


def aggregate_meter_settings_of(opened: OpenedAggregates) -> MeterSettings:
    loss = opened.promise.window_loss
    return _of_everybody(opened, "geometric", loss, aggregate_words(aggregate_facts(opened)))


def crowd_meter_settings_of(opened: OpenedCrowds) -> MeterSettings:
    promise = opened.promise
    epsilon = 0 if promise.target is None else budget_units(promise.target.epsilon)
    words = crowd_words(crowd_facts(opened, sizes=False))
    return _of_everybody(opened, promise.release.grouper or "crowd", epsilon, words)


def _of_everybody(
    opened: OpenedAggregates | OpenedCrowds, mechanism: str, epsilon: int, words: Sequence[Said]
) -> MeterSettings:
    """Nobody has a belief here, or a budget of his own: what is told is told of everybody."""
    return MeterSettings(
        pipeline=opened.promise.pipeline,
        policy=opened.promise.policy_name,
        model="none",
        mechanism=mechanism,
        epsilon=epsilon,
        upper_budget=INFINITE,
        lower_budget=INFINITE,
        row_bytes=1,
        version=version_of(DISTRIBUTION),
        small_count_floor=opened.settings.metrics.small_count_floor,
        follows=False,
        outcomes=GATHERED_OUTCOMES,
        restarts=int(os.environ.get(RESTARTS_VARIABLE, "0")),
        about=About(promise=tuple(words), warnings=opened.warnings),
    )


def _about(opened: Opened) -> About:
    settings, segments = opened.settings, opened.promise.segments
    served = zip(opened.servings, opened.promise.served, strict=True)
    return About(
        released=_released(settings.window),
        budget_window_ms=settings.budget.length,
        budget_events=settings.budget.sliding or 0,
        when_spent=SPENT[settings.budget.when_spent],
        radius=settings.mechanism.radius,
        chain_error=settings.mechanism.chain_error,
        models_by="" if segments is None else str(segments.rule.path),
        models=() if segments is None else tuple((serving.words, each.model_name) for serving, each in served),
        promise=_promise(opened),
        warnings=opened.warnings,
    )


def _promise(opened: Opened) -> tuple[Said, ...]:
    facts = promised_facts(opened)
    return promise_words(facts) if opened.promise.learning is None else learning_words(facts)


def _released(window: WindowSettings | None) -> str:
    if window is None:
        return "one by one"
    return f"in windows of at most {window.events} values (order: {window.order})"
