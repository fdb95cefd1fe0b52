"""The audit of a pipeline that learns its model: right ones agree, and whoever falsifies an epoch is found out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pytest
from audit_memory import START_MS, Kept, Memory
from audit_world import CHANGELOG, RELEASED, TOPIC_ID, Run, codes, with_value
from learning_help import VALUES, Learner, learning_settings, walks

from beliefs.chain import Chain
from beliefs.learning.online import Setup, learn, response_of
from beliefs.model_file import serialise
from beliefs.rounding import budget_units
from stream.audit.epoch_records import Epoch, Learning, wrong_in
from stream.audit.law import law_of
from stream.audit.learnt import is_close, learnt_from, needed_for, rows_agree
from stream.audit.settle import settling
from stream.drift import settle_of
from stream.learning.epochs import LOOK_EVERY
from stream.learning.record import epoch_key
from stream.protocol.ports import Outgoing
from stream.settings.declared import declared_model

SWITCH = 32_768
DRIFTED = SWITCH + 2 * LOOK_EVERY
MORE = ", doubt: 0.01, withheld: 0.3"


@pytest.fixture(scope="module")
def learner() -> Learner:
    """Three epochs, and users of whom some never come back after the first or the second."""
    found = Learner(learning_settings(more=MORE, nats=880))
    early = walks(500, stay=0.7, users=3, seed=9)
    records = [*early, *walks(DRIFTED - 500, stay=0.7, first=500)]
    records = [
        replace(record, key=b"early-" + (record.key or b"")) if i < 500 else record for i, record in enumerate(records)
    ]
    found.take([*records, *walks(14_000, stay=0.25, users=15, seed=1, first=DRIFTED)])
    assert [epoch.because for epoch in found.epochs] == ["start", "learnt", "drift"]
    return found


def world(learner: Learner) -> Run:
    """Its topics as lists that a test may falsify."""
    model = declared_model(learner.settings)
    assert model is not None
    finished = Run(learner.settings, model, Memory({}))
    owner = finished.task().owner
    control = {"pipeline": owner.pipeline, "topic_id": str(TOPIC_ID), "policy": owner.policy, "model": owner.model}
    progress = learner.cuts[-1]
    end = [Outgoing(b"c", orjson.dumps(control), START_MS), Outgoing(b"o", progress.to_bytes(8, "big"), START_MS)]
    raw = [Outgoing(b"u", b"", START_MS)] * progress
    kafka = learner.settings.kafka
    for topic, records in (
        (kafka.released_topic, learner.releases),
        (learner.settings.changelog_topic, [*learner.changelog, *end]),
        (kafka.dead_letter_topic, []),
        (kafka.raw_topic, raw),
    ):
        kept = [Kept(at, each.key, each.value, each.timestamp, tuple(each.headers)) for at, each in enumerate(records)]
        finished.topics.logs[topic] = [kept]
    return finished


def test_a_right_one_agrees(learner: Learner) -> None:
    report = world(learner).report()
    assert report.findings.codes() == set(), list(report.findings)
    assert report.exit_status == 0
    assert report.tally.released + report.tally.forecast == learner.cuts[-1]
    assert report.tally.users_not_followed == 0
    assert report.tally.states == len(learner.store)
    assert any("nothing that is promised" in note for note in report.notes)


def record_at(run: Run, key: bytes) -> int:
    log = run.topics.logs[CHANGELOG][0]
    return max(at for at, each in enumerate(log) if each.key == key)


def falsify(run: Run, number: int, change: Callable[[dict[str, Any]], object]) -> None:
    log, at = run.topics.logs[CHANGELOG][0], record_at(run, epoch_key(number))
    document = json.loads(log[at].value or b"")
    change(document)
    log[at] = replace(log[at], value=json.dumps(document).encode())


def details(run: Run) -> set[str]:
    return {finding.detail for finding in run.report().findings if finding.code == "wrong_epoch"}


def another_model(document: dict[str, Any]) -> None:
    chain = Chain.from_dense([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]])
    alphabet = declared_model(learning_settings()).alphabet  # type: ignore[union-attr]
    document["model"] = json.loads(serialise(alphabet, chain, {}))


def one_more_pair(document: dict[str, Any]) -> None:
    document["counts"][0][1] += 1


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda document: document.update(withheld_units=document["withheld_units"] - 1000), {"withheld"}),
        (lambda document: document.update(error=document["error"] * 0.99), {"error", "withheld"}),
        (one_more_pair, {"counts"}),
        (lambda document: document.update(tests=5), {"first_offset", "model", "error"}),
        (lambda document: document.update(because="drift"), {"order", "model"}),
        (lambda document: document.update(first_offset=SWITCH - 1024), {"first_offset"}),
        (lambda document: document.update(epoch=7), {"record", "releases", "order"}),
        (lambda document: document.update(model={}), {"record", "releases", "order"}),
    ],
)
def test_a_record_that_does_not_follow_is_found(
    learner: Learner, change: Callable[[dict[str, Any]], object], found: set[str]
) -> None:
    run = world(learner)
    falsify(run, 2, change)
    assert found <= details(run)


def test_another_model_than_was_learnt_is_found_by_the_counts_and_by_the_charges(learner: Learner) -> None:
    run = world(learner)
    falsify(run, 2, another_model)
    assert "model" in details(run)
    assert {"wrong_model", "state_differs"} <= codes(run)


def test_a_release_of_the_wrong_epoch_is_found(learner: Learner) -> None:
    """Its record says the second epoch; its input stood in the first."""
    run = world(learner)
    later = dict(run.released()[SWITCH].headers)["model"]
    headers = tuple((name, later if name == "model" else value) for name, value in run.released()[SWITCH - 1].headers)
    run.released()[SWITCH - 1] = replace(run.released()[SWITCH - 1], headers=headers)
    assert {"offsets", "counts"} & details(run)


def test_a_value_that_was_shown_otherwise_changes_the_counts(learner: Learner) -> None:
    run = world(learner)
    one = run.released()[100]
    other = VALUES[VALUES.index(orjson.loads(one.value or b"")["activity"]) - 1]
    run.released()[100] = with_value(one, other)
    assert "counts" in details(run)


def test_a_mark_with_other_counts_is_found(learner: Learner) -> None:
    run = world(learner)
    log, at = run.topics.logs[CHANGELOG][0], record_at(run, b"e")
    mark = bytearray(log[at].value or b"")
    mark[-1] ^= 1
    log[at] = replace(log[at], value=bytes(mark))
    assert details(run) == {"mark"}


def test_a_row_that_says_another_epoch_is_found(learner: Learner) -> None:
    run = world(learner)

    def change(row: np.ndarray) -> None:
        row[4:8].view("<u4")[0] = 1

    run.change_state(change)
    findings = list(run.report().findings)
    assert {(finding.code, finding.detail) for finding in findings} == {("state_differs", "epoch")}


def test_a_missing_release_is_found(learner: Learner) -> None:
    run = world(learner)
    del run.topics.logs[RELEASED][0][200]
    found = run.report().findings
    assert "lost_event" in found.codes()
    assert "counts" in details(run)


@pytest.mark.parametrize("epsilon", [0.7, 3.0, 6.0])
@pytest.mark.parametrize("size", [2, 3, 6])
def test_both_readings_of_the_note_come_to_the_same(size: int, epsilon: float) -> None:
    source = np.random.default_rng(size)
    units = budget_units(epsilon)
    for pairs in (500, 40_000, 10_000_000):
        setup = Setup(size, units, 1e-4, 0.3)
        chain = 0.5 * source.dirichlet(np.ones(size), size=size) + 0.5 / size
        channel = np.full((size, size), response_of(setup).other)
        np.fill_diagonal(channel, response_of(setup).keep)
        counts = source.poisson(pairs * (channel.T @ (chain / size) @ channel))
        learnt = learn(setup, counts, 9)
        found = learnt_from(counts, units, 1e-4, 9)
        assert is_close(found.error, learnt.error)
        assert rows_agree(found, learnt.chain.dense, learnt.chain.start.tolist())
        law = law_of(learnt.chain)
        assert abs(needed_for(learnt.error, units, law.contraction, law.span) - learnt.withheld_units) <= 16
        assert settling(law.contraction) == tuple(settle_of(learnt.chain.contraction))


@pytest.mark.parametrize("contraction", [0, 1, 1 << 31, (1 << 32) - (1 << 26), (1 << 32) - 1, 1 << 32])
def test_beliefs_settle_after_as_many_predictions(contraction: int) -> None:
    assert settling(contraction) == tuple(settle_of(contraction))


def test_the_first_epoch_begins_with_nothing() -> None:
    model = declared_model(learning_settings())
    assert model is not None
    first = Epoch(2, 0, "drift", model, 0, 1, None, None)
    assert list(wrong_in(first, None, None, Learning(2, budget_units(3.0), 0.01))) == ["order"]
