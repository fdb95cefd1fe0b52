"""Questions about dependent attributes whose numbers are at the ends of the doubles: an answer or a refusal."""

from __future__ import annotations

import dataclasses
import json
import math
import random
from typing import Any

import dependence_oracles as oracles
import numpy as np
import pytest
from test_stream_compute_pdp import SCALES, SIZES, Draws

from stream.compute.door import answer


def told(what: str, **inputs: Any) -> Any:
    return answer({"what": f"ddp.{what}", "inputs": inputs})


def questions(seed: int) -> list[tuple[str, dict[str, Any]]]:
    draws = Draws(seed)
    coins = draws.coins
    size = coins.randint(1, 3)
    shape = [coins.randint(1, 3) for _ in range(size)]
    law = {"joint": draws.table(shape), "domains": [draws.domain(length) for length in shape]}
    flat = iter(draws.numbers(math.prod(shape)))
    weights = {"weights": draws.numbers(size)} if coins.random() < 0.5 else {}
    values, secrets, states = coins.randint(1, 4), coins.randint(1, 3), coins.randint(1, 3)
    (scale,), (level,), (other,) = draws.scales(1), draws.scales(1), draws.scales(1)
    rows = {"support": draws.domain(values), "conditional": [draws.law(values) for _ in range(secrets)]}
    shares = [[1.0 if one == two else coins.choice([0, 0.5, 1, 1e-300]) for two in range(size)] for one in range(size)]
    own = {"sensitivities": draws.scales(size), "epsilon": level}
    chain = {"transition": [draws.law(states) for _ in range(states)], "length": coins.randint(1, 30)}

    def nest(lengths: list[int]) -> Any:
        return [nest(lengths[1:]) for _ in range(lengths[0])] if lengths else next(flat)

    return [
        ("coefficient", {**rows, "scale": scale}),
        ("coefficient", {"support": rows["support"], "friends": {"offset": level, "exponent": other}, "scale": scale}),
        ("sensitivity", {"coefficients": shares, **own}),
        ("scale", {**law, **weights, "epsilon": level, "method": coins.choice(["farthest", "jensen", "group"])}),
        ("published", {"formula": "theorem9", **law, "epsilon": level, "coefficient": "exact"}),
        ("published", {"formula": "degree", "coefficients": shares, **own}),
        ("leak", {**law, **weights, "scale": scale, "times": coins.randint(1, 3)}),
        ("leak", {"joint": law["joint"], "answers": nest(shape), "scale": scale, "adversary": "weakest"}),
        ("parallel", {"epsilons": draws.scales(2), "sensitivities": [draws.scales(size) for _ in range(2)]}),
        ("information", {**rows, "prior": draws.law(secrets), "scale": scale}),
        ("influence", {**chain, "loss": level}),
        ("influence", {**chain, "epsilon": level, "adversary": "weakest"}),
        ("accuracy", {"sensitivity": scale, "epsilon": level, "margin": other, "coordinates": coins.randint(1, 50)}),
        ("accuracy", {"sensitivity": scale, "epsilon": level, "failure": coins.random(), "norm": "largest"}),
        ("accuracy", {"sensitivity": scale, "margin": other, "failure": coins.choice([0, 1, 1e-300, 0.5])}),
        (
            "underestimate",
            {"sensitivity": scale, "own_sensitivity": other, "fraction": coins.random(), "epsilon": level},
        ),
        ("attack", attacked(draws, values, level, scale)),
    ]


def attacked(draws: Draws, values: int, epsilon: float, sensitivity: float) -> dict[str, Any]:
    return {
        "counts": draws.law(values),
        "released": draws.numbers(2),
        "known_total": draws.numbers(2),
        "candidates": [draws.numbers(2) for _ in range(values)],
        "epsilon": epsilon,
        "sensitivity": sensitivity,
        "prior_weights": draws.scales(values),
    }


def test_numbers_at_the_ends_of_the_doubles_are_answered_or_refused() -> None:
    answered: dict[str, int] = {}
    for seed in range(60):
        for what, inputs in questions(seed):
            found = told(what, **inputs)
            json.dumps(found, allow_nan=False)
            if "error" in found:
                assert found["error"]["field"] in inputs, (seed, what, found)
                continue
            answered[what] = answered.get(what, 0) + 1
            result = found["result"]
            if what == "coefficient":
                assert all(0.0 <= share <= 1.0 for share in result.values()), (seed, result)
                assert result["exact"] <= result["wasserstein"] * (1.0 + 1e-9) + 1e-9
            if what == "information":
                assert as_number(result["nats"]) <= as_number(result["bound"])
    assert len(answered) == 11
    assert min(answered.values()) > 15, answered


def as_number(value: Any) -> float:
    return math.inf if value == "inf" else float(value)


@pytest.mark.parametrize("epsilon", [2_000, 1e-3, 1])
@pytest.mark.parametrize("adversary", ["worst", "weakest"])
def test_the_loss_that_is_given_keeps_epsilon(epsilon: float, adversary: str) -> None:
    inputs = {"transition": [[0.9, 0.1], [0.3, 0.7]], "length": 30, "adversary": adversary}
    loss = told("influence", **inputs, epsilon=epsilon)["result"]["loss"]
    leak = told("influence", **inputs, loss=loss)["result"]["epsilon"]
    assert epsilon - 1e-10 <= leak * (1.0 + 1e-12) <= epsilon + 1e-10 + 1e-11 * epsilon


