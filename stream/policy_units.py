"""The settings in units: what the step is built for, and what is withheld for readers who believe otherwise."""

from __future__ import annotations

from typing import Final

from beliefs.leakage.robust import chain_error_units, one_step_units, withheld_units
from beliefs.listed import entries_listed
from beliefs.model_file import Model
from beliefs.rounding import budget_units
from mechanisms.contract import constants_table
from mechanisms.registry import MECHANISMS
from mechanisms.sequence.two_budget import Rising, rising_of
from stream.policy import SPENT_DRAW, SPENT_FORECAST, SPENT_STOP, SPENT_SUPPRESS, Policy
from stream.settings.model import Settings

WHEN_SPENT: Final = {
    "forecast": SPENT_FORECAST,
    "forecast_draw": SPENT_DRAW,
    "suppress": SPENT_SUPPRESS,
    "stop": SPENT_STOP,
}


def compile_policy(settings: Settings, model: Model) -> Policy:
    """The policy in units: epsilon and the budget are rounded down."""
    mechanism = MECHANISMS[settings.mechanism.name]
    epsilon = budget_units(settings.mechanism.epsilon)
    shift = withheld_in_all(settings, model, epsilon)
    return Policy(
        mechanism=mechanism.code,
        holds_epsilon=mechanism.holds_epsilon,
        constants=constants_table(epsilon, shift),
        epsilon=epsilon,
        budget=budget_units(settings.budget.nats),
        window=settings.budget.length,
        when_spent=WHEN_SPENT[settings.budget.when_spent],
        model_tag=model.tag,
        interval=settings.model.step or 0,
        most_steps=settings.model.most,
        shift=shift,
        listed=listed_by(settings, model),
        sliding=settings.budget.sliding,
        rising=_rising(settings, model, epsilon, shift),
    )


def _rising(settings: Settings, model: Model, epsilon: int, shift: int) -> Rising | None:
    upper = settings.mechanism.upper
    return None if upper is None else rising_of(epsilon, budget_units(upper), model.chain.symbols, shift)


def withheld_in_all(settings: Settings, model: Model, epsilon: int) -> int:
    """What is withheld of epsilon for readers who believe something else; half of it covers everybody."""
    most = epsilon - epsilon // 2
    return min(most, withheld_units(epsilon, settings.mechanism.radius) + apart_units(settings, model))


def apart_units(settings: Settings, model: Model) -> int:
    """How far readers whose model is off by `mechanism.chain_error` may be from what is believed about one release."""
    error = settings.mechanism.chain_error
    apart = chain_error_units(error, model.chain.contraction, model.chain.span)
    if settings.window is None:
        return apart
    gap = one_step_units(error) if settings.model.step is None else 2 * apart
    return apart + (settings.window.events - 1) * gap


def listed_by(settings: Settings, model: Model) -> int:
    return entries_listed(settings.model.listed, model.chain.size, model.chain.has_tail)
