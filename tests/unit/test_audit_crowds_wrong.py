"""Whatever is changed in the topics of crowds is found: each fault is planted, and has its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from audit_memory import Kept, with_header
from crowd_audited import DEAD, GATHERED, RAW, RECORDS, RING_KEYS, SENT, TOTAL, House
from crowd_lives import COUNT, HISTOGRAM, LAW, MEAN, NOTHING, RANGE, SUM, at, law_text
from test_audit_crowds import FRESH, ROW, TOLD, TOPPED, crowd_at

Said = dict[str, Any]
Change = Callable[[Said], None]

WINDOWS: list[tuple[str, str, str, Change]] = [
    ("crowd_value", SUM, NOTHING, lambda said: said["release"].update(value=said["release"]["value"] + 0.5)),
    ("crowd_value", SUM, NOTHING, lambda said: said["release"].update(grid=1)),
    ("crowd_value", SUM, NOTHING, lambda said: said["release"].update(kind="mean")),
    ("crowd_value", COUNT, NOTHING, lambda said: said["release"].update(value=said["release"]["value"] - 1)),
    ("crowd_value", MEAN, NOTHING, lambda said: said["release"].update(value=said["release"]["value"] + 1e-6)),
    ("crowd_value", MEAN, NOTHING, lambda said: said["release"].update(users=said["release"]["users"] + 1)),
    ("crowd_value", RANGE, NOTHING, lambda said: said["release"].update(low=said["release"]["low"] + 0.5)),
    ("crowd_value", RANGE, NOTHING, lambda said: said["release"].update(high=99)),
    ("crowd_value", HISTOGRAM, NOTHING, lambda said: moved(said["release"]["cells"])),
    ("crowd_value", HISTOGRAM, NOTHING, lambda said: said["release"]["cells"].reverse()),
    ("crowd_strange", HISTOGRAM, NOTHING, lambda said: said["release"]["cells"][0].update(who=["ann"])),
    ("crowd_strange", SUM, NOTHING, lambda said: said["release"].update(people=["ann"])),
    ("crowd_strange", SUM, NOTHING, lambda said: said.update(names=["ann"])),
    ("crowd_strange", SUM, NOTHING, lambda said: said.update(reason="delta")),
    ("crowd_strange", SUM, NOTHING, lambda said: said.update(crowds=1)),
    ("crowd_users", SUM, NOTHING, lambda said: said.update(users=said["users"] + 1)),
    ("crowd_span", SUM, NOTHING, lambda said: said["window"].update(end="2026-01-01T00:00:00Z")),
    ("crowd_twice", SUM, NOTHING, lambda said: said["window"].update(number=0)),
    ("crowd_missing", SUM, NOTHING, lambda said: said["window"].update(number=4)),
    ("crowd_needless", SUM, NOTHING, lambda said: withheld(said, "too_few")),
    ("crowd_needless", SUM, TOLD, lambda said: withheld(said, "delta")),
    ("crowd_needless", SUM, NOTHING, lambda said: withheld(said, "differencing")),
    ("crowd_guarantee", SUM, NOTHING, lambda said: said["guarantee"].update(delta=0)),
    ("crowd_guarantee", SUM, NOTHING, lambda said: said["guarantee"].update(k=2)),
    ("crowd_guarantee", SUM, TOLD, lambda said: said["guarantee"].update(epsilon=0.5)),
    ("crowd_guarantee", SUM, TOLD, lambda said: said["guarantee"]["target"].update(beyond="top_up")),
    ("crowd_guarantee", SUM, TOLD, lambda said: said["guarantee"]["adversaries"].update(independent=None)),
    ("crowd_guarantee", SUM, TOLD, lambda said: said["guarantee"].update(known=0.5)),
    ("crowd_guarantee", SUM, FRESH, lambda said: said["guarantee"].update(total={"delta": 0})),
    ("crowd_guarantee", SUM, ROW, lambda said: said["guarantee"]["total"].update(windows=5)),
    ("crowd_below_truth", SUM, ROW, lambda said: totalled(said, 0.9)),
    ("crowd_beyond_target", SUM, ROW, lambda said: totalled(said, 20)),
    ("crowd_below_truth", HISTOGRAM, TOLD, lambda said: scaled(said, "delta", 0.98)),
    ("crowd_below_truth", SUM, TOLD, lambda said: scaled(said, "delta", 0.99)),
    ("crowd_below_truth", SUM, TOLD, lambda said: scaled(said, "epsilon_at_target", 0.99)),
    ("crowd_above_truth", SUM, TOLD, lambda said: scaled(said, "delta", 1.05)),
    ("crowd_above_truth", SUM, TOLD, lambda said: scaled(said, "epsilon_at_target", 1.05)),
    ("crowd_below_truth", RANGE, LAW, lambda said: scaled(said, "delta", 0.98)),
    ("crowd_below_truth", SUM, TOPPED, lambda said: scaled(said, "delta", 0.9)),
    ("crowd_beyond_target", SUM, TOLD, lambda said: scaled(said, "delta", 30)),
    ("crowd_noise", SUM, TOPPED, lambda said: said["release"].update(noise_scale=3.7)),
    ("crowd_below_truth", SUM, TOPPED, lambda said: said["release"].update(noise_scale=None)),
    ("crowd_noise", SUM, TOLD, lambda said: said["release"].update(noise_scale=0.5)),
]

BOXES: list[tuple[str, Change]] = [
    ("crowd_small", lambda said: said.update(users=2)),
    ("crowd_mixed", lambda said: said.update(users=said["users"] + 1)),
    ("crowd_members", lambda said: one_more(said)),
    ("crowd_members", lambda said: said["box"].update(v=[7.5, 8])),
    ("crowd_box", lambda said: said["box"].update(v=[-2, 9])),
    ("crowd_box", lambda said: said["box"].update(v=[0.2, 0.7])),
    ("crowd_box", lambda said: said["box"].update(job="pilots")),
    ("crowd_box", lambda said: said["box"].pop("job")),
    ("crowd_box", lambda said: said.update(loss=said["loss"] / 2 + 0.01)),
    ("crowd_mixed", lambda said: said["sensitive"].pop()),
    ("crowd_mixed", lambda said: said.update(sensitive=[{"value": "flu", "count": said["users"]}])),
    ("crowd_mixed", lambda said: said.update(sensitive=None)),
    ("crowd_strange", lambda said: said.update(members=["ann"])),
    ("crowd_twice", lambda said: said.update(crowd=0)),
    ("crowd_missing", lambda said: said.update(crowd=7)),
]


def moved(cells: list[Said]) -> None:
    cells[0]["count"] += 1
    cells[1]["count"] -= 1


def one_more(said: Said) -> None:
    said["users"] += 1
    said["sensitive"][0]["count"] += 1


def withheld(said: Said, reason: str) -> None:
    said.update(outcome="withheld", reason=reason, release=None)


def scaled(said: Said, part: str, factor: float) -> None:
    guarantee = said["guarantee"]
    told = guarantee["adversaries"]["independent"]
    told[part] *= factor
    guarantee["delta"] = told["delta"]


def totalled(said: Said, factor: float) -> None:
    said["guarantee"]["total"]["delta"] *= factor


@pytest.mark.parametrize(("code", "release", "believes", "change"), WINDOWS)
async def test_whatever_a_window_says_otherwise_is_found(
    tmp_path: Path, code: str, release: str, believes: str, change: Change
) -> None:
    house = House(tmp_path, release, believes)
    house.change(2, change)
    report = await house.audit()
    assert code in report.findings.codes()
    assert report.exit_status == 1


@pytest.mark.parametrize(("code", "change"), BOXES)
async def test_whatever_a_crowd_says_otherwise_is_found(tmp_path: Path, code: str, change: Change) -> None:
    house = House(tmp_path, RECORDS)
    house.change(house.place(lambda said: said.get("crowd") == 1), change)
    assert code in (await house.audit()).findings.codes()


async def test_crowds_that_are_gone_come_twice_or_in_another_order_are_found(tmp_path: Path) -> None:
    house = House(tmp_path, RECORDS)
    place = house.place(lambda said: said.get("crowd") == 1)
    gone = house.released.pop(place)
    assert "crowd_missing" in (await house.audit()).findings.codes()
    house.released[place:place] = [gone, gone]
    assert "crowd_twice" in (await house.audit()).findings.codes()
    del house.released[place]
    one, two = house.released[place - 1], house.released[place]
    house.released[place - 1 : place + 1] = [two, one]
    assert house.said()[place]["crowd"] == 0
    assert {"crowd_twice", "crowd_missing"} & (await house.audit()).findings.codes()


async def test_a_released_window_of_two_a_late_comer_or_nearly_the_same_people_is_found(tmp_path: Path) -> None:
    """The records of windows that may be released, beside raw events that say that they must not."""
    house = House(tmp_path, sent=[[*crowd_at(0, range(10)), *crowd_at(1, range(20, 30))]], minutes=2)
    raw = house.memory.logs[RAW][0]
    before = list(raw)

    async def codes(walks: list[Any]) -> set[tuple[str, str]]:
        raw[:] = [Kept(place, walk.user, walk.text, walk.record) for place, walk in enumerate(walks)]
        progress = len(raw).to_bytes(8, "big")
        house.memory.logs[GATHERED][0][1] = Kept(1, b"o", progress)
        report = await house.audit()
        return {(finding.code, finding.detail) for finding in report.findings}

    assert ("crowd_small", "too_few") in await codes([*crowd_at(0, range(10)), *crowd_at(1, range(2))])
    found = await codes([*crowd_at(0, range(10)), *crowd_at(1, range(11))])
    assert ("crowd_wrongly_released", "differencing") in found
    again = [*crowd_at(0, range(10)), *crowd_at(1, range(20, 30)), at(75, "p20"), at(3, "p3", record=76)]
    assert ("crowd_untimely", "") in await codes(again)
    raw[:] = before


async def test_raw_events_and_dead_letters_that_do_not_go_together_are_found(tmp_path: Path) -> None:
    house = House(tmp_path)
    letters = house.memory.logs[DEAD][0]
    kept = list(letters)

    async def codes() -> set[str]:
        found = (await house.audit()).findings.codes()
        letters[:] = kept
        return found

    del letters[0]
    assert "crowd_untimely" in await codes()
    letters.append(letters[0])
    assert "crowd_letter_twice" in await codes()
    for old, new in ((b"late", b"before_start"), (b"time_ahead", b"late"), (b"late", b"field_type")):
        place = next(at for at, letter in enumerate(letters) if old in (letter.value or b""))
        letters[place] = replace(letters[place], value=(letters[place].value or b"").replace(old, new))
        assert "crowd_refused" in await codes(), (old, new)
    value = b'{"reason":"late","path":"$.t","topic":"walkers.raw","partition":0,"offset":0}'
    letters.append(Kept(99, None, value))
    assert {"crowd_users"} <= await codes()
    raw = house.memory.logs[RAW][0]
    raw[0] = replace(raw[0], value=b'{"t": "soon"}')
    assert "crowd_unread" in await codes()


async def test_headers_keys_times_and_records_of_others_are_looked_at(tmp_path: Path) -> None:
    house = House(tmp_path)
    record = house.released[3]
    cases = [
        ("crowd_policy", with_header(record, "policy", b"9:00000000")),
        ("crowd_id", with_header(record, "release-id", b"0" * 32)),
        ("crowd_strange", replace(record, headers=(*record.headers, ("user", b"ann")))),
        ("crowd_strange", with_header(record, "outcome", b"withheld")),
        ("crowd_span", replace(record, key=b"2026")),
        ("crowd_span", replace(record, timestamp=record.timestamp + 1)),
        ("crowd_unreadable", replace(record, value=b"{}")),
        ("crowd_unreadable", replace(record, value=b"[" * 100_000)),
        ("crowd_unreadable", replace(record, value=(record.value or b"").replace(b'"reason"', b'"outcome"'))),
    ]
    for code, changed in cases:
        house.released[3] = changed
        assert code in (await house.audit()).findings.codes(), code


async def test_what_partitions_sent_is_held_against_who_was_there(tmp_path: Path) -> None:
    house = House(tmp_path)
    raw, sent = house.memory.logs[RAW][0], house.memory.logs[SENT][0]
    before = raw[0]
    raw[0] = replace(before, key=b"somebody-else")
    public, opened = await house.audit(), await house.audit(ring_keys=RING_KEYS)
    assert public.agrees
    assert opened.findings.codes() == {"crowd_sent"}
    raw[0] = before
    sent.append(Kept(len(sent), None, b"not of anybody"))
    assert (await house.audit(ring_keys=RING_KEYS)).findings.codes() == {"crowd_sent_unreadable"}
    sent[-1] = replace(sent[0], offset=len(sent))
    assert (await house.audit(ring_keys=RING_KEYS)).findings.codes() == {"partial_twice"}
    del sent[-1]
    body = sent[1].value or b""
    sent[1] = replace(sent[1], value=body[:-1] + bytes([body[-1] ^ 1]))
    assert (await house.audit(ring_keys=RING_KEYS)).findings.codes() == {"crowd_sent_unreadable", "crowd_early"}


async def test_noise_from_other_coins_is_seen_with_the_keys_alone(tmp_path: Path) -> None:
    house = House(tmp_path, SUM, TOPPED)
    house.change(1, lambda said: said["release"].update(value=said["release"]["value"] + 0.5))
    assert (await house.audit()).agrees
    assert (await house.audit(ring_keys=RING_KEYS)).findings.codes() == {"wrong_noise"}
    house.change(1, lambda said: said["release"].update(value=9_999_999))
    assert (await house.audit()).findings.codes() == {"crowd_value"}


async def test_more_noise_than_is_asked_for_is_found(tmp_path: Path) -> None:
    house = House(tmp_path, SUM, TOPPED)
    scale = house.said()[1]["release"]["noise_scale"]
    house.change(1, lambda said: said["release"].update(noise_scale=scale * 4))
    assert ("crowd_noise", "more than asked for") in {
        (finding.code, finding.detail) for finding in (await house.audit()).findings
    }


async def test_a_law_that_is_another_one_shows(tmp_path: Path) -> None:
    """The same records under the law of other people: the policy is another, and the numbers are too low."""
    house = House(tmp_path, SUM, LAW)
    (tmp_path / "law.json").write_bytes(law_text(types={"default": [0.9, *[0.005] * 20]}))
    assert {"crowd_policy", "crowd_below_truth"} <= (await house.audit()).findings.codes()


async def test_windows_before_all_partitions_closed_them_and_what_the_changelog_knows(tmp_path: Path) -> None:
    house = House(tmp_path)
    log = house.memory.logs[GATHERED][1]
    mark = log[2].value or b""
    log[2] = replace(log[2], value=mark[:1] + (int.from_bytes(mark[1:9], "big") - 60_000).to_bytes(8, "big") + mark[9:])
    assert "crowd_early" in (await house.audit()).findings.codes()
    log[2] = replace(log[2], value=mark)
    assert house.memory.logs[TOTAL][0][0].key == b"a"
    del house.released[-1]
    assert (await house.audit()).findings.codes() == {"crowd_missing"}


async def test_a_window_that_readers_of_uncommitted_data_saw_otherwise_is_found(tmp_path: Path) -> None:
    house = House(tmp_path)
    record = house.released[2]
    house.released.insert(2, replace(record, committed=False))
    assert (await house.audit()).agrees
    other = (record.value or b"").replace(b'"reason":null', b'"reason": null')
    house.released[2] = replace(record, committed=False, value=other)
    assert (await house.audit()).findings.codes() == {"crowd_two_texts"}
    assert (await house.audit(with_uncommitted=False)).agrees
