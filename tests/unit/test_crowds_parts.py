"""What partitions send of windows of a crowd: in one envelope or several, each opened once; and a window of which a
part is lost is withheld.
"""

from __future__ import annotations

from typing import Any

import pytest
from aggregate_lives import MINUTE, RING, START, TOPIC_ID, Life, Raw, block_of_partials, told
from crowd_lives import COUNT, SUM, Walk, at, crowd_promise, gather_of, parts_of, windows_of

from stream.crowds import parts as parts_room
from stream.crowds import windows as windows_room
from stream.crowds.ledger import decode_items, encode_items
from stream.crowds.parts import PartOpener
from stream.errors import StateRefused
from stream.gathering.envelopes import readable_head
from stream.gathering.sealed import Unsealable
from stream.gathering.standing import decode, encode
from stream.keys import Epoch, KeyRing
from stream.names import DEAD_LETTERED, REPLAYED, TAKEN
from stream.protocol.control import AGGREGATE_KEY
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Outgoing

PROMISE = crowd_promise()
ENTRY = 16 + 2 + 8 + 8 + 8


def people(count: int, window: int = 0, name: str = "p") -> list[Walk]:
    return [at(window * 60 + 1 + i / 100, f"{name}{i}", (i % 21) / 2 - 2) for i in range(count)]


def in_parts(monkeypatch: pytest.MonkeyPatch, windows: int, users: int = 9, at_once: int = 4) -> list[Outgoing]:
    """Each window alone, so many users to an envelope."""
    monkeypatch.setattr(parts_room, "BYTES_MAX", 4 + at_once * ENTRY)
    sent = [each for window in range(windows) for each in people(users, window)]
    return parts_of(PROMISE, sent, START + windows * MINUTE + 15_000)


