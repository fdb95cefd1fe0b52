"""What is claimed of the losses of windows, from how users and windows are declared to depend on one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stream.aggregates.promise import Claim
from stream.settings.aggregate import AggregateSettings


@dataclass(frozen=True)
class _Added:
    """Losses of windows, times the size of a group, add up; or the largest one counts."""

    group: int
    fresh: bool
    method: str = "group"
    adversary: str = "any"

    def leak(self, losses: Sequence[int]) -> int:
        return self.group * (max(losses, default=0) if self.fresh else sum(losses))

    def next_loss(self, spent: Sequence[int], target: int) -> int:
        if self.leak(spent) > target:
            return 0
        return (target if self.fresh else target - self.leak(spent)) // self.group


def claim_for(settings: AggregateSettings) -> Claim:
    dependence = settings.dependence
    fresh = settings.protects == "one_window" and dependence.windows.fresh
    return _Added(dependence.users.group or 1, fresh)
