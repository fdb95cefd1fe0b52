"""Joint tables of the field whose values follow one another with one that is reported by itself: over everything that
both may show, and through the engine.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from estimate_help import asked_with, settings_of
from fields_world import ACTIVITIES, JOBS, SEXES
from test_estimation_engine import EVENTS, estimated, of

from beliefs.alphabet import Categories
from mechanisms.local.inverted import NAMED, inverted
from stream.errors import CannotEstimate
from stream.estimation.crossed import CrossCount
from stream.estimation.reading import Told
from stream.fields.forms import Form, form_of
from stream.fields.gate import COARSE

BESIDE = """\
record: {public: [$.battery], protect: {path: $.activity}}
model: model.json
mechanism: {name: randomised_response, epsilon: 2.5}
budget: {nats: 10000, window: forever}
"""
RELEASES = np.array([[0.7, 0.3], [0.2, 0.8]])
"""How likely each value of the followed field gives each of two releases."""
NOTHING = np.empty(0, dtype=np.int64)


def form_with(text: str) -> Form:
    fields = settings_of(fields=f"    x: {text}\n").fields
    assert fields is not None
    return form_of("x", fields.each["x"])


def reports_of(form: Form) -> list[tuple[Any, np.ndarray[Any, Any]]]:
    """Every report, and how likely each value makes it."""
    of, size = inverted(form.reporters[0].drawn), form.reporters[0].drawn.values
    chances = np.full((size, size), of.low) + of.span * np.eye(size)
    if of.ties == NAMED:
        return [(np.array([y]), chances[:, y]) for y in range(size)]
    every = [np.array([bits]) for bits in itertools.product((0, 1), repeat=size)]
    return [(bits, np.prod(np.where(bits[0] == 1, chances, 1.0 - chances), axis=1)) for bits in every]


@pytest.mark.parametrize(
    ("field", "slots"),
    [
        ("{path: $.x, values: [a, b, c], mechanism: grr, epsilon: 1.2}", 1),
        ("{path: $.x, values: [a, b, c], mechanism: oue, epsilon: 1.2}", 1),
        ("{path: $.x, values: [a, b], mechanism: grr, epsilon: 1.2, at_most: 2}", 2),
    ],
)
def test_products_count_pairs_without_bias_and_say_their_noise(field: str, slots: int) -> None:
    form, inverse = form_with(field), np.linalg.inv(RELEASES)
    found, noise = np.zeros((2, 3, 2, 3)), np.zeros((2, 3, 2, 3))
    for release, (report, chances) in itertools.product(range(2), reports_of(form)):
        count = CrossCount(form, 2, False)
        told = Told({0: (np.array([4]), report)}, NOTHING, NOTHING)
        count.add(told, np.array([4]), inverse[release][None], np.ones((1, 2), dtype=np.int64), [b"u"] * 5)
        assert count.pairs == 1
        estimate, _ = count._found(asked_with(), slots)
        chance = RELEASES[:, release][:, None] * chances[None, :]
        found += chance[:, :, None, None] * estimate
        noise += chance[:, :, None, None] * (estimate**2 - slots * estimate)
    # Of a list the value's slot is one of several, so that what one slot says is scaled.
    wanted = np.einsum("xv,zu->xzvu", np.eye(2), np.eye(3))
    assert found == pytest.approx(slots * wanted, abs=1e-9)
    assert (noise > -1e-9).all()


def test_the_noise_of_a_pair_is_the_mean_of_what_is_stated() -> None:
    form, inverse = form_with("{path: $.x, values: [a, b, c], mechanism: grr, epsilon: 1.2}"), np.linalg.inv(RELEASES)
    for x, z in itertools.product(range(2), range(3)):
        squares, stated = np.zeros((2, 3)), np.zeros((2, 3))
        for release, (report, chances) in itertools.product(range(2), reports_of(form)):
            product = inverse[release][:, None] * np.array(
                form.reporters[0].drawn.estimate(np.bincount(report, minlength=3), 1).frequencies
            )
            chance = RELEASES[x, release] * chances[z]
            squares += chance * product**2
            stated += chance * (product**2 - product)
        assert stated == pytest.approx(squares - np.outer(np.eye(2)[x], np.eye(3)[z]), abs=1e-9)


SEX = "sex: {path: $.sex, values: [f, m], mechanism: grr, epsilon: 2.0, lasting: true}"
JOB = "job: {path: $.job, values: [clerk, nurse, pilot], mechanism: oue, epsilon: 2.0, lasting: true}"
APPS = "apps: {path: $.apps, values: [a, b, c, d], mechanism: olh, epsilon: 3.0, at_most: 3}"
KEPT = "sex: {path: $.sex, values: [f, m], mechanism: rappor, epsilon: 4, lasting: true}"


@pytest.mark.parametrize(
    ("field", "name", "values"), [(SEX, "sex", SEXES), (JOB, "job", JOBS), (APPS, "apps", "abcd"), (KEPT, "sex", SEXES)]
)
def test_pairs_of_a_pipeline_lie_where_they_are_said_to(field: str, name: str, values: Any) -> None:
    joint = (("$.activity", name), (name, "$.activity"))
    result, documents = estimated(field, before=BESIDE, joint=joint)
    found, turned = of(result, f"$.activity,{name}"), of(result, f"{name},$.activity")
    activities = [document["activity"] for document in documents]
    owned = [document[name] if isinstance(document[name], list) else [document[name]] for document in documents]
    wanted = [
        np.mean([one == activity and value in its for one, its in zip(activities, owned, strict=True)])
        for activity in ACTIVITIES
        for value in values
    ]
    columns = found.tables["joint"].columns
    assert columns["value"] == [one for one in ACTIVITIES for _ in values] and columns["other"] == [*values] * 4
    apart = np.array(columns["estimate"]) - wanted
    assert (np.abs(apart) < 4.5 * np.sqrt(columns["variance"])).all() and max(columns["variance"]) ** 0.5 < 0.1
    assert found.reports == EVENTS and not found.notes
    back = turned.tables["joint"].columns
    assert dict(zip(zip(back["other"], back["value"], strict=True), back["estimate"], strict=True)) == pytest.approx(
        dict(zip(zip(columns["value"], columns["other"], strict=True), columns["estimate"], strict=True))
    )


def test_intervals_of_pairs_cover() -> None:
    """Ninety-five in a hundred, over 300 runs of the drawn channels."""
    form, inverse = form_with("{path: $.x, values: [a, b, c], mechanism: grr, epsilon: 1.2}"), np.linalg.inv(RELEASES)
    source, people, inside, apart = np.random.default_rng(11), 400, 0, []
    first, second = np.arange(people) % 2, np.arange(people) // 7 % 3
    truth = np.zeros((2, 3))
    np.add.at(truth, (first, second), 1 / people)
    each = reports_of(form)
    chances = np.array([chance for _, chance in each]).T
    for _ in range(300):
        seen = (source.random(people) < RELEASES[first, 1]).astype(int)
        reports = (source.random(people)[:, None] > np.cumsum(chances[second], axis=1)).sum(axis=1)
        count = CrossCount(form, 2, False)
        told = Told({0: (np.arange(people), reports)}, NOTHING, NOTHING)
        count.add(told, np.arange(people), inverse[seen], np.ones((people, 2), dtype=np.int64), [b"u"] * people)
        result = count.result("x,y", Categories(["p", "q"]), False, asked_with())
        columns = result.tables["joint"].columns
        low, high = (np.array(columns[name]).reshape(2, 3) for name in ("low", "high"))
        inside += int(((low <= truth) & (truth <= high)).sum())
        apart.append((np.array(columns["estimate"]).reshape(2, 3) - truth) / np.sqrt(columns["variance"]).reshape(2, 3))
    assert 0.935 < inside / 1800 < 0.965
    scores = np.array(apart)
    assert (np.abs(scores.mean(axis=0)) < 5 / 300**0.5).all()
    assert (np.abs(scores.var(axis=0) - 1.0) < 0.45).all()


def test_what_a_table_cannot_hold_is_said() -> None:
    form = form_with("{path: $.x, values: [a, b, c], mechanism: grr, epsilon: 1.2}")
    nothing = CrossCount(form, 2, False).result("x,y", Categories(["p", "q"]), False, asked_with())
    assert "no record has a release" in nothing.why_nothing and nothing.is_unanswered
    count = CrossCount(form, 2, False)
    told = Told({0: (np.arange(2), np.array([0, 1]))}, NOTHING, NOTHING)
    count.add(told, np.arange(2), np.eye(2), np.array([[1, 0], [1, 1]]), [b"u", b"v"])
    found = count.result("x,y", Categories(["p", "q"]), False, asked_with())
    assert found.tables["joint"].columns["estimate"][3:] == [None] * 3
    assert "no pairs with q" in found.notes[0] and "where_told" in found.notes[0]
    assert count.result("x,y", Categories(["p", "q"]), True, asked_with()).too_few
    few = "sex: {path: $.sex, values: [f, m], mechanism: grr, epsilon: 2.0, lasting: true}"
    with pytest.raises(CannotEstimate) as refusal:
        estimated(few, before=BESIDE, joint=(("$.activity", "nothing"),))
    assert "the fields are sex, $.activity" in refusal.value.why


def test_reports_of_groups_have_no_place_in_the_table() -> None:
    form = form_with(
        "{path: $.x, values: [a, b, c], mechanism: grr, epsilon: 1.2, cap: 6, beyond: coarsen, "
        "coarser: {one: [a, c], two: [b]}}"
    )
    count, known = CrossCount(form, 2, False), np.ones((3, 2), dtype=np.int64)
    coarse = Told({COARSE: (np.array([1]), np.array([0]))}, NOTHING, NOTHING)
    count.add(coarse, np.arange(3), np.zeros((3, 2)), known, [b"u"] * 3)
    nothing = count.result("x,y", Categories(["p", "q"]), False, asked_with())
    assert "all 1 pairs have a report of a group" in nothing.why_nothing
    both = Told({0: (np.array([0, 2]), np.array([0, 1])), **coarse.reports}, NOTHING, NOTHING)
    count.add(both, np.arange(3), np.zeros((3, 2)), known, [b"u"] * 3)
    found = count.result("x,y", Categories(["p", "q"]), False, asked_with())
    assert found.reports == 2 and "2 reports of groups" in found.notes[0]
