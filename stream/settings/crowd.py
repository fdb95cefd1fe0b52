"""Crowds: a window's statistic of at least k people, or generalised records of them, without noise, beside what that
tells an adversary about one of them who knows who took part.
"""

from typing import Annotated, Any, ClassVar, Final, Literal, get_args

from pydantic import ConfigDict, Field, PlainSerializer, PlainValidator, WithJsonSchema

from beliefs.alphabet import Alphabet
from beliefs.alphabet_rows import written_alphabet
from stream.records.paths import Path
from stream.settings.aggregate import CellValues, Length, Wait
from stream.settings.amounts import Amount, Moment
from stream.settings.hierarchy import TREE, Tree
from stream.settings.kinds import FieldPath, FileName
from stream.settings.section import Section
from stream.settings.steps import Steps, steps_of
from stream.settings.values import declared_schema, read_declared

LARGEST_K: Final = 1_000_000
MOST_WINDOWS: Final = 4_096
"""Composed together."""
MOST_PEOPLE: Final = 200_000
"""In one window; with more it is withheld."""
MOST_WAITING: Final = 10_000
"""Events in a grouper of one partition."""
MOST_ATTRIBUTES: Final = 8
MOST_COUNTED: Final = 4_096
"""Values that are counted together."""
LARGEST_EPSILON: Final = 32.0

Kind = Literal["count", "sum", "mean", "range", "histogram", "records"]
Grouper = Literal["mondrian", "castle", "fads", "sky"]
Take = Literal["first", "last", "largest", "smallest"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
NOISY: Final[tuple[Kind, ...]] = ("count", "sum", "mean", "histogram")
"""What noise can be added to."""
WINDOWED: Final[Grouper] = "mondrian"
"""It groups the people of a whole window; the others each event as it comes."""


def read_among(value: Any) -> Alphabet:
    return read_declared(value, MOST_COUNTED, "[walking, running]", "fewer values", least=1)


Among = Annotated[
    Alphabet,
    PlainValidator(read_among),
    PlainSerializer(written_alphabet),
    WithJsonSchema(declared_schema(MOST_COUNTED, least=1)),
]


class AttributeSettings(Section):
    """What of a person is released as a range or as a group of values: numbers on a grid, or texts in a tree."""

    of: FieldPath = Field(description="the field")
    low: Amount | None = Field(default=None, description="of numbers: what is smaller counts as this much")
    high: Amount | None = Field(default=None, description="of numbers: what is larger counts as this much")
    grid: Amount | None = Field(default=None, description="of numbers: the step to whole multiples of which they round")
    tree: Tree | None = Field(default=None, description=f"of texts: {TREE}")

    @property
    def steps(self) -> Steps | None:
        return steps_of(self)


class SensitiveSettings(Section):
    """A field of which no crowd may tell too much, although each person in it is as likely as another."""

    of: FieldPath = Field(description="the field")
    values: CellValues = Field(description="the values that it may have, [flu, angina]")
    diverse: Annotated[int, Field(ge=2)] | None = Field(
        default=None, description="so many values at least in each crowd, none of them of more than 1/diverse of it"
    )
    close: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] | None = Field(
        default=None,
        description="how far the shares of the values in a crowd may be from those of all people, in total variation",
    )


class ReleaseSettings(Section):
    """The one thing that is released of a crowd."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [name]} for name in KINDS]})

    count: FieldPath | None = Field(
        default=None, description="the field of which it is counted who has a value of `of`"
    )
    sum: FieldPath | None = Field(default=None, description="the field whose values are added up, one of each user")
    mean: FieldPath | None = Field(default=None, description="the field whose mean over the users is wanted")
    range: FieldPath | None = Field(default=None, description="the field whose smallest and largest value is wanted")
    histogram: FieldPath | None = Field(
        default=None, description="the field of which it is counted how many users have each value"
    )
    records: Grouper | None = Field(
        default=None,
        description="mondrian: the people of each window in boxes of at least k; castle, fads, sky: each event in a "
        "box of at least k people, within a delay",
    )
    of: Among | None = Field(default=None, description="beside count: the values that are counted")
    low: Amount | None = Field(default=None, description="beside sum, mean and range: what is smaller counts as this")
    high: Amount | None = Field(default=None, description="beside sum, mean and range: what is larger counts as this")
    grid: Amount | None = Field(
        default=None, description="beside sum, mean and range: the step to whole multiples of which values are rounded"
    )
    values: CellValues | None = Field(default=None, description="beside histogram: the values that the field may have")
    take: Take = Field(
        default="last",
        description="which of a user's events in a window counts: the first or last by time, or of numbers the largest "
        "or the smallest",
    )
    by: dict[str, AttributeSettings] = Field(
        default={},
        description="beside records: what is released of a person as a range or group, by names, in this order",
    )
    sensitive: SensitiveSettings | None = Field(
        default=None, description="beside records: a field that is counted in each crowd, and must not be alike in it"
    )
    loss_most: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = Field(
        default=None, description="beside records: a crowd whose box loses more than this share of detail is left out"
    )

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Which it is; settings that are right name exactly one."""
        return tuple(name for name in KINDS if getattr(self, name) is not None)

    @property
    def kind(self) -> Kind:
        return self.kinds[0]

    @property
    def path(self) -> Path | None:
        """The field that is read; None of records, which have several."""
        return self.count or self.sum or self.mean or self.range or self.histogram

    @property
    def steps(self) -> Steps | None:
        return steps_of(self)


