"""The status page as headless Chromium shows it: by day and by night, on a phone and on a desk, idle and at work."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from urllib.request import urlopen

import pytest
from aggregate_metering import World
from browser import Browser, Seen
from crowd_metering import flow_told, of_flow, of_windows, work
from fields_world import BESIDE, HEAD, JOB, LOCAL, SEX, events
from page_worlds import busy, fields, followers, huge, idle, in_blocks, learning, segmented, single, wanderers
from prometheus_client.parser import text_string_to_metric_families
from reading_pages import check_readable
from segment_world import mixed

from mechanisms.registry import MECHANISMS
from stream.admin import AdminServer, AdminSettings
from stream.metrics import Meter
from stream.metrics.aggregates import AggregateCounts
from stream.metrics.crowds import CrowdCounts, FlowCounts
from stream.protocol.observer import Recovery

SECTIONS = ("Throughput", "Outcomes", "Leakage over users", "Budgets", "Model health", "Policy", "Partitions")
APART = ("Throughput", "Outcomes", "Partitions")
PROMISE = "The promise, in plain words"
CARDS: Mapping[type, str] = {
    AggregateCounts: "Windows of aggregates",
    CrowdCounts: "Windows of crowds",
    FlowCounts: "Crowds of a stream",
}
LOOKS = ((360, False), (360, True), (1280, False), (1280, True))
Figures = dict[str, float]


async def looked(
    browser: Browser, meter: Meter, folder: Path, looks: Sequence[tuple[int, bool]] = LOOKS, *, may_scroll: bool = False
) -> Seen:
    """Look at the page of a real admin server, check what holds for every page, and answer the first look."""
    server = AdminServer(meter, AdminSettings())
    await server.start()
    try:
        url = server.url
        seen = {look: await asyncio.to_thread(at, browser, url, look) for look in looks}
        text = await asyncio.to_thread(fetched, f"{url}/metrics")
    finally:
        await server.stop()
    for (width, dark), one in seen.items():
        (folder / f"{width}-{'dark' if dark else 'light'}.png").write_bytes(one.picture)
        check_readable(one)
        assert may_scroll or one.measured["scrolling"] == [], "nor does a table move sideways inside of its section"
        asked = {address for address in one.asked if not address.startswith("data:")}
        assert asked == {f"{url}/"}
        check_sections(one, meter)
        check_figures(one, figures_in(text), meter)
    papers = {dark: one.measured["paper"] for (_, dark), one in seen.items()}
    assert len(set(papers.values())) == len({dark for _, dark in looks})
    return seen[looks[0]]


def at(browser: Browser, url: str, look: tuple[int, bool]) -> Seen:
    return browser.look(f"{url}/", width=look[0], dark=look[1])


def fetched(url: str) -> str:
    with urlopen(url, timeout=10) as answer:
        text: str = answer.read().decode()
    return text


def figures_in(text: str) -> Figures:
    """By name and labels, as the page names them."""
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {sample.name + labelled(sample.labels): sample.value for sample in samples}


def labelled(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in sorted(labels.items())) + "}" if labels else ""


def check_sections(one: Seen, meter: Meter) -> None:
    expected = Counter(SECTIONS if meter.settings.follows else APART)
    expected += Counter([] if meter.fields is None else ["Fields"]) + Counter(
        [PROMISE] if meter.settings.about.promise else []
    )
    expected += Counter([CARDS[type(meter.gathered)]] if type(meter.gathered) in CARDS else [])
    expected += Counter(["Learning the model"] if meter.learners is not None and meter.learners.standings else [])
    assert Counter(one.measured["sections"]) == expected
    assert all(one.measured["tables"]), "every table has headings"
    assert one.measured["title"].endswith(f"{meter.settings.pipeline} · Sottovoce")


def check_figures(one: Seen, figures: Figures, meter: Meter) -> None:
    """What the page shows is what the metrics say, and no bar is of fewer users than the floor."""
    shown = dict(one.measured["figures"])
    of_events = {"sottovoce_tracked_users", 'sottovoce_events_total{outcome="released"}'}
    of_windows = {'sottovoce_events_total{outcome="taken"}'}
    assert (of_events if meter.gathered is None else of_windows) <= set(shown)
    for name, text in shown.items():
        assert float(text.replace(",", "")) == figures.get(name, 0.0), name
    floor = figures["sottovoce_small_count_floor_users"]
    for name, rows in one.measured["histograms"]:
        metric, _, labels = name.partition("{")
        inside = f",{labels}" if labels else "}"
        edges = [label_of(row[0]) for row in rows]
        counts = [figures[f'{metric}_bucket{{le="{edge}"{inside}'] for edge in edges]
        bars = [users for _, users, _ in rows]
        assert bars == [counts[0], *(after - before for before, after in pairwise(counts))]
        assert [text for _, _, text in rows] == [f"{users:,}" for users in bars]
        assert counts[-1] == figures[name.replace(metric, f"{metric}_gcount")]
        assert all(users == 0 or users >= floor for users in bars) and bars[0] and bars[-1]


def check_words(seen: Seen, *words: str) -> None:
    assert [each for each in words if each not in seen.measured["text"]] == []


def label_of(edge: str) -> str:
    return "+Inf" if edge == "inf" else edge


async def test_a_worker_that_releases_one_by_one(browser: Browser, tmp_path: Path) -> None:
    meter = busy(single(tmp_path, accounts=12, nats=60, window="1d"), followers(6_000))
    seen = await looked(browser, meter, tmp_path)
    assert seen.measured["title"].startswith("ready · ")
    assert len(seen.measured["histograms"]) == 3
    check_words(seen, "nothing speaks against it", "about the worst single value", "UTC")
    assert min(seen.measured["pictures"]) > 60, "no picture is squeezed away"
    assert "user-" not in seen.measured["text"]


async def test_a_worker_in_which_nothing_has_happened(browser: Browser, tmp_path: Path) -> None:
    meter = idle(single(tmp_path))
    seen = await looked(browser, meter, tmp_path)
    assert seen.measured["title"].startswith("not ready · ")
    for words in (
        "the worker has not joined its consumer group",
        "none so far",
        "nothing to say yet",
        "Nobody to show",
    ):
        assert words in seen.measured["text"]


async def test_a_model_that_does_not_fit_is_called_doubtful(browser: Browser, tmp_path: Path) -> None:
    opened = single(tmp_path, mechanism="two_budget", nats=60, window="{events: 20}")
    seen = await looked(browser, busy(opened, wanderers(6_000)), tmp_path)
    assert seen.measured["title"].startswith("ready, model doubtful · ")
    for words in (
        "doubtful: releases do not look like the model's",
        "any 20 events of a user in a row",
        "(upper = 2.5",
    ):
        assert words in seen.measured["text"]


async def test_windows_and_what_waits_in_them(browser: Browser, tmp_path: Path) -> None:
    meter = busy(single(tmp_path, windows="{events: 5, stretch: 10m}", nats="unlimited"), followers(1_500))
    seen = await looked(browser, meter, tmp_path)
    assert meter.all_users().tracked < 60, "a user is counted once, and not before a window of his has ended"
    assert dict(seen.measured["figures"])["sottovoce_waiting_events"] == f"{meter.waiting_events():,}" != "0"
    for words in (
        "in windows of at most 5 values",
        "not tested",
        "the budget is unlimited",
        "What is promised for one window",
    ):
        assert words in seen.measured["text"]


async def test_models_by_segment(browser: Browser, tmp_path: Path) -> None:
    opened = segmented(tmp_path, nats=8, window="1h", when_spent="stop", chain_error=0.001, radius=0.05)
    seen = await looked(browser, busy(opened, [mixed(1_200, 40)]), tmp_path)
    check_words(seen, "to users whose first $.device is sensor", "model of phone", "dead letters: segment_changed")


async def test_a_model_that_is_being_learnt(browser: Browser, tmp_path: Path) -> None:
    seen = await looked(browser, busy(learning(tmp_path, epsilon=4.0, nats=1_000), followers(3_000)), tmp_path)
    check_words(seen, "Learning the model", "epoch 1: learning", "without a model", "While it learns", "local privacy")


@pytest.mark.parametrize("before", [LOCAL, BESIDE], ids=["alone", "beside"])
async def test_several_fields(browser: Browser, tmp_path: Path, before: str) -> None:
    each = f"fields:\n  joint: joint.json\n  each:\n    {SEX}\n    {JOB}\n".replace("cap: 3", "cap: 5")
    meter = busy(fields(tmp_path, HEAD + before + each), in_blocks(events(2_000, 40)))
    seen = await looked(browser, meter, tmp_path)
    check_words(seen, "What is promised for each field", "about sex of a user at most 5 nats", "withheld", "99 %")
    assert "user-" not in seen.measured["text"]


async def test_windows_of_aggregates(browser: Browser, tmp_path: Path) -> None:
    world = World(tmp_path)
    world.work()
    seen = await looked(browser, world.meter, tmp_path)
    check_words(seen, "withheld: partial_missing", "ended 40 s ago", "scale of noise", "What one window tells")
    assert "Outcomes" in seen.measured["sections"]


async def test_windows_of_crowds(browser: Browser, tmp_path: Path) -> None:
    worker = of_windows(tmp_path)
    work(worker)
    seen = await looked(browser, worker.meter, tmp_path)
    check_words(seen, "withheld: differencing", "ended 40 s ago", "the worst window so far", "Against whom")
    assert "Outcomes" in seen.measured["sections"]


async def test_crowds_of_a_stream(browser: Browser, tmp_path: Path) -> None:
    worker = of_flow(tmp_path)
    worker.joined(0)
    worker.second.assigned([0])
    worker.second.ready(Recovery(0, 0, 0, users=0, unreadable=0), 0.0)
    worker.released(flow_told())
    seen = await looked(browser, worker.meter, tmp_path)
    check_words(seen, "no k users in time", "100 events or 1 min", "no bound is known")
    assert "Outcomes" in seen.measured["sections"]


async def test_numbers_too_large_for_any_worker(browser: Browser, tmp_path: Path) -> None:
    seen = await looked(browser, huge(), tmp_path, may_scroll=True)
    assert seen.measured["title"].startswith("standing still · ")
    check_words(seen, "1,000,000,000,000,000", "more than 60 s", "over 65,536")


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in ("optimal", "two_budget", "forecast")])
async def test_every_mechanism_on_a_phone(browser: Browser, tmp_path: Path, name: str) -> None:
    distance = "{kind: hamming}" if name != "near" else "hamming"
    seen = await looked(browser, idle(single(tmp_path, mechanism=name, distance=distance)), tmp_path, LOOKS[:1])
    assert "What is promised for one event" in seen.measured["text"] and name in seen.measured["text"]
