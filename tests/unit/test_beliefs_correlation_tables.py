from __future__ import annotations

import math

import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.correlation.tables import JointTable, conditional_of, correlation_of, given, margin

FIELDS = {"sex": ("f", "m"), "work": ("none", "part", "full")}
WEIGHTS = np.array([[2.0, 3.0, 5.0], [1.0, 1.0, 8.0]])


def table() -> JointTable:
    return JointTable(tuple(FIELDS), tuple(FIELDS.values()), WEIGHTS)


def refusal(field: str, of: object, *words: str) -> None:
    assert callable(of)
    with pytest.raises(Invalid) as caught:
        of()
    assert caught.value.field == field
    for word in words:
        assert word in caught.value.reason


def test_a_table_turned_the_wrong_way_is_named() -> None:
    refusal("weights", lambda: JointTable(tuple(FIELDS), tuple(FIELDS.values()), WEIGHTS.T), "transposed")
    refusal("weights", lambda: JointTable(tuple(FIELDS), tuple(FIELDS.values()), WEIGHTS[:, :2]), "2 x 2")
    refusal("names", lambda: table().reordered(["work", "sex"]).matching(FIELDS), "transposed")
    refusal("names", lambda: table().matching({"sex": ("f", "m"), "age": ("a",)}), "age")
    assert table().matching(FIELDS) == table().matching(FIELDS)


def test_labels_of_another_axis_or_order_are_named() -> None:
    swapped = {"sex": ("m", "f"), "work": FIELDS["work"]}
    refusal("labels", lambda: table().matching(swapped), "sex", "another order")
    square = JointTable(("a", "b"), (("1", "2"), ("3", "4")), np.ones((2, 2)))
    refusal("labels", lambda: square.matching({"a": ("3", "4"), "b": ("1", "2")}), "exchanged")
    refusal("labels", lambda: square.matching({"a": ("1", "5"), "b": ("3", "4")}), "one side only")
    refusal("labels", lambda: JointTable(("a",), (("1", "1"),), np.ones(2)), "twice")
    refusal("names", lambda: JointTable(("a", "a"), (("1",), ("1",)), np.ones((1, 1))), "twice")


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_weights_are_finite_and_not_negative(bad: float) -> None:
    broken = WEIGHTS.copy()
    broken[0, 0] = bad
    refusal("weights", lambda: JointTable(tuple(FIELDS), tuple(FIELDS.values()), broken))
    refusal("weights", lambda: JointTable(tuple(FIELDS), tuple(FIELDS.values()), np.zeros((2, 3))), "0 everywhere")


def test_records_are_counted_and_strange_values_are_not_shown() -> None:
    records = [{"sex": "f", "work": "full"}, {"sex": "m", "work": "none"}, {"sex": "f", "work": "full"}]
    counted = JointTable.from_records(FIELDS, records)
    assert counted.weights.tolist() == [[0.0, 0.0, 2.0], [1.0, 0.0, 0.0]]
    with pytest.raises(Invalid) as caught:
        JointTable.from_records(FIELDS, [*records, {"sex": "f", "work": "secret-value"}])
    assert "record 3" in caught.value.reason
    assert "secret-value" not in str(caught.value)


def test_conditionals_both_ways_and_without_what_never_occurs() -> None:
    assert table().conditional("sex", "work").laws.tolist() == [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]
    back = table().conditional("work", "sex").laws
    assert back[0].tolist() == pytest.approx([2 / 3, 1 / 3])
    found = conditional_of(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 3.0]]))
    assert (found.laws.tolist(), found.rows.tolist(), found.columns.tolist()) == ([[0.25, 0.75]], [1], [0, 2])


def test_margins_and_conditionals_of_many_axes() -> None:
    weights = np.random.default_rng(21).random((2, 3, 4))
    pair = margin(weights, 2, 0)
    assert pair / pair.sum() == pytest.approx(weights.sum(axis=1).T / weights.sum())
    laws = given(weights, 1)
    assert laws.shape == (3, 2, 4)
    assert laws[2, 1, 3] == pytest.approx(weights[1, 2, 3] / weights[:, 2].sum())
    tiny = margin(np.array([[1e-300, 1e-300], [1e300, 1e300]]), 0, 1)
    assert conditional_of(tiny).laws.tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_what_two_attributes_tell_of_each_other() -> None:
    copies = correlation_of(np.diag([1.0, 3.0]))
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert copies == pytest.approx((entropy, 1.0, 1.0))
    assert correlation_of(np.fliplr(np.diag([1.0, 1.0]))).pearson == pytest.approx(-1.0)
    independent = correlation_of(np.outer([1.0, 2.0], [3.0, 4.0, 5.0]))
    assert independent == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)
    assert correlation_of(np.array([[1.0, 2.0]])) == (0.0, 0.0, 0.0)
