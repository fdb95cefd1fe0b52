"""The settings' distance meets the model's alphabet: what fits is used, what does not is refused with a way out."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from settings_text import GOOD

from beliefs import model_file
from beliefs.alphabet import Alphabet, Bins, Categories, Grid, IntegerRange
from beliefs.chain import Chain
from beliefs.distance import EQUAL, cost
from stream.commands.explain import explain
from stream.distances import choose_distance
from stream.errors import ConfigurationRefused, DistanceRefused
from stream.keys import new_ring
from stream.opening import Opened, open_pipeline
from stream.settings.model import DistanceSettings

NUMBERS = IntegerRange(18, 21)
WORDS = Categories(["still", "walking", "running", "driving"])
STICKY = Chain.from_dense([0.25] * 4, [[0.7 if x == y else 0.1 for y in range(4)] for x in range(4)])


def pipeline(folder: Path, alphabet: Alphabet, distance: str, mechanism: str = "near", more: str = "") -> Opened:
    (folder / "model.json").write_bytes(model_file.serialise(alphabet, STICKY, {}))
    if not (folder / "keys.json").exists():
        new_ring(folder / "keys.json")
    text = GOOD.replace("$.activity\n", f"$.activity\n    distance: {distance}\n").replace(
        ": optimal", f": {mechanism}"
    )
    (folder / "c.yaml").write_text(text + more, encoding="utf-8")
    return open_pipeline(folder / "c.yaml", {})


def test_numbers_have_the_distances_of_numbers() -> None:
    near = choose_distance(DistanceSettings(kind="absolute"), NUMBERS)
    wide = choose_distance(DistanceSettings(kind="squared"), NUMBERS)
    assert cost(near.distance, 0, 3) * near.distance.unit == pytest.approx(3.0)
    assert cost(wide.distance, 0, 3) * wide.distance.unit == pytest.approx(9.0)
    assert {near.digest, wide.digest} == {"absolute", "squared"}


def test_all_errors_count_alike_where_nothing_is_said() -> None:
    chosen = choose_distance(DistanceSettings(), WORDS)
    assert chosen.distance.kind == EQUAL
    assert chosen.digest == ""


def test_a_table_is_known_by_its_numbers(tmp_path: Path) -> None:
    rows = [[abs(x - y) for y in range(4)] for x in range(4)]
    one, other, third = tmp_path / "one.json", tmp_path / "other.json", tmp_path / "third.json"
    one.write_text(json.dumps(rows), encoding="utf-8")
    other.write_text(json.dumps(rows, indent=2), encoding="utf-8")
    third.write_text(json.dumps([[*rows[0][:3], 7], *rows[1:]]), encoding="utf-8")
    digests = [choose_distance(DistanceSettings(table=str(file)), WORDS).digest for file in (one, other, third)]
    assert digests[0] == digests[1] != digests[2]
    as_costs = choose_distance(DistanceSettings(cost_table=str(one)), WORDS).digest
    assert as_costs != digests[0]


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("[[0, 1], [1, 0]]", "has 2 rows, but the alphabet has 4"),
        ("[[0, 1, 2, -3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]", "table[0][3]: is negative"),
        ("[[1, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]", "table[0][0]: is not 0"),
        ("[[0, 1", "text"),
        (None, "No such file"),
    ],
)
def test_a_wrong_table_is_refused_where_it_is_named(tmp_path: Path, written: str | None, reason: str) -> None:
    if written is not None:
        (tmp_path / "d.json").write_text(written, encoding="utf-8")
    with pytest.raises(ConfigurationRefused) as caught:
        pipeline(tmp_path, WORDS, "{table: d.json}")
    (problem,) = caught.value.problems
    assert problem.path == "record.protect.distance.table"
    assert problem.line == 13
    assert reason in problem.found


def test_texts_have_no_distance_of_numbers(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationRefused) as caught:
        pipeline(tmp_path, WORDS, "absolute")
    (problem,) = caught.value.problems
    assert "values are texts" in problem.found
    assert "{table: distances.json}" in problem.fix
    with pytest.raises(DistanceRefused):
        choose_distance(DistanceSettings(kind="squared"), WORDS)


def test_numbers_and_places_in_cells_have_distances_of_their_own() -> None:
    warm, town = Bins(-10.0, 40.0, 100), Grid(Bins(47.3, 47.5, 4), Bins(8.4, 8.7, 3), ("lat", "lon"))
    degrees = choose_distance(DistanceSettings(kind="absolute"), warm).distance
    assert cost(degrees, 0, 10) * degrees.unit == pytest.approx(5.0, abs=1e-5)
    plane = choose_distance(DistanceSettings(kind="euclidean"), town).distance
    assert cost(plane, 0, 4) * plane.unit == pytest.approx(math.hypot(0.05, 0.1), abs=1e-6)
    ground = choose_distance(DistanceSettings(kind="haversine"), town).distance
    assert cost(ground, 0, 3) * ground.unit == pytest.approx(0.05 * 6371.0088 * math.pi / 180.0, abs=1e-4)


@pytest.mark.parametrize(
    ("kind", "alphabet", "found", "fix"),
    [
        ("absolute", WORDS, "values are texts", "{table: distances.json}"),
        ("euclidean", NUMBERS, "values are numbers", "absolute, or squared"),
        ("haversine", Bins(0.0, 1.0, 4), "values are numbers", "absolute, or squared"),
        ("squared", Grid(Bins(0.0, 1.0, 2), Bins(0.0, 1.0, 2)), "values are places", "euclidean, or haversine"),
        ("haversine", Grid(Bins(0.0, 200.0, 2), Bins(0.0, 1.0, 2)), "latitude", "euclidean"),
    ],
)
def test_a_distance_of_other_values_is_refused(kind: Any, alphabet: Alphabet, found: str, fix: str) -> None:
    with pytest.raises(DistanceRefused) as caught:
        choose_distance(DistanceSettings(kind=kind), alphabet)
    assert found in caught.value.why
    assert fix in caught.value.fix


def test_what_is_near_is_explained(tmp_path: Path) -> None:
    facts: dict[str, Any] = explain(pipeline(tmp_path, NUMBERS, "absolute"), 20)
    blind = explain(pipeline(tmp_path, NUMBERS, "hamming"), 20)
    assert facts["near"]["least"] <= facts["near"]["first"] < 1.25
    assert 0.0 <= facts["near"]["gap_at_most"] < 0.1
    assert 0.0 < facts["single"]["distance"] < 1.25  # 1.25 is what a release that tells nothing would cost
    assert blind["single"]["distance"] is None and blind["near"] is None
    assert any("near without a distance is optimal" in warning for warning in blind["warnings"])
    assert not facts["warnings"]
    assert max(facts["single"]["upper_per_event"], facts["single"]["lower_per_event"]) <= 1.0


@pytest.mark.parametrize("order", ["bisect", "natural"])
def test_windows_of_what_is_near_are_explained(tmp_path: Path, order: str) -> None:
    windows = f"window: {{events: 4, order: {order}}}\n"
    facts: dict[str, Any] = explain(pipeline(tmp_path, NUMBERS, "absolute", more=windows), 20)
    alone = explain(pipeline(tmp_path, NUMBERS, "absolute"), 20)
    assert 0.0 < facts["single"]["distance"] < 1.25
    assert alone["single"]["distance"] != facts["single"]["distance"]
    assert max(facts["single"]["upper_per_event"], facts["single"]["lower_per_event"]) <= 1.0


def test_dual_windows_look_at_no_distance(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationRefused) as caught:
        pipeline(tmp_path, NUMBERS, "absolute", more="window: {events: 2, order: dual}\n")
    (problem,) = caught.value.problems
    assert (problem.path, problem.found) == ("mechanism.name", "near in dual windows")


def test_other_mechanisms_have_no_windows(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationRefused) as caught:
        pipeline(tmp_path, NUMBERS, "hamming", "top_k_grr", "window: {events: 2}\n")
    assert any(problem.allowed == "optimal or near in windows" for problem in caught.value.problems)
