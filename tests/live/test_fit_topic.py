"""Models learnt from topics: from raw records the same as from a file of them, and from what a worker has released."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from broker import Broker
from command_house import change, make_house
from conftest import NewTopic
from fitting_help import NAMES, as_json, events_of
from fitting_help import write as write_file
from live_worker import VALUES, opened
from live_writing import PARTITIONS, Raw, write, write_transaction

from beliefs.alphabet import Categories
from beliefs.model_file import parse
from stream.names import EXIT_DONE, EXIT_REFUSED

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]
ROOT = Path(__file__).resolve().parents[2]
EVENTS = events_of(1500)


async def fit(*arguments: object) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "stream", "fit", *[str(argument) for argument in arguments],
        cwd=ROOT, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


def records(partition: int) -> list[Raw]:
    """A user's records are in one partition; two of each partition cannot be read."""
    mine = [event for event in EVENTS if int(event[0].removeprefix("user-")) % 3 == partition]
    good = [Raw(partition, user.encode(), json.dumps({"activity": a}).encode(), (), at) for user, a, at in mine]
    return [*good[:10], Raw(partition, b"user-0", b"broken"), Raw(partition, None, b"{}"), *good[10:]]


async def test_a_topic_gives_the_model_that_its_records_give(
    broker: Broker, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = await new_topic("raw", partitions=3)
    for partition in range(3):
        half = len(records(partition)) // 2
        name = f"{topic}-{partition}"
        await write_transaction(broker.bootstrap, name, topic, partition, records(partition)[:half])
        await write_transaction(broker.bootstrap, name, topic, partition, records(partition)[:50], commit=False)
        await write_transaction(broker.bootstrap, name, topic, partition, records(partition)[half:])
    house = make_house(tmp_path)
    change(house, "127.0.0.1:9092", broker.bootstrap)
    settings = change(house, "phones.raw", topic)
    status, out, err = await fit(settings, "--from", "topic", "--out", house / "of_topic.json", "--json")
    assert status == EXIT_DONE, err
    facts = json.loads(out)
    assert (facts["rows"], facts["events"], facts["users"]) == (1506, 1500, 24)
    assert facts["refused"]["not_json"]["count"] == 3
    assert facts["refused"]["field_missing"]["first"] == [f"partition {partition} offset 11" for partition in range(3)]
    assert facts["sample"] == "protected" and "the very users whom it is to protect" in facts["warnings"][0]
    write_file(house, "a.jsonl", as_json(EVENTS))
    options = ("--user", "user", "--value", "activity", "--out", house / "of_file.json")
    assert (await fit("--from", house / "a.jsonl", *options))[0] == EXIT_DONE
    of_topic, of_file = (parse((house / name).read_bytes()) for name in ("of_topic.json", "of_file.json"))
    assert of_topic.alphabet == Categories(NAMES)
    assert of_topic.chain.dense.tolist() == of_file.chain.dense.tolist()
    assert of_topic.chain.start.tolist() == of_file.chain.start.tolist()
    status, out, err = await fit(settings, "--from", "topic:nowhere-to-be-found", "--out", house / "none.json")
    assert (status, out) == (EXIT_REFUSED, "")
    assert "nowhere-to-be-found" in err and not (house / "none.json").exists()


async def test_the_releases_of_a_worker_give_the_chain_behind_them(broker: Broker, tmp_path: Path) -> None:
    users, length, stay = 300, 40, 0.85
    rng, doing = np.random.default_rng(6), np.random.default_rng(7).integers(0, len(VALUES), 300)
    raw = []
    for step in range(length):
        moves = rng.random(users) > stay
        doing = np.where(moves, (doing + rng.integers(1, len(VALUES), users)) % len(VALUES), doing)
        for user in range(users):
            text = json.dumps({"activity": VALUES[doing[user]], "n": 1}).encode()
            raw.append(Raw(user % PARTITIONS, b"user-%d" % user, text, (), 1_700_000_000_000 + 1000 * step))
    true = np.full((len(VALUES), len(VALUES)), (1 - stay) / (len(VALUES) - 1))
    np.fill_diagonal(true, stay)
    mechanism = "{name: randomised_response, epsilon: 2.0}"
    async with opened(broker.bootstrap, tmp_path, mechanism=mechanism) as house:
        await write(broker.bootstrap, house.raw, raw)
        await house.start()
        await house.settled()
        await house.stop()
        status, out, err = await fit(house.file, "--released", "--out", tmp_path / "learnt.json", "--json")
    assert status == EXIT_DONE, err
    facts = json.loads(out)
    assert (facts["events"], facts["users"], facts["users_left_out"]) == (users * length, users, 0)
    assert facts["nats_an_event"] < facts["nats_an_event_in_use"]
    learnt = parse((tmp_path / "learnt.json").read_bytes())
    assert np.abs(learnt.chain.dense - true).sum(axis=1).max() / 2 < 0.1
