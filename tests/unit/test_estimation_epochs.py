"""Pipelines that learn their model: each release by the channel of its own epoch, from topics and from exports."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import orjson
import pytest
from audit_memory import Kept
from estimate_help import Topics, asked_with
from learning_help import VALUES, Learner, learning_settings, walks
from pipeline_help import Record

from stream.estimation.estimate import estimate
from stream.estimation.gathering import Gathering
from stream.estimation.report import facts_of
from stream.estimation.results import FieldResult
from stream.estimation.run import TopicReader, read
from stream.estimation.task import task_of
from stream.estimation.told import finished
from stream.learning.record import epoch_number
from stream.named_models import pipeline_models

SWITCH, CHANGED = 32_768, 40_960
COUNT = CHANGED + 9_000


@pytest.fixture(scope="module")
def truth() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([VALUES.index(orjson.loads(one.value)["activity"]) for one in raw()])


def raw() -> list[Record]:
    early = walks(500, stay=0.7, users=3, seed=9)
    records = [*early, *walks(CHANGED - 500, stay=0.7, first=500)]
    return [*records, *walks(COUNT - CHANGED, stay=0.25, users=15, seed=1, first=CHANGED)]


@pytest.fixture(scope="module")
def learner() -> Learner:
    """Three epochs, the second under a model that was learnt."""
    found = Learner(learning_settings(more=", doubt: 0.01, withheld: 0.3"))
    found.take(raw())
    assert [epoch.because for epoch in found.epochs] == ["start", "learnt", "drift"]
    return found


def records_in(learner: Learner) -> tuple[list[Kept], list[Kept]]:
    """Of the released topic and of the belief topic."""
    logs = [
        [Kept(at, one.key, one.value, one.timestamp, tuple(one.headers)) for at, one in enumerate(its)]
        for its in (learner.releases, learner.changelog)
    ]
    return logs[0], logs[1]


def from_topics(learner: Learner, chunk: int = 900) -> tuple[FieldResult, Gathering]:
    released, changelog = records_in(learner)
    settings = learner.settings
    gathering = Gathering(task_of(settings, pipeline_models(settings), asked_with()))
    logs = {settings.kafka.released_topic: [released], settings.changelog_topic: [changelog]}
    reader = TopicReader(gathering, Topics(logs, chunk=chunk), lambda doing, records: None)

    async def nothing(result: object) -> None:
        raise AssertionError(result)

    asyncio.run(read(reader, nothing))
    (result,) = finished(gathering)
    return result.fields[0], gathering


def shares(found: FieldResult, table: str) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], ...]:
    columns = found.tables[table].columns
    return np.array(columns["estimate"], dtype=np.float64), np.array(columns["variance"], dtype=np.float64)


def test_every_release_is_heard_by_the_channel_of_its_epoch(learner: Learner, truth: Sequence[int]) -> None:
    found, gathering = from_topics(learner)
    assert found.reports == COUNT and not found.facts["not_followed"]
    assert not any(gathering.reader.counts.values())
    wanted = np.bincount(np.array(truth), minlength=2) / COUNT
    estimates, variances = shares(found, "frequency")
    assert (np.abs(estimates - wanted) < 4.5 * np.sqrt(variances)).all() and (variances < 1e-4).all()
    assert estimates.sum() == pytest.approx(1.0)
    assert shares(found, "posterior")[0].sum() == pytest.approx(1.0)


def test_the_channel_of_each_epoch_is_inverted_without_bias(learner: Learner, truth: Sequence[int]) -> None:
    """Windows of time, each with one epoch; what lies outside of it is read, too, and counts elsewhere."""
    released, changelog = records_in(learner)
    records = [one.value for one in changelog if epoch_number(one.key or b"") is not None]
    starts = [*(epoch.first for epoch in learner.epochs), COUNT]
    for start, stop in itertools.pairwise(starts):
        times = [one.timestamp if start <= at < stop else 3_600_000 * 500_000 for at, one in enumerate(released)]
        moved = [replace(one, timestamp=time) for one, time in zip(released, times, strict=True)]
        found = estimate(
            learner.settings, moved, window="100d", late="20000d", epochs={0: [one or b"" for one in records]}
        )
        first = found.windows[0].fields[0]
        assert first.reports == stop - start
        wanted = np.bincount(np.array(truth)[start:stop], minlength=2) / (stop - start)
        estimates, variances = shares(first, "frequency")
        assert (np.abs(estimates - wanted) < 4.5 * np.sqrt(variances)).all()


def test_an_export_alone_tells_of_blind_epochs_and_says_what_is_missing(learner: Learner) -> None:
    released, _ = records_in(learner)
    found = estimate(learner.settings, released)
    (one,) = found.of("$.activity")
    informed = learner.epochs[2].first - SWITCH
    assert found.passed_over["other_epoch"] == informed
    assert "frequency" in one.tables and one.reports >= SWITCH
    assert one.reports + one.facts["not_followed"] == COUNT - informed
    assert "cannot be followed" in facts_of(one) and any("from its beginning" in note for note in one.notes)


def test_what_is_no_record_of_an_epoch_is_as_if_it_were_not_there(learner: Learner) -> None:
    released, _ = records_in(learner)
    garbage = [b"", b"{}", b'{"epoch": "x"}', b"[1]", b"\xff"]
    found = estimate(learner.settings, released[:2000], epochs={0: garbage})
    assert found.of("$.activity")[0].reports == 2000
    strange = [
        replace(one, headers=tuple((name, b"9:00000000" if name == "model" else text) for name, text in one.headers))
        for one in released[:10]
    ]
    assert estimate(learner.settings, strange).passed_over["other_epoch"] == 10
