"""A partition that learns its model: the same releases however its records are cut and whoever dies when."""

from __future__ import annotations

import struct
from collections import Counter

import numpy as np
import pytest
from learning_help import VALUES, Learner, learning_settings, steps_of, walks
from pipeline_help import Record

from beliefs.learning.online import learn
from beliefs.rounding import UNITS_PER_NAT
from stream.clock_rows import rows_of_promise
from stream.errors import StateRefused
from stream.learning.epochs import LOOK_EVERY, next_look
from stream.learning.mark import decode_mark
from stream.learning.record import DRIFT, LEARNT, START, epoch_key
from stream.protocol.control import LEARNING_KEY
from stream.state import Word
from stream.stores.memory import MemoryStore

MORE = ", doubt: 0.01, withheld: 0.3"
SWITCH = 32_768
"""The checkpoint at which two values that stay with .7 are known well enough for that, at epsilon 3."""
DRIFTED = SWITCH + 2 * LOOK_EVERY
COUNT = DRIFTED + 2 * LOOK_EVERY + 2_000


def records() -> list[Record]:
    return walks(DRIFTED, stay=0.7) + walks(COUNT - DRIFTED, stay=0.3, seed=1, first=DRIFTED)


@pytest.fixture(scope="module")
def whole() -> Learner:
    learner = Learner(learning_settings(more=MORE))
    learner.take(records())
    return learner


def header(release: object, name: str) -> bytes:
    return dict(release.headers)[name]  # type: ignore[attr-defined]


def test_it_learns_switches_and_goes_back_when_the_users_change(whole: Learner) -> None:
    start, learnt, drift = whole.epochs
    assert (start.first, start.because, start.informed) == (0, START, False)
    assert (learnt.first, learnt.because, learnt.informed, learnt.tests) == (SWITCH, LEARNT, True, 6)
    assert (drift.because, drift.informed, drift.tests) == (DRIFT, False, 6)
    assert drift.first > DRIFTED and (drift.first - SWITCH) % LOOK_EVERY == 0
    assert learnt.blind_agreement is not None and learnt.informed_agreement is not None
    assert learnt.informed_agreement > learnt.blind_agreement
    assert 0 < learnt.withheld_units <= 0.3 * 3 * UNITS_PER_NAT + 1


def test_the_learnt_model_follows_from_the_releases_alone(whole: Learner) -> None:
    counts, last = np.zeros((2, 2), dtype=np.int64), {}
    for release in whole.releases:
        if header(release, "model").startswith(b"1:"):
            value = next(i for i, name in enumerate(VALUES) if name.encode() in (release.value or b""))
            if release.key in last:
                counts[last[release.key], value] += 1
            last[release.key] = value
    epoch = whole.epochs[1]
    assert epoch.counts is not None and epoch.counts.tolist() == counts.tolist()
    learnt = learn(whole.promise.learning.setup, counts, 6)  # type: ignore[union-attr]
    assert (learnt.error, learnt.withheld_units) == (epoch.error, epoch.withheld_units)
    assert epoch.model.chain.dense.tolist() == learnt.chain.dense.tolist()


def test_a_consumer_sees_the_epoch_in_each_release(whole: Learner) -> None:
    seen = [header(release, "model").decode() for release in whole.releases]
    expected = [f"{epoch.number}:{epoch.model.short}" for epoch in whole.epochs]
    assert list(dict.fromkeys(seen)) == expected
    assert Counter(seen)[expected[0]] == SWITCH
    assert len({header(release, "policy") for release in whole.releases}) == 1


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_comes_out_however_blocks_are_cut_and_whenever_a_worker_dies(whole: Learner, seed: int) -> None:
    source = np.random.default_rng(seed)
    learner, rest, taken = Learner(learning_settings(more=MORE)), records(), 0
    while rest:
        piece = int(source.integers(1, 6_000))
        learner.take(rest[:piece], lambda: int(source.choice([1, 7, 300, 1_500, 4_000])))
        rest, taken = rest[piece:], taken + piece
        learner.crash(rest[: int(source.integers(0, 2_000))])
    assert learner.releases == whole.releases
    assert learner.mark == whole.mark
    assert [vars(epoch) | {"counts": None, "model": None} for epoch in learner.epochs] == [
        vars(epoch) | {"counts": None, "model": None} for epoch in whole.epochs
    ]


def test_what_the_changelog_says_is_all_that_a_new_owner_needs(whole: Learner) -> None:
    """Rows of every epoch are read back as they were written, by their tags."""
    rows = {record.key: record.value for record in whole.changelog if (record.key or b"").startswith(b"u")}
    store = MemoryStore(rows_of_promise(whole.settings, whole.promise))
    heads, codes, readable = rows_of_promise(whole.settings, whole.promise).from_rows(list(rows.values()))
    assert readable.all() and len(rows) == 20
    assert {int(mark >> 32) & 0xFFFFFFFF for mark in heads[:, Word.MARKS].tolist()} == {3}
    keys = [key[1:] for key in rows]
    store.apply(keys, heads, codes, 1, whole.store.marks())
    assert store.load(keys).codes.tolist() == whole.store.load(keys).codes.tolist()
    assert sum(map(steps_of, rows.values())) == COUNT


