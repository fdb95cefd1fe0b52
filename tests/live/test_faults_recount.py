"""The recount of the fault tests can fail: every fault that it looks for is planted once, and found."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from fault_recount import FORECAST, MARK, Origin, Record, Views, recount

pytestmark = pytest.mark.live
ORIGIN = Origin("raw", bytes(range(16)), b"policy-8")
OFFSETS = 9
FIRST_TIME = 1_700_000_000_000


@dataclass
class Planted:
    """A small run that is as it should be, until a test changes it."""

    views: Views

    @property
    def released(self) -> list[Record]:
        return list(self.views.released)

    def with_released(self, released: list[Record], seen: list[Record] | None = None) -> Views:
        return replace(self.views, released=released, released_seen=released if seen is None else seen)

    def with_letters(self, letters: list[Record], seen: list[Record] | None = None) -> Views:
        return replace(self.views, letters=letters, letters_seen=letters if seen is None else seen)


def a_run() -> Planted:
    """Two partitions with two users each; one input in each can be released by nobody, and one is forecast."""
    raw: list[Record] = []
    released: list[Record] = []
    letters: list[Record] = []
    for partition in (0, 1):
        steps: dict[bytes, int] = {}
        for offset in range(OFFSETS):
            key, number = b"user-%d" % (2 * partition + offset % 2), OFFSETS * partition + offset
            time = FIRST_TIME + number
            if offset == 4:
                raw.append(Record(partition, offset, key, b"{", time, [(MARK, b"not_json")]))
                letter = {"reason": "not_json", "path": "", "topic": "raw", "partition": partition, "offset": offset}
                letters.append(Record(partition, 0, None, json.dumps(letter).encode(), time))
                continue
            steps[key] = steps.get(key, 0) + 1
            value = json.dumps({"activity": "still", "n": number}).encode()
            raw.append(Record(partition, offset, key, value, time))
            headers = [("release-id", ORIGIN.release_id(partition, offset)), ("step", b"%d" % steps[key])]
            if offset == OFFSETS - 1:
                headers.append(FORECAST)
            released.append(Record(partition, len(released), key, value, time, headers))
    return Planted(Views(raw, released, released, letters, letters))


def other_value(record: Record) -> Record:
    return record._replace(value=(record.value or b"").replace(b"still", b"running"))


def moved(record: Record, headers: list[tuple[str, bytes]]) -> Record:
    return record._replace(headers=headers)


def letter_with(record: Record, **changed: object) -> Record:
    return record._replace(value=json.dumps({**json.loads(record.value or b""), **changed}).encode())


def test_a_right_run_has_no_fault_and_identical_repeats_are_none() -> None:
    planted = a_run()
    counted = recount(ORIGIN, planted.with_released(planted.released, planted.released[:3] + planted.released))
    assert counted.faults.found == {}
    assert (counted.inputs, counted.released, counted.forecast, counted.dead_lettered) == (18, 14, 2, 2)
    assert (counted.suppressed, counted.identical_repeats) == (0, 3)


PLANTS: dict[str, tuple[Callable[[Planted], Views], set[str]]] = {
    "one release is lost, as a user's last": (
        lambda run: run.with_released(run.released[:-1]),
        {"lost", "does_not_add_up"},
    ),
    "one release is lost in the middle": (
        lambda run: run.with_released(run.released[:2] + run.released[3:]),
        {"lost", "steps_broken"},
    ),
    "one release is there twice": (
        lambda run: run.with_released([*run.released, run.released[0]]),
        {"twice", "steps_broken", "does_not_add_up"},
    ),
    "one input is released with two values": (
        lambda run: run.with_released([*run.released, other_value(run.released[0])]),
        {"twice", "two_values", "steps_broken", "does_not_add_up"},
    ),
    "an aborted block showed another value": (
        lambda run: run.with_released(run.released, [other_value(run.released[0]), *run.released]),
        {"two_values"},
    ),
    "an aborted block showed another time": (
        lambda run: run.with_released(run.released, [run.released[0]._replace(timestamp=1), *run.released]),
        {"two_values", "not_its_event"},
    ),
    "a release has an id of no input": (
        lambda run: run.with_released(
            [moved(run.released[0], [("release-id", b"f" * 32), ("step", b"1")]), *run.released[1:]]
        ),
        {"lost", "of_no_input"},
    ),
    "two releases have each other's id": (
        lambda run: run.with_released(
            [
                moved(run.released[0], list(run.released[1].headers)),
                moved(run.released[1], list(run.released[0].headers)),
                *run.released[2:],
            ]
        ),
        {"not_its_event"},
    ),
    "a user's releases are out of order": (
        lambda run: run.with_released([run.released[2], run.released[1], run.released[0], *run.released[3:]]),
        {"steps_broken"},
    ),
    "a release is in another partition": (
        lambda run: run.with_released([run.released[0]._replace(partition=1), *run.released[1:]]),
        {"not_its_event"},
    ),
    "a release shows a field that is not public": (
        lambda run: run.with_released(
            [run.released[0]._replace(value=b'{"activity": "still", "n": 0, "secret": "s"}'), *run.released[1:]]
        ),
        {"not_its_event"},
    ),
    "a dead letter is lost": (
        lambda run: run.with_letters(list(run.views.letters[1:])),
        {"letters_lost", "does_not_add_up"},
    ),
    "a dead letter is there twice": (
        lambda run: run.with_letters([*run.views.letters, run.views.letters[0]]),
        {"letters_twice", "does_not_add_up"},
    ),
    "an aborted dead letter gave another reason": (
        lambda run: run.with_letters(
            list(run.views.letters), [letter_with(run.views.letters[0], reason="tombstone"), *run.views.letters]
        ),
        {"letters_two_values", "letters_wrong"},
    ),
    "a dead letter speaks of an input that was released": (
        lambda run: run.with_letters([*run.views.letters, letter_with(run.views.letters[0], offset=0)]),
        {"letters_of_no_input", "does_not_add_up"},
    ),
}


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_fault_is_found(plant: str) -> None:
    change, expected = PLANTS[plant]
    assert set(recount(ORIGIN, change(a_run())).faults.found) == expected


def test_release_ids_are_those_of_the_worker_and_not_of_another_topic_or_policy() -> None:
    import numpy as np

    from stream.release_ids import release_ids

    theirs = release_ids(ORIGIN.topic_id, 3, np.array([0, 7, 1 << 40], np.int64), ORIGIN.policy)
    assert [ORIGIN.release_id(3, offset) for offset in (0, 7, 1 << 40)] == theirs
    others = (replace(ORIGIN, topic_id=bytes(16)), replace(ORIGIN, policy=bytes(8)))
    assert all(other.release_id(3, 7) != theirs[1] for other in others)