class DelaySettings(Section):
    """How long an event may wait until enough people are near it."""

    events: Annotated[int, Field(ge=2, le=MOST_WAITING)] = Field(
        description=f"at most so many events wait in a partition, at least k and at most {MOST_WAITING:,}"
    )
    time: Length = Field(description="and none longer than this, from 1s to 31d")


class BelievesSettings(Section):
    """What the adversary believes of people's values before anything is released: it is what hides them."""

    shorthand: ClassVar[dict[str, dict[str, Any]]] = {"nothing_declared": {}}

    law: FileName | None = Field(default=None, description="the file with the law of people's values")
    by: FieldPath | None = Field(
        default=None,
        description="the public field that says of which type of the law a user is; only where it has some",
    )
    household: FieldPath | None = Field(
        default=None,
        description="the public field that says who belongs together, beside a law of households; people in one "
        "household may depend on each other",
    )
    known: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)] = Field(
        default=0.0,
        description="the share of the people whose values an informed adversary knows, those that are worst",
    )
    windows: Literal["any", "fresh"] = Field(
        default="any",
        description="any: a user's values of different windows may depend on each other, so each window's guarantee "
        "stands alone; fresh: they are independent, so windows in a row are composed",
    )


class CrowdTargetSettings(Section):
    """What a released window may tell about one person at most."""

    epsilon: Annotated[float, Field(ge=0, le=LARGEST_EPSILON, allow_inf_nan=False)] = Field(
        description="by what factor e^epsilon chances may differ for two values of one person, in nats"
    )
    delta: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = Field(
        description="and by how much beyond that factor, such as 1e-6"
    )
    windows: Annotated[int, Field(ge=1, le=MOST_WINDOWS)] = Field(
        default=1, description="over so many windows in a row together; more than one only with windows: fresh"
    )
    beyond: Literal["withhold", "top_up"] = Field(
        default="withhold",
        description="what happens to a window that would pass it: withheld; or released with as much noise as is "
        "lacking, where that is enough",
    )


class CrowdSettings(Section):
    """One statistic of each window, or generalised records, of at least k people, with a computed guarantee."""

    k: Annotated[int, Field(ge=2, le=LARGEST_K)] = Field(description="so many distinct users at least")
    over: Literal["all", "partition"] = Field(
        default="all", description="all: crowds over all partitions; partition: each partition makes its own"
    )
    window: Length | None = Field(default=None, description="how long a window is, from 1s to 31d; or delay")
    start: Moment | None = Field(
        default=None, alias="from", description="when the first window begins, with a zone: 2026-01-01T00:00:00Z"
    )
    lateness: Wait = Field(
        default=10_000, description="how far behind the latest event of its partition an event still counts"
    )
    grace: Wait = Field(
        default=10_000, description="how much longer than lateness a partition without events keeps a window open"
    )
    ahead: Wait = Field(
        default=3_600_000, description="how far ahead of its record's timestamp an event may lie; 1h by default"
    )
    delay: DelaySettings | None = Field(
        default=None, description="instead of windows, for records by castle, fads or sky: {events: 1000, time: 1m}"
    )
    release: ReleaseSettings = Field(
        description="what is released of a crowd: {mean: $.speed, low: 0, high: 40, grid: 1}"
    )
    believes: BelievesSettings = Field(
        description="what an adversary believes before: {law: file}; or nothing_declared, if only k is promised"
    )
    target: CrowdTargetSettings | None = Field(
        default=None, description="what a window may tell about one person: {epsilon: 1.0, delta: 1e-6}"
    )
