"""What a fit from releases tells people."""

from __future__ import annotations

from typing import Any

import numpy as np

from stream.fitting.picture import FOLLOWS, HEAT_MOST, heat_map, page_of
from stream.fitting.released import FittedHidden, dense, row_errors

CUT = (
    "the first records of the released topic are gone, so that the users who had some among them cannot be followed; "
    "those who are left came later, and may be others than the rest"
)
AGAIN = (
    "a pipeline that takes this model up is another pipeline to its readers: beliefs under the old model do not go over"
)


def released_figures(fitted: FittedHidden) -> dict[str, Any]:
    """Every figure of the report."""
    gathered, settings, alphabet = fitted.gathered, fitted.settings, fitted.model.alphabet
    return {
        "model": fitted.model.short,
        "version": fitted.model.version,
        "values": alphabet.size,
        "order": 1,
        "source": settings.kafka.released_topic,
        "sample": "released",
        "mechanism": settings.mechanism.name,
        "epsilon": settings.mechanism.epsilon,
        "users": gathered.users,
        "users_left_out": gathered.left_out,
        "users_too_many": gathered.too_many,
        "events": gathered.events,
        "forecasts": gathered.forecasts,
        "rounds": fitted.hidden.rounds,
        "nats_an_event": -fitted.hidden.told,
        "nats_an_event_in_use": -fitted.in_use,
        "typical_errors": [
            {"after": str(alphabet.value_at(value)), "error": error} for value, error in enumerate(row_errors(fitted))
        ],
        "warnings": [CUT] if fitted.cut else [],
    }


def write_released(facts: dict[str, Any], written: str) -> str:
    """The report as text."""
    errors = facts["typical_errors"]
    worst = sorted(errors, key=lambda one: -one["error"])[:8]
    average = float(np.mean([one["error"] for one in errors]))
    users = f"{facts['users']:,} users, released by {facts['mechanism']} at epsilon {facts['epsilon']:g}"
    lines = [f"WARNING: {warning}." for warning in facts["warnings"]]
    lines.append(f"Read {facts['source']}: {facts['events']:,} events of {users}.")
    lines.append(f"    {facts['forecasts']:,} of them were forecasts, which tell nothing")
    lines.append(
        f"    {facts['users_left_out']:,} users could not be followed, {facts['users_too_many']:,} came too late"
    )
    lines.append(f"Model {facts['model']}: {facts['values']:,} values, order 1{written}.")
    likely = f"{facts['nats_an_event']:.6f}, and {facts['nats_an_event_in_use']:.6f} under the model in use"
    lines.append(f"    nats by which an event's release is unlikely: {likely}; {facts['rounds']:,} steps of learning")
    lines.append("It was learnt from what everybody can read, so it tells nobody more than that.")
    lines.append(
        "How sure: typical errors of rows in total variation, seen by leaving out each eighth of the users; no bound:"
    )
    lines.append(f"    average {average:.4f}, worst {worst[0]['error']:.4f}")
    lines += [f"        after {one['after']}: {one['error']:.4f}" for one in worst]
    lines.append(f"    {AGAIN}")
    return "\n".join(lines)


def released_page(fitted: FittedHidden, facts: dict[str, Any]) -> str:
    drawings = []
    if facts["values"] <= HEAT_MOST:
        drawings.append((*FOLLOWS, heat_map(dense(fitted.model.chain), fitted.model.alphabet)))
    title = f"Model {facts['model']} learnt from releases in {facts['source']}"
    return page_of(title, drawings, write_released(facts, ""), warnings=facts["warnings"])
