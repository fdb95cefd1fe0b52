"""The file of a joint table: what is read and written back, how well it is known, and each mistake by its place."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs.alphabet import Bins, Categories, Grid, IntegerRange
from beliefs.checks import Invalid
from beliefs.correlation.bound import bound
from beliefs.correlation.counted import JointCounts
from beliefs.correlation.joint_file import InvalidJoint, JointModel, parse, serialise
from beliefs.correlation.nested_lists import CELLS_MAX
from beliefs.correlation.robust_rows import radii_of, robust_bound
from beliefs.correlation.tables import JointTable, labels_of
from beliefs.model_file import digest_of

GOOD: dict[str, Any] = {
    "format": "sottovoce-joint",
    "version": 1,
    "names": ["sex", "work"],
    "labels": [["f", "m"], ["none", "part", "full"]],
    "counts": [[210, 330, 460], [90, 110, 800]],
    "failure": 0.1,
    "learnt_from": {"source": "people.csv"},
}
WEIGHED: dict[str, Any] = {key: GOOD[key] for key in ("format", "version", "names", "labels")}
WEIGHED["weights"] = [[2, 3, 5], [1, 1, 8]]
RADII = {"sex": [0.1, 0.2], "work": [0.3, 0, 1]}


def read(document: dict[str, Any]) -> JointModel:
    return parse(json.dumps(document).encode())


def refusals(document: dict[str, Any] | bytes) -> dict[str, str]:
    with pytest.raises(InvalidJoint) as caught:
        parse(document if isinstance(document, bytes) else json.dumps(document).encode())
    return {problem.field: problem.reason for problem in caught.value.problems}


def test_a_file_is_read_and_written_back() -> None:
    for document in (GOOD, WEIGHED, {**WEIGHED, "radius": 0.1}, {**WEIGHED, "radius": RADII}):
        model = read(document)
        again = parse(serialise(model))
        assert again.table.names == model.table.names == ("sex", "work")
        assert again.table.labels == model.table.labels
        assert (again.table.weights == model.table.weights).all()
        assert (again.failure, again.learnt_from) == (model.failure, model.learnt_from)
        assert again.is_counted is ("counts" in document)
        for secret in ("sex", "work"):
            assert (again.given(secret).radii == model.given(secret).radii).all()
        assert serialise(again) == serialise(model)
    assert read({**GOOD, "failure": 0.05}).digest != read(GOOD).digest
    del (without := dict(GOOD))["failure"]
    assert read(without).failure == 0.05


def test_radii_follow_from_counts_or_are_those_that_are_said() -> None:
    counted = read(GOOD)
    assert counted.given("sex").radii.tolist() == radii_of([1000, 1000], 3, 0.1).tolist()
    assert counted.given("work").radii.tolist() == radii_of([300, 440, 1260], 2, 0.1).tolist()
    assert counted.people("work") == [300, 440, 1260]
    laws, rows, radii = counted.given("sex")
    assert counted.bound("sex", 1.0) == robust_bound(laws, 1.0, radii) > bound(laws, 1.0).epsilon
    assert rows.tolist() == [0, 1]
    exact = read(WEIGHED)
    assert exact.given("sex").laws.tolist() == [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]
    assert exact.given("sex").radii.tolist() == [0.0, 0.0]
    assert exact.bound("sex", 1.0) == bound(exact.given("sex").laws, 1.0).epsilon
    said = read({**WEIGHED, "radius": RADII})
    assert (said.given("sex").radii.tolist(), said.given("work").radii.tolist()) == ([0.1, 0.2], [0.3, 0.0, 1.0])


def test_what_was_never_met_is_impossible_in_weights_and_unknown_in_counts() -> None:
    empty = {"labels": [["f", "m", "x"], ["none", "part", "full"]]}
    exact = read({**WEIGHED, **empty, "weights": [[2, 3, 5], [1, 1, 8], [0, 0, 0]]})
    assert exact.given("sex").rows.tolist() == [0, 1]
    counted = read({**GOOD, **empty, "counts": [[210, 330, 460], [90, 110, 800], [0, 0, 0]]})
    laws, rows, radii = counted.given("sex")
    assert (rows.tolist(), radii[2], laws[2].tolist()) == ([0, 1, 2], 1.0, [1 / 3] * 3)
    assert 0.9 < counted.bound("sex", 1.0) <= 1.0
    # A value of another field that nobody had may yet have some chance: its column stays.
    assert read({**GOOD, "counts": [[210, 0, 460], [90, 0, 800]]}).given("sex").laws.shape == (2, 3)


def test_radii_cover_what_was_sampled_through_the_file() -> None:
    generator = np.random.default_rng(81)
    truth = generator.dirichlet(np.ones(12)).reshape(2, 3, 2)
    names, labels = ("a", "b", "c"), (("0", "1"), ("0", "1", "2"), ("0", "1"))
    exact, inside = JointModel(JointTable(names, labels, truth)), 0
    for _ in range(200):
        counts = generator.multinomial(400, truth.ravel()).astype(float).reshape(truth.shape)
        model = JointModel(JointTable(names, labels, counts), failure=0.05)
        held = []
        for secret, others in (("a", None), ("b", None), ("c", ["b"])):
            laws, _, radii = model.given(secret, others)
            held.append(bool((np.abs(laws - exact.given(secret, others).laws).sum(axis=1) / 2 <= radii).all()))
            assert not held[-1] or model.bound(secret, 1.5, others) >= exact.bound(secret, 1.5, others)
        inside += held[0]
    assert inside >= 190


def test_many_combinations_are_bounded_by_the_hull() -> None:
    generator = np.random.default_rng(82)
    counts = generator.integers(0, 500, size=(3, 8, 9)).astype(float)
    labels = tuple(tuple(map(str, range(size))) for size in counts.shape)
    model = JointModel(JointTable(("a", "b", "c"), labels, counts), failure=0.05)
    laws = model.given("a").laws
    assert laws.shape == (3, 72)
    assert bound(laws, 1.0).epsilon < model.bound("a", 1.0) <= 1.0
    assert model.bound("a", 1.0, ["b"]) < model.bound("a", 1.0)


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"format": "sottovoce-model"}, "format", "another kind of file"),
        ({"version": 2}, "version", "only version"),
        ({"version": True}, "version", "only version"),
        ({"names": []}, "names", "an empty one"),
        ({"names": ["sex", 3]}, "names[1]", "a number"),
        ({"names": ["sex", "sex"]}, "names", "twice"),
        ({"names": "sex"}, "names", "a text"),
        ({"labels": [["f", "m"]]}, "labels", "found 1"),
        ({"labels": [["f", "m"], ["none", "part", None]]}, "labels[1][2]", "null"),
        ({"labels": [["f", "m"], ["none", "part", "none"]]}, "labels", "work hold one value twice"),
        ({"counts": [[210, 330, 460], [90, 110, -1]]}, "counts[1][2]", "0 or more"),
        ({"counts": [[210, 330, 460.5], [90, 110, 1]]}, "counts[0][2]", "whole number"),
        ({"counts": [[210, 330, 460], [90, 110, True]]}, "counts[1][2]", "whole number"),
        ({"counts": [[210, 330, 460], [90, 110]]}, "counts[1]", "2 entries"),
        ({"counts": [[210, 330, 460], 90]}, "counts[1]", "a number"),
        ({"counts": [[210, 330, [460]], [90, 110, 800]]}, "counts[0][2]", "whole number"),
        ({"counts": []}, "counts", "empty"),
        ({"counts": 7}, "counts", "a number"),
        ({"counts": [[0, 0, 0], [0, 0, 0]]}, "counts", "positive total"),
        ({"counts": [[210, 90], [330, 110], [460, 800]]}, "counts", "transposed"),
        ({"counts": [[210, 330], [90, 110]]}, "counts", "2 x 2, but the labels are 2 x 3"),
        ({"counts": [210, 330]}, "counts", "are 2, but"),
        ({"weights": [[1, 1, 1], [1, 1, 1]]}, "counts", "found both"),
        ({"failure": 0}, "failure", "between 0 and 1"),
        ({"failure": 1.5}, "failure", "between 0 and 1"),
        ({"radius": 0.1}, "radius", "beside weights"),
        ({"learnt_from": 3}, "learnt_from", "an object"),
        ({"learnt": 3}, "learnt", "no key"),
        ({"hash": "sha256:0"}, "hash", "does not fit"),
    ],
)
def test_each_mistake_is_named_by_its_place(change: dict[str, Any], field: str, words: str) -> None:
    found = refusals({**GOOD, **change})
    assert list(found) == [field]
    assert words in found[field]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"weights": [[1, -1, 1], [1, 1, 1]]}, "weights[0][1]"),
        ({"weights": [[1, "1", 1], [1, 1, 1]]}, "weights[0][1]"),
        ({"failure": 0.1}, "failure"),
        ({"radius": 1.1}, "radius"),
        ({"radius": "small"}, "radius"),
        ({"radius": {"sex": [0.1, 0.1]}}, "radius"),
        ({"radius": {"sex": [0.1], "work": [0, 0, 0]}}, "radius.sex"),
        ({"radius": {"sex": [0.1, -0.1], "work": [0, 0, 0]}}, "radius.sex[1]"),
        ({"radius": {"sex": [0.1, 0.1], "work": [0, 0, 0], "age": []}}, "radius"),
    ],
)
def test_weights_and_their_radii_are_named_by_their_place(change: dict[str, Any], field: str) -> None:
    assert list(refusals({**WEIGHED, **change})) == [field]


def test_what_no_json_holds_or_holds_twice() -> None:
    text = json.dumps(WEIGHED)
    assert list(refusals(b"[]")) == ["text"]
    assert list(refusals(b"{")) == ["text"]
    assert "weights[0][0]" in refusals(text.replace("[2, 3", "[NaN, 3").encode())
    assert "weights[1][2]" in refusals(text.replace(", 8]", ", 1e999]").encode())
    assert list(refusals(text.replace('{"format"', '{"version": 1, "format"', 1).encode())) == ["version"]
    both = refusals({**GOOD, "names": ["sex", 3], "counts": [[1, 2, -3], [1, 2, 3]], "failure": 2})
    assert list(both) == ["names[1]", "counts[0][2]", "failure"]


def test_a_hash_that_fits_is_taken_and_values_are_not_changed_under_it() -> None:
    document = {**GOOD, "hash": f"sha256:{digest_of(GOOD)}"}
    assert read(document).digest == digest_of(GOOD)
    assert "hash" in refusals({**document, "counts": [[211, 330, 460], [90, 110, 800]]})


def test_declared_fields_are_compared_with_the_file() -> None:
    model = read(GOOD)
    fields = {"sex": ("f", "m"), "work": ("none", "part", "full")}
    assert model.matching(fields) is model
    for wrong, field, words in (
        ({"work": fields["work"], "sex": fields["sex"]}, "names", "transposed"),
        ({"sex": ("m", "f"), "work": fields["work"]}, "labels", "another order"),
        ({"sex": ("f", "m"), "work": ("none", "part", "all")}, "labels", "full stands on one side only"),
        ({"sex": ("f", "m"), "age": ("1",)}, "names", "age"),
    ):
        with pytest.raises(Invalid) as caught:
            model.matching(wrong)
        assert caught.value.field == field
        assert words in caught.value.reason


def test_labels_of_every_kind_of_field() -> None:
    assert labels_of(Categories(["b", "a"])) == ("b", "a")
    assert labels_of(IntegerRange(-1, 1)) == ("-1", "0", "1")
    assert labels_of(Bins(0.0, 1.0, 2)) == ("0.25", "0.75")
    assert labels_of(Grid(Bins(0.0, 1.0, 1), Bins(0.0, 2.0, 2))) == ("[0.5,0.5]", "[0.5,1.5]")


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=20), max_size=5), st.integers(0, 5))
def test_counting_in_chunks_is_counting_at_once(chunks: list[list[tuple[int, int]]], cut: int) -> None:
    whole, halves = np.zeros((4, 3)), [JointCounts(["a", "b"]) for _ in range(2)]
    for number, chunk in enumerate(chunks):
        columns = [np.array([row[axis] for row in chunk], dtype=np.int64) for axis in (0, 1)]
        halves[number >= cut].add(columns)
        np.add.at(whole, tuple(columns), 1.0)
    halves[0].merge(halves[1])
    assert halves[0].records == sum(map(len, chunks))
    if halves[0].records:
        labels = [{number: f"v{number}" for number in range(size)} for size in (4, 3)]
        assert (halves[0].table(labels).weights == whole).all()
        assert halves[0].records_with(0) == {row: int(n) for row, n in enumerate(whole.sum(axis=1)) if n}


def test_numbers_of_one_label_are_added_up_and_what_does_not_fit_is_refused() -> None:
    counted = JointCounts(["a", "b"])
    counted.add([np.array([0, 1, 2, 2]), np.array([0, 0, 0, 1])])
    pooled = counted.table([{0: "x", 1: "other", 2: "other"}, {0: "p", 1: "q"}])
    assert pooled.labels == (("x", "other"), ("p", "q"))
    assert pooled.weights.tolist() == [[1.0, 0.0], [2.0, 1.0]]
    with pytest.raises(Invalid, match="columns"):
        counted.add([np.array([0]), np.array([0, 1])])
    with pytest.raises(Invalid, match="columns"):
        counted.add([np.array([0])])
    with pytest.raises(Invalid, match="names"):
        counted.merge(JointCounts(["b", "a"]))
    many = {number: str(number) for number in range(math.isqrt(CELLS_MAX) + 1)}
    with pytest.raises(Invalid, match="leave fields out"):
        counted.table([many, many])


def test_a_smoothed_table_has_no_zero() -> None:
    table = JointTable(("a", "b"), (("0", "1"), ("0", "1")), np.array([[3.0, 0.0], [1.0, 2.0]]))
    assert bound(table.conditional("a", "b").laws, math.inf).epsilon == math.inf
    assert bound(table.smoothed().conditional("a", "b").laws, math.inf).epsilon == pytest.approx(
        math.log((2.5 / 4) / (0.5 / 4))
    )
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(Invalid):
            table.smoothed(wrong)
