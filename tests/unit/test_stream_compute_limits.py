"""Questions that would take minutes, or all memory, are refused at once and by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stream.compute.door import answer

FAIR = [0.5, 0.5]
STAYS = [[0.9, 0.1], [0.1, 0.9]]


def laws(rows: int, values: int) -> list[list[float]]:
    rising = np.arange(1.0, values + 1.0)
    turned = [np.roll(rising, row) for row in range(rows)]
    return [(row / row.sum()).tolist() for row in turned]


def joint(rows: int) -> list[list[float]]:
    return [[share / rows for share in law] for law in laws(rows, rows)]


def numbered(count: int) -> dict[str, Any]:
    (law,), half = laws(1, count), count // 2
    places = list(range(count))
    return {"joint": [law[:half], law[half:]], "answers": [places[:half], places[half:]], "scale": 100}


@pytest.mark.parametrize(
    ("what", "inputs", "field"),
    [
        ("ddp.leak", {**numbered(600), "times": 2, "adversary": "weakest"}, "times"),
        ("ddp.leak", {**numbered(1400), "times": 2, "adversary": "weakest"}, "times"),
        ("ddp.leak", {**numbered(4), "times": 1 << 62, "scale": 1e30}, "times"),
        (
            "ddp.information",
            {"prior": [0.05] * 20, "conditional": laws(20, 3000), "support": list(range(0, 300_000, 100)), "scale": 1},
            "support",
        ),
        (
            "ddp.coefficient",
            {"support": list(range(1500)), "friends": {"offset": 1, "exponent": 2}, "scale": 1},
            "support",
        ),
        ("ddp.influence", {"transition": STAYS, "length": 4_000_000, "epsilon": 1}, "length"),
        ("noiseless.exact", {"groups": [{"law": FAIR, "count": 1 << 40}], "epsilon": 0.1}, "groups"),
        (
            "noiseless.markov",
            {"transition": STAYS, "start": FAIR, "domain": [0, 1 << 50], "length": 3, "epsilon": 0.1},
            "domain",
        ),
        (
            "noiseless.markov",
            {"transition": STAYS, "start": FAIR, "domain": [0, 1], "length": 1_000_000, "epsilon": 0.1},
            "domain",
        ),
        ("noiseless.exact", {"groups": [{"law": laws(1, 20_000)[0]}], "epsilon": 0.1}, "groups"),
        ("noiseless.blocks", {"blocks": [{"joint": joint(600)}], "epsilon": 0.1}, "blocks"),
        (
            "ddp.scale",
            {"joint": joint(300), "domains": [list(range(300))] * 2, "epsilon": 1, "method": "wasserstein"},
            "method",
        ),
        ("noiseless.windows", {"law": FAIR, "users": 1 << 40, "windows": 2, "epsilon": 0.1}, "users"),
        ("noiseless.windows", {"law": FAIR, "users": 100, "windows": 1 << 60, "epsilon": 0.1}, "windows"),
    ],
)
def test_too_much_to_be_worked_out_is_refused_by_name(what: str, inputs: dict[str, Any], field: str) -> None:
    found: Any = answer({"what": what, "inputs": inputs})
    assert found.get("error", {}).get("field") == field, found


@pytest.mark.parametrize(("shift", "deviation"), [(1e-300, 1e300), (1e300, 1e-300)])
def test_shifts_far_below_and_far_above_the_deviation_are_answered(shift: float, deviation: float) -> None:
    told: Any = [
        answer({"what": "noiseless.gaussian", "inputs": {"shift": shift, "deviation": deviation, **asked}})
        for asked in ({"epsilon": 0.0}, {"delta": 0.5})
    ]
    wide = shift > deviation
    assert told[0]["result"]["delta"] == (1.0 if wide else pytest.approx(0.0, abs=1e-14))
    assert told[1]["result"]["epsilon"] == ("inf" if wide else 0.0)
