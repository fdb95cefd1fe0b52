"""The command that makes the paper again, small: every figure and table, every claim, every exit status."""

from __future__ import annotations

from pathlib import Path

import cpl_verdicts
import machine
import numpy as np
import pytest
from cpl_data import adult
from cpl_heat_map import heat_map
from cpl_paper import PAPER, main
from paper_checks import check_quick_pass, check_refusals
from paper_drawing import Line, Panel, draw
from paper_findings import FAILS, HOLDS, ONLY_WHEN, Numbers
from paper_table_picture import draw_table

PICTURES = set(PAPER.names) - {"theorems"}


@pytest.mark.parametrize("parts", PAPER.parts, ids="-".join)
def test_a_quick_pass_of_cpl_comes_to_the_known_verdicts(parts: tuple[str, ...], tmp_path: Path) -> None:
    check_quick_pass(main, parts, PICTURES, tmp_path)


def test_another_verdict_than_the_known_one_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(cpl_verdicts.VERDICTS, "Algorithm 3", HOLDS)
    assert main(["--out", str(tmp_path), "--quick", "--only", "theorems"]) == 1
    assert "'Algorithm 3' is 'fails', known is 'holds'" in capsys.readouterr().err


def test_data_that_cannot_be_had_and_folders_that_cannot_be_made_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check_refusals(main, "theorems", tmp_path)
    adult.cache_clear()

    def refuse(wheel: object, path: str) -> bytes:
        raise machine.MachineError("no wheel: give pip an index")

    monkeypatch.setattr("cpl_data.member", refuse)
    assert main(["--out", str(tmp_path), "--quick", "--only", "fig4a"]) == 2
    assert "no wheel: give pip an index" in capsys.readouterr().err


def test_every_known_verdict_is_one() -> None:
    verdicts = cpl_verdicts.VERDICTS
    assert set(verdicts.values()) == {HOLDS, FAILS, ONLY_WHEN}
    for other in (cpl_verdicts.REAL, cpl_verdicts.REAL_AND_SMALL):
        assert set(other) <= set(verdicts) and set(other.values()) <= set(verdicts.values())
        assert all(verdicts[name] != verdict for name, verdict in cpl_verdicts.REAL.items())


def test_the_same_numbers_draw_the_same_pictures(tmp_path: Path) -> None:
    def pictures(up: float) -> list[bytes]:
        lines = [Line("ITS", [0.0, 0.1], [0.0, up]), Line("points", [0.1, 0.2], [up, 0.3], [0.1, 0.1], joined=False)]
        panel = Panel("one", "across", "up", lines, corner=True)
        draw(tmp_path / "points.png", "points", [panel], "caption")
        square = np.array([[0.0, up], [0.2, 0.0]])
        heat_map(tmp_path / "map.png", "map", ["a", "b"], square, ("loses", "tells"), "caption")
        draw_table(tmp_path / "table.png", "table", Numbers("n", ["a", "b"], [["x", up], ["y", 1]]))
        return [(tmp_path / f"{name}.png").read_bytes() for name in ("points", "map", "table")]

    once, again, other = pictures(0.3), pictures(0.3), pictures(0.4)
    assert once == again and all(one != changed for one, changed in zip(once, other, strict=True))
