"""Who depends on whom, as JSON values. The format: law_file.md."""

from __future__ import annotations

from collections.abc import Mapping

from beliefs.checks import Invalid, kind_of, read_object
from beliefs.document import texts
from beliefs.laws.chosen import LawSet
from beliefs.laws.dependence import (
    APART,
    BY_FIELD,
    BY_FILE,
    Blocks,
    Dependence,
    Group,
    Independent,
    Members,
    OverWindows,
    People,
)
from beliefs.laws.friends import FriendsLaw
from beliefs.laws.law_rows import placed, read_law, require_keys, whole, written_law
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.laws.tree import TreeLaw

_KEYS: Mapping[str, tuple[str, ...]] = {
    "independent": (),
    "group": ("components", "size"),
    "blocks": ("components", "laws"),
    "windows": ("law",),
    "people": ("users", "law"),
}


def read_dependence(value: object, path: str) -> Dependence:
    document = read_object(value, path)
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in _KEYS:
        raise Invalid(f"{path}.kind", f"must be one of {', '.join(_KEYS)}")
    require_keys(document, path, f"a dependence of the kind {kind}", ("kind", *_KEYS[kind]), ())
    try:
        return _read(kind, document, path)
    except Invalid as problem:
        raise placed(problem, path) from None


def _read(kind: str, document: Mapping[str, object], path: str) -> Dependence:
    if kind == "independent":
        return Independent()
    if kind == "group":
        members = _members(document["components"], f"{path}.components")
        return Group(whole(document["size"], f"{path}.size"), members)
    if kind == "blocks":
        return _blocks(document, path)
    law = read_law(document["law"], f"{path}.law")
    if kind == "windows":
        if not isinstance(law, MarkovLaw):
            raise Invalid(f"{path}.law.kind", "must be chain: what one window's contribution says of the next one's")
        return OverWindows(law)
    if not isinstance(law, TreeLaw | FriendsLaw):
        raise Invalid(f"{path}.law.kind", "must be tree or friends, whose attributes are the users that are named")
    return People(law, texts(document["users"], f"{path}.users"))


def _blocks(document: Mapping[str, object], path: str) -> Blocks:
    laws: dict[int, TableLaw | LawSet] = {}
    for size, each in read_object(document["laws"], f"{path}.laws").items():
        here = f"{path}.laws.{size}"
        if not (size.isascii() and size.isdecimal()) or size != str(int(size)) or len(size) > 3:
            raise Invalid(here, "must be the size of a component, such as 2, as a text")
        law = read_law(each, here)
        if not isinstance(law, TableLaw | LawSet):
            raise Invalid(f"{here}.kind", "must be table, or a set of tables")
        laws[int(size)] = law
    return Blocks(laws, _members(document["components"], f"{path}.components"))


def _members(value: object, path: str) -> Members:
    if value == APART:
        return Members()
    rule = value if isinstance(value, dict) else {}
    if len(rule) != 1 or next(iter(rule)) not in (BY_FIELD, BY_FILE):
        words = 'must be {"field": "$.household"}, which every event has, or {"file": "households.csv"}'
        raise Invalid(path, f"{words}, found {kind_of(value)}")
    kind, name = next(iter(rule.items()))
    if not isinstance(name, str) or not name:
        raise Invalid(f"{path}.{kind}", f"must be a text, found {kind_of(name)}")
    return Members(kind, name)


def written_dependence(dependence: Dependence) -> dict[str, object]:
    """What `read_dependence` reads back."""
    if isinstance(dependence, Independent):
        return {"kind": "independent"}
    if isinstance(dependence, Group):
        return {"kind": "group", "components": _written_members(dependence.members), "size": dependence.size}
    if isinstance(dependence, Blocks):
        laws = {str(size): written_law(law) for size, law in sorted(dependence.laws.items())}
        return {"kind": "blocks", "components": _written_members(dependence.members), "laws": laws}
    if isinstance(dependence, OverWindows):
        return {"kind": "windows", "law": written_law(dependence.law)}
    return {"kind": "people", "users": list(dependence.users), "law": written_law(dependence.law)}


def _written_members(members: Members) -> object:
    return APART if members.rule == APART else {members.rule: members.name}
