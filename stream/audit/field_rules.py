"""What is public about the fields that are protected each by itself: the ways to report each of them, in the order in
which they are tried, and what may be told about each in total.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from beliefs.alphabet import Alphabet
from beliefs.json_text import canonical
from stream.audit.amounts import UNBOUNDED, added, units_within
from stream.audit.field_levels import numbers_of
from stream.audit.field_shapes import Fits, group_of, label_of, named_of, shape_of
from stream.errors import CannotAudit
from stream.records.paths import Path
from stream.settings.fields import FieldSettings, FieldsSettings
from stream.settings.model import Settings

FULL, HALF, QUARTER, EIGHTH, COARSE, WITHHELD = "0", "1", "2", "3", "c", "-"
SIGNS: Final = {
    FULL: "full",
    HALF: "half",
    QUARTER: "quarter",
    EIGHTH: "eighth",
    COARSE: "coarse",
    WITHHELD: "withheld",
}
"""How a released record writes what became of a field, and what an audit calls it."""

_OF_ITSELF: Final = ("grr", "exp")
"""Mechanisms whose report names a value, so that it speaks for that value alone."""


class JointTable(Protocol):
    """Weights of the combinations of values: axis i is the field names[i], entry j along it is labels[i][j]."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def labels(self) -> tuple[tuple[str, ...], ...]: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...


class Joint(NamedTuple):
    """A joint table, and the hash of its file. `radii` are those of all names' labels, where the table is not exact."""

    table: JointTable
    digest: str
    radii: Mapping[str, tuple[Decimal, ...]] | None = None


class Option(NamedTuple):
    """One thing that may become of a field: its sign, what it adds to the account, and whether a document is it."""

    sign: str
    level: int
    is_report: Fits | None = None

    @property
    def is_coarse(self) -> bool:
        return self.sign == COARSE


@dataclass(frozen=True)
class Field:
    """`options` in the order in which they are tried; all reports together tell `together` at most. `cells` says of
    each value which other ones a report names with it, where it names any; `groups` which are one where it is coarse.
    """

    name: str
    path: Path
    options: tuple[Option, ...]
    cap: int
    together: int
    cells: tuple[int, ...] | None
    groups: tuple[int, ...] | None

    @property
    def signs(self) -> str:
        return "".join(option.sign for option in self.options)


class Axis(NamedTuple):
    """One field of the joint table: its place among the fields, and of each entry along the axis its cell, its group,
    and how far the law of all others may be off.
    """

    place: int
    cells: tuple[int, ...] | None
    groups: tuple[int, ...] | None
    radii: tuple[Decimal, ...] | None = None


@dataclass(frozen=True)
class Fields:
    """Amounts in units, `window` in milliseconds, 0 for ever. `set_aside` is what the field of record.protect may tell
    about any other one, and `budget` what its own releases tell about it; 0 where there is none.
    """

    each: tuple[Field, ...]
    window: int
    budget: int
    set_aside: int
    protected: bool
    protected_cap: int
    axes: tuple[Axis, ...]
    weights: NDArray[np.float64] | None
    tag: int


def fields_of(settings: Settings, joint: Joint | None) -> Fields | None:
    declared = settings.fields
    if declared is None:
        return None
    if declared.joint is not None and joint is None:
        raise CannotAudit(
            "The joint table of the fields is not known.",
            where="fields.joint",
            why="the settings name one, and what is told about a field in total cannot be worked out without it",
            fix="name a file that can be read",
        )
    each = tuple(field_of(name, one) for name, one in declared.each.items())
    # What a budget sets aside is meant for its own windows; it bounds nothing in windows of another length.
    same_window = settings.budget.length == declared.length and settings.budget.sliding is None
    budget = (units_within(settings.budget.nats) if same_window else UNBOUNDED) if settings.follows else 0
    return Fields(
        each=each,
        window=declared.length,
        budget=budget,
        set_aside=added(budget, budget),
        protected=settings.follows,
        protected_cap=units_within(declared.protected_cap),
        axes=() if joint is None else tuple(_axes_of(declared.each, each, joint)),
        weights=None if joint is None else _weights_of(joint.table),
        tag=_tag_of(declared),
    )


