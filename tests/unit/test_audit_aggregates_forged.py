"""Records that nobody's pipeline writes: the audit of windows of aggregates names them, and reads on."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from aggregate_audited import KINDS, RING_KEYS, TOPIC_ID, House
from aggregate_lives import Life, block_of_partials
from audit_memory import Kept

from stream.aggregates.total import TotalPipeline
from stream.audit.aggregate_follow import Follow
from stream.audit.aggregate_opened import Opened
from stream.audit.aggregate_records import Reader
from stream.audit.findings import Findings
from stream.errors import CannotAudit
from stream.gathering.second import RawTopic
from stream.keys import Epoch, KeyRing

NEWER = Epoch(2, "", bytes(range(40, 72)))


@pytest.mark.parametrize("value", [b"[" * 100_000, b'{"window": {"number": %d}' % 10**30])
async def test_a_record_that_no_parser_likes_is_unreadable(value: bytes) -> None:
    house = House(KINDS[0])
    record = house.released[-1]
    house.released.append(replace(record, offset=record.offset + 1, value=value))
    assert (await house.audit()).findings.codes() == {"aggregate_unreadable"}


@pytest.mark.parametrize("number", [10**30, 10**12, -1])
async def test_a_window_beyond_the_end_of_time_is_unreadable(number: int) -> None:
    house = House(KINDS[0])
    house.change(-1, lambda said: said["window"].update(number=number))
    assert "aggregate_unreadable" in (await house.audit(with_changelog=False)).findings.codes()


async def test_a_header_that_comes_twice_is_strange() -> None:
    house = House(KINDS[0])
    record = house.released[3]
    house.released[3] = replace(record, headers=(("policy", b"ann"), *record.headers))
    assert (await house.audit()).findings.codes() == {"aggregate_strange"}


async def test_a_window_is_not_withheld_for_sums_that_are_there() -> None:
    """Without the keys nobody can know; with them a choice that does not follow from what was there is seen."""
    house = House(KINDS[0])
    lost = [record for record in house.memory.logs["walkers-partials"][0] if record.offset != 3]
    total = Life(TotalPipeline(house.promise, RawTopic(TOPIC_ID, 3), "partials"))
    total.carry_out(block_of_partials(lost))  # type: ignore[arg-type]
    house.released[:] = [
        Kept(offset, each.key, each.value, each.timestamp, tuple(each.headers))
        for offset, each in enumerate(total.released)
    ]
    outcomes = [json.loads(each.value or b"")["reason"] for each in house.released]
    assert "partial_missing" in outcomes
    assert (await house.audit(with_changelog=False)).agrees
    opened = await house.audit(with_changelog=True, ring_keys=RING_KEYS)
    assert "aggregate_needless" in opened.findings.codes()


async def test_noise_of_another_epoch_than_that_of_the_sums_is_wrong() -> None:
    """The same sums drawn once more, with a key that the ring has, too."""
    house = House(KINDS[0])
    ring = KeyRing((*house.promise.ring.epochs, NEWER), NEWER)
    promise = replace(house.promise, ring=ring)
    total = TotalPipeline(promise, RawTopic(TOPIC_ID, 3), "partials")
    first = total._releases._keys
    first[1] = first[2]
    life = Life(total)
    life.carry_out(block_of_partials(house.memory.logs["walkers-partials"][0]))  # type: ignore[arg-type]
    findings, windows = Findings(), house.task().windows
    opened = Opened(windows, {**RING_KEYS, 2: NEWER.secret}, TOPIC_ID, 3, findings)
    opened.take(house.memory.logs["walkers-partials"][0], "partials")
    follow = Follow(windows, house.task().account(), Reader(windows), findings, "out", opened)
    follow.take(
        [
            Kept(offset, each.key, each.value, each.timestamp, tuple(each.headers))
            for offset, each in enumerate(life.released)
        ]
    )
    assert findings.codes() == {"wrong_noise"}


async def test_sums_of_a_raw_topic_that_is_gone_are_not_audited() -> None:
    house = House(KINDS[0])
    del house.memory.logs[house.settings.kafka.raw_topic]
    with pytest.raises(CannotAudit, match="sealed sums cannot be opened"):
        await house.audit(ring_keys=RING_KEYS)