@pytest.mark.parametrize("norm", ["sum", "largest"])
@pytest.mark.parametrize("coordinates", [1, 4, 300])
def test_any_two_of_epsilon_margin_and_failure_give_the_third(norm: str, coordinates: int) -> None:
    given = {"epsilon": 0.7, "failure": 0.03}
    also = {"sensitivity": 2.5, "norm": norm, "coordinates": coordinates}
    margin = told("accuracy", **given, **also)["result"]["margin"]
    assert told("accuracy", epsilon=0.7, margin=margin, **also)["result"]["failure"] == pytest.approx(0.03)
    assert told("accuracy", failure=0.03, margin=margin, **also)["result"]["epsilon"] == pytest.approx(0.7)


EDGE = {"from": 0, "to": 1, "conditional": [[0.5, 0.5], [0.1, 0.9]]}
BACK = {"from": 1, "to": 0, "conditional": [[5 / 6, 1 / 6], [5 / 14, 9 / 14]]}


@pytest.mark.parametrize(
    "edges",
    [
        [],
        [EDGE],
        [EDGE, BACK, EDGE],
        [{**EDGE, "to": 0}],
        [{**EDGE, "weight": 1}],
        [{"from": 0, "to": 1}],
        [{**EDGE, "from": -1}],
        [{**EDGE, "from": True}],
        [{**EDGE, "conditional": [[0.5, 0.6]]}],
        [EDGE, {**BACK, "conditional": [[1.0]]}],
        [EDGE, {**BACK, "conditional": [[0.5, 0.5], [0.0, 1.0]]}],
        [EDGE, {**BACK, "conditional": [[0.5, 0.5], [0.5, 0.5]]}],
        [EDGE, BACK, {**EDGE, "from": 1, "to": 2}, {**BACK, "from": 2, "to": 1}],
        [EDGE, BACK, {"from": 1, "to": 2, "conditional": [[1.0]]}, {"from": 2, "to": 1, "conditional": [[1.0]]}],
    ],
)
def test_edges_that_make_no_tree_are_refused_where_they_stand(edges: list[dict[str, Any]]) -> None:
    found = told("influence", edges=edges, adversary="weakest", loss=1)
    assert found["error"]["field"] == "edges"


def test_trees_of_edges_are_the_chains_that_they_are() -> None:
    sticky = [[0.9, 0.1], [0.1, 0.9]]
    pairs = [(place, place + 1) for place in range(4)]
    edges = [{"from": a, "to": b, "conditional": sticky} for one, two in pairs for a, b in ((one, two), (two, one))]
    random.Random(1).shuffle(edges)
    chain = told("influence", transition=sticky, length=5, adversary="weakest", loss=0.3)["result"]["epsilon"]
    tree = told("influence", edges=edges, adversary="weakest", loss=0.3)["result"]["epsilon"]
    assert tree == pytest.approx(chain, abs=1e-10)
    assert told("influence", edges=[EDGE, BACK], adversary="weakest", loss=0.0)["result"] == {"epsilon": 0.0}
    far = [{**edge, "from": edge["from"] * 10**18, "to": edge["to"] * 10**18} for edge in (EDGE, BACK)]
    near = told("influence", edges=[EDGE, BACK], adversary="weakest", epsilon=0.8)
    assert told("influence", edges=far, adversary="weakest", epsilon=0.8) == near


def test_trees_of_edges_are_the_recursion_over_all_sets() -> None:
    generator = np.random.default_rng(11)
    for _ in range(40):
        size, states = int(generator.integers(2, 6)), int(generator.integers(2, 4))
        law, ties = oracles.some_tree(generator, size, 2 if size > 4 else states)
        law = dataclasses.replace(law, kernels=law.kernels * 0.9 + 0.1 / law.domain.size)
        table, loss = law.table(), float(generator.choice([0.1, 1.0, 30.0]))
        if not ties:
            continue
        edges = [
            {"from": a, "to": b, "conditional": oracles.conditional(table, a, b, {}).tolist()}
            for one, two in ties
            for a, b in ((one, two), (two, one))
        ]
        want = max(oracles.influence(table, ties, [loss] * size, ()))
        found = told("influence", edges=edges, adversary="weakest", loss=loss)["result"]["epsilon"]
        assert want - 1e-12 <= found <= want + 1e-9
        budget = told("influence", edges=edges, adversary="weakest", epsilon=want)["result"]["loss"]
        assert budget == pytest.approx(loss, abs=1e-9)


def test_every_size_of_the_catalogue_is_an_error_of_its_own_input() -> None:
    assert SIZES
    assert SCALES
    for what, inputs in questions(3):
        for name in inputs:
            for wrong in (None, True, "text", [], {}, math.nan, [[]]):
                found = told(what, **{**inputs, name: wrong})
                assert found["error"]["field"] == name, (what, name, wrong, found)
