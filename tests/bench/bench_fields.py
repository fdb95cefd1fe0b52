"""Pipelines that protect one field, and five, of the same events by local mechanisms: what further fields cost.

Every event has five fields of 2 to 12 values; the caps are never reached, so that every event reports all that are
declared. No field's values follow one another, so there is neither a model nor a belief.
"""

from __future__ import annotations

import json

import numpy as np
from bench_contestants import Contestant, Heat
from bench_sottovoce import COMMAND, HEAD, keys_of, step_of
from bench_traffic import Load, Traffic

FIELDS = {
    "activity": ["still", "walking", "running", "cycling", "driving", "bus", "train", "tram", "ferry", "stairs"],
    "sex": ["f", "m"],
    "job": ["clerk", "nurse", "pilot", "cook", "smith"],
    "mode": ["wifi", "lte", "5g", "none"],
    "income": [f"i{band}" for band in range(12)],
}
EVENTS, USERS, COMBINATIONS = 1_000_000, 1_000, 512

SETTINGS = (
    HEAD
    + """\
record:
  public: [$.battery, $.place, $.steps]
fields:
  each:
{fields}keys:
  file: {keys}
admin:
  port: 0
"""
)


def fields(count: int, mechanism: str = "grr") -> Contestant:
    return Contestant(
        f"sottovoce-fields-{count}-{mechanism}",
        f"sottovoce run, {count} local {'field' if count == 1 else 'fields'}, {mechanism}",
        lambda heat: _command(heat, count, mechanism),
        count_of=step_of,
        load=Load("fields", EVENTS, USERS, _traffic),
    )


def _command(heat: Heat, count: int, mechanism: str) -> list[str]:
    declared = "".join(
        f"    {name}: {{path: $.{name}, values: {json.dumps(values)}, mechanism: {mechanism}, epsilon: 1}}\n"
        for name, values in list(FIELDS.items())[:count]
    )
    settings = heat.folder / "settings.yaml"
    settings.write_text(
        SETTINGS.format(
            group=heat.group,
            bootstrap=heat.bootstrap,
            source=heat.source,
            sink=heat.sink,
            fields=declared,
            keys=keys_of(heat),
        )
    )
    return [str(COMMAND), "run", str(settings)]


def _traffic(events: int) -> Traffic:
    """The text of the first field is followed by the other fields, so that all contestants read the same events."""
    generator = np.random.default_rng(7)
    texts = []
    for _ in range(COMBINATIONS):
        first, *others = [(name, values[int(generator.integers(len(values)))]) for name, values in FIELDS.items()]
        texts.append(json.dumps(first[1]) + "".join(f',"{name}":{json.dumps(value)}' for name, value in others))
    return Traffic(texts, generator.integers(0, USERS, events), generator.integers(0, COMBINATIONS, events))
