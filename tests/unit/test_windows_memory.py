"""Windows of models with a longer memory, by the clock and with a tail, from records to effects: cutting and repeating
change no byte, what is held is what its version says, and the rows are those of the model.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import orjson
import pytest
from audit_world import RING, settings_of
from context_models import law_of, random_contexts
from pipeline_help import TOPIC_ID, Record
from tail_models import zipf_chain

from beliefs.alphabet import Categories
from beliefs.model_file import Model, parse, serialise, serialise_contexts
from mechanisms.contract import DRIFT_UNKNOWN
from mechanisms.sequence.window_running import COUNT, ROUNDS
from stream import drift as drifts
from stream.clock_rows import rows_of
from stream.policy import new_bench
from stream.promise import compile_promise
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock
from stream.state import Word, drift_of
from stream.stores.memory import MemoryStore
from stream.windows import held as held_records
from stream.windows.held import OPEN, OPEN_VERSION, VERSION, WAITING, Unsealable, head_of
from stream.windows.pipeline import WindowPipeline
from stream.windows.step import OpenWindow

ORDERS = pytest.mark.parametrize("order", ["bisect", "natural"])
START = 1_700_000_000_000
VALUES = [f"act{x}" for x in range(4)]


def contexts(order: int) -> Model:
    start, laws = random_contexts(random.Random(order), 4, order, 0.02)
    laws |= {(0,) * order: law_of([0.5, 0.5, 0.0, 0.0]), (1, 2): law_of([0.125, 0.125, 0.25, 0.5])}
    return parse(serialise_contexts(Categories(VALUES), order, start, laws, {}))


def with_tail() -> Model:
    return parse(serialise(Categories(VALUES), zipf_chain(4, named=3, left=0.6), {}))


KINDS: dict[str, tuple[Model, dict[str, Any]]] = {
    "order 2": (contexts(2), {}),
    "order 3 by the clock": (contexts(3), {"step": "2s"}),
    "tail": (with_tail(), {}),
    "listed by the clock": (with_tail(), {"step": "1s", "listed": ", listed: 2"}),
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


class Line:
    """One partition of a pipeline, without Kafka."""

    def __init__(self, kind: str, order: str, **changes: Any) -> None:
        model, settings = KINDS[kind]
        windows = changes.pop("windows", f"{{events: 4, stretch: 20s, order: {order}}}")
        wanted = {"nats": "unlimited", "windows": windows, **settings, **changes}
        chosen = settings_of(**wanted)
        promise, chain = compile_promise(chosen, model, RING), model.chain
        self.store = MemoryStore(rows_of(chosen, chain.size, model.tag, promise.policy.listed))
        bench = new_bench(chain.size, chain.symbols, promise.distance, listed=promise.policy.listed > 0)
        self.pipeline, self.chain = WindowPipeline(promise, "raw", TOPIC_ID, 0, bench), chain

    def carry_out(self, records: list[Record]) -> Effects:
        effects = self.pipeline.prepare(InputBlock.of(records), self.store)
        self.store.apply(effects.keys, effects.heads, effects.codes, effects.next_offset, {}, effects.held)
        for user, record in effects.held.items():
            self.pipeline.deadlines.set(user, record or None)
        return effects

    def rows(self, records: list[Record]) -> tuple[bytes, bytes]:
        loaded = self.store.load(sorted({record.key or b"" for record in records}))
        return loaded.heads.tobytes(), loaded.codes.tobytes()


def walk(count: int, users: int = 6) -> list[Record]:
    """About half a second apart, some late."""
    source = np.random.default_rng(3)
    return [
        Record(
            offset=i,
            value=orjson.dumps({"activity": VALUES[source.integers(4)], "battery": i % 100}),
            key=b"user-%d" % source.integers(users),
            timestamp=START + 500 * i - int(source.integers(0, 6_000)),
        )
        for i in range(count)
    ]


@ORDERS
@EVERY_KIND
@pytest.mark.parametrize("nats", ["unlimited", 3])
def test_every_way_to_cut_the_records_releases_the_same(kind: str, order: str, nats: Any) -> None:
    records, chance = walk(400), random.Random(1)
    whole = Line(kind, order, nats=nats)
    expected = list(whole.carry_out(records).releases)
    assert len(expected) > 350
    for _ in range(4):
        line, got, at = Line(kind, order, nats=nats), [], 0
        while at < len(records):
            size = chance.choice((1, 2, 17, 60))
            got += list(line.carry_out(records[at : at + size]).releases)
            at += size
        assert got == expected
        assert dict(line.store.held()) == dict(whole.store.held())
        assert line.rows(records) == whole.rows(records)


@ORDERS
@EVERY_KIND
def test_a_repeated_block_is_passed_over_and_no_window_tells_more_than_epsilon(kind: str, order: str) -> None:
    line, records = Line(kind, order), walk(300)
    effects = line.carry_out(records)
    policy = line.pipeline._promise.policy
    if order == "bisect":
        assert 0 < max(effects.upper_units.max(), effects.lower_units.max()) <= policy.epsilon
    assert len(line.carry_out(records).releases) == 0
    heads = np.concatenate(list(line.store.all_heads()))
    assert heads[:, Word.UPPER].sum() == effects.upper_units.sum()
    assert (drift_of(heads) < DRIFT_UNKNOWN).any()


@EVERY_KIND
def test_an_open_window_is_held_with_its_states_and_its_steps(kind: str) -> None:
    line, records = Line(kind, "natural", windows="{events: 60, order: natural}"), walk(40, users=2)
    line.carry_out(records)
    held = dict(line.store.held())
    assert set(held) == {b"user-0", b"user-1"}
    for user, record in held.items():
        assert (head_of(record).version, head_of(record).kind) == (OPEN_VERSION, OPEN)
        watermark = head_of(record).watermark
        window = line.pipeline._seals.unseal(user, record, watermark)
        assert isinstance(window, OpenWindow)
        assert window.running.prior.shape == window.running.belief.shape == (line.chain.size,)
        rounds, count = int(window.running.marks[ROUNDS]), int(window.running.marks[COUNT])
        assert rounds > count if "clock" in kind else rounds == count
        again = line.pipeline._seals.opened(user, window, watermark)
        assert again == record


def test_a_window_that_was_open_before_versions_of_its_own_goes_on() -> None:
    """Version 1 has no word for the roundings: one for each value."""
    line, records = Line("order 2", "natural"), walk(10, users=1)
    line.carry_out(records[:2])
    (user, record), *_ = line.store.held()
    seals, watermark = line.pipeline._seals, head_of(record).watermark
    window = seals.unseal(user, record, watermark)
    assert isinstance(window, OpenWindow)
    head = held_records._HEAD.pack(VERSION, OPEN, 0, 1, watermark, held_records.NEVER)
    body = held_records._window_bytes(window)
    at = held_records._AMOUNTS.size + 8 * ROUNDS
    old = seals._sealed(user, head, watermark, body[:at] + body[at + 8 :])
    found = seals.unseal(user, old, watermark)
    assert isinstance(found, OpenWindow)
    assert found.running.marks.tolist() == window.running.marks.tolist()
    assert found.running.belief.tolist() == window.running.belief.tolist()


@pytest.mark.parametrize(("version", "kind"), [(0, OPEN), (3, OPEN), (2, WAITING), (3, WAITING)])
def test_other_versions_are_not_read(version: int, kind: int) -> None:
    line = Line("order 2", "natural")
    line.carry_out(walk(3, users=1))
    (_, record), *_ = line.store.held()
    with pytest.raises(Unsealable):
        head_of(bytes([version, kind]) + record[2:])


def test_the_clock_moves_the_belief_on_inside_of_a_window() -> None:
    records = walk(60, users=1)
    quick = [Record(r.offset, r.value, r.key, START + i) for i, r in enumerate(records)]
    slow = [Record(r.offset, r.value, r.key, START + 1_500 * i) for i, r in enumerate(records)]
    windows = "{events: 10, order: bisect}"
    shown = []
    for these in (quick, slow):
        line = Line("order 3 by the clock", "bisect", windows=windows)
        shown.append([one.value for one in line.carry_out(these).releases])
    assert shown[0] != shown[1]
    assert all(len(set(shown[0][i : i + 10])) <= 10 for i in range(0, 60, 10))
    activities = [orjson.loads(value or b"")["activity"] for value in shown[0]]
    assert all(len(set(activities[i : i + 10])) == 1 for i in range(0, 60, 10))  # one value, looked at ten times


@pytest.mark.parametrize("drift", [0, 1, 777, 10**6, DRIFT_UNKNOWN - 1, DRIFT_UNKNOWN])
@pytest.mark.parametrize("events", [1, 2, 3, 6])
def test_a_span_is_looked_back_upon_where_a_window_ends_with_it(drift: int, events: int) -> None:
    after = drifts.after_windows(drift, events, 1 << 31, 3, 64)
    if drift == DRIFT_UNKNOWN:
        assert after == DRIFT_UNKNOWN
    elif events % 3 == 0:
        assert after == min(drift, -(-drift // 2) + 3 * 131 + 64) + 1
    else:
        assert after == min(drift + 1, DRIFT_UNKNOWN)