def heads(parts: list[Outgoing]) -> list[tuple[int, int, int]]:
    found = [readable_head(part.value) for part in parts]
    return [((head.closed_to - START) // MINUTE, head.part, head.parts) for head in found if head is not None]


def carried_out(parts: list[Outgoing], promise: Any = PROMISE, partitions: int = 1) -> Life:
    life = Life(windows_of(promise, partitions))
    life.carry_out(block_of_partials(parts))
    return life


def said_of(life: Life) -> list[tuple[int, str | None, int | None]]:
    return [(each["window"]["number"], each["reason"], each["users"]) for each in told(life.released)]


def test_small_windows_travel_together_and_large_ones_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_room, "BYTES_MAX", 4 * 3 + 6 * ENTRY)
    sent = [*people(3), *people(2, 1), *people(5, 2), *people(14, 3), *people(1, 4)]
    parts = parts_of(PROMISE, sent, START + 5 * MINUTE + 15_000)
    # The first three close while later events come, one after the other; the clock closes what is left.
    assert heads(parts)[-4:] == [(4, 0, 3), (4, 1, 3), (4, 2, 3), (5, 0, 1)]
    assert [each[2] for each in said_of(carried_out(parts))] == [3, 2, 5, 14, 1]


def test_entries_are_as_they_are_written_down() -> None:
    (part,) = parts_of(PROMISE, [at(1, "ann", 3.0), at(2, "bob", -1.0), at(3, "ann", 4.5)], START + MINUTE + 15_000)
    (share,) = PartOpener(PROMISE, TOPIC_ID, range(1)).open(part.value).shares
    assert share.users == 2
    order = sorted(share.entries.tolist())
    assert order == share.entries.tolist()
    assert sorted((each[4] - START, each[5].tolist()) for each in share.entries) == [(2_000, [-2]), (3_000, [9])]


def test_a_repeated_part_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = in_parts(monkeypatch, 2)
    assert heads(parts) == [(1, 0, 3), (1, 1, 3), (1, 2, 3), (2, 0, 3), (2, 1, 3), (2, 2, 3)]
    repeated = [parts[0], parts[0], parts[1], parts[0], *parts[1:], parts[3]]
    life = carried_out(repeated)
    assert said_of(life) == [(0, None, 9), (1, None, 9)]
    assert life.outcomes() == {TAKEN: 6, REPLAYED: 4}
    assert life.store._held.keys() == {b"g0:0"}


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_window_of_which_a_part_is_lost_is_withheld(monkeypatch: pytest.MonkeyPatch, lost: int) -> None:
    parts = in_parts(monkeypatch, 3)
    life = carried_out([*parts[:3], *(part for i, part in enumerate(parts[3:6]) if i != lost), *parts[6:]])
    assert said_of(life) == [(0, None, 9), (1, "partial_missing", None), (2, None, 9)]
    assert life.store._held.keys() == {b"g0:0"}
    broken = parts[3 + lost]._replace(value=(parts[3 + lost].value or b"")[:-1] + b"?")
    again = carried_out([*parts[: 3 + lost], broken, *parts[4 + lost :]])
    assert (again.released, again.outcomes()[DEAD_LETTERED]) == (life.released, 1)


def test_the_end_of_a_window_that_is_lost_waits_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing says that the rest will not come, until something later does; a new worker waits for the same."""
    parts = in_parts(monkeypatch, 2)
    life = carried_out(parts[:2])
    assert (life.released, len(life.store._held)) == ([], 2)
    again = Life(windows_of(PROMISE), life.store)
    again.carry_out(block_of_partials([parts[2]], 2))
    assert said_of(again) == [(0, None, 9)]
    gone = Life(windows_of(PROMISE), carried_out(parts[:2]).store)
    gone.carry_out(block_of_partials(parts[3:], 3))
    assert said_of(gone) == [(0, "partial_missing", None), (1, None, 9)]


def test_what_no_partition_of_this_pipeline_sends_is_a_dead_letter() -> None:
    good = parts_of(PROMISE, people(5), START + MINUTE + 15_000)[0]
    value = good.value or b""
    others = [
        None,
        b"",
        value[:40],
        b"\x02" + value[1:],
        value[:1] + b"\x00" + value[2:],
        value[:1] + b"\x02" + value[2:],
    ]
    life = Life(windows_of(PROMISE))
    life.carry_out(InputBlock.of([Raw(i, START, None, each) for i, each in enumerate(others)]))
    assert life.outcomes() == {DEAD_LETTERED: len(others)}
    assert [letter["reason"] for letter in life.dead_letters] == ["partial_unreadable"] * len(others)
    assert [letter["offset"] for letter in life.dead_letters] == list(range(len(others)))


def test_entries_of_another_release_cannot_be_read() -> None:
    """Both have the keys and the windows; the fingerprint keeps them apart, and their lengths do."""
    cell = "low: 0, high: 9, grid: 1"
    two = crowd_promise(f"records: mondrian, by: {{v: {{of: $.v, {cell}}}, w: {{of: $.w, {cell}}}}}")
    sent = [Walk(b"p", START, START)]
    gather = Life(gather_of(two))
    gather.carry_out(InputBlock.of([Raw(0, START, b"p", sent[0].text[:-1] + b', "w": 1}')]))
    gather.close_by_clock(START + MINUTE + 15_000)
    (part,) = gather.released
    with pytest.raises(Unsealable, match="user"):
        PartOpener(PROMISE, TOPIC_ID, range(1)).open(part.value)


def test_a_missing_epoch_is_refused_and_a_newer_one_stops_the_worker() -> None:
    newer = Epoch(2, "", bytes(range(40, 72)))
    both, alone = KeyRing((*RING.epochs, newer), newer), KeyRing((newer,), newer)
    mine = parts_of(PROMISE, people(5), START + MINUTE + 15_000)
    waiting = Life(windows_of(PROMISE, 2))
    waiting.carry_out(block_of_partials(mine))
    with pytest.raises(StateRefused, match="cannot be opened"):
        Life(windows_of(crowd_promise(ring=alone), 2), waiting.store)
    theirs = parts_of(crowd_promise(ring=both), people(5, 0, "q"), START + MINUTE + 15_000, 1)
    with pytest.raises(StateRefused, match="sealed with key epoch 2, and the newest of the key ring is 1"):
        waiting.carry_out(block_of_partials(theirs, 1))
    again = Life(windows_of(crowd_promise(ring=both), 2), waiting.store)
    again.carry_out(block_of_partials(theirs, 1))
    assert said_of(again) == [(0, None, 10)]
    with pytest.raises(StateRefused, match="Who was in earlier windows cannot be opened"):
        Life(windows_of(crowd_promise(ring=KeyRing(RING.epochs, RING.current)), 2), again.store)


def test_a_record_releases_so_many_users_and_the_next_ones_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows_room, "USERS_AT_ONCE", 5)
    sent = [each for window in range(6) for each in people(5, window)]
    here, there = (parts_of(PROMISE, sent, START + 9 * MINUTE + 15_000, place) for place in (0, 1))
    life = Life(windows_of(PROMISE, 2))
    life.carry_out(block_of_partials(here))
    life.carry_out(block_of_partials(there[:1], 50))
    assert [each[0] for each in said_of(life)] == [0]
    life.carry_out(block_of_partials(there[1:], 51))
    assert [each[0] for each in said_of(life)] == list(range(len(there)))
    life.carry_out(block_of_partials(here * 2, 60))
    assert [each[0] for each in said_of(life)] == list(range(9))


def test_a_record_releases_so_many_windows_of_enough_people(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each of them it is worked out what it tells; of those of too few people nothing is."""
    monkeypatch.setattr(windows_room, "ACCOUNTED_AT_ONCE", 2)
    sent = [each for window in range(6) for each in people(5 if window % 2 else 2, window)]
    here, there = (parts_of(PROMISE, each, START + 6 * MINUTE + 15_000, place) for place, each in enumerate((sent, [])))
    assert len(there) == 1
    life = carried_out([*here, *there], partitions=2)
    assert [each[0] for each in said_of(life)] == [0, 1, 2, 3]
    life.carry_out(block_of_partials(there, 50))
    assert [each[0] for each in said_of(life)] == [0, 1, 2, 3, 4, 5]


def test_people_of_an_earlier_window_who_are_gone_are_missed() -> None:
    """Without one group the next window could be released although it differs from that one by fewer than k."""
    sent = [each for window in range(3) for each in people(5 + 4 * window, window)]
    life = carried_out(parts_of(PROMISE, sent, START + 3 * MINUTE + 15_000))
    groups = sorted(key for key, _ in life.store.held() if key.startswith(b"g"))
    assert len(groups) == 3
    for key in groups:
        found = life.store._held.pop(key)
        with pytest.raises(StateRefused, match="Who was in earlier windows cannot be opened"):
            life.pipeline.adopt(life.store)
        life.store._held[key] = found
    assert life.pipeline.adopt(life.store) == 0


@pytest.mark.parametrize("items", [[], [b"abc"], [b"", b"x" * 16, b""], [b""] * 300])
def test_what_windows_told_is_read_back(items: list[bytes]) -> None:
    assert decode_items(encode_items(items)) == items


@pytest.mark.parametrize("change", [lambda mark: mark[:-1], lambda mark: mark + b"x", lambda mark: b"\x09" + mark[1:]])
def test_a_mark_that_cannot_be_read_is_refused(change: Any) -> None:
    life = carried_out(parts_of(PROMISE, people(5), START + MINUTE + 15_000))
    life.store._marks[AGGREGATE_KEY] = change(life.store._marks[AGGREGATE_KEY])
    with pytest.raises(StateRefused, match="how far windows are closed"):
        life.pipeline.adopt(life.store)


def test_a_mark_with_other_windows_than_are_composed_is_refused() -> None:
    """With one less, a window would be told for which the target has no room."""
    life = carried_out(parts_of(PROMISE, people(5), START + MINUTE + 15_000))
    standing, _ = decode(life.store._marks[AGGREGATE_KEY])
    life.store._marks[AGGREGATE_KEY] = encode(standing, bytes(4) + encode_items([b"one"]))
    with pytest.raises(StateRefused, match="how far windows are closed"):
        life.pipeline.adopt(life.store)


def test_empty_windows_travel_many_together() -> None:
    parts = parts_of(PROMISE, people(3), START + 700 * MINUTE + 15_000)
    assert heads(parts) == [*((64 * number, 0, 1) for number in range(1, 11)), (700, 0, 1)]


@pytest.mark.parametrize("release", [COUNT, SUM])
def test_an_empty_stream_has_a_record_for_each_window(release: str) -> None:
    promise = crowd_promise(release)
    life = carried_out(parts_of(promise, [], START + 700 * MINUTE + 15_000), promise)
    assert said_of(life) == [(number, "too_few", 0) for number in range(700)]
