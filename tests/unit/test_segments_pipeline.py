"""Several models in one pipeline: each user is served as if his model served alone, however the records are cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pipeline_help import Record
from segment_world import BY_ROOM, SIMPLE, UNLIKE, House, Line, house_of, mixed, record, sticky

from stream import names
from stream.protocol.effects import Effects
from stream.protocol.ports import Outgoing
from stream.segments import name_of
from stream.state import Word

WINDOWS = {"bisect": "{events: 3, stretch: 20s}", "natural": "{events: 3, stretch: 20s, order: natural}"}
KINDS: dict[str, Callable[[], House]] = {
    "alike": cache(lambda: house_of(SIMPLE)),
    "unlike": cache(lambda: house_of(UNLIKE)),
    "clock": cache(lambda: house_of(UNLIKE, step="1s")),
    "stop": cache(lambda: house_of(UNLIKE, when_spent="stop", nats=2)),
    "published": cache(lambda: house_of(SIMPLE, mechanism="published_crr")),
    "nested": cache(lambda: house_of(SIMPLE, models=BY_ROOM, public="[$.battery, $.where.room]")),
    **{order: cache(lambda text=text: house_of(SIMPLE, windows=text)) for order, text in WINDOWS.items()},  # type: ignore[misc]
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
START_MS = 1_700_000_000_000


def settled(line: Line, effects: Sequence[Effects]) -> list[Outgoing]:
    """All releases, with those of the windows that nobody would end otherwise, by the user's step."""
    releases = [release for each in effects for release in each.releases]
    closed = line.close_overdue(1 << 60)
    return releases + ([] if closed is None else list(closed.releases))


def by_user(releases: Sequence[Outgoing]) -> dict[bytes, list[Outgoing]]:
    found: dict[bytes, list[Outgoing]] = {}
    for release in releases:
        found.setdefault(release.key or b"", []).append(release)
    return found


def letters(effects: Effects) -> list[dict[str, Any]]:
    return [orjson.loads(letter.value or b"") for letter in effects.dead_letters]


def expected(records: Sequence[Record]) -> tuple[dict[int, str], dict[int, list[Record]]]:
    """By the definition alone: which offsets are refused, and why; and which records each model serves."""
    model_of = {"phone": 0, "sensor": 1}
    first: dict[bytes | None, int] = {}
    refused: dict[int, str] = {}
    served: dict[int, list[Record]] = {0: [], 1: [], 2: []}
    for one in records:
        document = orjson.loads(one.value or b"")
        device = document.get("device")
        if document["activity"] == "elsewhere":
            refused[one.offset] = names.OUTSIDE_ALPHABET
        elif type(device) not in (str, int, float, bool):
            refused[one.offset] = names.UNKNOWN_SEGMENT
        elif first.setdefault(one.key, model_of.get(str(device), 2)) != model_of.get(str(device), 2):
            refused[one.offset] = names.SEGMENT_CHANGED
        else:
            served[first[one.key]].append(one)
    return refused, served


@EVERY_KIND
def test_each_user_is_served_as_if_his_model_served_alone(kind: str) -> None:
    house, records = KINDS[kind](), mixed(600, users=9, nested=kind == "nested")
    together = Line(house)
    effects = [together.carry_out(records[at : at + 150]) for at in range(0, 600, 150)]
    releases = by_user(settled(together, effects))
    refused, served = expected(records)
    assert {letter["offset"]: letter["reason"] for each in effects for letter in letters(each)} == refused
    assert Counter(refused.values()).keys() == {names.OUTSIDE_ALPHABET, names.UNKNOWN_SEGMENT, names.SEGMENT_CHANGED}
    seen = 0
    for number, promise in enumerate(house.promise().served):
        alone = Line(house, promise)
        own = [alone.carry_out(served[number][at : at + 70]) for at in range(0, len(served[number]), 70)]
        wanted = by_user(settled(alone, own))
        users = sorted({one.key for one in served[number] if one.key is not None})
        assert {user: releases.get(user) for user in users} == {user: wanted.get(user) for user in users}
        assert together.rows(users) == alone.rows(users)
        seen += len(users)
    assert seen == 9
    rows = {each.key: each.value for part in effects for each in part.changelog if (each.key or b"").startswith(b"u")}
    assert {len(row or b"") for row in rows.values()} == {len(row) for row in together.rows([k[1:] for k in rows if k])}


