"""Bad input about correlated fields, kind by kind: through `compute` and from Python each is a clear error or a stated
outcome, never a number that means nothing.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from bad_input import COUNTS, FROM_ROWS, GOOD, KEY, LAWS, OF_COUNTS, OF_ROWS, SAMPLED, ask, check_raises, check_refused

from beliefs.checks import Invalid
from beliefs.correlation.bound import bound, profile, saturation, tight_delta
from beliefs.correlation.calibration import ExactMeter, GroupMeter, equal_budgets, unequal_budgets
from beliefs.correlation.counted import JointCounts
from beliefs.correlation.frontier import Frontier
from beliefs.correlation.joint import joint_leak
from beliefs.correlation.joint_file import InvalidJoint, parse
from beliefs.correlation.outputs import response_leak
from beliefs.correlation.reported import Told, by_channel, learn
from beliefs.correlation.robust_hull import hull_bound
from beliefs.correlation.robust_rows import radii_of, robust_bound
from beliefs.correlation.sampled import sampled_leak
from beliefs.correlation.tables import JointTable, conditional_of, given
from mechanisms.local.frequencies import estimate, tally
from mechanisms.local.hashing import LocalHashing, drawn_hashing
from mechanisms.local.registry import REGISTRY, drawn, local
from stream.compute.catalogue import CATALOGUE


def test_every_name_of_the_catalogue_is_asked_something_bad_here() -> None:
    asked = {*OF_ROWS, *OF_COUNTS, "cpl.benchmark", "cpl.published", "cpl.sampled"}
    assert {name for name in CATALOGUE if name.startswith("cpl.")} == asked


@pytest.mark.parametrize(
    "rows", [[[0.6, 0.3], [0.2, 0.8]], [[0.6, 0.6], [0.2, 0.8]], [[0, 0], [0.2, 0.8]], [[2, 3], [1, 1]]]
)
def test_rows_that_do_not_sum_to_one(rows: list[list[float]]) -> None:
    for what, rest in OF_ROWS.items():
        check_refused(what, rest, "conditional", "row 0 sums to", conditional=rows)
    check_refused("cpl.channel", {"conditional": [[1.0]]}, "channel", "row 0 sums to", channel=[rows[0]])
    check_refused("ldp.level", {}, "channel", "row 0 sums to", channel=rows)
    for call in FROM_ROWS:
        with pytest.raises(Invalid, match="sums to"):
            call(np.array(rows))


@pytest.mark.parametrize("bad", [-0.1, math.nan, math.inf, "0.5", None, True])
def test_numbers_that_are_negative_or_none(bad: Any) -> None:
    for what, rest in OF_ROWS.items():
        check_refused(what, rest, "conditional", "row 1", conditional=[[0.5, 0.5], [0.5, bad]])
    for what, rest in OF_COUNTS.items():
        check_refused(what, rest, "counts", "[1][0]", counts=[[1, 1], [bad, 1]])
    if isinstance(bad, float):
        for call in FROM_ROWS:
            with pytest.raises(Invalid):
                call(np.array([[0.5, 0.5], [0.5 - bad, bad]]))
        check_raises("weights", lambda: JointTable(("a",), (("0", "1"),), np.array([1.0, bad])))


def test_a_secret_of_no_mass_is_dropped_and_named() -> None:
    counts = [[3, 1], [0, 0], [1, 3]]
    told = ask("cpl.correlation", {}, counts=counts)["result"]
    assert (told["rows"], len(told["conditional"])) == ([0, 2], 2)
    for what, rest in (("cpl.joint", {"epsilons": [1]}), ("cpl.calibrate", {"mechanism": "any", "total": 1})):
        one, other = ask(what, rest, counts=counts)["result"], ask(what, rest, counts=COUNTS)["result"]
        assert one["epsilon"] == pytest.approx(other["epsilon"], rel=1e-12)
        assert one["dropped"] in ([1], [[1], []])
        assert other["dropped"] in ([], [[], []])
    assert conditional_of(np.array(counts, dtype=float)).rows.tolist() == [0, 2]
    assert given(np.array(counts, dtype=float), 0).shape == (2, 2)
    sure = by_channel(np.eye(2))
    unseen = learn(Told(9, np.array([[9.0, 0.0], [0.0, 0.0]]), np.array([9.0, 0.0])), sure, sure, 0.05)
    assert unseen.radii[1] == 1.0


def test_one_secret_or_one_value_loses_nothing() -> None:
    for rows in ([[0.3, 0.7]], [[1.0], [1.0]], [[1.0]]):
        radii = [0.1] * len(rows)
        for what, rest in OF_ROWS.items():
            changed: dict[str, Any] = {"conditional": rows}
            if "radii" in rest:
                changed["radii"] = radii
            if what == "cpl.channel":
                changed["channel"] = [[0.9, 0.1], [0.1, 0.9]][: len(rows[0])]
            told = ask(what, rest, **changed)
            assert told["result"]["epsilon"] == 0.0, (what, told)
        assert bound(np.array(rows), 3.0) == (0.0, None, None)
        assert Frontier(np.array(rows)).bound(3.0) == 0.0
    assert ask("cpl.joint", {"epsilons": [1]}, counts=[[1, 2]])["result"]["epsilon"] == 0.0
    for name in REGISTRY:
        if name not in ("top_k", "rappor"):
            told = ask("cpl.mechanism", {"mechanism": name, "epsilon": 1}, conditional=[[1.0], [1.0]])
            assert told["result"]["epsilon"] == 0.0
            check_refused("ldp.parameters", {"mechanism": name, "epsilon": 1}, "values", values=1)
            check_raises("values", lambda name=name: drawn(name, 1, 1.0))  # type: ignore[misc]


@pytest.mark.parametrize("epsilon", [-1, -1e-300, math.nan, "1", None, True])
def test_budgets_that_are_negative_or_no_number(epsilon: Any) -> None:
    for what, rest in OF_ROWS.items():
        if "epsilon" in rest:
            check_refused(what, {"conditional": GOOD, **rest}, "epsilon", epsilon=epsilon)
    check_refused("cpl.joint", {"counts": COUNTS}, "epsilons", epsilons=[epsilon])
    check_refused("cpl.joint", {"counts": COUNTS, "epsilons": [1]}, "own_epsilon", own_epsilon=epsilon)
    check_refused("cpl.benchmark", {"reference": [1], "estimate": [1]}, "epsilon", epsilon=epsilon)
    check_refused(
        "cpl.sampled", {"secrets": [0, 1], "neighbours": [0, 1], "values": 2, "key": KEY}, "epsilon", epsilon=epsilon
    )
    if isinstance(epsilon, int | float) and epsilon is not True:
        number = float(epsilon)
        for call in (
            lambda: bound(LAWS, number),
            lambda: response_leak(LAWS, number),
            lambda: robust_bound(LAWS, number, np.zeros(2)),
            lambda: hull_bound(LAWS, number, np.zeros(2)),
            lambda: local("oue", 3, number),
            lambda: drawn("oue", 3, number),
        ):
            check_raises("epsilon", call)
        check_raises("epsilons", lambda: joint_leak(LAWS, [number]))


def test_no_limit_is_the_saturation_where_it_may_be_asked_for_and_an_error_elsewhere() -> None:
    found = ask("cpl.bound", {"conditional": GOOD}, epsilon="inf")["result"]
    assert found["epsilon"] == ask("cpl.saturation", {"conditional": GOOD})["result"]["epsilon"] == saturation(LAWS)
    assert found["epsilon"] == pytest.approx(math.log(5.0))
    for wrong in ("infinity", "Inf", math.inf, -math.inf):
        check_refused("cpl.bound", {"conditional": GOOD}, "epsilon", epsilon=wrong)
    for what in ("cpl.mechanism", "cpl.attacked", "cpl.repeated", "cpl.robust", "cpl.robust_hull"):
        check_refused(what, {"conditional": GOOD, **OF_ROWS[what]}, "epsilon", epsilon="inf")
    check_raises("epsilon", lambda: local("grr", 3, math.inf))
    assert bound(LAWS, math.inf).epsilon == response_leak(LAWS, math.inf) == saturation(LAWS)


@pytest.mark.parametrize("delta", [-0.1, 1, 1.5, math.nan, "0", None])
def test_a_delta_outside_of_zero_to_one(delta: Any) -> None:
    check_refused("cpl.bound", {"conditional": GOOD, "epsilon": 1}, "delta", delta=delta)
    check_refused("cpl.published", {"formula": "relaxation", "conditional": GOOD, "epsilon": 1}, "delta", delta=delta)
    if isinstance(delta, int | float):
        check_raises("delta", lambda: tight_delta(LAWS, 1.0, float(delta), 0.3))
        check_raises("delta", lambda: profile(LAWS, 1.0, float(delta), 0.3))
    check_refused("cpl.bound", {"conditional": GOOD, "epsilon": 1}, "at", at=[-0.5])
    check_raises("at", lambda: profile(LAWS, 1.0, 0.1, -0.5))


def test_a_table_that_is_transposed_or_has_the_labels_of_another() -> None:
    turned = [[0.6, 0.2], [0.3, 0.3], [0.1, 0.5]]
    for what, rest in OF_ROWS.items():
        check_refused(what, rest, "conditional", "turned the wrong way (transposed)", conditional=turned)
    for call in FROM_ROWS[:-1]:
        with pytest.raises(Invalid, match=r"transposed"):
            call(np.array(turned))
    check_refused("cpl.channel", {"conditional": GOOD}, "channel", "2 rows and needs 3", channel=[[1, 0], [0, 1]])
    fields = {"sex": ("f", "m"), "work": ("none", "part", "full")}
    weights = np.array([[2.0, 3.0, 5.0], [1.0, 1.0, 8.0]])
    names, labels = tuple(fields), tuple(fields.values())
    check_raises("weights", lambda: JointTable(names, labels, weights.T), "transposed")
    table = JointTable(names, labels, weights)
    check_raises("names", lambda: table.reordered(["work", "sex"]).matching(fields), "transposed")
    check_raises("labels", lambda: table.matching({"sex": ("m", "f"), "work": labels[1]}), "sex", "another order")
    check_raises("labels", lambda: table.matching({"sex": ("f", "x"), "work": labels[1]}), "one side only")
    square = JointTable(("a", "b"), (("1", "2"), ("3", "4")), np.ones((2, 2)))
    check_raises("labels", lambda: square.matching({"a": ("3", "4"), "b": ("1", "2")}), "exchanged")
    document = {
        "format": "sottovoce-joint",
        "version": 1,
        "names": names,
        "labels": labels,
        "weights": weights.T.tolist(),
    }
    with pytest.raises(InvalidJoint, match="transposed"):
        parse(json.dumps(document).encode())
    told = Told(9, np.ones((3, 2)), np.ones(3))
    check_raises("pairs", lambda: learn(told, by_channel(np.eye(2)), by_channel(np.eye(3)), 0.05), "one order")


def test_a_category_that_the_table_does_not_have() -> None:
    fields = {"sex": ("f", "m"), "work": ("none", "full")}
    for record in ({"sex": "f", "work": "part"}, {"sex": "f"}):
        check_raises("records", lambda record=record: JointTable.from_records(fields, [record]), "record 0", "work")  # type: ignore[misc]
    counted = JointCounts(["a", "b"])
    counted.add([np.array([0]), np.array([2])])
    check_raises("labels", lambda: counted.table([{0: "x"}, {0: "y"}]), "of b have none")
    for name in REGISTRY:
        inputs: dict[str, Any] = {
            "mechanism": name,
            "epsilon": 1,
            "values": 3,
            "value": 3,
            "key": KEY,
            "field": "f",
            "number": 0,
        }
        inputs |= {"top_k": {"top": [0]}}.get(name, {})
        if name == "rappor":
            del inputs["epsilon"]
            inputs |= {"flip": 0.5, "report_zero": 0.5, "report_one": 0.75}
        check_refused("ldp.report", inputs, "value", "no value of 3")
    check_refused("ldp.frequencies", {"mechanism": "grr", "epsilon": 1, "values": 3}, "reports[1]", reports=[0, 3])
    check_raises("reports[1]", lambda: estimate(["a", "c"], "grr", ["a", "b"], 1.0))
    check_refused("cpl.sampled", {**SAMPLED, "epsilon": 1}, "neighbours", "none of 2", neighbours=[0, 2])


def test_nothing_at_all() -> None:
    for empty in ([], [[]], [[], []]):
        for what, rest in OF_ROWS.items():
            check_refused(what, rest, "conditional", conditional=empty)
        for what, rest in OF_COUNTS.items():
            check_refused(what, rest, "counts", counts=empty)
    for what, rest in OF_COUNTS.items():
        check_refused(what, rest, "counts", "positive total", counts=[[0, 0], [0, 0]])
    for call in FROM_ROWS:
        with pytest.raises(Invalid):
            call(np.zeros((0, 0)))
    check_refused("cpl.benchmark", {"estimate": [1], "epsilon": 1}, "reference", reference=[])
    check_refused("cpl.sampled", {**SAMPLED, "epsilon": 1}, "secrets", secrets=[], neighbours=[])
    check_refused("ldp.frequencies", {"mechanism": "grr", "epsilon": 1, "values": 3}, "reports", reports=[])
    check_refused(
        "ldp.estimate", {"mechanism": "grr", "epsilon": 1, "values": 2, "counts": [0, 0]}, "reports", reports=0
    )
    check_raises("weights", lambda: JointTable(("a",), (("0", "1"),), np.zeros(2)), "positive total")
    nobody = np.zeros(0, dtype=np.int64)
    check_raises("records", lambda: sampled_leak(nobody, nobody, 2, lambda v: v, lambda v: v, copies=1, times=1))
    check_raises("reports", lambda: tally("grr", 2, 1.0).frequencies())
    check_raises(
        "users",
        lambda: learn(Told(0, np.zeros((2, 2)), np.zeros(2)), by_channel(np.eye(2)), by_channel(np.eye(2)), 0.1),
    )


def test_cells_of_nothing_are_infinite_and_have_a_smoothed_value_beside_them() -> None:
    zero = [[1.0, 0.0], [0.5, 0.5]]
    assert ask("cpl.saturation", {}, conditional=zero)["result"]["epsilon"] == "inf"
    assert ask("cpl.bound", {"epsilon": "inf"}, conditional=zero)["result"]["epsilon"] == "inf"
    assert saturation(np.array(zero)) == math.inf
    # A finite budget keeps what it tells finite.
    assert ask("cpl.bound", {"epsilon": 3}, conditional=zero)["result"]["epsilon"] <= 3.0
    table = JointTable(("a", "b"), (("0", "1"), ("0", "1")), np.array([[2.0, 0.0], [1.0, 1.0]]))
    assert saturation(table.conditional("a", "b").laws) == math.inf
    assert saturation(table.smoothed().conditional("a", "b").laws) == pytest.approx(math.log(3.0))
    apart = ask(
        "cpl.sampled", {"secrets": [0, 1], "neighbours": [0, 1], "values": 2, "key": KEY, "epsilon": 32, "copies": 1}
    )
    assert (apart["result"]["epsilon"], apart["result"]["smoothed"]) == ("inf", pytest.approx(math.log(3.0)))
    channel = {"conditional": [[1, 0], [0, 1]], "channel": [[1, 0], [0.5, 0.5]]}
    assert ask("cpl.channel", channel)["result"]["epsilon"] == "inf"


def test_hash_ranges_subsets_and_limits_that_are_none() -> None:
    for hashes in (1, 0, -1):
        check_raises("hash_range", lambda hashes=hashes: LocalHashing(3, 1.0, hashes))  # type: ignore[misc]
        check_raises("hash_range", lambda hashes=hashes: drawn_hashing(3, 1.0, hashes))  # type: ignore[misc]
    check_refused("ldp.parameters", {"mechanism": "blh", "epsilon": 1, "values": 3}, "hash_range", hash_range=1)
    for size in (0, 3, 4):
        check_refused(
            "cpl.mechanism", {"conditional": GOOD, "mechanism": "ss", "epsilon": 1}, "subset_size", subset_size=size
        )
        check_raises("subset_size", lambda size=size: local("ss", 3, 1.0, subset_size=size))  # type: ignore[misc]
        check_raises("subset_size", lambda size=size: drawn("ss", 3, 1.0, subset_size=size))  # type: ignore[misc]
    table = np.array(COUNTS, dtype=float)
    for total in (0, -1, math.nan, "1"):
        check_refused("cpl.calibrate", {"counts": COUNTS, "mechanism": "grr"}, "total", total=total)
        published = {"formula": "algorithm3", "counts": COUNTS, "mechanism": "grr", "step": 0.1}
        check_refused("cpl.published", published, "total", total=total)
        if not isinstance(total, str):
            check_raises("total", lambda total=total: equal_budgets(ExactMeter(table), float(total)))  # type: ignore[misc]
            check_raises("total", lambda total=total: unequal_budgets(ExactMeter(table), np.array([1.0, total])))  # type: ignore[misc]
    check_refused("cpl.published", {**published, "total": 1}, "step", step=0)
    check_refused("cpl.robust", {"conditional": GOOD, "epsilon": 1}, "radii", radii=[0.1, 1.1])
    check_raises("radii", lambda: robust_bound(LAWS, 1.0, np.array([0.1, -0.1])))
    check_raises("radii", lambda: hull_bound(LAWS, 1.0, np.array([0.1])))
    check_raises("samples", lambda: radii_of([10, 0], 3, 0.05))
    check_raises("samples", lambda: radii_of([10, 10], 3, 0.0))


def test_a_product_of_alphabets_that_is_too_large_is_bounded_as_a_group_and_says_so() -> None:
    wide = [[1.0 - 0.001 * 255, *[0.001] * 255], [0.002, *[(1.0 - 0.002) / 255] * 255]]
    counts = np.random.default_rng(91).integers(1, 9, size=(2, 2, 2, 2)).tolist()
    found = ask("cpl.joint", {"counts": counts, "own_epsilon": 0.5}, channels=[wide] * 3)["result"]
    assert found["exact"] is False
    assert found["epsilon"] == found["bound"] > 0.0
    assert found["total"] == pytest.approx(0.5 + found["bound"])
    small = ask("cpl.joint", {"counts": counts}, channels=[[[0.9, 0.1], [0.1, 0.9]]] * 3)["result"]
    assert small["exact"] is True
    assert small["epsilon"] <= small["bound"]
    deep: Any = [1, 1]
    for _ in range(33):
        deep = [deep]
    check_refused("cpl.joint", {"epsilons": [1]}, "counts", "axes", counts=deep)
    records = np.random.default_rng(92).integers(0, 4, size=(60, 20))
    assert float(GroupMeter.of_records(records).totals(np.full(20, 0.1)).max()) <= 2.0 + 1e-9
