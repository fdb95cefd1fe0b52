"""The status page promises what `explain` promises, word for word, and nothing that is only expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from page_worlds import segmented, single

from mechanisms.registry import MECHANISMS
from stream.commands.explain import explain, promised_facts
from stream.commands.meter_settings import meter_settings_of
from stream.commands.promising import MANY_EVENTS, NOT_PROMISED, promise_words
from stream.commands.prose import write_explanation
from stream.opening import Opened

CHOSEN = [name for name in MECHANISMS if name != "forecast"]
CHANGES: list[dict[str, Any]] = [
    {"windows": "{events: 4}"},
    {"windows": "{events: 3, order: dual}", "nats": "unlimited"},
    {"windows": "{events: 5, order: natural, stretch: 10m}", "window": "forever"},
    {"radius": 0.05, "chain_error": 0.001, "window": "{events: 20}", "when_spent": "suppress"},
]


def check_words(opened: Opened) -> list[str]:
    """Each of them stands in the explanation; what they are is answered."""
    text = " ".join(write_explanation(explain(opened, 5)).split())
    said = promise_words(promised_facts(opened))
    lines = [line for each in said for line in each.lines]
    assert len(lines) > 6 and [line for line in lines if " ".join(line.split()) not in text] == []
    assert said[-1].title == NOT_PROMISED
    return [each.title for each in said]


@pytest.mark.parametrize("name", CHOSEN)
def test_every_mechanism_promises_on_the_page_what_explain_says(tmp_path: Path, name: str) -> None:
    assert check_words(single(tmp_path, mechanism=name)) == [
        "What is promised for one event",
        MANY_EVENTS,
        NOT_PROMISED,
    ]


@pytest.mark.parametrize("changes", CHANGES)
def test_windows_budgets_and_readers_are_promised_in_the_same_words(tmp_path: Path, changes: dict[str, Any]) -> None:
    titles = check_words(single(tmp_path, **changes))
    assert titles[0] == f"What is promised for one {'window' if 'windows' in changes else 'event'}"


@pytest.mark.parametrize("windows", ["", "{events: 3}", "{events: 3, order: dual}"])
def test_segments_under_which_the_same_is_promised_are_named_together(tmp_path: Path, windows: str) -> None:
    opened = segmented(tmp_path, windows=windows)
    one = "What is promised for one window" if windows else "What is promised for one event"
    assert check_words(opened) == [one, MANY_EVENTS, NOT_PROMISED]
    apart = check_words(segmented(tmp_path, windows=windows, chain_error=0.001))
    assert len(apart) == 5 and apart[0].startswith(f"{one}, to users whose first $.device is ")


def test_a_worker_tells_its_page_what_the_settings_say(tmp_path: Path) -> None:
    opened = single(tmp_path, mechanism="published_crr", nats="unlimited", window="forever", chain_error=0)
    about = meter_settings_of(opened, 80).about
    assert (about.released, about.budget_window_ms, about.budget_events, about.models) == ("one by one", 0, 0, ())
    assert about.warnings == opened.warnings != ()
    segments = meter_settings_of(segmented(tmp_path, window="{events: 9}", windows="{events: 3}"), 80).about
    assert (segments.models_by, segments.budget_events) == ("$.device", 9)
    assert [whom for whom, _ in segments.models] == ["phone", "sensor", "all others"]
    assert segments.released == "in windows of at most 3 values (order: bisect)"
