"""The pages that `adversary`, `plan` and `fit` write, as headless Chromium shows them; each from a small real run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attack_help import attacked
from audit_world import run as run_pipeline
from browser import Browser, Seen
from command_house import make_house, run
from fitting_help import NAMES, as_json, events_of, write
from reading_pages import check_readable

from beliefs.alphabet import Categories
from beliefs.alphabet_rows import written_alphabet
from stream.adversary.page import page_of
from stream.names import EXIT_DONE

LOOKS = ((360, False), (360, True), (1280, False), (1280, True))
FIELDS = ("--user", "user", "--value", "activity", "--time", "at")


def looked(browser: Browser, page: Path) -> Seen:
    """Look at a page in a file, check what holds for every page, and answer the first look."""
    seen = {look: browser.look(page.as_uri(), width=look[0], dark=look[1]) for look in LOOKS}
    for (width, dark), one in seen.items():
        page.with_name(f"{page.stem}-{width}-{'dark' if dark else 'light'}.png").write_bytes(one.picture)
        check_readable(one)
        assert one.asked == [page.as_uri()]
        assert one.measured["pictures"]
        assert all(one.measured["tables"])
    papers = {dark: one.measured["paper"] for (_, dark), one in seen.items()}
    assert papers[False] != papers[True]
    return seen[LOOKS[0]]


def test_the_adversarys_page(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "adversary.html"
    page.write_text(page_of(attacked(run_pipeline(4, 900, 12, nats="unlimited"))), encoding="utf-8")
    seen = looked(browser, page)
    assert seen.measured["title"] == "under the bound: adversary of phones"
    assert "user-" not in seen.measured["text"]


def test_the_plans_page(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    tried = ("--epsilon", 1, "--epsilon", 2, "--window", 3, "--mechanism", "optimal", "--order", "bisect")
    answer = run("plan", make_house(tmp_path) / "c.yaml", *tried, "--agreement", 0.6, "--delay", "2h", "--html", page)
    assert answer.exit_code == EXIT_DONE, answer.stderr
    assert looked(browser, page).measured["title"].startswith("Plan for model ")


@pytest.mark.parametrize("how", [(), ("--private-epsilon", "1", "--contribution", "32", "--alphabet", "values.json")])
def test_the_page_of_a_fit(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: tuple[str, ...]
) -> None:
    page = tmp_path / "fit.html"
    write(tmp_path, "a.jsonl", as_json(events_of(2_000)))
    write(tmp_path, "values.json", json.dumps(written_alphabet(Categories(NAMES))))
    monkeypatch.chdir(tmp_path)
    answer = run("fit", "--from", "a.jsonl", "--out", "new.json", *FIELDS, *how, "--html", page)
    assert answer.exit_code == EXIT_DONE, answer.stderr
    seen = looked(browser, page)
    assert seen.measured["title"].startswith("Model ") and "What follows what" in seen.measured["sections"]
