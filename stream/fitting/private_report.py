"""What a private fit tells people; apart from that, what it tells whoever started it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from beliefs.leakage.robust import robust_epsilon
from stream.fitting.picture import FOLLOWS, HEAT_MOST, heat_map, page_of
from stream.fitting.private import FittedPrivate
from stream.fitting.released import dense
from stream.fitting.report import refused, refused_lines

OWN: Final = "For you, and not for others"
TOO_LITTLE: Final = "too few events for so much noise: no radius below 1 can be given; take more users, or more epsilon"


def private_figures(fitted: FittedPrivate) -> dict[str, Any]:
    """All under `own` is for whoever started the run; the rest may be told to anybody."""
    own, privacy, radii, alphabet = fitted.own, fitted.privacy, fitted.laws.radii, fitted.model.alphabet
    worst = min(1.0, float(np.ceil(radii[1:].max() * 10_000) / 10_000))
    rows = [(str(alphabet.value_at(value)), float(radius)) for value, radius in enumerate(radii[1:])]
    return {
        "model": fitted.model.short,
        "version": fitted.model.version,
        "values": alphabet.size,
        "order": 1,
        "sample": "private",
        "private_epsilon": float(privacy.epsilon),
        "events_of_a_user": privacy.events,
        "noise_scale": float(1 / privacy.rate),
        "noisy_users": fitted.model.learnt_from["noisy_users"],
        "noisy_transitions": fitted.model.learnt_from["noisy_transitions"],
        "radius": {
            "failure": fitted.task.failure,
            "worst": worst,
            "start": float(radii[0]),
            "rows": [{"after": after, "radius": radius} for after, radius in rows],
        },
        "epsilon": fitted.task.epsilon,
        "epsilon_left": robust_epsilon(fitted.task.epsilon, worst),
        "own": {
            "source": fitted.task.source.name,
            "kind": fitted.task.source.kind,
            "rows": own.rows,
            "users": own.users,
            "events": own.events,
            "counted": own.counted,
            "refused": refused(own.refusals),
            "warnings": list(own.doubts),
        },
    }


def write_private(facts: dict[str, Any], written: str) -> str:
    """The report as text."""
    epsilon, own, radius = facts["private_epsilon"], facts["own"], facts["radius"]
    poor = sorted(radius["rows"], key=lambda row: -row["radius"])[:8]
    counts = f"{facts['noisy_users']:,} users and {facts['noisy_transitions']:,} transitions"
    read = f"{own['rows']:,} rows, {own['events']:,} events of {own['users']:,} users"
    lines = [f"Model {facts['model']}: {facts['values']:,} values, order 1{written}."]
    lines.append(
        f"    That any one user is among the data it tells by at most {epsilon:g} nats, and what that user did"
    )
    lines.append(
        f"    by {2 * epsilon:g}; every run on the same users adds its own. The file holds nothing but what follows"
    )
    lines.append(f"    from noisy counts: about {counts}, each count with noise of about {facts['noise_scale']:.0f}")
    lines.append(
        f"How sure: but for a probability of {radius['failure']:g}, each row is this near the truth in variation:"
    )
    lines.append(f"    worst row {radius['worst']:.4f}, first value {radius['start']:.4f}")
    lines += [f"        after {row['after']}: {row['radius']:.4f}" for row in poor]
    left = f"leaves {facts['epsilon_left']:.4f} of {facts['epsilon']:g}"
    lines.append(f"    mechanism.radius: {radius['worst']:g} {left}" if radius["worst"] < 1 else f"    {TOO_LITTLE}")
    lines.append(f"{OWN} (no noise is on it):")
    lines.append(
        f"    {own['source']}: {read}; the first {facts['events_of_a_user']:,} of each count, {own['counted']:,} in all"
    )
    lines += refused_lines(own["refused"], own["kind"])
    return "\n".join([*lines, *(f"    WARNING: {warning}." for warning in own["warnings"])])


def private_page(fitted: FittedPrivate, facts: dict[str, Any]) -> str:
    drawings = []
    if facts["values"] <= HEAT_MOST:
        drawings.append((*FOLLOWS, heat_map(dense(fitted.model.chain), fitted.model.alphabet)))
    text = write_private(facts, "").split(OWN)[0]
    return page_of(f"Model {facts['model']} learnt from noisy counts", drawings, text)
