"""The numbers that README says of windows of aggregates come from its own settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from aggregate_lives import Life, Raw, block_of_partials
from aggregate_world import HEAD, aggregate_house
from command_house import run
from notes_help import ROOT, blocks

from beliefs.laws.law_file import LawFile, serialise
from beliefs.laws.table import TableLaw
from stream.aggregates.gather import GatherPipeline
from stream.aggregates.opening import OpenedAggregates, open_aggregates
from stream.aggregates.total import TotalPipeline
from stream.commands.aggregate_facts import aggregate_facts
from stream.gathering.second import RawTopic
from stream.names import EXIT_FAILED
from stream.protocol.inputs import InputBlock

README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTION = README[README.index("### Windows of counts and sums") : README.index("### Crowds: true numbers")]
TOPIC = bytes(range(16))
PHONES = 5_000


def opened(folder: Path, users: str = "independent") -> OpenedAggregates:
    return open_aggregates(house(folder, users), {})


def house(folder: Path, users: str = "independent") -> Path:
    (settings,) = [block.text for block in blocks(SECTION) if block.language == "yaml"]
    return aggregate_house(folder, HEAD + settings.replace("{users: independent}", f"{{users: {users}}}"))


def test_what_the_hours_tell_is_what_is_said(tmp_path: Path) -> None:
    alone = aggregate_facts(opened(tmp_path))
    assert f"tell {alone['horizon_told']:.2g} nats a day about an independent user" in SECTION
    groups = opened(tmp_path, "{group: 4}").promise
    told = groups.claim.leak([groups.window_loss] * 24) / 2**40
    assert f"{told:.3g} in groups of four" in SECTION
    bits = np.array([0.0, 1.0])
    couples = TableLaw(np.array([[0.45, 0.05], [0.05, 0.45]]), (bits, bits))
    (tmp_path / "couples.json").write_bytes(serialise(LawFile(couples)))
    law = aggregate_facts(opened(tmp_path, "{law: couples.json}, windows: fresh"))
    assert f"lose {law['window_leak']:.2g} nats a window together where groups of two are charged" in SECTION
    assert f"are charged {law['group_baseline']['leak']:.1g}." in SECTION


def test_the_plan_finds_what_is_said(tmp_path: Path) -> None:
    file = house(tmp_path)
    (command,) = re.findall(r"`sottovoce (plan sottovoce.yaml [^`]*)`", SECTION)
    told = run(*command.replace("sottovoce.yaml", str(file)).split())
    assert told.exit_code == EXIT_FAILED
    found = re.findall(
        r"epsilons of people ([0-9.]+), speed ([0-9.]+), activity 0.05;.*pays for (\d+) of (\d+) windows", told.stdout
    )
    people, speed, fit, windows = found[0]
    assert f"take epsilons of {people} and {speed}, with which 4 nats pay for {fit} of {windows} windows" in SECTION


def test_the_record_is_the_one_that_is_released(tmp_path: Path) -> None:
    """Of made phones, on a key ring that is always the same."""
    promise = opened(tmp_path).promise
    gather = Life(GatherPipeline(promise, "walkers.raw", TOPIC, 0))
    events = list(phones(promise.start))
    speeds = [orjson.loads(event.value or b"")["speed"] for event in events[:PHONES]]
    assert f"whose speeds were {sum(speeds) / PHONES:.3g} on average" in SECTION
    gather.carry_out(InputBlock.of(events))
    total = Life(TotalPipeline(promise, RawTopic(TOPIC, 1), "walkers-partials"))
    total.carry_out(block_of_partials(gather.released))
    (record,) = [orjson.loads(each.value or b"") for each in total.released]
    (shown,) = [block.text for block in blocks(SECTION) if block.language == "json"]
    check_shown(orjson.loads(re.sub(r",\s*\.\.\.", "", shown)), record)


def phones(start: int) -> Iterator[Raw]:
    """One event of each within the hour, and one that closes it."""
    for i in range(PHONES):
        activity = ("still", "walking", "in_car")[i * i % 7 % 3]
        speed = {"still": 0.0, "walking": 1.2 + i % 5 / 10, "in_car": 10 + i % 40 / 2}[activity]
        yield Raw(i, start + 700 * i, b"phone-%d" % i, orjson.dumps({"speed": speed, "activity": activity}))
    yield Raw(PHONES, start + 3_661_000, b"phone-0", orjson.dumps({"speed": 0, "activity": "still"}))


def check_shown(shown: Any, record: Any) -> None:
    """Everything that is shown is there; of a list its beginning."""
    if isinstance(shown, dict):
        assert set(shown) <= set(record)
        for name, value in shown.items():
            check_shown(value, record[name])
    elif isinstance(shown, list):
        for one, other in zip(shown, record, strict=False):
            check_shown(one, other)
    else:
        assert shown == record