@EVERY_KIND
def test_every_way_to_cut_the_records_releases_the_same(kind: str) -> None:
    records = mixed(120, users=5, changed=4, none=6, nested=kind == "nested")
    whole = Line(KINDS[kind]())
    once = whole.carry_out(records)
    users = sorted({one.key for one in records if one.key is not None})

    @hypothesis_settings(max_examples=25, deadline=None)
    @given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
    def check(sizes: list[int]) -> None:
        line, at, releases, dead = Line(KINDS[kind]()), 0, [], []
        while at < len(records):
            size = sizes[0] if sizes else len(records)
            sizes = sizes[1:]
            effects = line.carry_out(records[at : at + size])
            releases += list(effects.releases)
            dead += list(effects.dead_letters)
            at += size
        assert releases == list(once.releases)
        assert dead == list(once.dead_letters)
        assert line.rows(users) == whole.rows(users)
        assert dict(line.store.held()) == dict(whole.store.held())

    check()


@EVERY_KIND
def test_every_record_has_one_outcome_and_a_repeated_block_has_no_other(kind: str) -> None:
    records = mixed(300, users=7, nested=kind == "nested")
    line = Line(KINDS[kind]())
    first = line.carry_out(records)
    assert sum(first.outcomes.values()) + first.held_change == 300
    assert first.reasons == Counter(expected(records)[0].values())
    again = line.carry_out(records)
    assert len(again.releases) == 0
    assert len(again.changelog) == 0
    assert again.outcomes[names.RELEASED] == again.outcomes[names.FORECAST] == again.held_change == 0
    assert sum(again.outcomes.values()) == 300


@pytest.mark.parametrize("kind", ["unlike", "bisect", "natural"])
def test_an_event_of_another_segment_leaves_the_users_row_as_it_is(kind: str) -> None:
    line = Line(KINDS[kind]())
    line.carry_out([record(0, b"u", "phone"), record(1, b"v", "sensor")])
    before, held = line.rows([b"u"]), line.store.load_held([b"u"])
    effects = line.carry_out([record(2, b"u", "sensor", "act3"), record(3, b"u", "watch"), record(4, b"v", "sensor")])
    assert (line.rows([b"u"]), line.store.load_held([b"u"])) == (before, held)
    assert effects.keys == [b"v"]
    assert letters(effects) == [
        {"reason": "segment_changed", "path": "$.device", "topic": "raw", "partition": 0, "offset": offset}
        for offset in (2, 3)
    ]
    after = line.carry_out([record(5, b"u", "phone")])
    assert line.store.load([b"u"]).heads[0, Word.WATERMARK] == 5
    assert after.outcomes[names.DEAD_LETTERED] == 0


def test_the_first_event_that_is_carried_out_decides_also_within_a_block() -> None:
    records = [record(0, b"u", None), record(1, b"u", "sensor", "elsewhere"), record(2, b"u", "phone")]
    records += [record(3, b"u", "sensor"), record(4, b"u", "phone")]
    effects = Line(KINDS["unlike"]()).carry_out(records)
    reasons = [(letter["offset"], letter["reason"]) for letter in letters(effects)]
    assert reasons == [(0, "unknown_segment"), (1, "outside_alphabet"), (3, "segment_changed")]
    assert [dict(release.headers)["step"] for release in effects.releases] == [b"1", b"2"]


NO_NAME = [None, [], ["sensor"], {}, {"sensor": 1}]
NAMES = ["sensor", "", "s\u00e9", 7, -7, 7.5, 1e300, 0.1, True, False, "true", "7", 'quo"te', 2**60]


@pytest.mark.parametrize("public", ["[$.battery, $.device]", "[$.battery, $.device, $.where.room]"])
def test_a_text_a_number_and_a_truth_value_have_a_name_and_nothing_else_has(public: str) -> None:
    """Both with the compiled scan and without it, and the name is what the released record shows."""
    models = "by: $.device, files: {sensor: a.json, '7': b.json, 'true': b.json}, otherwise: c.json"
    house = house_of((sticky(0.5), sticky(0.8), sticky(0.5), sticky(0.625)), models=models, public=public)
    wanted = {"7": 0, "sensor": 1, "true": 0}
    records = [record(i, b"u%d" % i, device) for i, device in enumerate(NAMES)]
    records += [record(len(NAMES) + i, b"n%d" % i, device) for i, device in enumerate(NO_NAME)]
    records.append(replace(record(90, b"null"), value=b'{"activity": "act1", "device": null}'))
    records.append(replace(record(91, b"escaped"), value=rb'{"activity": "act1", "device": "sen\u0073or"}'))
    records.append(replace(record(92, b"exponent"), value=b'{"activity": "act1", "device": 70e-1}'))
    line = Line(house)
    effects = line.carry_out(records)
    refused = [letter["offset"] for letter in letters(effects)]
    assert refused == [*range(len(NAMES), len(NAMES) + len(NO_NAME)), 90]
    assert {letter["reason"] for letter in letters(effects)} == {"unknown_segment"}
    promises = house.promise().served
    assert len(promises) == 3
    for release in effects.releases:
        shown = orjson.loads(release.value or b"")["device"]
        number = wanted.get(name_of(shown) or "", 2)
        assert dict(release.headers)["model"] == promises[number].model_name.encode(), shown


