"""What is said of single windows of a crowd: which are withheld and why, with which noise, and nobody by name."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from aggregate_lives import MINUTE, SECOND, START, Life, block_of_partials, told
from crowd_lives import (
    COUNT,
    FRESH,
    HOMES,
    HOUSED,
    LAW,
    MEAN,
    RECORDS,
    SUM,
    TOPPED,
    TWO,
    TYPED,
    Walk,
    at,
    block_of,
    crowd_promise,
    gather_of,
    released_of,
    windows_of,
)

from stream.crowds import parts as parts_room


def people(count: int, first: int = 0, window: int = 0, **more: Any) -> list[Walk]:
    return [at(window * 60 + 1 + i / 100, f"p{first + i}", (i % 21) / 2 - 2, **more) for i in range(count)]


def test_whoever_comes_from_two_partitions_is_one() -> None:
    """His last event counts; of equal times that of the lower partition."""
    here, there = [*people(3), at(5, "both", 4.0), at(9, "tie", 1.0)], [at(6, "both", 8.0), at(9, "tie", 7.0)]
    said = released_of(crowd_promise(f"{SUM}, take: last"), here, there)[0]
    assert (said["users"], said["release"]["value"]) == (5, -2 - 1.5 - 1 + 8 + 1)
    said = released_of(crowd_promise(f"{SUM}, take: first"), here, there)[0]
    assert (said["users"], said["release"]["value"]) == (5, -2 - 1.5 - 1 + 4 + 1)
    said = released_of(crowd_promise(f"{SUM}, take: largest"), here, there)[0]
    assert (said["users"], said["release"]["value"]) == (5, -2 - 1.5 - 1 + 8 + 7)


def test_records_are_divided_into_crowds_whoever_they_are() -> None:
    """The same values under other names, in another order, from other partitions: the same boxes."""
    promise = crowd_promise(RECORDS)
    sent = [
        at(1 + i / 100, f"p{i}", (i * 7 % 19) / 2, job="abc"[i % 3], ill=("flu", "cold")[i // 3 % 2]) for i in range(60)
    ]
    other = [each._replace(user=b"q%d" % (i * 7 % 60), time=each.time + i * 3) for i, each in enumerate(reversed(sent))]
    one, two = released_of(promise, sent), released_of(promise, other[:20], other[20:])
    assert one == two
    *crowds, window = one
    assert window["crowds"] == len(crowds) > 3
    assert [each["crowd"] for each in crowds] == list(range(len(crowds)))
    assert sum(each["users"] for each in crowds) + window["suppressed"] == 60
    assert all(each["users"] >= 3 for each in crowds)
    assert all(sum(some["count"] for some in each["sensitive"]) == each["users"] for each in crowds)
    assert all(2 * max(some["count"] for some in each["sensitive"]) <= each["users"] for each in crowds)


def test_a_crowd_has_a_key_and_an_id_of_its_own() -> None:
    promise = crowd_promise(RECORDS)
    life = Life(windows_of(promise))
    sent = [at(1 + i / 100, f"p{i}", i / 2, ill=("flu", "cold")[i % 2]) for i in range(12)]
    gather = Life(gather_of(promise))
    gather.carry_out(block_of([*sent, at(100, "end")]))
    life.carry_out(block_of_partials(gather.released))
    keys = [record.key for record in life.released]
    assert keys == [*(b"2026-01-01T00:00:00Z#%d" % place for place in range(len(keys) - 1)), b"2026-01-01T00:00:00Z"]
    headers = [dict(record.headers) for record in life.released]
    assert [each["outcome"] for each in headers] == [*[b"crowd"] * (len(keys) - 1), b"released"]
    assert len({each["release-id"] for each in headers}) == len(keys) > 2
    assert {record.timestamp for record in life.released} == {START + MINUTE}


def test_a_record_says_what_it_is() -> None:
    (said,) = released_of(crowd_promise(MEAN, LAW, k=10), people(42))
    assert said["window"] == {"start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:01:00Z", "number": 0}
    assert (said["outcome"], said["reason"], said["users"]) == ("released", None, 42)
    assert said["release"] == {"kind": "mean", "value": 3, "sum": 126, "users": 42, "grid": 0.5, "noise_scale": None}
    guarantee = said["guarantee"]
    assert (guarantee["k"], guarantee["epsilon"], guarantee["known"], guarantee["total"]) == (10, 1, 0, None)
    assert 0 < guarantee["delta"] == guarantee["adversaries"]["independent"]["delta"] < 0.5
    assert [name for name, each in guarantee["adversaries"].items() if each is not None] == ["independent"]


def test_a_late_event_changes_no_window() -> None:
    promise = crowd_promise()
    life, gather = Life(windows_of(promise)), Life(gather_of(promise))
    gather.carry_out(block_of([*people(5), *people(5, window=2)]))
    gather.carry_out(block_of([at(5, "late", 8.0, record=130), *people(4, window=5)], 10))
    life.carry_out(block_of_partials(gather.released))
    assert [letter["reason"] for letter in gather.dead_letters] == ["late"]
    numbers = [each["window"]["number"] for each in told(life.released)]
    assert numbers == list(range(len(numbers)))
    assert told(life.released)[0]["users"] == 5


def test_windows_that_differ_by_fewer_than_k_people_are_withheld() -> None:
    groups = [(0, 10), (0, 10), (0, 9), (1, 10), (3, 10), (0, 7), (0, 10)]
    sent = [each for window, (first, count) in enumerate(groups) for each in people(count, first, window)]
    said = released_of(crowd_promise(), sent, windows=len(groups))
    assert [each["reason"] for each in said] == [None, None, "differencing", "differencing", None, None, None]
    fresh = released_of(crowd_promise(SUM, FRESH.replace("0.3", "0.99")), sent, windows=len(groups))
    assert [each["reason"] for each in fresh] == [None] * len(groups)


def test_a_household_larger_than_the_law_knows_withholds_its_window() -> None:
    promise = crowd_promise(COUNT, HOUSED, law=HOMES)
    apart = people(9)
    assert released_of(promise, [*apart, *people(2, 20, home="here")])[0]["reason"] is None
    assert released_of(promise, [*apart, *people(3, 20, home="here")])[0]["reason"] == "household_too_large"
    several = [
        *people(2, 20, home="here"),
        *people(1, 30, home="there"),
        *people(1, 40, home=7),
        *people(1, 50, home=7.0),
    ]
    assert released_of(promise, [*apart, *several])[0]["guarantee"]["adversaries"]["dependent"] is not None


def test_an_unknown_type_is_a_dead_letter() -> None:
    life = Life(gather_of(crowd_promise(COUNT, TYPED, law=TWO)))
    life.carry_out(block_of([at(1, kind="walker"), at(2, "bob", kind="flier")]))
    (letter,) = life.dead_letters
    assert (letter["reason"], letter["path"], letter["offset"]) == ("unknown_type", "$.kind", 1)


def test_a_type_does_not_go_by_the_value() -> None:
    """Of a user of two types the last event's counts, although another one's value does."""
    sent = [*people(9, kind="walker"), at(2, "two", 8.0, kind="runner"), at(3, "two", 1.0, kind="walker")]
    promise = crowd_promise("count: $.job, of: [a]", TYPED, law=TWO)
    whole, plain = (
        released_of(promise, sent),
        released_of(promise, [*people(9, kind="walker"), at(3, "two", kind="walker")]),
    )
    assert whole[0]["guarantee"] == plain[0]["guarantee"]


def test_what_is_lacking_is_topped_up_with_noise() -> None:
    """Five people are few for delta 0.02: some noise; two hundred are enough alone."""
    promise = crowd_promise(SUM, TOPPED)
    few, many = released_of(promise, people(5))[0], released_of(promise, people(200))[0]
    assert (few["reason"], many["reason"]) == (None, None)
    assert few["release"]["noise_scale"] > 0.25
    assert (few["guarantee"]["delta"] <= 0.02, many["release"]["noise_scale"]) == (True, None)
    withheld = released_of(crowd_promise(SUM, TOPPED.replace("top_up", "withhold")), people(5))[0]
    assert (withheld["reason"], withheld["release"]) == ("delta", None)
    assert withheld["guarantee"]["adversaries"] == dict.fromkeys(few["guarantee"]["adversaries"])


def test_windows_in_a_row_are_composed_until_the_target_is_met() -> None:
    """Each would pass alone; of any three in a row two do."""
    promise = crowd_promise(SUM, FRESH.replace("delta: 0.3", "delta: 0.06, windows: 3"))
    said = released_of(promise, [each for window in range(7) for each in people(40, 0, window)], windows=7)
    assert [each["reason"] for each in said] == [None, None, "delta", None, None, "delta", None]
    totals = [each["guarantee"]["total"]["delta"] for each in said if each["reason"] is None]
    assert totals[0] < totals[1] <= 0.06
    assert said[0]["guarantee"]["total"] == {"windows": 3, "epsilon": 1, "delta": totals[0]}
    topped = FRESH.replace("delta: 0.3", "delta: 0.06, windows: 3, beyond: top_up")
    said = released_of(
        crowd_promise(SUM, topped), [each for window in range(4) for each in people(40, 0, window)], windows=4
    )
    scales = [each["release"]["noise_scale"] for each in said]
    assert scales[:2] == [None, None]
    assert scales[2] > 0
    assert all(each["guarantee"]["total"]["delta"] <= 0.06 for each in said)


def test_withheld_windows_say_the_same_whatever_the_values() -> None:
    for promise, count in ((crowd_promise(SUM, LAW.replace("0.5", "0.01")), 9), (crowd_promise(), 2)):
        one = released_of(promise, people(count))
        two = released_of(promise, [each._replace(value=8.0) for each in people(count)])
        assert one == two
        assert one[0]["outcome"] == "withheld"


def test_no_name_and_no_value_stands_anywhere_in_clear() -> None:
    promise = crowd_promise(COUNT, HOUSED, law=HOMES)
    gather = Life(gather_of(promise))
    sent = [at(1 + i / 100, f"person-{i}", home="rose-street") for i in range(4)]
    effects = gather.carry_out(block_of([*sent, at(100, "person-9")]))
    windows = Life(windows_of(promise))
    held = windows.carry_out(block_of_partials(gather.released))
    records = (*effects.changelog, *effects.releases, *held.changelog, *held.releases)
    texts = [text for record in records for text in (record.key, record.value) if text]
    assert len(texts) > 8
    assert not any(b"person" in text or b"rose" in text for text in texts)


def test_a_flood_in_one_window_is_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_room, "MOST_PEOPLE", 20)
    said = released_of(crowd_promise(), [*people(21), *people(20, window=1)], windows=2)
    assert [(each["reason"], each["users"]) for each in said] == [("too_many", None), (None, 20)]
    monkeypatch.setattr("stream.crowds.ledger.MOST_PEOPLE", 20)
    said = released_of(crowd_promise(), people(15), [each._replace(user=b"x" + each.user) for each in people(15)])
    assert [(each["reason"], each["users"]) for each in said] == [("too_many", 30)]


def test_seconds_pass_in_no_other_way() -> None:
    """The clock closes a silent partition after lateness and grace, as the settings say."""
    life = Life(gather_of(crowd_promise()))
    life.carry_out(block_of(people(4)))
    assert life.close_by_clock(START + 75 * SECOND - 1) == []
    assert len(life.close_by_clock(START + 75 * SECOND)) == 1


def test_no_more_people_are_told_to_be_known_than_were_counted() -> None:
    """Rounded up, a reader would take 15 of 42 people for known where 14 were."""
    promise = crowd_promise(MEAN, LAW.replace("law.json", "law.json, known: 0.33333333333"))
    (said,) = released_of(promise, people(42))
    assert math.ceil(Fraction(str(said["guarantee"]["known"])) * 42) == math.ceil(promise.known * 42) == 14
