"""Numbers and times that a settings file must hold exactly: decimals as they are written, moments with their zone."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Final

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from stream.settings.kinds import wrong

_DIGITS: Final = 15
"""So many digits a double keeps, and so does every reader of JSON."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_END_MS: Final = (datetime(2100, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)


def read_decimal(value: Any) -> Decimal:
    """The number that is written, not the double next to it: 0.1 is a tenth."""
    allowed = f"a number of at most {_DIGITS} digits, such as 0.5 or 40"
    if isinstance(value, Decimal):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise wrong(allowed, "write a plain number")
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        raise wrong(allowed, "write a plain number") from None
    if not number.is_finite() or abs(number.adjusted()) > _DIGITS:
        raise wrong(allowed, "write the number that is meant")
    if len(number.normalize().as_tuple().digits) > _DIGITS:
        raise wrong(allowed, "write it with fewer digits")
    return number


def read_moment(value: Any) -> int:
    """A moment in milliseconds since 1970. One without a zone could be anywhere's."""
    allowed = "a moment with its zone, such as 2026-01-01T00:00:00Z, from 1970 to 2099"
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _END_MS:
        return value
    if not isinstance(value, str):
        raise wrong(allowed, "write it like 2026-01-01T00:00:00Z")
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise wrong(allowed, "write it like 2026-01-01T00:00:00Z") from None
    if moment.tzinfo is None:
        raise wrong(allowed, f"add the zone, for example {value if 'T' in value else value + 'T00:00:00'}Z")
    milliseconds, rest = divmod(moment - _EPOCH, timedelta(milliseconds=1))
    if not 0 <= milliseconds < _END_MS:
        raise wrong(allowed, "choose a moment from 1970 to 2099")
    if rest:
        raise wrong(allowed, "write it to the millisecond at most")
    return milliseconds


def write_moment(milliseconds: int) -> str:
    """As a released record and a settings file have it; milliseconds only where there are some."""
    text = (_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00").removesuffix(".000") + "Z"


def write_decimal(number: Decimal) -> str:
    """Without an exponent, and without zeros at the end of a fraction."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


Amount = Annotated[
    Decimal,
    PlainValidator(read_decimal),
    PlainSerializer(write_decimal),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^-?[0-9.]+$"}]}),
]
Moment = Annotated[
    int,
    PlainValidator(read_moment),
    PlainSerializer(write_moment),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
