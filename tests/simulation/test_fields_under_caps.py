"""Five fields that depend on one another, 50 events of each user: what all releases tell about each field, worked out
exactly with the joint law, is never above the field's total, and no total is above its cap.
"""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from fields_world import HEAD, LOCAL, World, released
from pipeline_help import Record

from beliefs.correlation.tables import JointTable
from beliefs.rounding import nats
from stream import names
from stream.fields.choices import FieldsTold
from stream.fields.rows import ACCOUNT, words_of_fields
from stream.metrics.fields import FieldCounts
from stream.settings.load import parse_settings

NAMES = ("sex", "job", "home", "income", "smoker")
VALUES = (("f", "m"), ("clerk", "nurse", "pilot"), ("town", "land"), ("low", "mid", "high"), ("no", "yes"))
EVENTS, USERS = 50, 40


def joint(seed: int) -> JointTable:
    """Two kinds of people, and noise: every pair of fields depends on each other."""
    source = np.random.default_rng(seed)
    weights = np.zeros(tuple(len(values) for values in VALUES))
    for _ in range(2):
        laws = [source.dirichlet(np.full(len(values), 0.7)) for values in VALUES]
        product = laws[0]
        for law in laws[1:]:
            product = np.multiply.outer(product, law)
        weights += product
    return JointTable(NAMES, VALUES, weights + 1e-4)


def world_of(table: JointTable, cap: float, mechanisms: tuple[str, ...], beyond: str) -> World:
    each = "".join(
        f"    {name}: {{path: $.{name}, values: {orjson.dumps(values).decode()}, mechanism: {mechanism}, "
        f"epsilon: 0.125, lasting: true, cap: {cap}, beyond: {beyond}}}\n"
        for name, values, mechanism in zip(NAMES, VALUES, mechanisms, strict=True)
    )
    return World(parse_settings(f"{HEAD}{LOCAL}fields:\n  each:\n{each}".encode(), Path("c.yaml")), table)


def people(table: JointTable, seed: int) -> list[tuple[int, ...]]:
    source = np.random.default_rng(seed)
    law = table.weights.ravel() / table.weights.sum()
    chosen = source.choice(law.size, USERS, p=law)
    return [tuple(int(place) for place in np.unravel_index(cell, table.weights.shape)) for cell in chosen]


def records(whose: list[tuple[int, ...]]) -> list[Record]:
    found = []
    for number in range(EVENTS * USERS):
        user = number % USERS
        document = {name: VALUES[at][whose[user][at]] for at, name in enumerate(NAMES)}
        found.append(Record(number, orjson.dumps(document), b"user-%d" % user))
    return found


def log_chance(world: World, place: int, choice: str, report: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Of this report under each value of the field, up to what all values have in common."""
    assert world.promise.fields is not None
    drawn: Any = world.promise.fields.forms[place].reporters["0123c".index(choice)].drawn
    size = len(VALUES[place])
    if hasattr(drawn, "high"):
        told = VALUES[place].index(report)
        return np.array([np.log(drawn.high if value == told else drawn.low) for value in range(size)])
    bits = np.unpackbits(np.frombuffer(b64decode(report["bits"]), dtype=np.uint8))[:size]
    whole = 1 << 62
    one, zero = np.log(drawn.one / drawn.other), np.log((whole - drawn.one) / (whole - drawn.other))
    return np.where(bits == 1, one, zero)


@pytest.mark.parametrize(
    ("mechanisms", "beyond"),
    [(("grr",) * 5, "withhold"), (("grr",) * 5, "lower"), (("oue", "grr", "sue", "grr", "oue"), "withhold")],
)
@pytest.mark.parametrize("cap", [2.0, 5.0])
def test_no_total_is_passed_by_what_is_really_told(mechanisms: tuple[str, ...], beyond: str, cap: float) -> None:
    table = joint(int(cap))
    world = world_of(table, cap, mechanisms, beyond)
    whose = people(table, 11)
    told = {b"user-%d" % user: np.zeros(table.weights.shape) for user in range(USERS)}
    effects = world.carry_out(records(whose))
    for key, document, headers in released(effects.releases):
        for place, choice in enumerate(headers[names.HEADER_FIELDS].decode()):
            if choice != "-":
                shape = [-1 if axis == place else 1 for axis in range(5)]
                told[key] += log_chance(world, place, choice, document[NAMES[place]]).reshape(shape)
    largest = np.zeros(5)
    totals = totals_of(world)
    for key, logs in told.items():
        likely = table.weights * np.exp(logs - logs.max())
        for place in range(5):
            others = tuple(axis for axis in range(5) if axis != place)
            law = np.log(likely.sum(axis=others) / table.weights.sum(axis=others))
            leak = float(law.max() - law.min())
            assert leak <= nats(totals[key][place]) + 1e-9
            largest[place] = max(largest[place], leak)
    assert max(max(each) for each in totals.values()) <= cap * 2**40
    assert largest.max() > 0.2, "something is told, or the bound would not be tried"


def totals_of(world: World) -> dict[bytes, tuple[int, ...]]:
    fields = world.promise.fields
    assert fields is not None
    keys = [b"user-%d" % user for user in range(USERS)]
    words = world.store.load(keys).heads[:, -words_of_fields(5) + ACCOUNT :]
    return {key: fields.totals.of(tuple(account)) for key, account in zip(keys, words.tolist(), strict=True)}


def test_the_exporter_shows_the_totals_of_the_rows() -> None:
    world = world_of(joint(3), 3.0, ("grr",) * 5, "lower")
    assert world.promise.fields is not None
    counts = FieldCounts(world.promise.fields, floor=1)
    whole = records(people(joint(3), 5))
    for start in range(0, len(whole), 300):
        effects = world.carry_out(whole[start : start + 300])
        counts.change(0, effects.before, effects.heads)
        assert isinstance(effects.fields, FieldsTold)
        counts.told(effects.fields)
    stands = counts.stands()
    assert stands is not None
    totals = np.array(list(totals_of(world).values()))
    for place, name in enumerate(NAMES):
        ordered = np.sort(totals[:, place])
        assert stands.totals[name, "1"] == ordered[-1]
        assert stands.totals[name, "0.5"] == ordered[USERS // 2 - 1]
    made = next(counts.samples())[1]
    assert sum(made.values()) == 5 * EVENTS * USERS
    counts.lost(0)
    assert counts.stands() is None
