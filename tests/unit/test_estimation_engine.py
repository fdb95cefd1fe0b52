"""What a pipeline with several fields has released, estimated: alone, beside a field whose values follow one another,
under caps, with a joint table, lists and kept bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
from audit_memory import Kept
from estimate_help import asked_with
from fields_world import ACTIVITIES, BESIDE, JOBS, LOCAL, SEXES, World, events, model_of, settings_of

from stream.estimation.gathering import Gathering
from stream.estimation.results import FieldResult, WindowResult
from stream.estimation.task import task_of
from stream.estimation.told import finished

USERS, EVENTS = 60, 3_000
SEX = "sex: {path: $.sex, values: [f, m], mechanism: grr, epsilon: 2.0, lasting: true}"
JOB = "job: {path: $.job, values: [clerk, nurse, pilot], mechanism: oue, epsilon: 2.0, lasting: true}"
AGE = "age: {path: $.age, values: {kind: bins, low: 0, high: 100, cells: 10}, mechanism: ss, epsilon: 3.0}"
APPS = "apps: {path: $.apps, values: [a, b, c, d], mechanism: olh, epsilon: 3.0, at_most: 3}"
KEPT = "sex: {path: $.sex, values: [f, m], mechanism: rappor, epsilon: 4, lasting: true}"
LOWERED = "job: {path: $.job, values: [clerk, nurse, pilot], mechanism: grr, epsilon: 2.0, cap: 3.9, beyond: lower}"


def estimated(*fields: str, before: str = LOCAL, **asked: Any) -> tuple[WindowResult, list[dict[str, Any]]]:
    settings = settings_of(*fields, before=before, more="metrics: {small_count_floor: 5}\n")
    given = events(EVENTS, users=USERS)
    effects = World(settings).carry_out(given)
    found = Gathering(task_of(settings, [model_of(settings)], asked_with(**asked)))
    records = [
        Kept(place, one.key, one.value, one.timestamp, tuple(one.headers)) for place, one in enumerate(effects.releases)
    ]
    for start in range(0, len(records), 400):
        found.take(0, records[start : start + 400])
    assert not any(found.reader.counts.values())
    (result,) = finished(found)
    return result, [orjson.loads(record.value or b"") for record in given]


def of(result: WindowResult, name: str) -> FieldResult:
    (found,) = [one for one in result.fields if one.name == name]
    return found


def check(found: FieldResult, truth: Any, table: str = "frequency", widest: float = 0.2) -> None:
    """Within four and a half standard errors, and these are small."""
    columns = found.tables[table].columns
    for number, variance, wanted in zip(columns["estimate"], columns["variance"], truth, strict=True):
        assert abs(number - wanted) < 4.5 * variance**0.5
        assert variance**0.5 < widest


def shares(documents: list[dict[str, Any]], name: str, values: Any) -> list[float]:
    return [sum(document[name] == value for document in documents) / len(documents) for value in values]


@pytest.mark.parametrize("before", [LOCAL, BESIDE], ids=["alone", "beside"])
def test_fields_alone_and_beside_one_whose_values_follow(before: str) -> None:
    result, documents = estimated(SEX, JOB, AGE, APPS, before=before, joint=(("sex", "job"), ("job", "apps")))
    assert all(found.reports == EVENTS for found in result.fields if found.name not in ("$.activity",))
    check(of(result, "sex"), shares(documents, "sex", SEXES))
    check(of(result, "job"), shares(documents, "job", JOBS))
    check(of(result, "age"), [np.mean([int(one["age"] / 10) * 10 + 5 for one in documents])], "mean", widest=1.0)
    apps = [np.mean([app in one["apps"] for one in documents]) for app in "abcd"]
    check(of(result, "apps"), apps)
    check(of(result, "apps"), [np.mean([len(one["apps"]) for one in documents])], "size")
    pairs = [(one["sex"], one["job"]) for one in documents]
    check(of(result, "sex,job"), [pairs.count((sex, job)) / EVENTS for sex in SEXES for job in JOBS], "joint")
    wanted = [
        np.mean([one["job"] == job and app in one["apps"] for one in documents]) for job in JOBS for app in "abcd"
    ]
    check(of(result, "job,apps"), wanted, "joint")
    if before == BESIDE:
        activity = of(result, "$.activity")
        assert activity.reports + activity.facts["forecasts"] == EVENTS and activity.facts["not_followed"] == 0
        assert activity.tables["posterior"].columns["value"] == list(ACTIVITIES)


def test_kept_bits_of_the_same_users_again_and_again_are_no_new_evidence() -> None:
    result, documents = estimated(KEPT)
    check(of(result, "sex"), shares(documents, "sex", SEXES))
    kept = of(result, "sex").tables["frequency"].columns["variance"]
    assert min(kept) > 0.9 * 0.2 / USERS  # what the kept bits of sixty users leave open, however many reports there are


def test_lowered_and_withheld_reports_are_counted_by_their_levels() -> None:
    result, documents = estimated(LOWERED)
    found = of(result, "job")
    assert found.facts["levels"] == dict.fromkeys("0123", USERS)
    assert 4 * USERS + found.facts["withheld"] == EVENTS == len(documents) and found.facts["wrong"] == 0
    check(found, [1 / 3] * 3)
    shared, _ = estimated(LOWERED, pooling="shares")
    columns = [of(one, "job").tables["frequency"].columns["variance"] for one in (result, shared)]
    assert all(one < other for one, other in zip(*columns, strict=True))
