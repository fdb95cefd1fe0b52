"""The contestant that all this is about: `sottovoce run` with everything on.

Dense chain, the `optimal` mechanism at epsilon 1, the ledger with a budget in windows of an hour (never spent, so that
every event takes the dearest path), one transaction a block, metrics served.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench_contestants import Contestant, Heat
from bench_processes import BenchFailure
from bench_traffic import Alphabet

from beliefs.alphabet import Categories, IntegerRange
from beliefs.chain import Chain
from beliefs.model_file import serialise

COMMAND = Path(sys.executable).with_name("sottovoce")

HEAD = """\
version: 1
policy_version: 1
pipeline:
  name: {group}
kafka:
  brokers: [{bootstrap}]
  raw_topic: {source}
  released_topic: {sink}
  dead_letter_topic: {group}-dead
  group_instance: the-only-one
  replication_factor: 1
"""
SETTINGS = (
    HEAD
    + """\
record:
  protect:
    path: $.activity
{distance}  public: [$.battery, $.place, $.steps]
model: model.json
mechanism:
  name: {mechanism}
  epsilon: 1.0
{window}budget:
  nats: 1000000
  window: 1h
keys:
  file: {keys}
admin:
  port: 0
"""
)


# Windows release some tens of thousands of events a second: these many take half a minute at most.
WINDOWS_PREFIX = 300_000
WINDOWS = {"bisect": "{events: 10, deadline: 1h}", "natural": "{events: 10, order: natural}"}


def sottovoce(alphabet_size: int) -> Contestant:
    return Contestant(
        f"sottovoce-{alphabet_size}",
        f"sottovoce run, {alphabet_size} values",
        command_of(lambda: _model(Alphabet(alphabet_size))),
        alphabet_size,
        count_of=step_of,
    )


def sottovoce_windows(alphabet_size: int, order: str) -> Contestant:
    return Contestant(
        f"sottovoce-{order}-{alphabet_size}",
        f"sottovoce run, {alphabet_size} values, windows of 10, {order}",
        command_of(lambda: _model(Alphabet(alphabet_size)), window=f"window: {WINDOWS[order]}\n"),
        alphabet_size,
        prefix=WINDOWS_PREFIX,
        count_of=step_of,
    )


def step_of(record: Any) -> int:
    """A released record says in a header how many events of its user there have been."""
    return int(dict(record.headers)["step"])


def command_of(model: Callable[[], bytes], **said: str) -> Callable[[Heat], list[str]]:
    """`said` is what the settings say of window, distance and mechanism."""
    texts = {"window": "", "distance": "", "mechanism": "optimal", **said}

    def command(heat: Heat) -> list[str]:
        (heat.folder / "model.json").write_bytes(model())
        settings = heat.folder / "settings.yaml"
        settings.write_text(
            SETTINGS.format(
                group=heat.group,
                bootstrap=heat.bootstrap,
                source=heat.source,
                sink=heat.sink,
                keys=keys_of(heat),
                **texts,
            )
        )
        return [str(COMMAND), "run", str(settings)]

    return command


def keys_of(heat: Heat) -> Path:
    """The key ring outlives the folder, as a secret store would."""
    keys = heat.folder.with_name(f"{heat.group}-keys.json")
    if not keys.exists():
        _run([str(COMMAND), "keys", "new", str(keys)])
    return keys


def _model(alphabet: Alphabet) -> bytes:
    size = alphabet.size
    texts = [value for value in alphabet.values if isinstance(value, str)]
    chain = Chain.from_dense([1.0 / size] * size, alphabet.transitions().tolist())
    return serialise(Categories(texts) if texts else IntegerRange(0, size - 1), chain, {"source": "the benchmark"})


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise BenchFailure(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
