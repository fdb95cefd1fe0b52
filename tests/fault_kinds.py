"""The kinds of pipelines that the fault tests run: their models, what their settings say of them, and their values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import grid_walks
import numpy as np
from context_models import law_of
from grid_walks import grid_of
from tail_models import zipf_chain

from beliefs.alphabet import Categories
from beliefs.chain import Chain
from beliefs.contexts import Context
from beliefs.model_file import serialise, serialise_contexts

VALUES = ("still", "walking", "running", "cycling")
SETTINGS = """\
version: 1
pipeline: {{name: {name}}}
kafka:
  brokers: ["{broker}"]
  allow_plaintext: true
  raw_topic: {raw}
  released_topic: {name}-released
  dead_letter_topic: {name}-dead-letters
  group_instance: {instance}
  session_timeout: {session}s
  replication_factor: 1
record: {{user: key, event_time: record, protect: {{path: $.activity{distance}}}, public: [$.n]}}
model: {{file: {model}{follows}}}
mechanism: {{name: {mechanism}, epsilon: 1.0}}
{window}budget: {{nats: 12.0, window: 1m, when_spent: forecast}}
keys: {{file: {keys}}}
store: {store}
admin: {{port: {port}}}
policy_version: {policy_version}
"""


@dataclass(frozen=True)
class Kind:
    """`values` and the `stranger`, which is none of them, are JSON texts. `window` is the settings' section, `follows`
    what stands beside the model's file.
    """

    model: bytes = field(repr=False)
    values: tuple[str, ...] = field(repr=False)
    stranger: str = '"flying"'
    mechanism: str = "optimal"
    distance: str = ""
    follows: str = ""
    window: str = ""
    on_disk: bool = False

    @property
    def settings(self) -> dict[str, str]:
        return {
            "mechanism": self.mechanism,
            "distance": f", distance: {self.distance}" if self.distance else "",
            "follows": f", {self.follows}" if self.follows else "",
            "window": f"window: {self.window}\n" if self.window else "",
        }


def texts(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(json.dumps(value) for value in values)


def sticky_model(*, stay: float) -> bytes:
    move = (1 - stay) / (len(VALUES) - 1)
    rows = [[stay if i == j else move for j in range(len(VALUES))] for i in range(len(VALUES))]
    return serialise(Categories(VALUES), Chain.from_dense([1 / len(VALUES)] * len(VALUES), rows), {})


def remembering() -> Kind:
    """The next value depends on the last two, where the model lists them; one context forbids a value."""
    start = np.array([0.25, 0.25, 0.375, 0.125])
    laws: dict[Context, Sequence[float]] = {
        (): [0.4, 0.3, 0.2, 0.1],
        (1,): [0.125, 0.625, 0.125, 0.125],
        (0, 0): [0.75, 0.25, 0.0, 0.0],
        (0, 1): [0.0625, 0.125, 0.75, 0.0625],
        (3, 2): [0.25, 0.25, 0.25, 0.25],
    }
    checked = {past: law_of(law) for past, law in laws.items()}
    return Kind(serialise_contexts(Categories(VALUES), 2, start, checked, {}), texts(VALUES))


def walk_on(rows: int, columns: int, *, names: tuple[str, str] | None, distance: str) -> Kind:
    """Steps to the next cells of a grid, released near where they are."""
    grid = grid_of(rows, columns, names)
    model = serialise(grid, grid_walks.walk_on(rows, columns), {})
    places = texts(grid.value_at(cell) for cell in range(grid.size))
    nowhere = json.dumps([0, 0] if names is None else dict.fromkeys(names, 0))
    return Kind(model, places, nowhere, mechanism="near", distance=distance)


def with_tail(size: int, listed: int) -> Kind:
    """Rows name more values than are listed, so that what listing loses goes into the drift."""
    values = [f"item-{number}" for number in range(size)]
    model = serialise(Categories(values), zipf_chain(size), {})
    return Kind(model, texts(values), follows=f"listed: {listed}")


EVERYDAY = Kind(sticky_model(stay=0.7), texts(VALUES))
