"""Does it all add up? Inputs against outcomes, the consumer group against the beliefs, counters against the topics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from stream import names
from stream.audit.changelog import PartitionLog
from stream.audit.counters import ABOVE_EPSILON, EVENTS, Counts
from stream.audit.findings import Findings
from stream.audit.report import Report
from stream.audit.world import Topics

AGREES = "agrees"
AGREES_AS_READ = "agrees; inputs were counted by the worker's own reader, for the library cannot read a header's name"


@dataclass
class Account:
    """Inputs as the progress marks count them, dead letters below, and values that wait in windows. Complete when every
    partition has a mark.
    """

    inputs: int
    dead_letters: int
    complete: bool
    waiting: int = 0
    marks: dict[int, int] = field(default_factory=dict)

    async def add(
        self, dead_letter_topic: str, raw_topic: str, topics: Topics, log: PartitionLog, findings: Findings
    ) -> None:
        if log.progress is None:
            self.complete = self.complete and log.is_empty
            return
        self.marks[log.partition] = log.progress
        self.inputs += log.progress
        self.waiting += log.waiting
        offsets: list[int] = []
        if log.partition in await topics.partitions(dead_letter_topic):
            end = (await topics.bounds(dead_letter_topic, log.partition)).end
            async for records in topics.read(dead_letter_topic, log.partition, end, committed=True):
                letters = [_letter_offset(record.value, raw_topic, log.partition) for record in records]
                offsets += [offset for offset in letters if 0 <= offset < log.progress]
        self.dead_letters += len(set(offsets))
        again = len(offsets) - len(set(offsets))
        findings.add(
            "identity", again, [f"{dead_letter_topic}, partition {log.partition}"], detail="dead letters twice"
        )


def _letter_offset(text: bytes | None, raw_topic: str, partition: int) -> int:
    """The input that a dead letter speaks of, or -1 if it is none of this pipeline's."""
    try:
        letter = orjson.loads(text or b"")
    except orjson.JSONDecodeError:
        return -1
    if not isinstance(letter, dict) or letter.get("topic") != raw_topic or letter.get("partition") != partition:
        return -1
    offset = letter.get("offset")
    return offset if isinstance(offset, int) else -1


def check_group(group: Mapping[int, int] | None, log: PartitionLog, findings: Findings) -> None:
    """The group's offset, asked for before the changelog was read, cannot be beyond the mark that goes with the
    beliefs.
    """
    at = (group or {}).get(log.partition)
    if at is not None and at > (log.progress or 0):
        findings.add("group_ahead", 1, [log.where], detail=f"group at {at:,}, beliefs at {log.progress or 0:,}")


async def check_identity(raw_topic: str, topics: Topics, account: Account, report: Report) -> None:
    """In = released + forecast + suppressed + dead letters + waiting; replays release nothing and leave no trace."""
    name = "in = sum of outcomes"
    report.dead_letters, report.waiting = account.dead_letters, account.waiting
    if not account.complete:
        report.compared[name] = "not compared: the changelog was not read, or has no progress mark"
        return
    tally = report.tally
    outcomes = tally.released + tally.forecast + tally.suppressed + account.dead_letters + account.waiting
    report.inputs, all_read = account.inputs, True
    if outcomes < account.inputs:
        # Offsets may be more than records: markers of transactions and compaction leave holes. The records are counted,
        # not looked at.
        report.inputs, cut, all_read = await _count_inputs(raw_topic, topics, account)
        if cut:
            report.compared[name] = "not compared: the first records of the raw topic are gone"
            return
    if outcomes == report.inputs:
        report.compared[name] = AGREES if all_read else AGREES_AS_READ
        return
    report.compared[name] = "DISAGREES"
    detail = f"{report.inputs:,} inputs, {outcomes:,} outcomes"
    report.findings.add("identity", abs(report.inputs - outcomes), [raw_topic], detail=detail)


async def _count_inputs(raw_topic: str, topics: Topics, account: Account) -> tuple[int, bool, bool]:
    count, cut, all_read = 0, False, True
    for partition, mark in account.marks.items():
        cut = cut or (await topics.bounds(raw_topic, partition)).first > 0
        found, read = await topics.count(raw_topic, partition, mark)
        count, all_read = count + found, all_read and read
    return count, cut, all_read


def check_counters(before: Counts, after: Counts, account: Account, report: Report) -> None:
    """Counters start anew with each worker. They must equal the topics if they cover all inputs, and never exceed."""
    name = "exported counters"
    if before != after:
        report.compared[name] = "not compared: events are in flight"
        return
    tally = report.tally
    counted = {outcome: after[EVENTS, outcome] for outcome in names.OUTCOMES}
    found = {
        names.RELEASED: tally.released,
        names.FORECAST: tally.forecast,
        names.SUPPRESSED: tally.suppressed,
        names.DEAD_LETTERED: account.dead_letters,
    }
    covers = sum(counted.values()) - counted[names.REPLAYED] >= sum(found.values())
    wrong = [
        outcome for outcome, seen in found.items() if counted[outcome] > seen or (covers and counted[outcome] != seen)
    ]
    sides = dict(zip(("upper", "lower"), tally.above_epsilon, strict=True))
    above = {side: after[ABOVE_EPSILON, side] for side in sides}
    wrong_sides = [side for side, seen in sides.items() if above[side] > seen or (covers and above[side] != seen)]
    for outcome in wrong:
        report.findings.add(
            "counters", 1, [], detail=f"{outcome}: counted {counted[outcome]:,}, found {found[outcome]:,}"
        )
    for side in wrong_sides:
        detail = f"above epsilon, {side}: counted {above[side]:,}, found {sides[side]:,}"
        report.findings.add("counters", 1, [], detail=detail)
    if wrong or wrong_sides:
        report.compared[name] = "DISAGREE"
    elif covers:
        report.compared[name] = "agree"
    else:
        report.compared[name] = "no contradiction; they do not cover all events, because a worker started anew"
