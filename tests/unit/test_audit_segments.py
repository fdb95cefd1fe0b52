"""The auditor of a pipeline by segment: it agrees with an honest run, and finds whatever lies between the segments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pytest
from audit_memory import Kept
from audit_world import RELEASED, AnyPipeline, codes, sealed
from numpy.typing import NDArray
from segment_world import BY_ROOM, SIMPLE, UNLIKE, SegmentRun, house_of, run, sticky

from stream.pipeline import PartitionPipeline
from stream.promise import Promise
from stream.windows.pipeline import WindowPipeline

BISECT, NATURAL = "{events: 5, stretch: 20s}", "{events: 5, stretch: 20s, order: natural}"
Falsify = Callable[[AnyPipeline], None]

HONEST: dict[str, dict[str, Any]] = {
    "alike": {},
    "unlike": {"given": UNLIKE},
    "clock": {"given": UNLIKE, "step": "1s"},
    "suppress": {"given": UNLIKE, "when_spent": "suppress", "nats": 2},
    "stop": {"when_spent": "stop", "nats": 2},
    "draw": {"given": UNLIKE, "when_spent": "forecast_draw", "nats": 2},
    "published": {"mechanism": "published_crr"},
    "near": {"mechanism": "near", "epsilon": 0.5},
    "bisect": {"windows": BISECT, "nats": 3},
    "natural": {"windows": NATURAL, "nats": 3},
    "bisect, stop": {"windows": BISECT, "when_spent": "stop", "nats": 2},
    "natural, suppress": {"windows": NATURAL, "when_spent": "suppress", "nats": 2},
    "no others": {"given": SIMPLE[:2], "models": "by: $.device, files: {sensor: a.json, phone: b.json}"},
    "the same twice": {"given": (SIMPLE[0], SIMPLE[0], SIMPLE[1])},
    "nested": {"models": BY_ROOM, "public": "[$.battery, $.where.room]", "nested": True},
}


@pytest.mark.parametrize("kind", HONEST)
def test_an_honest_run_agrees(kind: str) -> None:
    finished = run(**HONEST[kind])
    report = finished.report()
    assert [(found.code, found.detail, found.places) for found in report.findings] == []
    assert report.exit_status == 0
    assert report.compared["in = sum of outcomes"] == "agrees"
    tally = report.tally
    assert tally.released >= 40
    counted = (tally.released, tally.forecast, tally.suppressed, report.dead_letters)
    assert counted == tuple(finished.outcomes[name] for name in ("released", "forecast", "suppressed", "dead_lettered"))
    alone = finished.report(with_changelog=False)
    assert (alone.findings.codes(), alone.tally.released) == (set(), tally.released)


def test_accounts_are_worked_out_under_each_users_own_model() -> None:
    finished = run(events=400)
    few, one = finished.report(accounts=9).accounts, house_of().promise()
    assert few is not None
    assert (few["users"], few["left_out"], few["of"]) == (9, 0, 24)
    assert len(one.served) == 3
    everybody = finished.report(accounts=1000).accounts
    assert everybody is not None
    assert (everybody["users"], everybody["left_out"]) == (24, 0)
    # Of users whose releases are all accounted for under a full chain, the sequence tells what the counters say.
    assert everybody["sequence"]["max"] <= everybody["counters"]["max"] * (1 + 1e-9)  # type: ignore[index]


def other_part(pipeline: PartitionPipeline) -> None:
    """A planted swap: the users of one segment are served by the model of the other."""
    first, second, *more = pipeline._promise.served
    serve(pipeline, second, first, *more)
    pipeline._benches = (pipeline._benches[1], pipeline._benches[0], *pipeline._benches[2:])


def other_chain(pipeline: PartitionPipeline) -> None:
    """The rows say the right model, but another one's chain is at work."""
    first, second, *more = pipeline._promise.served
    serve(pipeline, replace(first, chain=second.chain), second, *more)


def serve(pipeline: PartitionPipeline, *promises: Promise) -> None:
    promise = pipeline._promise
    assert promise.segments is not None
    pipeline._promise = replace(promise, segments=replace(promise.segments, promises=promises))


def other_step(pipeline: WindowPipeline) -> None:
    pipeline._steps[:2] = pipeline._steps[1::-1]


def of_single(change: Callable[[PartitionPipeline], None]) -> Falsify:
    def falsify(pipeline: AnyPipeline) -> None:
        assert isinstance(pipeline, PartitionPipeline)
        change(pipeline)

    return falsify


def of_windows(pipeline: AnyPipeline) -> None:
    assert isinstance(pipeline, WindowPipeline)
    other_step(pipeline)


def test_a_planted_swap_of_segments_is_found() -> None:
    swapped = codes(run(falsify=of_single(other_part), when_spent="forecast", nats=3))
    assert "state_segment" in swapped
    assert swapped & {"needless_forecast", "over_budget", "not_likeliest", "impossible_value", "state_missing"}


def test_a_chain_at_work_in_another_segment_is_found() -> None:
    assert "state_differs" in codes(run(falsify=of_single(other_chain)))


@pytest.mark.parametrize("windows", [BISECT, NATURAL])
def test_a_planted_swap_in_windows_is_found(windows: str) -> None:
    assert "state_segment" in codes(run(windows=windows, nats=3, falsify=of_windows))


