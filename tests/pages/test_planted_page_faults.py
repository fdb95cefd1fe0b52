"""What is wrong with a page is noticed: each fault is planted in a page that is otherwise right."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import Browser, Seen
from reading_pages import check_readable

from stream.page_frame import framed

LINES = "".join(f"<p>line {number} of a page</p>" for number in range(20))
BAR = '<svg width="90" height="9"><rect width="90" height="9" fill="{}"/></svg>'
BARS = f'<table class="bars"><tr><td>{BAR}</td></tr></table>'
FAULTS = {
    "beyond": '<div style="width: 50rem">wide</div>',
    "faint": '<p style="color: #999">faint on paper</p>',
    "faint by night": '<p style="color: #666">faint on ink</p>',
    "faint in a picture": '<svg width="90" height="20"><text y="15" style="fill: #999">faint</text></svg>',
    "faint bars": BARS.format("#d5dbe2"),
    "small": '<p style="font-size: 9px">small print</p>',
    "complains": "<script>console.error('broken')</script>",
    "throws": "<script>throw new Error('broken')</script>",
    "without a name": "<script>document.title = ''</script>",
}


def seen(browser: Browser, folder: Path, body: str, dark: bool = False) -> Seen:
    page = folder / "page.html"
    page.write_text(framed("A page", LINES + body), encoding="utf-8")
    return browser.look(page.as_uri(), width=360, dark=dark)


def test_a_page_without_a_fault_is_right(browser: Browser, tmp_path: Path) -> None:
    for dark in (False, True):
        found = seen(browser, tmp_path, BARS.format("var(--bar)"), dark)
        check_readable(found)
        assert found.asked == [(tmp_path / "page.html").as_uri()]
        assert found.measured["bars"] and found.measured["window"] == 360


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed(browser: Browser, tmp_path: Path, fault: str) -> None:
    found = seen(browser, tmp_path, FAULTS[fault], dark=fault == "faint by night")
    with pytest.raises(AssertionError):
        check_readable(found)


def test_what_is_asked_for_outside_is_seen_and_not_found(browser: Browser, tmp_path: Path) -> None:
    found = seen(browser, tmp_path, '<img src="http://outside.example/x.png" alt="">')
    assert "http://outside.example/x.png" in found.asked
    assert any("ERR_NAME_NOT_RESOLVED" in line for line in found.said)