def test_without_a_model_for_others_their_events_are_refused() -> None:
    house = house_of(SIMPLE[:2], models="by: $.device, files: {sensor: a.json, phone: b.json}")
    effects = Line(house).carry_out([record(0, b"u", "watch"), record(1, b"u", "phone"), record(2, b"v", 7)])
    assert [(letter["offset"], letter["reason"]) for letter in letters(effects)] == [
        (0, "unknown_segment"),
        (2, "unknown_segment"),
    ]
    assert len(effects.releases) == 1


def test_two_names_that_no_model_is_listed_for_are_one_segment() -> None:
    effects = Line(KINDS["alike"]()).carry_out([record(0, b"u", "watch"), record(1, b"u", 7), record(2, b"u", "tv")])
    assert len(effects.releases) == 3


def test_names_with_the_same_model_are_one_segment() -> None:
    """Nothing can be confused there: whichever of the two names decides, the same model serves."""
    house = house_of((sticky(0.8), sticky(0.8), sticky(0.5)))
    assert [(serving.names, serving.others) for serving in house.servings] == [(("phone", "sensor"), False), ((), True)]
    effects = Line(house).carry_out([record(0, b"u", "phone"), record(1, b"u", "sensor"), record(2, b"u", "watch")])
    assert [letter["reason"] for letter in letters(effects)] == ["segment_changed"]
    same = house_of((sticky(0.8),) * 3)
    assert len(same.promise().served) == 1
    records = [record(0, b"u", "phone"), record(1, b"u", "sensor"), record(2, b"u", 3), record(3, b"u", None)]
    assert len(Line(same).carry_out(records).releases) == 3


def test_the_names_of_model_and_policy_bind_who_is_served_by_which() -> None:
    one, swapped = KINDS["alike"]().promise(), house_of((SIMPLE[1], SIMPLE[0], SIMPLE[2])).promise()
    fewer = house_of(SIMPLE[:2], models="by: $.device, files: {sensor: a.json, phone: b.json}").promise()
    by_other = house_of(SIMPLE, models="by: $.battery, files: {sensor: a.json, phone: b.json}, otherwise: c.json")
    promises = [one, swapped, fewer, by_other.promise(), house_of(SIMPLE, step="1m").promise()]
    for what in ("beliefs_name", "model_name", "policy_name", "policy_fingerprint"):
        assert len({getattr(promise, what) for promise in promises}) == len(promises), what
    assert one.beliefs_name == f"segments@{one.segments.short}" if one.segments else ""
    assert one.model_name == f"1:{SIMPLE[0].short}@{one.beliefs_name[-8:]}"
    assert len({promise.policy_fingerprint for promise in one.served}) == 1


def test_dead_letters_show_neither_the_value_nor_the_segment() -> None:
    records = [record(0, b"u", "phone"), record(1, b"u", "sensor", "act2"), record(2, b"w", ["canary"], "act2")]
    effects = Line(KINDS["alike"]()).carry_out(records)
    told = b"".join(letter.value or b"" for letter in effects.dead_letters)
    assert len(effects.dead_letters) == 2
    for secret in (b"act", b"phone", b"sensor", b"canary"):
        assert secret not in told


def test_what_waits_for_a_silent_user_is_released_under_his_own_model() -> None:
    house = KINDS["bisect"]()
    line = Line(house)
    line.carry_out([record(0, b"u", "phone"), record(1, b"v", "sensor")])
    closed = line.close_overdue(START_MS + 10_000_000)
    assert closed is not None
    models = {release.key: dict(release.headers)["model"].decode() for release in closed.releases}
    promises = house.promise().served
    assert models == {b"u": promises[0].model_name, b"v": promises[1].model_name}
    assert {row[4:8] for row in line.rows([b"u", b"v"])} == {
        promise.policy.model_tag.to_bytes(4, "little") for promise in promises[:2]
    }


def test_a_user_whose_row_cannot_be_read_is_no_user_of_any_segment() -> None:
    line = Line(KINDS["unlike"]())
    line.store.quarantine({b"u": b"broken"})
    effects = line.carry_out([record(0, b"u", "phone"), record(1, b"u", "sensor"), record(2, b"v", "sensor")])
    assert [letter["reason"] for letter in letters(effects)] == ["state_unreadable", "state_unreadable"]
    assert effects.keys == [b"v"]
