"""The fields of an event that are protected each by itself, by a local mechanism: what is declared of them."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from beliefs.alphabet import Alphabet
from beliefs.alphabet_rows import written_alphabet
from stream.settings.kinds import FieldPath, FileName, Sliding, Window, wrong
from stream.settings.section import Section
from stream.settings.values import declared_schema, read_declared

MOST_FIELDS: Final = 32
MOST_VALUES: Final = 4096
"""Unary encodings write a bit for each value into every record."""
MOST_MEMBERS: Final = 64
LARGEST_CAP: Final = 1e6

REPORT_ZERO: Final = 0.5
REPORT_ONE: Final = 0.75
"""How often rappor tells kept bits as 1, where nothing is said."""

LOCAL_NAMES = Literal["grr", "exp", "top_k", "sue", "oue", "rappor", "blh", "olh", "ss", "she", "the"]

_GROUPS: Final = "names of groups, each with the values in it; every value in exactly one group, two groups at least"


def read_field_values(value: Any) -> Alphabet:
    return read_declared(value, MOST_VALUES, "[clerk, nurse]", "fewer values, for example larger bins")


def read_cap(value: Any) -> float:
    allowed = f"a number of nats from 0.000001 to {LARGEST_CAP:g}, or unlimited"
    if value == "unlimited" or (isinstance(value, float) and math.isinf(value) and value > 0):
        return math.inf
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1e-6 <= value <= LARGEST_CAP:
        raise wrong(allowed, "choose a cap in that range, or unlimited")
    return float(value)


def read_members(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise wrong("a list of values of the field", "write top: [clerk, nurse]")
    return tuple(value)


def read_groups(value: Any) -> dict[str, tuple[Any, ...]]:
    if not isinstance(value, Mapping) or len(value) < 2:
        raise wrong(_GROUPS, "write coarser: {office: [clerk], field: [nurse, pilot]}")
    for name, members in value.items():
        if not isinstance(name, str) or not name or not isinstance(members, list | tuple) or not members:
            raise wrong(_GROUPS, "write coarser: {office: [clerk], field: [nurse, pilot]}")
    return {name: tuple(members) for name, members in value.items()}


FieldValues = Annotated[
    Alphabet,
    PlainValidator(read_field_values),
    PlainSerializer(written_alphabet),
    WithJsonSchema(declared_schema(MOST_VALUES)),
]
Cap = Annotated[
    float,
    PlainValidator(read_cap),
    PlainSerializer(lambda nats: "unlimited" if math.isinf(nats) else nats, return_type=float | str),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 1e-6, "maximum": LARGEST_CAP}, {"const": "unlimited"}]}),
]
Groups = Annotated[
    dict[str, tuple[Any, ...]],
    PlainValidator(read_groups),
    PlainSerializer(lambda groups: {name: list(members) for name, members in groups.items()}),
    WithJsonSchema({"type": "object", "minProperties": 2, "additionalProperties": {"type": "array", "minItems": 1}}),
]
Members = Annotated[
    tuple[Any, ...],
    PlainValidator(read_members),
    PlainSerializer(list),
    WithJsonSchema({"type": "array", "minItems": 1, "maxItems": MOST_VALUES - 1}),
]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class LocalMechanismSettings(Section):
    """How the values of one field are hidden."""

    text_is: ClassVar[str | None] = "name"

    name: LOCAL_NAMES = Field(
        description="grr: the value or any other; exp: the same at half the level; top_k: some values by themselves "
        "and all others as one; sue, oue: noisy bits; rappor: noisy bits that are kept, reported anew each time; blh, "
        "olh: a noisy hash; ss: a random set; she, the: a noisy histogram"
    )
    top: Members | None = Field(default=None, description="with top_k: the values that are reported by themselves")
    report_zero: Share | None = Field(
        default=None, description=f"with rappor: how often a kept 0 is told as 1; {REPORT_ZERO} where nothing is said"
    )
    report_one: Share | None = Field(
        default=None, description=f"with rappor: how often a kept 1 is told as 1; {REPORT_ONE} where nothing is said"
    )


class FieldSettings(Section):
    """One field that is released as a report of a local mechanism."""

    path: FieldPath = Field(description="where the field is in a record")
    values: FieldValues = Field(
        description="the values that it may have: [clerk, nurse], or an alphabet as in a model file, {kind: integers, "
        f"low: 0, high: 9}}; at most {MOST_VALUES}"
    )
    mechanism: LocalMechanismSettings = Field(description="how it is hidden: grr, oue, olh, ..., or a section")
    epsilon: Annotated[float, Field(ge=1e-6, le=32, allow_inf_nan=False)] = Field(
        description="the most that one report tells about the field, in nats; of rappor: all reports together"
    )
    cap: Cap = Field(
        default=math.inf,
        description="the most that may be told about this field of a user in total, in nats, by its own reports and by "
        "all other fields, or unlimited",
    )
    lasting: bool = Field(
        default=False, description="true says aloud that the field of a user never changes, such as a year of birth"
    )
    at_most: Annotated[int, Field(ge=1, le=MOST_MEMBERS)] | None = Field(
        default=None,
        description="the field holds a list of at most so many different values; a report is about one of them",
    )
    beyond: Literal["withhold", "lower", "coarsen"] = Field(
        default="withhold",
        description="what happens before a cap would be passed: the field is left out; or it is reported at a half, a "
        "quarter or an eighth of epsilon; or only its group is reported",
    )
    coarser: Groups | None = Field(
        default=None, description="beside coarsen: the groups, {office: [clerk], field: [nurse, pilot]}"
    )


class FieldsSettings(Section):
    """Fields that are protected each by itself, and what may be told about each of them in total."""

    each: dict[str, FieldSettings] = Field(
        description="the fields by their names, in the order in which they are given their part of what may be told"
    )
    window: Window = Field(
        default=None,
        description="caps are for each window of event time of this length, or forever; values that last, and a joint "
        "table, need forever",
    )
    joint: FileName | None = Field(
        default=None,
        description="a file with the joint table of lasting fields; without it each field is taken to tell everything "
        "about every other",
    )
    protected_cap: Cap = Field(
        default=math.inf,
        description="the most that may be told about the field of record.protect in total, its own budget and all "
        "reports of the other fields, or unlimited",
    )

    @property
    def length(self) -> int:
        """Of a window of event time in milliseconds; 0 where caps are for ever."""
        return 0 if self.window is None or isinstance(self.window, Sliding) else self.window
