"""The command that makes the paper again, small: every example, figure and table, every claim, every exit status."""

from __future__ import annotations

from pathlib import Path

import pdp_verdicts
import pytest
from paper_checks import check_quick_pass, check_refusals
from paper_findings import FAILS, HOLDS, ONLY_WHEN
from pdp_paper import PAPER, main

PICTURES = set(PAPER.names) - {"theorems"}


@pytest.mark.parametrize("parts", PAPER.parts, ids="-".join)
def test_a_quick_pass_of_pdp_comes_to_the_known_verdicts(parts: tuple[str, ...], tmp_path: Path) -> None:
    check_quick_pass(main, parts, PICTURES, tmp_path)


def test_another_verdict_about_pdp_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(pdp_verdicts.VERDICTS, "Example 4", FAILS)
    assert main(["--out", str(tmp_path), "--quick", "--only", "table2"]) == 1
    assert "'Example 4' is 'holds', known is 'fails'" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_refusals(main, "table2", tmp_path)
    assert "Name one with --out" in capsys.readouterr().err


def test_every_known_verdict_about_pdp_is_one() -> None:
    assert set(pdp_verdicts.VERDICTS.values()) == {HOLDS, FAILS, ONLY_WHEN}
