"""The auditor follows windows whose channels look at a distance, to the last bit; what is wrong with them is found."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from audit_windows import ORDERS, WINDOWS, drawn_at, first, place_of, with_place
from audit_world import Run, codes, run, value_of, with_value
from test_audit_near import beliefs, distances

from beliefs.alphabet import Alphabet, Bins, Categories, Grid, IntegerRange
from mechanisms.contract import new_workspace
from mechanisms.sequence.window_channel import best_to_show
from stream.audit.lots import new_nearby
from stream.audit.window_near import nearest
from stream.windows.pipeline import WindowPipeline

KINDS: dict[str, tuple[Alphabet, dict[str, Any]]] = {
    "numbers": (IntegerRange(0, 9), {"distance": "absolute"}),
    "by the clock": (IntegerRange(0, 5), {"distance": "squared", "step": "1s"}),
    "many places": (Grid(Bins(0.0, 12.0, 12), Bins(0.0, 12.0, 12)), {"distance": "euclidean"}),
    "all errors alike": (Categories([f"act{x}" for x in range(4)]), {}),
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def run_of(kind: str, order: str, **changes: Any) -> Run:
    alphabet, settings = KINDS[kind]
    wanted = {"events": 400, "users": 5, "windows": WINDOWS[order], "nats": 4, "mechanism": "near", **settings}
    return run(alphabet.size, alphabet=alphabet, **{**wanted, **changes})


@ORDERS
@EVERY_KIND
def test_it_agrees(kind: str, order: str) -> None:
    finished = run_of(kind, order, epsilon=2.0)
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    assert report.agrees
    assert report.tally.released == finished.outcomes["released"] > 20
    assert report.tally.forecast == finished.outcomes["forecast"] > 20


@ORDERS
def test_it_agrees_on_a_table(order: str, tmp_path: Path) -> None:
    file = tmp_path / "distances.json"
    file.write_bytes(orjson.dumps([[0, 1, 5], [2, 0, 1], [4, 1, 0]]))
    finished = run(3, events=400, mechanism="near", windows=WINDOWS[order], distance=f"{{table: {file}}}")
    assert codes(finished) == set()
    assert finished.outcomes["released"] > 20


@ORDERS
@pytest.mark.parametrize("kind", ["numbers", "by the clock"])
def test_another_value_than_the_nearest_is_found(kind: str, order: str) -> None:
    finished = run_of(kind, order)
    log = finished.released()
    at = first(finished, drawn_at("2"))
    shown = int(orjson.loads(log[at].value or b"")["activity"])
    log[at] = with_value(log[at], 1 - shown if shown <= 1 else shown - 1)  # type: ignore[arg-type]
    assert codes(finished) == {"wrong_shown"}
    assert value_of(log[at]) != str(shown)


@ORDERS
@pytest.mark.parametrize("kind", ["numbers", "by the clock"])
def test_another_drawn_value_is_found(kind: str, order: str) -> None:
    finished = run_of(kind, order, nats="unlimited")
    log = finished.released()
    at = first(finished, drawn_at("2"))
    place, length, drawn = place_of(log[at])
    log[at] = with_place(log[at], f"{place}/{length}/{(int(drawn) + 1) % 5}")
    assert codes(finished) & {"state_differs", "wrong_shown", "impossible_value"}


@ORDERS
def test_the_likeliest_in_the_place_of_the_nearest_is_found(order: str) -> None:
    """A worker that looks at no distance where it shows something, or nowhere."""
    alphabet, settings = KINDS["numbers"]

    def change(pipeline: Any) -> None:
        assert isinstance(pipeline, WindowPipeline)
        step = pipeline._steps[0]
        step._tools = step._tools._replace(work=new_workspace(alphabet.size))

    found = codes(run_of("numbers", order, falsify=change, nats="unlimited"))
    assert found & {"state_differs", "wrong_shown", "impossible_value"}
    assert settings["distance"] == "absolute"


@pytest.mark.parametrize("symbols", [1, 2, 7, 129, 300])
def test_the_nearest_value_is_worked_out_alike_and_is_the_nearest(symbols: int) -> None:
    for distance, belief in product(distances(symbols), beliefs(symbols)):
        shown = best_to_show(belief, new_workspace(symbols, distance))
        assert nearest(belief, new_nearby(symbols, distance)) == shown
        if distance.costs.shape[0] and symbols <= 128:
            expected = belief @ distance.costs
            assert expected[shown] <= expected.min() * (1 + 1e-6) + symbols * 2.0**-5
    assert np.isfinite(belief).all()
