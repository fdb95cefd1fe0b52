"""What an audit counts."""

from __future__ import annotations

from dataclasses import dataclass, field

from stream.audit.field_tally import FieldTally


@dataclass
class Tally:
    """What one partition, or all of them, came to. Amounts in units; above epsilon on the upper and the lower side."""

    records: int = 0
    released: int = 0
    forecast: int = 0
    suppressed: int = 0
    users: int = 0
    later: int = 0
    not_followed: int = 0
    users_not_followed: int = 0
    users_unsure: int = 0
    states: int = 0
    above_epsilon: list[int] = field(default_factory=lambda: [0, 0])
    largest: list[int] = field(default_factory=lambda: [0, 0])
    fields: FieldTally = field(default_factory=FieldTally)

    def plus(self, other: Tally) -> None:
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(mine, FieldTally):
                mine.plus(value)
                continue
            if name == "largest":
                value = [max(pair) for pair in zip(mine, value, strict=True)]
            elif isinstance(mine, list):
                value = [sum(pair) for pair in zip(mine, value, strict=True)]
            else:
                value = mine + value
            setattr(self, name, value)
