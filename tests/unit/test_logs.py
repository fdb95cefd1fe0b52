"""What reaches standard error: our own words always, a library's complaint once in a while."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import pytest
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.errors import GroupCoordinatorNotAvailableError, KafkaError, NodeNotReadyError

from stream.logs import COORDINATOR_SECONDS, LIBRARY_PAUSE_SECONDS, START_UP_SECONDS, Seldom, StartUp


def record(name: str, text: str) -> logging.LogRecord:
    return logging.LogRecord(name, logging.ERROR, __file__, 1, text, ("here",), None)


def test_a_library_says_one_thing_once_in_a_while() -> None:
    now = [0.0]
    seldom = Seldom(lambda: now[0])
    passed = [seldom.filter(record("aiokafka", "cannot connect to %s")) for _ in range(2_000)]
    assert passed == [True] + [False] * 1_999
    assert seldom.filter(record("aiokafka", "something else at %s"))
    assert seldom.filter(record("faust", "cannot connect to %s"))
    now[0] = LIBRARY_PAUSE_SECONDS
    again = record("aiokafka", "cannot connect to %s")
    assert seldom.filter(again)
    assert again.getMessage() == "cannot connect to here (and 1999 times before)"


def test_our_own_words_are_never_left_out() -> None:
    seldom = Seldom(lambda: 0.0)
    assert all(seldom.filter(record("sottovoce.worker", "stopped at %s")) for _ in range(10))


class Brokers:
    """Answers a client that looks for its group's coordinator: with each of these errors, then with a node. It takes a
    while for each.
    """

    def __init__(self, errors: list[KafkaError], now: list[float], seconds: float) -> None:
        self._errors, self._now, self._seconds = errors, now, seconds

    async def coordinator_lookup(self, kind: int, group: str) -> int:
        if not self._errors:
            return 1
        self._now[0] += self._seconds
        raise self._errors.pop(0)

    async def ready(self, node: int, group: int) -> bool:
        return node == 1

    async def force_metadata_update(self) -> bool:
        return True


class Heard(logging.Handler):
    def __init__(self, *filters: logging.Filter) -> None:
        super().__init__()
        self.said: list[tuple[str, str]] = []
        for one in filters:
            self.addFilter(one)

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append((record.levelname, record.getMessage()))


NOW = [0.0]


@pytest.fixture
def heard() -> Iterator[Heard]:
    NOW[0] = 0.0
    handler, logger = Heard(StartUp(lambda: NOW[0]), Seldom(lambda: NOW[0])), logging.getLogger("aiokafka")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


async def look_up(errors: list[KafkaError], seconds: float) -> None:
    """With aiokafka's own code, so that its words and its retries are the real ones."""
    coordinator = GroupCoordinator.__new__(GroupCoordinator)
    coordinator.coordinator_id, coordinator.group_id = None, "phones"
    coordinator._coordinator_lookup_lock, coordinator._retry_backoff_ms = asyncio.Lock(), 1
    coordinator._closing = asyncio.get_running_loop().create_future()
    coordinator._client = Brokers(errors, NOW, seconds)
    await coordinator.ensure_coordinator_known()
    assert coordinator.coordinator_id == 1


async def test_fresh_brokers_are_no_error(heard: Heard) -> None:
    await look_up([GroupCoordinatorNotAvailableError()] * 20, COORDINATOR_SECONDS / 40)
    assert heard.said == [("INFO", "the brokers have no coordinator for the consumer group yet; asking again")]


async def test_a_coordinator_that_stays_away_is_an_error(heard: Heard) -> None:
    await look_up([GroupCoordinatorNotAvailableError()] * 30, COORDINATOR_SECONDS / 10)
    assert [level for level, _ in heard.said] == ["INFO", "ERROR", "ERROR"]
    assert "[Error 15] GroupCoordinatorNotAvailableError" in heard.said[1][1]
    assert heard.said[2][1].endswith("(and 9 times before)")


async def test_a_coordinator_that_goes_away_later_is_an_error(heard: Heard) -> None:
    NOW[0] = START_UP_SECONDS
    await look_up([GroupCoordinatorNotAvailableError()], 0.1)
    assert [level for level, _ in heard.said] == ["ERROR"]


async def test_another_trouble_at_the_start_is_an_error(heard: Heard) -> None:
    await look_up([NodeNotReadyError()], 0.1)
    assert heard.said == [("ERROR", "Group Coordinator Request failed: NodeNotReadyError")]
