"""The command that makes the paper again, small: every figure, every claim, every exit status."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import paper_verdicts
import pytest
from click_stream import FILE, ITEMS, Clicks, of_sessions, seeded
from paper import PAPER, main
from paper_checks import check_quick_pass, check_refusals
from paper_clicks import experiment, kept, tops
from paper_drawing import Bar, Line, Panel, draw, draw_bars
from paper_findings import FAILS, HOLDS, ONLY_WHEN, verdict_of, where

PICTURES = {"fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "fig9"}


@pytest.mark.timeout(400)  # the first time kernels are compiled
@pytest.mark.parametrize("parts", PAPER.parts, ids="-".join)
def test_a_quick_pass_comes_to_the_known_verdicts(parts: tuple[str, ...], tmp_path: Path) -> None:
    check_quick_pass(main, parts, PICTURES, tmp_path)


def test_the_same_numbers_draw_the_same_bytes(tmp_path: Path) -> None:
    def drawn(up: float) -> list[bytes]:
        panel = Panel(
            "one", "across", "up", [Line("optimal", [1.0, 2.0], [up, 0.5])], log_across=True, bands=[(1.0, 1.5)]
        )
        bars = {"one": ([Bar("optimal", up, 0.1, 0.9)], [Bar("optimal", 0.5, 0.1, 0.9)])}
        draw(tmp_path / "lines.png", "lines", [panel, panel, panel], "caption", columns=2)
        draw_bars(tmp_path / "bars.png", "bars", "share", bars, ("a", "b"), {"chance": 0.1}, "caption")
        return [(tmp_path / f"{name}.png").read_bytes() for name in ("lines", "bars")]

    once, again, other = drawn(0.3), drawn(0.3), drawn(0.4)
    assert once == again and all(one != changed for one, changed in zip(once, other, strict=True))


def test_another_verdict_than_the_known_one_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(paper_verdicts.VERDICTS, "Theorem 3", FAILS)
    assert main(["--out", str(tmp_path), "--quick", "--only", "theorems"]) == 1
    assert "'Theorem 3' is 'holds', known is 'fails'" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_refusals(main, "theorems", tmp_path)
    assert "Name one with --out" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["--out", str(tmp_path), "--only", "fig2"])
    assert ended.value.code == 2


def test_every_known_verdict_is_one() -> None:
    verdicts = [*paper_verdicts.VERDICTS.values(), *paper_verdicts.SMALL.values()]
    assert set(verdicts) == {HOLDS, FAILS, ONLY_WHEN}
    assert set(paper_verdicts.SMALL) < set(paper_verdicts.VERDICTS) and set(PICTURES) < set(PAPER.names)
    assert [verdict_of(cases) for cases in ([True, True], [True, False], [False])] == [HOLDS, ONLY_WHEN, FAILS]
    assert where([(1.0, True), (2.0, False)]) == "at epsilon 1 of 1, 2" and where([(1.0, False)]) == "nowhere"


def test_clicks_are_real_where_they_are_found_and_seeded_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    found = of_sessions(500, 300)
    assert found.source.startswith("seeded") and found.sessions == seeded(300, 500)
    assert max(map(max, found.sessions)) < 500
    with gzip.open(tmp_path / FILE, "wt", encoding="ascii") as lines:
        lines.write("1 2 3\n7 600\n")
    assert of_sessions(500, 300) == Clicks([[0, 1, 2], [6]], 500, of_sessions(500, 300).source)
    assert of_sessions(ITEMS, 300).sessions[1] == [6, 599]


def test_users_who_are_perturbed_are_not_learnt_from() -> None:
    sessions = [[place, place, place] for place in range(40)]
    what = experiment(Clicks(sessions, 40, "made"), 10)
    assert what.users == 10 and what.events.slot.size == 30
    for item in set(what.events.symbol.tolist()):
        assert what.chain.named(item)[0].size == 0
    assert tops(what.events, 40, 1e6).distance < tops(what.events, 40, 0.01).distance < 40
    assert kept(what.events, what.events.symbol, np.zeros(30))[:2] == (0.0, 0.0)
