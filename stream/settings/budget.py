"""The settings of what is counted: how much may be told about a user, and what the metrics say about that."""

from typing import Annotated, Literal

from pydantic import Field

from stream.settings.kinds import Budget, Sliding, Window
from stream.settings.section import Section


class BudgetSettings(Section):
    """How much may be told about one user altogether."""

    nats: Budget = Field(description="the most that one window's releases may tell about a user, in nats, or unlimited")
    window: Window = Field(
        default=None,
        description="the length of a window of event time, or forever, or {events: 20}: any 20 events of a user in a "
        "row. It bounds what the outputs of these events add; leakage about these events from outputs outside is not "
        "bounded by it",
    )
    when_spent: Literal["forecast", "forecast_draw", "suppress", "stop"] = Field(
        default="forecast",
        description="what follows a spent budget: the likeliest value, a draw of the belief, nothing, nothing for ever",
    )

    @property
    def length(self) -> int:
        """Of a window of event time in milliseconds; 0 where there are none."""
        return self.window if isinstance(self.window, int) else 0

    @property
    def sliding(self) -> int | None:
        """Any so many events in a row have the budget; None where windows do not slide."""
        return self.window.events if isinstance(self.window, Sliding) else None


class MetricsSettings(Section):
    """What the metrics may say about small groups."""

    small_count_floor: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=10, description="counts of users below this are shown as 0, since a small group is nearly a person"
    )
    near_budget: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = Field(
        default=0.8, description="the share of the budget from which a user counts as near it"
    )
    accounts: Annotated[int, Field(ge=0, le=400)] = Field(
        default=0,
        description="of so many users a worker also works out exactly what their latest releases, up to 50, tell "
        "together: about the whole sequence of values, and about the worst single value; 0: of none",
    )
