"""What every room shares: which tests run when, and the real broker."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import hypothesis
import live_kafka
import pytest
from broker import Broker
from browser import Browser, browsing

ONLY_ON_REQUEST = ("long", "bench")
ROOMS_IN_ORDER = ("shape", "unit", "vectors", "laws", "statistics", "simulation", "papers", "pages", "live", "bench")
"""Quick and telling first, so that a broken tree says so within seconds."""

# The first call of a compiled kernel takes seconds, and a loaded machine is no failure: no test here is timed.
hypothesis.settings.register_profile("sottovoce", deadline=None, print_blob=True)
hypothesis.settings.load_profile("sottovoce")

NewTopic = Callable[..., Awaitable[str]]


def pytest_addoption(parser: pytest.Parser) -> None:
    for name in ONLY_ON_REQUEST:
        parser.addoption(f"--{name}", action="store_true", help=f"also run the tests marked {name}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unwanted = [name for name in ONLY_ON_REQUEST if not config.getoption(f"--{name}")]
    left_out = [item for item in items if any(item.get_closest_marker(name) for name in unwanted)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    kept = [item for item in items if item not in set(left_out)]
    items[:] = sorted(kept, key=room_order)


def room_order(item: pytest.Item) -> int:
    rooms = [place for place, name in enumerate(ROOMS_IN_ORDER) if name in item.path.parts]
    return rooms[-1] if rooms else 1


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    """One real broker for the whole run, started by the first test that asks; a test that kills it starts it again."""
    with Broker() as started:
        yield started


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One headless Chromium for the whole run, with a profile of its own."""
    with browsing(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture
async def new_topic(broker: Broker) -> AsyncIterator[NewTopic]:
    """`await new_topic("raw", partitions=4)` makes a topic of a unique name, removed after the test."""
    made: list[str] = []

    async def make(name: str = "topic", *, partitions: int = 4, compact: bool = False) -> str:
        unique = f"{name}-{uuid.uuid4().hex[:12]}"
        await live_kafka.create_topic(broker.bootstrap, unique, partitions=partitions, compact=compact)
        made.append(unique)
        return unique

    yield make
    broker.start()
    await live_kafka.delete_topics(broker.bootstrap, made)
