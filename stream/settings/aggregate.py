"""Windows of aggregates over the users of a pipeline: counts, sums, means and histograms, released with noise."""

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer, PlainValidator, WithJsonSchema

from beliefs.alphabet import Alphabet
from beliefs.alphabet_rows import written_alphabet
from stream.records.paths import Path
from stream.settings.amounts import Amount, Moment
from stream.settings.kinds import DURATION_SCHEMA, Budget, FieldPath, FileName, duration_between
from stream.settings.section import Section
from stream.settings.steps import Steps, steps_of
from stream.settings.values import declared_schema, read_declared

MOST_QUERIES: Final = 32
MOST_CELLS: Final = 32_000
"""Of all queries together: eight bytes each, so that the sums of a window fit a record of 256 KiB."""
MOST_HORIZON: Final = 44_640
"""A month of minutes; the loss of each of these windows is kept."""
MOST_TAKEN: Final = 64
"""With `take: sum` so many times are kept for each user and window."""
LARGEST_GROUP: Final = 1_000_000
LEAST_EPSILON: Final = 1e-6
LARGEST_EPSILON: Final = 32.0
_DAY: Final = 86_400_000

Kind = Literal["count", "sum", "mean", "histogram", "top"]
Take = Literal["first", "last", "largest", "smallest", "sum"]


def read_cells(value: Any) -> Alphabet:
    return read_declared(value, MOST_CELLS, "[clerk, nurse]", "fewer values, for example larger cells")


CellValues = Annotated[
    Alphabet,
    PlainValidator(read_cells),
    PlainSerializer(written_alphabet),
    WithJsonSchema(declared_schema(MOST_CELLS)),
]
Length = Annotated[int, BeforeValidator(duration_between(1_000, 31 * _DAY)), WithJsonSchema(DURATION_SCHEMA)]
Wait = Annotated[int, BeforeValidator(duration_between(0, 31 * _DAY)), WithJsonSchema(DURATION_SCHEMA)]


class QuerySettings(Section):
    """One aggregate of each window: one of count, sum, mean, histogram and top."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": [name]} for name in ("count", "sum", "mean", "histogram", "top")]}
    )

    count: Literal["users"] | None = Field(default=None, description="users: how many users had an event")
    sum: FieldPath | None = Field(default=None, description="the field whose values are added up, one of each user")
    mean: FieldPath | None = Field(default=None, description="the field whose mean over the users is wanted")
    histogram: FieldPath | None = Field(
        default=None, description="the field of which it is counted how many users have each value"
    )
    top: Annotated[int, Field(ge=1, le=MOST_CELLS)] | None = Field(
        default=None, description="how many of the most frequent values of the field `of` are shown"
    )
    of: FieldPath | None = Field(default=None, description="beside top: the field")
    values: CellValues | None = Field(
        default=None,
        description="beside histogram and top: the values that the field may have, [clerk, nurse], or an alphabet as "
        "in a model file, {kind: grid, ...}",
    )
    low: Amount | None = Field(default=None, description="beside sum and mean: what is smaller counts as this much")
    high: Amount | None = Field(default=None, description="beside sum and mean: what is larger counts as this much")
    grid: Amount | None = Field(
        default=None, description="beside sum and mean: the step to whole multiples of which values are rounded"
    )
    take: Take = Field(
        default="last",
        description="which of a user's events in a window counts: the first or last by time, or of numbers the "
        "largest, the smallest, or the sum of several, clipped like one value",
    )
    at_most: Annotated[int, Field(ge=1, le=MOST_TAKEN)] | None = Field(
        default=None, description="beside take: sum, how many events of a user in a window are added"
    )
    epsilon: Annotated[float, Field(ge=LEAST_EPSILON, le=LARGEST_EPSILON, allow_inf_nan=False)] = Field(
        description="the most that this aggregate of one window tells about one user's contribution, in nats"
    )

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Which it is; settings that are right name exactly one."""
        found: tuple[Kind, ...] = ("count", "sum", "mean", "histogram", "top")
        return tuple(name for name in found if getattr(self, name) is not None)

    @property
    def kind(self) -> Kind:
        return self.kinds[0]

    @property
    def path(self) -> Path | None:
        """The field that is read; None where only users are counted."""
        return self.sum or self.mean or self.histogram or self.of

    @property
    def steps(self) -> Steps | None:
        return steps_of(self)


class UsersSettings(Section):
    """How users may depend on one another."""

    shorthand: ClassVar[dict[str, dict[str, Any]]] = {"independent": {}}

    group: Annotated[int, Field(ge=2, le=LARGEST_GROUP)] | None = Field(
        default=None, description="users depend on one another in groups of at most so many, whatever the law"
    )
    law: FileName | None = Field(
        default=None, description="or a file with the law of their contributions, such as those of households"
    )


class WindowsSettings(Section):
    """How the contributions of one user to several windows depend on one another."""

    shorthand: ClassVar[dict[str, dict[str, Any]]] = {"any": {}, "fresh": {"fresh": True}}

    fresh: bool = Field(default=False, description="true: a user's contributions to different windows are independent")
    law: FileName | None = Field(
        default=None, description="or a file with the Markov chain of one user's contributions, window by window"
    )


class DependenceSettings(Section):
    """Who depends on whom, and on what: the noise alone does not protect a person whom others give away."""

    users: UsersSettings = Field(
        description="independent: no user's contribution follows from others'; or {group: 4}; or {law: file}"
    )
    windows: WindowsSettings = Field(
        default=WindowsSettings(),
        description="any: nothing is assumed; fresh: windows are independent; or {law: file}, a Markov chain",
    )


class TargetSettings(Section):
    """The most that is told about one user in any so many windows in a row."""

    nats: Budget = Field(description="in nats, or unlimited")
    windows: Annotated[int, Field(ge=1, le=MOST_HORIZON)] = Field(description="of so many windows in a row")
    beyond: Literal["withhold", "top_up"] = Field(
        default="withhold",
        description="what happens to a window that would pass it: withheld; or released with up to eight times the "
        "noise, where that is enough",
    )


class AggregateSettings(Section):
    """Aggregates over all users, one record for each window of event time, instead of a record for each event."""

    window: Length = Field(description="how long a window is, from 1s to 31d")
    start: Moment = Field(alias="from", description="when the first window begins, with a zone: 2026-01-01T00:00:00Z")
    lateness: Wait = Field(
        default=10_000, description="how far behind the latest event of its partition an event still counts"
    )
    grace: Wait = Field(
        default=10_000, description="how much longer than lateness a partition without events keeps a window open"
    )
    ahead: Wait = Field(
        default=3_600_000, description="how far ahead of its record's timestamp an event may lie; 1h by default"
    )
    each: dict[str, QuerySettings] = Field(description="the aggregates by their names")
    dependence: DependenceSettings = Field(
        description="how contributions depend on one another: {users: independent}, if nobody's follows from others'"
    )
    protects: Literal["everything", "one_window"] = Field(
        default="everything",
        description="what is hidden: everything that a user contributes to the windows of the target, or his "
        "contribution to any one of them",
    )
    adversary: Literal["any", "weakest"] = Field(
        default="any",
        description="any: whoever knows any other users' contributions; weakest: who knows nobody's",
    )
    target: TargetSettings = Field(description="the most that is told about one user in so many windows in a row")
