"""Which of a user's events counts in a window, and whose type and household he has."""

from __future__ import annotations

import pytest
from aggregate_lives import MINUTE, START, TOPIC_ID, Life
from crowd_lives import (
    COUNT,
    EVERY_KIND,
    RECORDS,
    SUM,
    Walk,
    at,
    block_of,
    crowd_promise,
    gather_of,
    law_text,
    parts_of,
)

from stream.crowds.entries import EntryForm, anybody
from stream.crowds.parts import PartOpener
from stream.crowds.window_values import crowds_of
from stream.keys import Pseudonyms
from stream.names import DEAD_LETTERED, REPEATED, REPLAYED, TAKEN

KINDS = law_text(types={"walker": [0.5, 0.5], "runner": [0.25, 0.75]})
BY_KIND = "believes: {law: law.json, by: $.kind}\ntarget: {epsilon: 1.0, delta: 0.35}"


def cell_of(take: str, *sent: Walk) -> int:
    promise = crowd_promise(f"{SUM}, take: {take}")
    (part,) = parts_of(promise, sent, START + MINUTE + 15_000)
    (share,) = PartOpener(promise, TOPIC_ID, range(1)).open(part.value).shares
    assert share.users == 1
    return int(share.entries["cells"][0, 0])


def test_every_take_goes_by_its_own_rule() -> None:
    """First by time is 2.0, last is -1.0, and of equal times the one that stands first in the topic stays."""
    sent = [at(20, value=4.0), at(5, value=2.0), at(5, value=7.0), at(30, value=-1.0), at(30, value=8.0)]
    assert [cell_of(take, *sent) for take in ("first", "last", "largest", "smallest")] == [4, -2, 16, -2]


def test_values_are_clipped_before_they_are_taken() -> None:
    assert [cell_of(take, at(1, value=99.0), at(2, value=-99.0)) for take in ("largest", "smallest")] == [16, -4]


def test_repeated_events_change_nothing() -> None:
    once = [at(3, value=1.5), at(9, value=2.5)]
    life = Life(gather_of(crowd_promise()))
    life.carry_out(block_of([*once, *once]))
    assert life.outcomes() == {TAKEN: 2, REPEATED: 2, REPLAYED: 0, DEAD_LETTERED: 0}


@pytest.mark.parametrize(("take", "kind"), [("first", 1), ("last", 0), ("largest", 0), ("smallest", 0)])
def test_a_type_goes_by_time_and_never_by_value(take: str, kind: int) -> None:
    believes, law = (BY_KIND, law_text(types={"walker": [1 / 21] * 21, "runner": [1 / 21] * 21}))
    promise = crowd_promise(f"{SUM}, take: {take}", believes, law=law)
    sent = [at(20, value=1.0, kind="walker"), at(5, value=1.0, kind="runner"), at(9, value=8.0, kind="runner")]
    for value in (0.0, 2.0):
        moved = [*sent, at(11, value=value, kind="runner")]
        (part,) = parts_of(promise, moved, START + MINUTE + 15_000)
        (share,) = PartOpener(promise, TOPIC_ID, range(1)).open(part.value).shares
        assert share.entries["type"].tolist() == [kind]


def test_an_entry_bears_the_pseudonym_and_no_name() -> None:
    promise = crowd_promise(COUNT, BY_KIND, law=KINDS)
    key = Pseudonyms(promise.ring, promise.pipeline).of(b"ann")
    form = EntryForm(promise)
    (text,) = form.write({key: [7, 9, 1, -5, 1]})
    assert len(text) == form.size == 42
    assert text[:16].hex().encode() == key
    assert form.read(text)[0].tolist()[2:5] == (1, -5, 9)


def test_somebody_to_warm_up_with_is_divided() -> None:
    for release in EVERY_KIND:
        group = anybody(crowd_promise(release).release)
        assert group.users >= 1
    assert len(crowds_of(crowd_promise(RECORDS).release, anybody(crowd_promise(RECORDS).release)).groups) == 1
