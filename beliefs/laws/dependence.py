"""Which users of a stream depend on each other, and how. Note: law_file.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from beliefs.checks import Invalid
from beliefs.laws.chosen import LawSet, each_of
from beliefs.laws.friends import FriendsLaw
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.laws.tree import TreeLaw

APART, BY_FIELD, BY_FILE = "apart", "field", "file"


@dataclass(frozen=True)
class Members:
    """How users fall into components: everybody apart, by a public field of the event, or by a file that lists them."""

    rule: str = APART
    name: str = ""

    def __post_init__(self) -> None:
        if self.rule not in (APART, BY_FIELD, BY_FILE):
            raise Invalid("components", f"must be {APART}, or name a {BY_FIELD} or a {BY_FILE}")
        if (self.rule == APART) == bool(self.name):
            raise Invalid("components", "must name the field or the file" if self.rule != APART else "name nothing")


@dataclass(frozen=True)
class Independent:
    """No user tells anything of another."""

    @property
    def component_size(self) -> int:
        return 1


@dataclass(frozen=True)
class Group:
    """Users of one component may have to do with each other in any way; no component has more than `size`."""

    size: int
    members: Members

    def __post_init__(self) -> None:
        if self.size < 1:
            raise Invalid("size", "must be 1 or more")
        _require_components(self.members)

    @property
    def component_size(self) -> int:
        return self.size


@dataclass(frozen=True, eq=False)
class Blocks:
    """A law of the members' contributions for each size of a component; members may change places.

    Components of a size without a law are nobody's: whoever meets one refuses it.
    """

    laws: Mapping[int, TableLaw | LawSet]
    members: Members

    def __post_init__(self) -> None:
        if not self.laws:
            raise Invalid("laws", "is empty; give a law for each size of a component")
        _require_components(self.members)
        for size, theta in self.laws.items():
            for law in each_of(theta):
                _require_exchangeable(law, size)

    @property
    def component_size(self) -> int:
        return max(self.laws)

    def law_of(self, size: int) -> TableLaw | LawSet:
        if size not in self.laws:
            known = ", ".join(map(str, sorted(self.laws)))
            raise Invalid("laws", f"has no law for a component of {size}; there are laws for {known}")
        return self.laws[size]


@dataclass(frozen=True, eq=False)
class OverWindows:
    """What a user contributes in one window depends on the last one; users are independent of each other.

    The law's length says how many windows of a user count together.
    """

    law: MarkovLaw

    @property
    def component_size(self) -> int:
        return self.law.components().largest


@dataclass(frozen=True, eq=False)
class People:
    """Named users, each one an attribute of the law; whoever is not named is independent of all."""

    law: TreeLaw | FriendsLaw
    users: tuple[str, ...]

    def __post_init__(self) -> None:
        require_names(self.users, self.law.size, "users")

    @property
    def component_size(self) -> int:
        return self.law.components().largest


Dependence = Independent | Group | Blocks | OverWindows | People


def require_names(names: tuple[str, ...], size: int, field_name: str) -> None:
    """One for each attribute, and none twice."""
    if len(names) != size:
        raise Invalid(field_name, f"has {len(names)} entries, but the law has {size} attributes")
    seen = set[str]()
    for place, name in enumerate(names):
        if name in seen:
            raise Invalid(field_name, f"entry {place} is one that was named before")
        seen.add(name)


def _require_components(members: Members) -> None:
    if members.rule == APART:
        raise Invalid("components", f"must name a {BY_FIELD} or a {BY_FILE}, as users hang together")


def _require_exchangeable(law: object, size: int) -> None:
    where = f'entry "{size}" '
    if not isinstance(law, TableLaw):
        raise Invalid("laws", f"{where}must be a table, or a set of tables")
    if law.size != size:
        raise Invalid("laws", f"{where}has {law.size} attributes; the law of so many members has {size}")
    for axis in range(1, size):
        same = np.array_equal(law.domains[axis], law.domains[0])
        if not same or not np.array_equal(law.joint, np.swapaxes(law.joint, axis - 1, axis)):
            raise Invalid("laws", f"{where}is another one when members {axis - 1} and {axis} change places")
