"""What a pipeline needs on disk: its settings and its model, written into the demonstration's own folder."""

from __future__ import annotations

from pathlib import Path

from phones import ACTIVITIES, START, TRANSITIONS
from topics import Names

from beliefs.alphabet import Categories
from beliefs.chain import Chain
from beliefs.model_file import serialise

EPSILON = 1.0
BUDGET_NATS = 60.0
BUDGET_WINDOW = "1d"
WINDOW_DEADLINE_SECONDS = 3

SETTINGS = """\
# Written by the demonstration; `sottovoce init` writes one with every field explained.
version: 1
policy_version: 1
pipeline:
  name: {pipeline}
kafka:
  brokers: [{brokers}]
  allow_plaintext: true       # simulated phones only
  raw_topic: {raw}
  released_topic: {released}
  dead_letter_topic: {dead_letters}
  group_instance: {pipeline}-1
  replication_factor: {replicas}
record:
  user: key
  event_time: {{path: $.time, unit: ms}}
  protect: {{path: $.activity}}
  public: [$.battery, $.sequence, $.device.model]     # $.location is not named, so nobody sees it
model: {model}
mechanism:
  name: optimal
  epsilon: {epsilon}
{release_window}budget:
  nats: {budget}
  window: {window}
  when_spent: forecast
keys:
  file: {key}
admin:
  port: {admin_port}
"""


def write_model(path: Path) -> None:
    chain = Chain.from_dense(START, TRANSITIONS)
    source = {"source": "the chain that the simulated phones follow", "step": "ten minutes"}
    path.write_bytes(serialise(Categories(ACTIVITIES), chain, source))


def write_settings(
    path: Path, brokers: str, names: Names, model: Path, key: Path, admin_port: int, window_events: int | None = None
) -> None:
    window = f"window: {{events: {window_events}, deadline: {WINDOW_DEADLINE_SECONDS}s}}\n" if window_events else ""
    quoted = ", ".join(f'"{broker}"' for broker in brokers.split(","))
    text = SETTINGS.format(
        pipeline=names.pipeline,
        brokers=quoted,
        raw=names.raw,
        released=names.released,
        dead_letters=names.dead_letters,
        replicas=names.replicas,
        model=model,
        epsilon=EPSILON,
        release_window=window,
        budget=BUDGET_NATS,
        window=BUDGET_WINDOW,
        key=key,
        admin_port=admin_port,
    )
    path.write_text(text, encoding="utf-8")
