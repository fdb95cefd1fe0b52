"""What the status page shows and hides, read from its HTML; how it looks is tested in `pages`."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metering import heads_of, meter_settings
from ruamel.yaml import YAML

from beliefs.rounding import UNITS_PER_NAT
from mechanisms.contract import DRIFT_UNKNOWN
from stream.metrics import Meter
from stream.metrics.about import About, Said
from stream.metrics.page import status_page
from stream.metrics.page_health import DOUBTFUL_FROM
from stream.metrics.standing import standing
from stream.state import Word

NAT = UNITS_PER_NAT
ALERTS = Path(__file__).resolve().parents[2] / "deploy" / "prometheus" / "alerts.yaml"
DAY_MS = 86_400_000


@given(st.lists(st.integers(0, 20), min_size=1, max_size=60), st.integers(2, 12))
def test_no_bar_is_of_fewer_users_than_the_floor(spent: list[int], floor: int) -> None:
    meter = Meter(meter_settings(small_count_floor=floor))
    meter.loaded(0, heads_of([(each * NAT // 2, each * NAT) for each in spent]))
    page = status_page(meter)
    bars = [int(text) for text in re.findall(r'data-users="(\d+)"', page)]
    assert all(users == 0 or users >= floor for users in bars)
    assert sum(bars) == (3 * len(spent) if len(spent) >= floor else 0)
    assert ("Nobody to show yet" in page) == (len(spent) < floor)


def test_a_budget_window_ends_where_event_time_enters_the_next() -> None:
    about = About(budget_window_ms=DAY_MS, when_spent="nothing more")
    page = status_page(Meter(meter_settings(about=about)), now_ms=20_000 * DAY_MS - 5_461_000)
    assert "in 1 h 31 min" in page and "2024-10-04 00:00:00 UTC" in page and "when it is spent: nothing more" in page
    assert "any 20 events of a user in a row" in status_page(Meter(meter_settings(about=About(budget_events=20))))
    assert "nothing is given back" in status_page(Meter(meter_settings()))


def test_words_of_settings_are_shown_as_text() -> None:
    said = Said("<i>title</i>", ("<script>x</script>",))
    about = About(promise=(said,), warnings=("<b>w</b>",), models=(("<u>a</u>", "1:x"),), models_by="$.<q>")
    page = status_page(Meter(meter_settings(about=about)))
    assert not re.findall(r"<(i|b|u|q|script)>", page.replace("<b>0</b>", ""))
    assert "&lt;script&gt;x&lt;/script&gt;" in page and "WARNING: &lt;b&gt;w&lt;/b&gt;" in page


def test_the_page_asks_for_nothing_outside_and_runs_nothing() -> None:
    page = status_page(Meter(meter_settings()))
    assert re.findall(r"""(?:src|xlink:href|action)\s*=|url\(|@import|<script|\son\w+=|https?:""", page) == []
    assert {address.split(",")[0] for address in re.findall(r'href="([^"]*)', page)} == {
        "data:image/svg+xml",
        "/metrics",
        "/livez",
        "/readyz",
    }


def test_the_model_is_doubtful_where_the_alert_begins() -> None:
    groups = YAML(typ="safe").load(ALERTS.read_text(encoding="utf-8"))["groups"]
    (rule,) = [rule for group in groups for rule in group["rules"] if rule.get("alert") == "SottovoceModelDoubtful"]
    assert rule["expr"] == f"sottovoce_model_score_evidence_ratio >= {DOUBTFUL_FROM}"


@pytest.mark.parametrize(("users", "shown"), [(9, False), (10, True)])
def test_the_largest_drift_is_kept_and_shown_of_enough_users(users: int, shown: bool) -> None:
    meter = Meter(meter_settings())
    heads = heads_of([(0, 0)] * users)
    drifts = np.arange(users, dtype=np.int64) << 20
    heads[:, Word.WINDOW_AND_DRIFT] = (drifts << 32) | DRIFT_UNKNOWN  # the index of a window is no drift
    meter.users(0, np.zeros_like(heads), heads)
    assert standing(meter).drift == ((users - 1) / 2**12 if shown else None)
    heads[0, Word.WINDOW_AND_DRIFT] = -1 << 32
    meter.loaded(1, heads)
    assert standing(meter).drift == (math.inf if shown or 2 * users >= 10 else None)
    meter.lost(0)
    assert ("not known of some user" in status_page(meter)) == shown


def test_many_reasons_are_cut_short() -> None:
    meter = Meter(meter_settings())
    meter.progress.joined = True
    for partition in range(100):
        meter.assigned(partition)
    page = status_page(meter)
    assert page.count("is being recovered") == 4 and "and 96 more of the kind" in page
    assert "<title>not ready · phones · Sottovoce</title>" in page


def test_few_users_who_cannot_be_read_are_not_counted() -> None:
    meter = Meter(meter_settings())
    meter.quarantined(0, 3)
    assert "fewer than 10" in status_page(meter).split("cannot be read")[1][:120]
    meter.quarantined(1, 9)
    assert ">12<" in status_page(meter).split("cannot be read")[1][:120]
