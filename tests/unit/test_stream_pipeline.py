"""From records to effects: what leaves, what does not, and that repeating changes no byte."""

from __future__ import annotations

import numpy as np
import orjson
import pytest
from pipeline_help import ACTIVITIES, TOPIC_ID, Line, Record, promise_of, record_settings, walk
from step_help import policy_of

from beliefs.rounding import budget_units
from stream import names
from stream.policy import SPENT_FORECAST, SPENT_SUPPRESS
from stream.protocol.effects import Effects
from stream.release_ids import release_ids


def everything(effects: Effects) -> tuple[object, ...]:
    lists = (effects.releases, effects.dead_letters, effects.changelog, effects.keys)
    return (effects.next_offset, *[list(part) for part in lists], effects.heads.tobytes(), effects.codes.tobytes())


def test_a_repeated_block_gives_the_same_bytes() -> None:
    records = walk(300)
    assert everything(Line(promise_of()).carry_out(records)) == everything(Line(promise_of()).carry_out(records))


def test_two_half_blocks_release_what_one_block_releases() -> None:
    records = walk(300)
    whole, halves = Line(promise_of()), Line(promise_of())
    expected = list(whole.carry_out(records).releases)
    got = [release for part in (records[:120], records[120:]) for release in halves.carry_out(part).releases]
    assert got == expected
    keys = sorted({record.key for record in records})
    assert whole.store.load(keys).codes.tobytes() == halves.store.load(keys).codes.tobytes()


def test_a_released_record_holds_what_was_declared_and_nothing_else() -> None:
    records = walk(50)
    effects = Line(promise_of(record_settings(headers=["trace"]))).carry_out(records)
    steps: dict[bytes | None, int] = {}
    for record, release in zip(records, effects.releases, strict=True):
        assert (release.key, release.timestamp) == (record.key, record.timestamp)
        document = orjson.loads(release.value)
        assert set(document) == {"activity", "battery"}
        assert document["battery"] == orjson.loads(record.value)["battery"]
        assert document["activity"] in ACTIVITIES
        steps[record.key] = steps.get(record.key, 0) + 1
        assert [name for name, _ in release.headers] == ["release-id", "policy", "model", "step", "trace"]
        assert dict(release.headers)["step"] == b"%d" % steps[record.key]
        assert dict(release.headers)["policy"] == b"3:31323334"
        assert dict(release.headers)["trace"] == b"t%d" % record.offset
    assert len({dict(release.headers)["release-id"] for release in effects.releases}) == 50
    assert b"canary" not in b"".join(repr(release).encode() for release in effects.releases)


def test_partitions_and_topics_have_coins_and_ids_of_their_own() -> None:
    records = walk(200)
    one, two = (Line(promise_of(), partition).carry_out(records).releases for partition in (0, 1))
    assert [release.value for release in one] != [release.value for release in two]
    ids = {dict(release.headers)["release-id"] for release in (*one, *two)}
    assert len(ids) == 400


BAD = {
    names.TOMBSTONE: None,
    names.NOT_JSON: b'{"activity": "still"',
    names.FIELD_MISSING: b'{"battery": 3}',
    names.OUTSIDE_ALPHABET: b'{"activity": "canary"}',
    names.DUPLICATE_KEY: b'{"activity": "still", "activity": "walking"}',
}


def test_what_cannot_be_released_becomes_a_dead_letter_without_its_value() -> None:
    records = [Record(offset, value) for offset, value in enumerate(BAD.values(), start=7)]
    effects = Line(promise_of()).carry_out(records)
    letters = [orjson.loads(letter.value) for letter in effects.dead_letters]
    assert [letter["reason"] for letter in letters] == list(BAD)
    assert [letter["offset"] for letter in letters] == [7, 8, 9, 10, 11]
    assert all((letter["topic"], letter["partition"]) == ("raw", 0) for letter in letters)
    assert all(letter.key is None and not letter.headers for letter in effects.dead_letters)
    assert b"canary" not in repr(effects.dead_letters).encode()
    assert not effects.releases and not effects.changelog
    assert effects.next_offset == 12
    assert effects.reasons == dict.fromkeys(BAD, 1)


@pytest.mark.parametrize("when_spent", [SPENT_FORECAST, SPENT_SUPPRESS])
def test_every_record_has_exactly_one_outcome(when_spent: int) -> None:
    line = Line(promise_of(policy=policy_of(budget=budget_units(5.0), when_spent=when_spent)))
    records = [*walk(200), *[Record(200 + i, value) for i, value in enumerate(BAD.values())]]
    first, again = line.carry_out(records), line.carry_out(records)
    for effects in (first, again):
        assert sum(effects.outcomes.values()) == len(records)
        visible = effects.outcomes[names.RELEASED] + effects.outcomes[names.FORECAST]
        assert visible == len(effects.releases)
    assert again.outcomes[names.REPLAYED] == 200 and not again.changelog
    spent = names.FORECAST if when_spent == SPENT_FORECAST else names.SUPPRESSED
    assert first.outcomes[spent] == 200 - first.outcomes[names.RELEASED] > 0


def test_a_forecast_says_so_and_a_suppressed_event_leaves_a_gap_in_the_steps() -> None:
    for when_spent in (SPENT_FORECAST, SPENT_SUPPRESS):
        policy = policy_of(budget=budget_units(2.0), window=5_000, when_spent=when_spent)
        releases = Line(promise_of(policy=policy)).carry_out(walk(60, users=1)).releases
        steps = [int(dict(release.headers)["step"]) for release in releases]
        marked = [dict(release.headers).get("outcome") for release in releases]
        if when_spent == SPENT_FORECAST:
            assert steps == list(range(1, 61))
            assert set(marked) == {None, b"forecast"}
        else:
            assert len(steps) < 60 and steps == sorted(set(steps))
            assert set(marked) == {None}


def test_a_pseudonym_stands_for_the_user_in_the_release_and_in_the_changelog() -> None:
    line = Line(promise_of(pseudonym=lambda user: b"p-" + user[-1:]))
    effects = line.carry_out(walk(40))
    assert {release.key for release in effects.releases} == {b"p-%d" % i for i in range(5)}
    assert {entry.key for entry in effects.changelog} == {b"up-%d" % i for i in range(5)}


def test_a_user_whose_row_cannot_be_read_gets_dead_letters_and_nobody_else_does() -> None:
    line = Line(promise_of())
    records = walk(100)
    line.store.quarantine({b"user-2": b"broken"})
    effects = line.carry_out(records)
    theirs = [record.offset for record in records if record.key == b"user-2"]
    letters = [orjson.loads(letter.value) for letter in effects.dead_letters]
    assert [(letter["reason"], letter["offset"]) for letter in letters] == [("state_unreadable", o) for o in theirs]
    assert b"user-2" not in {release.key for release in effects.releases}
    assert len(effects.releases) == 100 - len(theirs)
    assert b"user-2" in line.store.unreadable


def test_the_release_id_is_bound_to_topic_partition_offset_and_policy() -> None:
    record = [Record(5, b'{"activity": "still"}')]
    promise = promise_of()
    release = Line(promise).carry_out(record).releases[0]
    expected = release_ids(TOPIC_ID, 0, np.array([5]), promise.policy_fingerprint)[0]
    assert dict(release.headers)["release-id"] == expected
