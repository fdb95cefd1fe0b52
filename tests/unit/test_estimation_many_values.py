"""Many values, whose channels have an inverse in closed form, or few outputs, or are too large to be inverted."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
from audit_world import Run, model_of, run
from estimate_help import asked_with

from stream.estimation.gathering import Gathering
from stream.estimation.inverse import OUTPUTS_MOST
from stream.estimation.report import facts_of
from stream.estimation.results import FieldResult
from stream.estimation.task import task_of
from stream.estimation.told import finished

SIZE, EVENTS = 200, 1_500


def finished_run(mechanism: str, **settings: Any) -> Run:
    usual = {"epsilon": 5.0, "nats": "unlimited"}
    return run(SIZE, EVENTS, 30, model=model_of(SIZE), mechanism=mechanism, **{**usual, **settings})


def told(finished_: Run, **asked: Any) -> FieldResult:
    gathering = Gathering(task_of(finished_.settings, [finished_.model], asked_with(**asked)))
    gathering.take(0, finished_.released())
    (result,) = finished(gathering)
    return result.fields[0]


def column(found: FieldResult, table: str, name: str = "estimate") -> np.ndarray[Any, Any]:
    return np.array(found.tables[table].columns[name], dtype=np.float64)


def shares_of(finished_: Run) -> np.ndarray[Any, Any]:
    """Of the true values of what was released."""
    activities = [
        orjson.loads(one.value)["activity"]
        for one in finished_.topics.logs[finished_.settings.kafka.raw_topic][0]
        if one.value != b"broken"
    ]
    return np.bincount([int(name.removeprefix("act")) for name in activities], minlength=SIZE) / len(activities)


@pytest.mark.parametrize(
    ("mechanism", "epsilon"), [("randomised_response", 5.0), ("published_crr", 0.7), ("temporal_ldp", 5.0)]
)
def test_channels_that_rows_share_are_inverted_whatever_their_size(mechanism: str, epsilon: float) -> None:
    assert SIZE > OUTPUTS_MOST
    finished_ = finished_run(mechanism, epsilon=epsilon)
    found, truth = told(finished_), shares_of(finished_)
    assert found.reports == finished_.outcomes["released"] and not found.notes
    scores = (column(found, "frequency") - truth) / np.sqrt(column(found, "frequency", "variance"))
    assert np.abs(scores).max() < 6.0
    assert SIZE / 3 < (scores**2).sum() < 2 * SIZE
    assert column(found, "frequency").sum() == pytest.approx(1.0)


def test_channels_with_few_outputs_are_inverted_and_the_values_that_share_one_named() -> None:
    found = told(finished_run("optimal"))
    assert "where_told" in found.tables and column(found, "where_told", "told").max() > 0
    (note,) = found.notes
    assert "act0, act1" in note and "and 192 more" in note and "--transitions" in note
    assert column(found, "posterior").sum() == pytest.approx(1.0)


def test_what_is_too_large_is_said_and_counts_nowhere() -> None:
    found = told(finished_run("marginal_preserving", epsilon=3.0), transitions=True)
    assert not np.nan_to_num(column(found, "where_told", "told")).all()
    assert any("too large to be inverted" in note and "posterior holds" in note for note in found.notes)
    assert any(f"more than {OUTPUTS_MOST} values" in note for note in found.notes)
    assert "posterior" in found.tables and "releases" in facts_of(found)
