"""The numbers in "What epsilon means": the ceilings, and an attack on the tutorial's pipeline with keys of the test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
import sample
from attack_help import attacked
from audit_world import START_MS, Kept, Run
from audit_world import run as run_in_memory
from command_house import run as command
from notes_help import ROOT, tables

from beliefs.model_file import Model, parse
from stream.attack.bounds import ceiling_of

NOTE = (ROOT / "beliefs" / "epsilon.md").read_text(encoding="utf-8")
CEILINGS, WORKED, _ = tables(NOTE)
STARTED = (0.01, 0.1, 0.5, 0.9)
TEN_MINUTES_MS = 600_000


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def test_the_ceilings_are_those_of_the_bound() -> None:
    epsilons = [float(row[0]) for row in CEILINGS]
    assert epsilons == [0.1, 0.5, 1, 2, 4]
    for epsilon, row in zip(epsilons, CEILINGS, strict=True):
        assert row[1] == f"{np.exp(epsilon):.3g}"
        assert row[2:] == [percent(share) for share in ceiling_of(np.array(STARTED), epsilon)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """Learnt from the panel, as in the tutorial."""
    folder = tmp_path_factory.mktemp("panel")
    rows = [sample.HEAD, *sample.rows(200, 144, seed=1)]
    (folder / "panel.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    source = ("--from", folder / "panel.csv", "--user", "user", "--value", "activity", "--sample", "consenting")
    told = command("fit", *source, "--out", folder / "model.json")
    assert told.exit_code == 0, told.output
    return parse((folder / "model.json").read_bytes())


@pytest.fixture(scope="module")
def today() -> list[Kept]:
    """What everybody does today, as in the tutorial."""
    return [
        Kept(
            at,
            user.encode(),
            orjson.dumps({"activity": activity, "battery": 1}),
            START_MS + at // 200 * TEN_MINUTES_MS,
        )
        for at, (user, _, activity) in enumerate(sample.rows(200, 144, seed=2))
    ]


@pytest.mark.parametrize("row", WORKED, ids=lambda row: row[0])
def test_the_attack_comes_to_what_is_printed(model: Model, today: list[Kept], row: list[str]) -> None:
    finished = run_in_memory(model=model, inputs=today, epsilon=float(row[0]), nats="unlimited")
    found: dict[str, Any] = attacked(finished, smooth=True).as_json()
    guesses = found["guesses"]
    names = ("right_without_any_release", "right", "allowed", "right_in_hindsight")
    assert row[1:] == [percent(guesses[name]) for name in names]
    assert guesses["scored"] == 28_800
    assert found["verdict"] == "under the bound"
    # "the released value is also the best guess"
    assert kept(finished, today) == pytest.approx(guesses["right"], abs=1e-9)


def kept(finished: Run, today: list[Kept]) -> float:
    """The share of released values that are true; all are released, so they come in the order of the events."""
    shown = [orjson.loads(one.value or b"")["activity"] for one in finished.released()]
    true = [orjson.loads(one.value or b"")["activity"] for one in today]
    return sum(one == other for one, other in zip(shown, true, strict=True)) / len(true)


def test_the_tutorial_learns_from_the_same_panel() -> None:
    text = Path(ROOT / "deploy" / "tutorial.md").read_text(encoding="utf-8")
    assert 'sample.py" > panel.csv' in text
    assert 'sample.py" --seed 2 > today.csv' in text
