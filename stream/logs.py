"""What a worker and its supervisor say on standard error: few lines, and nothing that came out of a record."""

import logging
import sys
import time
from collections.abc import Callable

from stream.names import DISTRIBUTION

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LIBRARY_PAUSE_SECONDS = 10.0
START_UP_SECONDS = 120.0
COORDINATOR_SECONDS = 10.0


class Seldom(logging.Filter):
    """Lets one library say one thing once in ten seconds, and says how often it was said meanwhile.

    While brokers are away, aiokafka reports every refused connection, two thousand a second.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._said: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.split(".", 1)[0] == DISTRIBUTION:
            return True
        now = self._clock()
        what = (record.name, str(record.msg))
        since, left_out = self._said.get(what, (-LIBRARY_PAUSE_SECONDS, 0))
        if now - since < LIBRARY_PAUSE_SECONDS:
            self._said[what] = (since, left_out + 1)
            return False
        self._said[what] = (now, 0)
        if left_out:
            record.msg = f"{record.msg} (and {left_out} times before)"
        return True


class StartUp(logging.Filter):
    """Says in words, and once, what every first start on fresh brokers meets: they are still making the topic that
    consumer groups live in, and the client asks again, ten times a second. It takes a few seconds. What goes on for
    longer is the error that aiokafka calls it, and so is the same at any later time.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._started = clock()
        self._first: float | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        now = self._clock()
        if not _lacks_coordinator(record) or now - self._started >= START_UP_SECONDS:
            return True
        if self._first is not None:
            return now - self._first >= COORDINATOR_SECONDS
        self._first = now
        record.levelno, record.levelname = logging.INFO, logging.getLevelName(logging.INFO)
        record.msg, record.args = "the brokers have no coordinator for the consumer group yet; asking again", ()
        return True


def _lacks_coordinator(record: logging.LogRecord) -> bool:
    reason = record.args[0] if isinstance(record.args, tuple) and record.args else None
    asked = (
        record.name == "aiokafka.consumer.group_coordinator" and record.msg == "Group Coordinator Request failed: %s"
    )
    return asked and type(reason).__name__ == "GroupCoordinatorNotAvailableError"


def log_to_stderr() -> None:
    """Our own words from INFO on, the libraries' only when they are errors: at finer levels they print records."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(FORMAT))
    handler.addFilter(StartUp())
    handler.addFilter(Seldom())
    logging.basicConfig(level=logging.ERROR, handlers=[handler])
    logging.getLogger(DISTRIBUTION).setLevel(logging.INFO)