def field_of(name: str, settings: FieldSettings) -> Field:
    values, coarser = settings.values.size + (settings.at_most is not None), settings.coarser
    signs = (FULL, HALF, QUARTER, EIGHTH) if settings.beyond == "lower" else (FULL,)
    found = [numbers_of(settings.mechanism, values, settings.epsilon / 2**halvings) for halvings in range(len(signs))]
    label = _label_of(settings)
    options = [Option(sign, one.level, shape_of(one, values, label)) for sign, one in zip(signs, found, strict=True)]
    if coarser is not None:
        coarse, names = numbers_of(settings.mechanism, len(coarser), settings.epsilon), frozenset(coarser)
        options.append(Option(COARSE, coarse.level, shape_of(coarse, len(coarser), group_of(names))))
    return Field(
        name=name,
        path=settings.path,
        options=(*options, Option(WITHHELD, 0)),
        cap=units_within(settings.cap),
        together=found[0].together,
        cells=_cells_of(settings),
        groups=None if coarser is None else _groups_of(settings, list(coarser.values())),
    )


def _label_of(settings: FieldSettings) -> Fits:
    top = settings.mechanism.top
    if top is None:
        return label_of(settings.values, settings.at_most is not None)
    return named_of(settings.values, frozenset(settings.values.index_of(member) for member in top))


def _cells_of(settings: FieldSettings) -> tuple[int, ...] | None:
    """Each value by itself; of top_k the named ones by themselves, and all others as one."""
    if settings.mechanism.name in _OF_ITSELF:
        return tuple(range(settings.values.size))
    top = settings.mechanism.top
    if top is None:
        return None
    named = [settings.values.index_of(member) for member in top]
    return tuple(named.index(value) if value in named else len(named) for value in range(settings.values.size))


def _groups_of(settings: FieldSettings, groups: Sequence[Sequence[Any]]) -> tuple[int, ...]:
    members = [{settings.values.index_of(member) for member in group} for group in groups]
    return tuple(
        next(number for number, group in enumerate(members) if value in group) for value in range(settings.values.size)
    )


def _axes_of(declared: Mapping[str, FieldSettings], each: Sequence[Field], joint: Joint) -> Iterator[Axis]:
    """Labels are looked up by what they say, so that their order along the axis is that of the table."""
    places = {field.name: place for place, field in enumerate(each)}
    for name, labels in zip(joint.table.names, joint.table.labels, strict=True):
        settings = declared.get(name)
        if settings is None or not settings.lasting or settings.at_most is not None:
            raise _misfit(name, "a joint table is of fields that last and hold one value")
        known = {label: value for value, label in enumerate(_names_of(settings.values))}
        if set(labels) != set(known) or len(labels) != len(known):
            raise _misfit(name, "its labels are not the values of the field")
        field, values = each[places[name]], [known[label] for label in labels]
        radii = None if joint.radii is None else joint.radii[name]
        yield Axis(places[name], _along(field.cells, values), _along(field.groups, values), radii)


def _weights_of(table: JointTable) -> NDArray[np.float64]:
    for axis, name in enumerate(table.names):
        if not np.moveaxis(table.weights, axis, 0).reshape(table.weights.shape[axis], -1).any(axis=1).all():
            raise _misfit(name, "it holds no weight for one of the values, so that nothing is known of who has it")
    return table.weights


def _along(classes: tuple[int, ...] | None, values: Sequence[int]) -> tuple[int, ...] | None:
    return None if classes is None else tuple(classes[value] for value in values)


def _misfit(name: str, why: str) -> CannotAudit:
    fix = "name the joint table that the pipeline ran with"
    return CannotAudit("The joint table does not fit the fields.", f"fields.joint, {name}", why, fix)


def _tag_of(declared: FieldsSettings) -> int:
    """Four bytes of the hash of what the words of a user's fields mean: which fields, in which windows; and of values
    that last which there are, what a report names, which are one where it is coarse, and at which level bits are kept.
    """
    lasting = {name: _meaning(one) for name, one in declared.each.items() if one.lasting and one.at_most is None}
    meaning = {"fields": list(declared.each), "lasting": lasting, "window": declared.length}
    text = json.dumps(meaning, sort_keys=True, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def _meaning(settings: FieldSettings) -> dict[str, Any]:
    names, named = _names_of(settings.values), settings.mechanism
    each = "each" if named.name in _OF_ITSELF else "any"
    meaning: dict[str, Any] = {
        "names": each if named.top is None else sorted(_name(settings.values, one) for one in named.top),
        "values": names,
    }
    if settings.coarser is not None:
        groups = settings.coarser.values()
        meaning["groups"] = sorted(sorted(_name(settings.values, one) for one in group) for group in groups)
    return meaning | ({"kept": settings.epsilon} if named.name == "rappor" else {})


def _names_of(values: Alphabet) -> list[str]:
    """A text is its own name, anything else goes by its JSON."""
    found = [values.value_at(value) for value in range(values.size)]
    return [value if isinstance(value, str) else canonical(value).decode() for value in found]


def _name(values: Alphabet, member: Any) -> str:
    place = values.index_of(member)
    assert place is not None, "settings name values of the field"
    return _names_of(values)[place]
