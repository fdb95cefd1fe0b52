"""What a worker and its supervisor say on standard error: few lines, and nothing that came out of a record."""

import logging
import sys
import time
from collections.abc import Callable

from stream.names import DISTRIBUTION

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LIBRARY_PAUSE_SECONDS = 10.0


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


def log_to_stderr() -> None:
    """Our own words from INFO on, the libraries' only when they are errors: at finer levels they print records."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(FORMAT))
    handler.addFilter(Seldom())
    logging.basicConfig(level=logging.ERROR, handlers=[handler])
    logging.getLogger(DISTRIBUTION).setLevel(logging.INFO)
