"""The command that makes the paper again, small: every figure, every claim, every exit status."""

from __future__ import annotations

import json
from pathlib import Path

import kanon_verdicts
import pytest
from kanon_findings import KINDS
from kanon_paper import PAPER, main
from paper_checks import check_quick_pass, check_refusals
from paper_findings import FAILS, HOLDS, ONLY_WHEN

PICTURES = {name for name in PAPER.names if name.startswith("fig")}


@pytest.mark.parametrize("parts", PAPER.parts, ids="-".join)
def test_a_quick_pass_of_kanon_comes_to_the_known_verdicts(parts: tuple[str, ...], tmp_path: Path) -> None:
    check_quick_pass(main, parts, PICTURES, tmp_path)
    document = json.loads((tmp_path / "findings.json").read_text(encoding="utf-8"))
    for section in document["sections"]:
        for claim in section["claims"]:
            assert claim["found"].startswith(kanon_verdicts.FIGURES.get(claim["name"], ""))


def test_another_verdict_about_kanon_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(kanon_verdicts.VERDICTS, "fig3b: epsilon falls with lambda2", HOLDS)
    assert main(["--out", str(tmp_path), "--quick", "--only", "fig3"]) == 1
    assert "'fig3b: epsilon falls with lambda2' is 'fails', known is 'holds'" in capsys.readouterr().err


def test_a_folder_for_kanon_that_cannot_be_made_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_refusals(main, "alone", tmp_path)
    assert "Name one with --out" in capsys.readouterr().err


def test_every_known_verdict_about_kanon_is_one() -> None:
    assert set(kanon_verdicts.VERDICTS.values()) == {HOLDS, FAILS, ONLY_WHEN}
    assert set(kanon_verdicts.FIGURES.values()) == set(KINDS)
    assert set(kanon_verdicts.FIGURES) == {name for name in kanon_verdicts.VERDICTS if name.startswith("fig")}