def test_rows_of_tag_0_and_of_other_layouts_are_not_readable(whole: Learner) -> None:
    codec = rows_of_promise(whole.settings, whole.promise)
    row = bytearray(next(record.value for record in whole.changelog if (record.key or b"").startswith(b"u")) or b"")
    none, longer, broken = bytearray(row), row + b"\0", bytearray(row)
    none[4:8] = bytes(4)
    broken[20] ^= 1
    assert codec.from_rows([bytes(row), bytes(none), bytes(longer), bytes(broken), b""])[2].tolist() == [
        True, False, False, False, False,
    ]  # fmt: skip


def test_users_who_come_back_are_adopted_one_by_one(whole: Learner) -> None:
    """A user who is silent over a switch keeps his row, and is charged what anybody might learn when he returns."""
    learner = Learner(learning_settings(more=MORE))
    silent = [Record(i, b'{"activity":"still","battery":1}', b"silent") for i in range(3)]
    others = walks(SWITCH + 10, stay=0.7, first=3)
    learner.take([*silent, *others])
    assert learner.epochs[-1].informed
    row = next(record.value for record in learner.changelog[::-1] if record.key == b"usilent")
    assert struct.unpack_from("<I", row or b"", 4) == (1,)
    before = learner.store.load([b"silent"]).heads[0]
    (effects,) = learner.take([Record(SWITCH + 13, b'{"activity":"still","battery":1}', b"silent")])
    after = learner.store.load([b"silent"]).heads[0]
    assert (int(after[Word.MARKS]) >> 32) & 0xFFFFFFFF == 2
    assert after[Word.STEPS] == before[Word.STEPS] + 1
    told = int(after[Word.UPPER] - before[Word.UPPER])
    assert told == int(effects.upper_units[0])
    assert 0 < told <= 3 * UNITS_PER_NAT


def test_every_blind_release_is_charged_what_it_tells_anybody(whole: Learner) -> None:
    learner = Learner(learning_settings(more=MORE))
    (effects,) = learner.take(walks(500))
    assert set(effects.upper_units.tolist()) == set(effects.lower_units.tolist())
    (amount,) = set(effects.upper_units.tolist())
    assert 3 * UNITS_PER_NAT - 200 <= amount <= 3 * UNITS_PER_NAT


def test_no_block_crosses_a_checkpoint(whole: Learner) -> None:
    marks = [SWITCH + LOOK_EVERY * i for i in range(1, 4)] + [1024 << k for k in range(6)]
    assert set(marks) <= set(whole.cuts)


def test_the_first_record_begins_the_first_epoch_wherever_it_stands() -> None:
    learner = Learner(learning_settings(more=MORE))
    learner.take(walks(1_500, first=700))
    assert learner.epochs[0].first == 700
    assert learner.cuts == [1_724, 2_200]
    assert next_look(decode_mark(learner.mark, 2, "")) == 700 + 2_048


def test_a_gap_over_several_checkpoints_is_several_looks() -> None:
    learner = Learner(learning_settings(more=MORE))
    learner.take(walks(100))
    learner.take(walks(10, first=5_000))
    mark = decode_mark(learner.mark, 2, "")
    assert (mark.looks, mark.tests, next_look(mark)) == (3, 3, 8_192)


def test_forecasts_are_no_half_of_a_pair() -> None:
    """Two nats a minute pay for no second release at epsilon 1.5."""
    settings = learning_settings(epsilon=1.5, nats=2, window="1m", more=MORE)
    learner = Learner(settings)
    learner.take(walks(500))
    outcomes = Counter(dict(release.headers).get("outcome") for release in learner.releases)
    assert outcomes[b"forecast"] > 0
    assert decode_mark(learner.mark, 2, "").counts.sum() == 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda marks: marks.update({LEARNING_KEY: b"\2" + marks[LEARNING_KEY][1:]}), "version 2"),
        (lambda marks: marks.update({LEARNING_KEY: marks[LEARNING_KEY][:-1]}), "bytes behind its head"),
        (lambda marks: marks.update({epoch_key(1): b"{}"}), "not what this release writes"),
        (lambda marks: marks.pop(epoch_key(1)), "the epoch mark names it"),
    ],
)
def test_marks_that_cannot_be_read_stop_the_worker_at_its_start(change: object, says: str) -> None:
    learner = Learner(learning_settings(more=MORE))
    learner.take(walks(100))
    marks = dict(learner.store.marks())
    change(marks)  # type: ignore[operator]
    learner.store._marks = marks
    with pytest.raises(StateRefused) as refused:
        learner.begin()
    assert says in str(refused.value)
