"""Laws as JSON values: each kind has its keys, one reader and one writer. The format: law_file.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid, finite_number, kind_of, read_object
from beliefs.correlation.bound import Matrix, Places
from beliefs.correlation.nested_lists import nested_entries
from beliefs.laws.blocks import Block, BlocksLaw
from beliefs.laws.chosen import Law, LawSet, Theta
from beliefs.laws.friends import FriendsLaw, city_blocks
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.laws.tree import TreeLaw
from beliefs.simplex import Vector

CELLS_MAX = 1 << 24

Document = Mapping[str, object]


class _Kind(NamedTuple):
    needed: tuple[str, ...]
    free: tuple[str, ...]
    read: Callable[[Document, str], Theta]


def read_law(value: object, path: str) -> Theta:
    """The law; what is wrong is refused with its place in the file, such as law.blocks[2].joint."""
    document = read_object(value, path)
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise Invalid(f"{path}.kind", f"must be one of {', '.join(_KINDS)}")
    needed, free, read = _KINDS[kind]
    require_keys(document, path, f"a law of the kind {kind}", ("kind", *needed), free)
    try:
        return read(document, path)
    except Invalid as problem:
        raise placed(problem, path) from None


def placed(problem: Invalid, path: str) -> Invalid:
    """The same problem, with the place of what it was found in before it, if it does not bear that yet."""
    is_placed = problem.field == path or problem.field.startswith((f"{path}.", f"{path}["))
    return problem if is_placed else Invalid(f"{path}.{problem.field}", problem.reason)


def require_keys(document: Document, path: str, what: str, needed: tuple[str, ...], free: tuple[str, ...]) -> None:
    for key in document:
        if key not in (*needed, *free):
            raise Invalid(f"{path}.{key}", f"is no key of {what}; the keys are {', '.join((*needed, *free))}")
    for key in needed:
        if key not in document:
            raise Invalid(f"{path}.{key}", "is missing")


def written_law(theta: Theta) -> dict[str, object]:
    """What `read_law` reads back."""
    if isinstance(theta, LawSet):
        return {"kind": "set", "laws": [written_law(law) for law in theta.laws]}
    if isinstance(theta, TableLaw):
        return {"kind": "table", "joint": theta.joint.tolist(), "domains": [each.tolist() for each in theta.domains]}
    if isinstance(theta, MarkovLaw):
        rows, start = theta.transition.tolist(), theta.start.tolist()
        return {
            "kind": "chain",
            "transition": rows,
            "start": start,
            "domain": theta.domain.tolist(),
            "length": theta.length,
        }
    if isinstance(theta, GaussianLaw):
        return {"kind": "gaussian", "covariance": theta.covariance.tolist(), "range": theta.range}
    if isinstance(theta, TreeLaw):
        names = ("parents", "roots", "kernels", "kernel_of", "domain")
        return {"kind": "tree", **{name: getattr(theta, name).tolist() for name in names}}
    if isinstance(theta, FriendsLaw):
        return _written_friends(theta)
    runs = [(law, sum(1 for _ in run)) for law, run in groupby(map(written_law, theta.blocks))]
    return {"kind": "blocks", "blocks": [law if count == 1 else {**law, "count": count} for law, count in runs]}


def _written_friends(law: FriendsLaw) -> dict[str, object]:
    found: dict[str, object] = {"kind": "friends", "users": law.users, "friends": law.friends.tolist()}
    found |= {"distances": law.distances.tolist(), "offset": law.offset, "exponent": law.exponent}
    return found if law.people is None else {**found, "people": law.people.tolist()}


def _table(document: Document, path: str) -> TableLaw:
    domains = _listed(document["domains"], f"{path}.domains")
    values = tuple(_numbers(each, f"{path}.domains[{place}]") for place, each in enumerate(domains))
    return TableLaw(_nested(document["joint"], f"{path}.joint"), values)


def _chain(document: Document, path: str) -> MarkovLaw:
    rows, start = _square(document["transition"], f"{path}.transition"), _numbers(document["start"], f"{path}.start")
    domain, length = _numbers(document["domain"], f"{path}.domain"), whole(document["length"], f"{path}.length")
    return MarkovLaw(rows, start, domain, length)


def _gaussian(document: Document, path: str) -> GaussianLaw:
    covariance = _square(document["covariance"], f"{path}.covariance")
    return GaussianLaw(covariance, finite_number(document["range"], f"{path}.range"))


def _tree(document: Document, path: str) -> TreeLaw:
    return TreeLaw(
        _wholes(document["parents"], f"{path}.parents"),
        _square(document["roots"], f"{path}.roots"),
        _nested(document["kernels"], f"{path}.kernels", 3),
        _wholes(document["kernel_of"], f"{path}.kernel_of"),
        _numbers(document["domain"], f"{path}.domain"),
    )


def _friends(document: Document, path: str) -> FriendsLaw:
    given = [key for key in ("distances", "places") if key in document]
    if len(given) != 1:
        raise Invalid(f"{path}.distances", "and places say the same: give one of them")
    table = _square(document[given[0]], f"{path}.{given[0]}")
    pairs = _listed(document["friends"], f"{path}.friends", least=0)
    rows = [_wholes(pair, f"{path}.friends[{place}]") for place, pair in enumerate(pairs)]
    for place, row in enumerate(rows):
        if row.size != 2:
            raise Invalid(f"{path}.friends[{place}]", "must name two users")
    return FriendsLaw(
        whole(document["users"], f"{path}.users"),
        np.array(rows, dtype=np.int64).reshape(-1, 2),
        table if given[0] == "distances" else city_blocks(table),
        finite_number(document["offset"], f"{path}.offset"),
        finite_number(document["exponent"], f"{path}.exponent"),
        _numbers(document["people"], f"{path}.people") if "people" in document else None,
    )


def _blocks(document: Document, path: str) -> BlocksLaw:
    blocks: list[Block] = []
    for place, each in enumerate(_listed(document["blocks"], f"{path}.blocks")):
        here = f"{path}.blocks[{place}]"
        inside = dict(read_object(each, here))
        count = whole(inside.pop("count", 1), f"{here}.count")
        law = read_law(inside, here)
        if not isinstance(law, Block):
            raise Invalid(f"{here}.kind", "of a block must be table, chain, gaussian or tree")
        if count < 1:
            raise Invalid(f"{here}.count", "must be 1 or more")
        blocks += [law] * count
    return BlocksLaw(tuple(blocks))


def _set(document: Document, path: str) -> LawSet:
    laws: list[Law] = []
    for place, each in enumerate(_listed(document["laws"], f"{path}.laws")):
        law = read_law(each, f"{path}.laws[{place}]")
        if isinstance(law, LawSet):
            raise Invalid(f"{path}.laws[{place}].kind", "is a set itself; put its laws in its place")
        laws.append(law)
    return LawSet(tuple(laws))


_KINDS: Mapping[str, _Kind] = {
    "table": _Kind(("joint", "domains"), (), _table),
    "chain": _Kind(("transition", "start", "domain", "length"), (), _chain),
    "gaussian": _Kind(("covariance", "range"), (), _gaussian),
    "tree": _Kind(("parents", "roots", "kernels", "kernel_of", "domain"), (), _tree),
    "friends": _Kind(("users", "friends", "offset", "exponent"), ("distances", "places", "people"), _friends),
    "blocks": _Kind(("blocks",), (), _blocks),
    "set": _Kind(("laws",), (), _set),
}


def whole(value: object, path: str) -> int:
    """A whole number; numbers beyond 64 bits are refused."""
    if type(value) is not int or not -(1 << 62) < value < 1 << 62:
        raise Invalid(path, f"must be a whole number, found {kind_of(value)}")
    return value


def _wholes(value: object, path: str) -> Places:
    listed = _listed(value, path)
    if any(type(each) is not int for each in listed):
        place = next(place for place, each in enumerate(listed) if type(each) is not int)
        raise Invalid(f"{path}[{place}]", f"must be a whole number, found {kind_of(listed[place])}")
    return np.array([whole(each, path) for each in listed], dtype=np.int64)


def _numbers(value: object, path: str) -> Vector:
    listed = _listed(value, path)
    return np.array([finite_number(each, f"{path}[{place}]") for place, each in enumerate(listed)])


def _square(value: object, path: str) -> Matrix:
    return _nested(value, path, 2)


def _nested(value: object, path: str, axes: int | None = None) -> Matrix:
    found = nested_entries(value, path, finite_number, CELLS_MAX)
    if axes is not None and found.ndim != axes:
        raise Invalid(path, f"must be lists within lists, {axes} levels of them, found {found.ndim}")
    return found


def _listed(value: object, path: str, least: int = 1) -> list[object]:
    if not isinstance(value, list) or len(value) < least:
        raise Invalid(path, f"must be a list, found {'an empty one' if value == [] else kind_of(value)}")
    return value
