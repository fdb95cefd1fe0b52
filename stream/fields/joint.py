"""The joint table of a pipeline's lasting fields, read and held against the fields."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from beliefs.checks import Invalid
from beliefs.correlation.joint_file import EXACT, InvalidJoint, Radius, parse
from beliefs.correlation.table_leaks import TableField, TableLeaks
from beliefs.correlation.table_radii import known_within
from beliefs.correlation.tables import JointTable, labels_of
from stream.errors import ConfigurationRefused, Problem
from stream.fields.forms import form_of
from stream.settings.fields import FieldsSettings
from stream.settings.model import Settings

_PLACE: Final = ("fields", "joint")
_MOST: Final = 20

Found = Callable[[tuple[str, ...], str, str, str], Problem]


class Joint(NamedTuple):
    """The table with its axes in the declared order of its fields, the hash of the file, and how well the table is
    `known`. Where it is not exact, `radii` say how far the laws of all other fields may be off, given each value of a
    field; where they follow from counts they may be exceeded with the chance `failure`.
    """

    table: JointTable
    digest: str
    known: str = EXACT
    radii: Radius | None = None
    failure: float | None = None


def digest_of(joint: Joint | None) -> str:
    return "" if joint is None else joint.digest


def load_joint(settings: Settings, found: Found, problems: list[Problem]) -> Joint | None:
    """None where no table is named, or where it cannot be used: what is wrong is added to the problems."""
    if settings.fields is None or settings.fields.joint is None:
        return None
    file, allowed = Path(settings.fields.joint), "a joint table of the fields that last"
    try:
        return joint_of(settings.fields, file.read_bytes())
    except OSError as error:
        why, fix = error.strerror or "it cannot be read", "name a file that can be read"
        problems.append(found(_PLACE, f"{file}: {why}", allowed, fix))
    except (InvalidJoint, Invalid) as error:
        fix = "correct the file, or make one with `sottovoce fit --joint`"
        wrong = error.problems if isinstance(error, InvalidJoint) else (error,)
        problems += [found(_PLACE, f"{file}: {each.field} {each.reason}", allowed, fix) for each in wrong[:_MOST]]
    return None


def read_joint(settings: Settings) -> Joint | None:
    """The same by itself: raises where it cannot be used."""
    problems: list[Problem] = []
    file = "fields.joint"
    joint = load_joint(settings, lambda place, *words: Problem(file, 1, ".".join(place), *words), problems)
    if problems:
        raise ConfigurationRefused(file, problems)
    return joint


def undrawable(settings: Settings, found: Found) -> Iterator[Problem]:
    """Fields whose mechanism cannot be drawn in whole numbers at one of the levels that it may be reported at."""
    declared = {} if settings.fields is None else settings.fields.each
    for name, each in declared.items():
        try:
            form_of(name, each)
        except Invalid as error:
            fix = "choose another epsilon, or another mechanism"
            place = ("fields", "each", name, "epsilon" if error.field == "epsilon" else "mechanism")
            yield found(place, f"{error.field} {error.reason}", "a level at which the mechanism can be drawn", fix)


def joint_of(fields: FieldsSettings, data: bytes) -> Joint:
    """`Invalid` where the text is no table, or does not fit the fields."""
    model = parse(data)
    table = fitting(fields, model.table)
    # What the account refuses is refused here, where it can be said of the file.
    TableLeaks(table.weights, [TableField(name, None) for name in table.names])
    return Joint(table, hashlib.sha256(data).hexdigest(), model.known, known_within(model), model.failure)


def fitting(fields: FieldsSettings, table: JointTable) -> JointTable:
    lasting = {name: each for name, each in fields.each.items() if each.lasting and each.at_most is None}
    strangers = [name for name in table.names if name not in lasting]
    if strangers:
        known = ", ".join(lasting) or "none"
        raise Invalid("names", f"hold {', '.join(strangers)}; a table is of fields that last, which are: {known}")
    declared = {name: labels_of(each.values) for name, each in lasting.items() if name in table.names}
    return table.reordered(list(declared)).matching(declared)