def test_a_release_whose_field_says_another_segment_is_found() -> None:
    finished = run(events=300)
    other = "sensor" if b"sensor" not in (finished.released()[40].value or b"") else "phone"
    change(finished, 40, lambda document: document.update(device=other))
    assert codes(finished) == {"wrong_segment"}


@pytest.mark.parametrize("said", [None, [], {"a": 1}])
def test_a_release_whose_field_says_no_segment_is_found(said: Any) -> None:
    finished = run(events=300)
    change(finished, 40, lambda document: document.update(device=said))
    assert codes(finished) == {"wrong_segment"}
    change(finished, 41, lambda document: document.pop("device"))
    assert {found.code: found.count for found in finished.report().findings} == {"wrong_segment": 2}


def test_a_user_whose_every_release_says_another_segment_is_found() -> None:
    finished = run(events=300, partitions=1)
    user = finished.released()[0].key
    other = "sensor" if b"sensor" not in (finished.released()[0].value or b"") else "phone"
    for at, one in enumerate(finished.released()):
        if one.key == user:
            change(finished, at, lambda document: document.update(device=other))
    found = codes(finished)
    assert {"state_segment", "wrong_model"} <= found


def test_a_header_of_another_segments_model_is_found() -> None:
    finished = run(events=300, partitions=1)
    headers = {one.headers for one in finished.released()}
    models = sorted({dict(each)["model"] for each in headers})
    assert len(models) == 3
    one = finished.released()[5]
    wrong = next(model for model in models if model != dict(one.headers)["model"])
    changed = tuple((name, wrong if name == "model" else value) for name, value in one.headers)
    finished.topics.logs[RELEASED][0][5] = replace(one, headers=changed)
    assert codes(finished) == {"wrong_model"}


def test_a_row_under_another_segments_tag_is_found() -> None:
    finished = run(events=300, partitions=1)
    tags = [promise.policy.model_tag for promise in house_of().promise().served]

    def retag(row: NDArray[Any]) -> None:
        tag = int.from_bytes(row[4:8].tobytes(), "little")
        new = next(each for each in tags if each != tag)
        row[4:8] = list(new.to_bytes(4, "little"))

    finished.change_state(retag)
    found = codes(finished)
    assert "state_segment" in found
    assert "state_missing" in found


def test_a_row_of_no_model_is_set_aside_and_told() -> None:
    finished = run(events=300, partitions=1)

    def retag(row: NDArray[Any]) -> None:
        row[4:8] = 255

    finished.change_state(retag)
    assert "quarantined_rows" in codes(finished)


def test_a_changed_belief_is_found_in_every_segment() -> None:
    finished = run(given=UNLIKE, events=400, partitions=1)
    rows = [at for at, one in enumerate(finished.states()) if (one.key or b"")[:1] == b"u"]
    latest = {finished.states()[at].key: at for at in rows}
    lengths = {len(finished.states()[at].value or b"") for at in latest.values()}
    assert len(lengths) == 2
    for length in lengths:
        at = next(at for at in latest.values() if len(finished.states()[at].value or b"") == length)
        told = replace(finished.states()[at], value=spoiled(finished.states()[at]))
        before, finished.states()[at] = finished.states()[at], told
        assert [(found.code, found.detail) for found in finished.report().findings] == [("state_differs", "upper")]
        finished.states()[at] = before
    assert finished.report().agrees


def spoiled(one: Kept) -> bytes:
    row = np.frombuffer(one.value or b"", dtype=np.uint8).copy()
    row[16:24].view("<i8")[0] += 1
    return sealed(row)


def test_another_assignment_of_the_same_models_is_another_pipeline() -> None:
    finished = run(events=200, partitions=1)
    finished.model, finished.others = finished.others[0], (finished.model, finished.others[1])
    found = codes(finished)
    assert {"wrong_policy", "wrong_model", "wrong_owner"} <= found


def test_another_model_of_one_segment_is_found() -> None:
    finished = run(events=200, partitions=1)
    finished.others = (sticky(0.79), finished.others[1])
    assert {"wrong_policy", "wrong_owner", "quarantined_rows"} <= codes(finished)


@pytest.mark.parametrize("windows", [BISECT, NATURAL])
def test_what_is_held_is_compared_in_every_segment(windows: str) -> None:
    finished = run(events=333, partitions=1, windows=windows, nats=100)
    held = {one.key: at for at, one in enumerate(finished.states()) if (one.key or b"")[:1] == b"h"}
    there = [at for at in held.values() if finished.states()[at].value]
    assert len(there) > 3
    for at in there:
        one = finished.states()[at]
        watermark = int.from_bytes((one.value or b"")[8:16], "little") - 1
        wrong = (one.value or b"")[:8] + watermark.to_bytes(8, "little") + (one.value or b"")[16:]
        finished.states()[at] = replace(one, value=wrong)
        assert "wrongly_held" in codes(finished)
        finished.states()[at] = one


def change(finished: SegmentRun, at: int, edit: Callable[[dict[str, Any]], Any]) -> None:
    one = finished.released()[at]
    document = orjson.loads(one.value or b"")
    edit(document)
    finished.topics.logs[RELEASED][0][at] = replace(one, value=orjson.dumps(document))
