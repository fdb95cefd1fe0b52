"""The files that say how users, and how one user's windows, depend on one another."""

from __future__ import annotations

from typing import Final, NamedTuple

from beliefs.laws.chosen import Theta, each_of
from beliefs.laws.dependence import Blocks, Dependence, Group, Independent, OverWindows, People
from beliefs.laws.law_file import InvalidLaw, LawFile, parse
from stream.errors import Problem
from stream.house import Found, read_file
from stream.settings.aggregate import DependenceSettings

USERS: Final = ("aggregate", "dependence", "users", "law")
WINDOWS: Final = ("aggregate", "dependence", "windows", "law")
_MOST: Final = 20


class Laws(NamedTuple):
    """None where no file is named."""

    users: LawFile | None = None
    windows: LawFile | None = None

    @property
    def digests(self) -> dict[str, str]:
        """What decides about a promise is a law, whatever its file is called."""
        named = {"users": self.users, "windows": self.windows}
        return {name: law.digest for name, law in named.items() if law is not None}


def load_laws(settings: DependenceSettings, found: Found, problems: list[Problem]) -> Laws:
    """What is wrong with a file is added to the problems."""
    return Laws(
        _law_in(settings.users.law, USERS, "a law of users' contributions", found, problems),
        _law_in(settings.windows.law, WINDOWS, "a Markov chain of one user's contributions", found, problems),
    )


def _law_in(
    name: str | None, place: tuple[str, ...], allowed: str, found: Found, problems: list[Problem]
) -> LawFile | None:
    if name is None:
        return None
    data = read_file(name, place, allowed, found, problems)
    if data is None:
        return None
    try:
        return parse(data)
    except InvalidLaw as error:
        fix = "correct the file"
        problems += [
            found(place, f"{name}: {each.field} {each.reason}", allowed, fix) for each in error.problems[:_MOST]
        ]
    return None


def said_by(law: LawFile) -> Dependence | Theta:
    """A file holds one of the two."""
    if law.dependence is not None:
        return law.dependence
    if law.law is None:
        raise ValueError("a law's file holds a law or a dependence")
    return law.law


def together(said: Dependence | Theta) -> int:
    """How many users depend on one another at most."""
    if isinstance(said, Independent | Group | Blocks | OverWindows | People):
        return said.component_size
    return max(law.components().largest for law in each_of(said))
