"""The time of an event, read from a field of the record."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from stream.names import TIME_MISSING, TIME_OUT_OF_RANGE, TIME_TYPE
from stream.records.paths import MISSING, Path, getter

TimeReader = Callable[[dict[str, Any]], int | str]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LARGEST_SECONDS: Final = 1e12


def time_reader(path: Path, unit: str) -> TimeReader:
    """A function from a document to its event time in milliseconds since 1970, or to the code of what is wrong."""
    get = getter(path)
    convert = {"ms": _from_milliseconds, "s": _from_seconds, "iso8601": _from_text}[unit]

    def read(document: dict[str, Any]) -> int | str:
        value = get(document)
        if value is MISSING or value is None:
            return TIME_MISSING
        return convert(value)

    return read


def _from_milliseconds(value: Any) -> int | str:
    return value if type(value) is int else TIME_TYPE


def _from_seconds(value: Any) -> int | str:
    """Fractions are rounded to the nearest millisecond: 1.001 s is 1001 ms, not the 1000 of a cut-off product."""
    if type(value) is int:
        return value * 1000
    if type(value) is not float:
        return TIME_TYPE
    return round(value * 1000) if abs(value) < _LARGEST_SECONDS else TIME_OUT_OF_RANGE


def _from_text(value: Any) -> int | str:
    """A time without an offset could be anywhere's; it is refused rather than guessed."""
    if type(value) is not str:
        return TIME_TYPE
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return TIME_TYPE
    if moment.tzinfo is None:
        return TIME_TYPE
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000
