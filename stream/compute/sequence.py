"""Numbers of sequence information privacy: what a release of one value tells, and how accurate it can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beliefs.checks import Invalid
from beliefs.leakage.sequence import channel_leak
from beliefs.simplex import Vector
from mechanisms.sequence import repair as repairing
from mechanisms.sequence.optimal_value import optimal_accuracy
from mechanisms.sequence.published_crr_value import published_value
from mechanisms.sequence.two_budget_value import two_budget_value

Result = Mapping[str, object]


def optimal(prior: Vector, epsilon: float = 0.0, lower: float | None = None, upper: float | None = None) -> Result:
    """The largest P(release = value); `epsilon` stands for both sides unless `lower` and `upper` are given."""
    sides = (epsilon if lower is None else lower, epsilon if upper is None else upper)
    return {"accuracy": optimal_accuracy(prior, *sides)}


def crr(prior: Vector, epsilon: float) -> Result:
    """The published mechanism, with what it really leaks."""
    value = published_value(prior, epsilon)
    return {
        "accuracy": value.accuracy,
        "upper": value.upper,
        "lower": value.lower,
        "epsilon": value.epsilon,
        "bounded": value.bounded,
    }


def two_budget(prior: Vector, lower: float, upper: float) -> Result:
    """One step of a filter with unequal budgets, and what each release takes of them."""
    value = two_budget_value(prior, lower, upper)
    releases = [
        {"value": told.value, "chance": told.chance, "upper": told.upper, "lower": told.lower}
        for told in value.releases
    ]
    return {
        "accuracy": value.accuracy,
        "reveal": value.reveal,
        "cap": value.cap,
        "upper": value.upper,
        "lower": value.lower,
        "releases": releases,
    }


def leakage(prior: Vector, channel: Sequence[Vector]) -> Result:
    """Both sides of a channel's worst release."""
    _require_row_per_value(prior, channel)
    leak = channel_leak(prior.tolist(), [row.tolist() for row in channel])
    return {"upper": leak.upper, "lower": leak.lower, "epsilon": leak.epsilon}


def repair(prior: Vector, channel: Sequence[Vector], epsilon: float) -> Result:
    """The channel diluted until it keeps epsilon."""
    _require_row_per_value(prior, channel)
    repaired = repairing.repair(prior, channel, epsilon)
    return {"channel": [row.tolist() for row in repaired.channel], "dilution": repaired.dilution}


def _require_row_per_value(prior: Vector, channel: Sequence[Vector]) -> None:
    if len(channel) != prior.size:
        raise Invalid("channel", f"has {len(channel)} rows, but prior has {prior.size} values")
