"""The file that lists users and their components: a table of two columns, user and component. Note: law_file.md."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from beliefs.checks import Invalid
from beliefs.laws.dependence import Blocks, Dependence, Group

HEADER = ["user", "component"]


@dataclass(frozen=True)
class MemberList:
    """Each user's component. Whoever is not listed is a component by himself."""

    component_of: Mapping[str, str]

    def sizes(self) -> Counter[str]:
        """How many members each component has."""
        return Counter(self.component_of.values())

    @property
    def largest(self) -> int:
        return max(self.sizes().values(), default=1)

    def require_covered(self, dependence: Dependence) -> None:
        """No component is larger than the dependence says, nor of a size that it has no law for."""
        if isinstance(dependence, Group) and self.largest > dependence.size:
            raise Invalid("size", f"is {dependence.size}, but a component that is listed has {self.largest} members")
        if isinstance(dependence, Blocks):
            for size in sorted({1, *self.sizes().values()}):
                dependence.law_of(size)


def read_members(data: bytes) -> MemberList:
    """What is wrong is refused with its line; nobody is named."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid("text", f"is not UTF-8 from byte {error.start} on") from None
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: dict[str, str] = {}
    try:
        if next(lines, None) != HEADER:
            raise Invalid("line 1", f"must be {','.join(HEADER)}: the names of the two columns")
        for cells in lines:
            _take(cells, f"line {lines.line_num}", found)
    except csv.Error as problem:
        raise Invalid(f"line {lines.line_num}", f"is no line of a table: {problem}") from None
    return MemberList(found)


def _take(cells: list[str], line: str, found: dict[str, str]) -> None:
    if len(cells) != len(HEADER):
        raise Invalid(line, f"has {len(cells)} cells, not {len(HEADER)}")
    user, component = cells
    if not user or not component:
        raise Invalid(line, "has an empty cell")
    if user in found:
        raise Invalid(line, "lists a user who was listed before; each is in one component")
    found[user] = component
