"""The audit of windows of crowds: it agrees with what the stages make of every kind, and withheld ones."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import typer
from aggregate_lives import MINUTE, START
from crowd_audited import RECORDS, RING_KEYS, SENT, House
from crowd_lives import (
    COUNT,
    FRESH,
    HISTOGRAM,
    HOMES,
    LAW,
    MEAN,
    NOTHING,
    RANGE,
    SETTINGS,
    SUM,
    TIMES,
    TWO,
    TYPED,
    Walk,
    at,
    law_text,
)
from rich.console import Console

from stream.audit.crowd_report import tell_crowds
from stream.commands.audit import audit_command
from stream.errors import CannotAudit
from stream.names import EXIT_REFUSED

CROWD = f"k: 3\n{TIMES}\nrelease: {{{COUNT}}}\n{NOTHING}"

TOLD = "believes: {law: law.json}\ntarget: {epsilon: 1.0, delta: 0.05}"
TOPPED = "believes: {law: law.json}\ntarget: {epsilon: 1.0, delta: 0.0001, beyond: top_up}"
TIGHT = "believes: {law: law.json}\ntarget: {epsilon: 0.1, delta: 1e-9}"
ROW = "believes: {law: law.json, windows: fresh}\ntarget: {epsilon: 0.5, delta: 0.3, windows: 4}"
KNOWN_ROW = "believes: {law: law.json, windows: fresh, known: 0.3}\ntarget: {epsilon: 1.0, delta: 0.05, windows: 3}"
TOPPED_ROW = "believes: {law: law.json, windows: fresh}\ntarget: {epsilon: 1, delta: 0.01, windows: 4, beyond: top_up}"
HOUSED = "believes: {law: law.json, household: $.home, known: 0.2}\ntarget: {epsilon: 1.0, delta: 0.5}"
THREE = law_text(types={"default": [0.5, 0.25, 0.25]})
LEANING = law_text(types={"default": [0.3, 0.1, *[0.5 / 17] * 17, 0.02, 0.08]})

RIGHT: list[tuple[str, str, dict[str, Any]]] = [
    (COUNT, NOTHING, {}),
    (f"{SUM}, take: first", NOTHING, {}),
    (f"{SUM}, take: largest", NOTHING, {}),
    (f"{RANGE}, take: smallest", NOTHING, {}),
    (HISTOGRAM, NOTHING, {}),
    (RECORDS, NOTHING, {}),
    (RECORDS, NOTHING, {"over": "partition"}),
    (f"{RECORDS}, loss_most: 0.2", NOTHING, {}),
    (MEAN, LAW, {}),
    (MEAN, LAW, {"law": LEANING}),
    (SUM, TOPPED, {}),
    (SUM, TOPPED, {"over": "partition"}),
    (SUM, TIGHT, {}),
    (SUM, FRESH, {}),
    (RANGE, LAW, {}),
    (RANGE, FRESH, {}),
    (SUM, ROW, {}),
    (MEAN, KNOWN_ROW, {"law": LEANING}),
    (SUM, TOPPED_ROW, {}),
    (HISTOGRAM, TOLD, {}),
    (HISTOGRAM, TOPPED, {}),
    ("records: mondrian, by: {job: {of: $.job, tree: {any: [a, b, c]}}}", LAW, {"law": THREE}),
    (MEAN, TOLD, {}),
    (COUNT, TYPED, {"law": TWO}),
    (COUNT, HOUSED, {"law": HOMES}),
    (SUM, LAW, {"over": "partition"}),
]


@pytest.mark.parametrize(("release", "believes", "more"), RIGHT)
async def test_what_the_stages_make_agrees_with_and_without_keys(
    tmp_path: Path, release: str, believes: str, more: dict[str, Any]
) -> None:
    house = House(tmp_path, release, believes, **more)
    for keys in (None, RING_KEYS):
        report = await house.audit(ring_keys=keys)
        assert [(finding.code, finding.detail) for finding in report.findings] == []
        windows = report.seen.released + sum(report.seen.withheld.values())
        assert windows == 6 * (1 + ("over" in more))
        assert report.told.refused == {"late": 6, "before_start": 2, "time_ahead": 2}
        assert report.exit_status == 0


def crowd_at(minute: int, people: range, home: str | None = None) -> list[Walk]:
    return [at(60 * minute + 1 + one / 100, f"p{one}", home=home) for one in people]


async def test_windows_that_are_withheld_for_who_was_there_agree(tmp_path: Path) -> None:
    """Too few; the same people, and but for two of ten; nobody."""
    walks = [*crowd_at(0, range(10)), *crowd_at(1, range(2)), *crowd_at(2, range(10)), *crowd_at(3, range(11))]
    report = await (house := House(tmp_path, sent=[walks], minutes=5)).audit(ring_keys=RING_KEYS)
    assert [finding.code for finding in report.findings] == []
    reasons = [said["reason"] for said in house.said()]
    assert reasons == [None, "too_few", None, "differencing", "too_few"]


async def test_a_household_that_is_too_large_agrees(tmp_path: Path) -> None:
    walks = [*crowd_at(0, range(10), home="h"), *crowd_at(1, range(10))]
    house = House(tmp_path, COUNT, HOUSED, law=HOMES, sent=[walks], minutes=2)
    assert (await house.audit(ring_keys=RING_KEYS)).agrees
    assert [said["reason"] for said in house.said()] == ["household_too_large", None]


async def test_windows_of_which_a_part_was_lost_agree_and_with_keys_it_is_seen_that_it_was(tmp_path: Path) -> None:
    house = House(tmp_path, after=lambda parts: parts[1].pop(2))
    assert "partial_missing" in {said["reason"] for said in house.said()}
    whole = House(tmp_path)
    for keys in (None, RING_KEYS):
        assert (await house.audit(ring_keys=keys)).agrees
    logs = [each.memory.logs for each in (house, whole)]
    logs[0][SENT], logs[1][SENT] = logs[1][SENT], logs[0][SENT]
    assert (await house.audit(ring_keys=RING_KEYS)).findings.codes() == {"crowd_needless"}
    assert (await whole.audit(ring_keys=RING_KEYS)).findings.codes() == {"crowd_early"}
    assert (await house.audit()).agrees


async def test_somebody_who_comes_from_two_partitions_is_one(tmp_path: Path) -> None:
    walks = crowd_at(0, range(5))
    moved = [walk._replace(value=7.0, time=walk.time + 1) for walk in walks[:2]]
    for take in ("first", "last", "largest", "smallest"):
        house = House(tmp_path, f"{SUM}, take: {take}", sent=[walks, moved], minutes=1)
        assert (await house.audit(ring_keys=RING_KEYS)).agrees
        assert house.said()[0]["users"] == 5


async def test_without_changelogs_the_group_says_how_far_the_pipeline_has_come(tmp_path: Path) -> None:
    house = House(tmp_path)
    with pytest.raises(CannotAudit, match="how far the pipeline has come"):
        await house.audit(with_changelog=False)
    house.memory.group = {place: len(walks) for place, walks in enumerate(house.walks)}
    report = await house.audit(with_changelog=False)
    assert report.agrees
    assert report.told.accepted > 0
    house.memory.group = {0: len(house.walks[0])}
    assert "crowd_users" in (await house.audit(with_changelog=False)).findings.codes()


async def test_topics_that_are_gone_or_cut_off_are_not_audited(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.memory.first = 1
    with pytest.raises(CannotAudit, match="is gone"):
        await house.audit()
    house.memory.first = 0
    house.memory.logs["walkers.out"] = [[], []]
    with pytest.raises(CannotAudit, match="released topic cannot be that of these crowds"):
        await house.audit()
    del house.memory.logs["walkers.raw"]
    with pytest.raises(CannotAudit, match="Nobody can say who was there"):
        await house.audit()
    (tmp_path / "law.json").write_bytes(b"{}")
    typed = House(tmp_path, COUNT, TYPED, law=TWO)
    (tmp_path / "law.json").write_bytes(b"{}")
    with pytest.raises(CannotAudit, match="law that the settings name cannot be read"):
        await typed.audit()


async def test_what_is_read_and_found_is_told_to_people_and_to_programs(tmp_path: Path) -> None:
    house = House(tmp_path, RECORDS)
    house.change(house.place(lambda said: "crowd" in said), lambda said: said.update(users=2))
    report = await house.audit()
    text = StringIO()
    tell_crowds(report, Console(file=text, width=200))
    assert "crowds of fewer than k users" in text.getvalue()
    assert "verdict: DISAGREE" in text.getvalue()
    assert "--keys looks at that" in text.getvalue()
    document = report.as_json()
    assert document["verdict"] == "disagree"
    assert {finding["code"] for finding in document["findings"]} >= {"crowd_small"}  # type: ignore[attr-defined]
    assert not any(walk.user.decode() in text.getvalue() for walks in house.walks for walk in walks)


async def test_an_audit_of_a_time_before_the_end_sees_no_window_that_came_later(tmp_path: Path) -> None:
    """A window has its record once all partitions have closed it; the raw topic goes on meanwhile."""
    house = House(tmp_path)
    raw = house.memory.logs["walkers.raw"][0]
    later = Walk(b"u0-0", START + 7 * MINUTE, START + 7 * MINUTE)
    raw.append(raw[-1].__class__(len(raw), later.user, later.text, later.record))
    assert (await house.audit()).agrees


def test_the_command_asks_for_nothing_that_crowds_do_not_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.yaml").write_text(SETTINGS + "".join(f"  {line}\n" for line in CROWD.splitlines()))
    for options in ({"accounts": 3}, {"metrics": ["http://127.0.0.1:1/metrics"]}):
        with pytest.raises(typer.Exit) as refused:
            audit_command(tmp_path / "c.yaml", **options)  # type: ignore[arg-type]
        assert refused.value.exit_code == EXIT_REFUSED
        assert "crowds have no users to follow" in capsys.readouterr().err
