from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.laws.blocks import BlocksLaw
from beliefs.laws.chosen import LawSet, Theta
from beliefs.laws.dependence import Blocks, Dependence, Group, Independent, Members, OverWindows, People
from beliefs.laws.friends import FriendsLaw
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.law_file import InvalidLaw, LawFile, parse, serialise
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.laws.tree import TreeLaw

BITS = np.array([0.0, 1.0])
EVEN = np.array([0.5, 0.5])
STICKY = np.array([[0.9, 0.1], [0.2, 0.8]])
ONE, PAIR = TableLaw(np.array([0.6, 0.4]), (BITS,)), TableLaw(np.array([[0.3, 0.2], [0.2, 0.3]]), (BITS, BITS))
CLOSE = TableLaw(np.array([[0.45, 0.05], [0.05, 0.45]]), (BITS, BITS))
CHAIN = MarkovLaw(STICKY, EVEN, BITS, 3)
GAUSS = GaussianLaw(np.array([[1.0, 0.3], [0.3, 2.0]]), 1.5)
TREE = TreeLaw(np.array([-1, 0, 0]), EVEN[None], STICKY[None], np.array([-1, 0, 0]), BITS)
SQUARE = np.array([[0.0, 1.0], [1.0, 0.0]])
FRIENDS = FriendsLaw(3, np.array([[0, 1], [1, 2], [0, 2]]), SQUARE, 0.2, 1.1, np.array([0.3, 0.7]))
HOUSE = Members("field", "$.household")
LAWS: dict[str, Theta] = {
    "table": PAIR,
    "chain": CHAIN,
    "gaussian": GAUSS,
    "tree": TREE,
    "friends": FRIENDS,
    "blocks": BlocksLaw((PAIR, PAIR, CHAIN, GAUSS, PAIR, TREE)),
    "set": LawSet((PAIR, CLOSE)),
}
DEPENDENCES: dict[str, tuple[Dependence, int]] = {
    "independent": (Independent(), 1),
    "group": (Group(4, Members("file", "houses.csv")), 4),
    "blocks": (Blocks({1: ONE, 2: LawSet((PAIR, CLOSE))}, HOUSE), 2),
    "windows": (OverWindows(CHAIN), 3),
    "people": (People(TREE, ("ann", "bob", "cid")), 3),
    "friends": (People(FRIENDS, ("ann", "bob", "cid")), 3),
}
FILES = {
    **{name: LawFile(law=law) for name, law in LAWS.items()},
    **{f"dependence {name}": LawFile(dependence=each) for name, (each, _) in DEPENDENCES.items()},
}


def same(one: object, other: object) -> bool:
    """Laws compare by what they hold."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, tuple | list):
        return isinstance(other, tuple | list) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if hasattr(one, "__dict__"):
        return type(one) is type(other) and same(vars(one), vars(other))
    return bool(one == other)


@pytest.mark.parametrize("name", FILES)
def test_every_kind_goes_there_and_back(name: str) -> None:
    written = serialise(FILES[name])
    found = parse(written)
    assert same(found.law, FILES[name].law)
    assert same(found.dependence, FILES[name].dependence)
    assert serialise(found) == written
    assert found.digest in written.decode()


def test_names_and_what_it_was_learnt_from_are_kept() -> None:
    found = parse(serialise(LawFile(law=PAIR, names=("ann", "bob"), learnt_from={"people": 7})))
    assert found.names == ("ann", "bob")
    assert found.learnt_from == {"people": 7}


def test_blocks_that_repeat_are_counted() -> None:
    document = json.loads(serialise(FILES["blocks"]))
    assert [block.get("count", 1) for block in document["law"]["blocks"]] == [2, 1, 1, 1, 1]


def test_places_are_read_as_city_blocks() -> None:
    document = json.loads(serialise(FILES["friends"]))
    del document["hash"], document["law"]["distances"]
    document["law"]["places"] = [[0.0, 0.5], [0.5, 0.0]]
    found = parse(json.dumps(document).encode()).law
    assert isinstance(found, FriendsLaw)
    assert same(found.distances, SQUARE)


@pytest.mark.parametrize("name", DEPENDENCES)
def test_a_dependence_knows_its_largest_component(name: str) -> None:
    dependence, size = DEPENDENCES[name]
    assert dependence.component_size == size


def changed(name: str, *path: str | int, to: object) -> bytes:
    """A file with one entry replaced, or taken away where `to` is `...`."""
    document: Any = json.loads(serialise(FILES[name]))
    del document["hash"]
    inside = document
    for step in path[:-1]:
        inside = inside[step]
    if to is ...:
        del inside[path[-1]]
    else:
        inside[path[-1]] = to
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("data", "field", "says"),
    [
        (changed("table", "law", "joint", 1, 0, to=-0.2), "law.joint", "entry [1, 0] is negative"),
        (changed("table", "law", "joint", 1, 0, to="0.2"), "law.joint[1][0]", "found a text"),
        (changed("table", "law", "joint", 1, to=[0.5]), "law.joint[1]", "has 1 entries"),
        (changed("table", "law", "domains", 1, to=[1, 0]), "law.domains", "of attribute 1 must ascend"),
        (changed("table", "law", "domains", to=[[0, 1]]), "law.domains", "for 1 attributes"),
        (changed("table", "law", "joint", to=...), "law.joint", "is missing"),
        (changed("table", "law", "kind", to="tabel"), "law.kind", "must be one of table, chain"),
        (changed("table", "law", "color", to=1), "law.color", "is no key of a law of the kind table"),
        (changed("table", "law", to=[]), "law", "must be an object"),
        (changed("table", "names", to=["ann"]), "names", "has 1 entries, but the law has 2"),
        (changed("table", "names", to=["ann", "ann"]), "names", "entry 1 is one that was named before"),
        (changed("table", "names", to=["ann", 3]), "names[1]", "must be a text"),
        (changed("table", "format", to="sottovoce-joint"), "format", "sottovoce-law"),
        (changed("table", "version", to=2), "version", "must be 1"),
        (changed("table", "hash", to="sha256:0"), "hash", "does not fit"),
        (changed("table", "law", to=...), "law", "and dependence are two things"),
        (changed("table", "dependence", to={"kind": "independent"}), "law", "and dependence are two things"),
        (changed("chain", "law", "transition", 1, 0, to=0.3), "law.transition", "row 1 sums to 1.1"),
        (changed("chain", "law", "length", to=1.5), "law.length", "must be a whole number"),
        (changed("chain", "law", "domain", to=[0, 0.5]), "law.domain", "whole numbers"),
        (changed("gaussian", "law", "covariance", 0, 1, to=0.4), "law.covariance", "is not symmetric"),
        (changed("gaussian", "law", "range", to=0), "law.range", "above 0"),
        (changed("tree", "law", "parents", 1, to=3), "law.parents", "entry 1 is 3"),
        (changed("tree", "law", "parents", to=[-1, 2, 1]), "law.parents", "entry 1 is its own ancestor"),
        (changed("tree", "law", "parents", 1, to=0.0), "law.parents[1]", "must be a whole number"),
        (changed("tree", "law", "kernel_of", 2, to=5), "law.kernel_of", "entry 2 is 5"),
        (changed("tree", "law", "kernels", 0, 1, 0, to=0.5), "law.kernels", "entry 0 row 1 sums to 1.3"),
        (changed("tree", "law", "kernels", to=[[1]]), "law.kernels", "3 levels"),
        (changed("friends", "law", "friends", 1, to=[1, 3]), "law.friends", "entry 1 names a user"),
        (changed("friends", "law", "friends", 1, to=[1]), "law.friends[1]", "two users"),
        (changed("friends", "law", "places", to=[[0], [1]]), "law.distances", "give one of them"),
        (changed("friends", "law", "offset", to=0), "law.offset", "above 0"),
        (changed("blocks", "law", "blocks", 1, "length", to=0), "law.blocks[1].length", "1 or more"),
        (changed("blocks", "law", "blocks", 0, "count", to=0), "law.blocks[0].count", "1 or more"),
        (changed("blocks", "law", "blocks", to=[]), "law.blocks", "an empty one"),
        (changed("blocks", "law", "blocks", 0, to={"kind": "set", "laws": []}), "law.blocks[0].laws", "an empty one"),
        (changed("set", "law", "laws", 1, "domains", 0, 1, to=2), "law.laws", "entry 1 has other values"),
        (changed("set", "law", "laws", 1, to={"kind": "set", "laws": [{}]}), "law.laws[1].laws[0].kind", "one of"),
        (changed("dependence group", "dependence", "size", to=0), "dependence.size", "1 or more"),
        (changed("dependence group", "dependence", "components", to="apart"), "dependence.components", "must name a"),
        (changed("dependence group", "dependence", "components", to={"by": "x"}), "dependence.components", "household"),
        (
            changed("dependence group", "dependence", "components", to={"field": ""}),
            "dependence.components.field",
            "must be a text",
        ),
        (changed("dependence blocks", "dependence", "laws", to={}), "dependence.laws", "is empty"),
        (
            changed("dependence blocks", "dependence", "laws", "two", to={"kind": "table"}),
            "dependence.laws.two",
            "size of a component",
        ),
        (
            changed("dependence blocks", "dependence", "laws", "1", "joint", 0, to=0.7),
            "dependence.laws.1.joint",
            "sums to 1.1",
        ),
        (
            changed("dependence blocks", "dependence", "laws", "3", to=json.loads(serialise(FILES["table"]))["law"]),
            "dependence.laws",
            'entry "3" has 2 attributes',
        ),
        (
            changed("dependence blocks", "dependence", "laws", "2", "laws", 1, "joint", to=[[0.4, 0.2], [0.1, 0.3]]),
            "dependence.laws",
            'entry "2" is another one when members 0 and 1 change places',
        ),
        (
            changed("dependence windows", "dependence", "law", to=json.loads(serialise(FILES["table"]))["law"]),
            "dependence.law.kind",
            "must be chain",
        ),
        (changed("dependence people", "dependence", "users", to=["a", "b"]), "dependence.users", "has 2 entries"),
        (changed("dependence people", "dependence", "users", to=["a", "b", "a"]), "dependence.users", "entry 2"),
        (changed("dependence people", "dependence", "kind", to=[]), "dependence.kind", "must be one of"),
        (b"{", "text", "is not JSON"),
        (b"[]", "text", "must be an object"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(data: bytes, field: str, says: str) -> None:
    with pytest.raises(InvalidLaw) as refused:
        parse(data)
    assert field in [problem.field for problem in refused.value.problems]
    assert says in str(refused.value)


def places_in(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in inside:
        yield (*path, step)
        yield from places_in(each, (*path, step))


def problems_of(data: bytes) -> tuple[Invalid, ...]:
    try:
        parse(data)
    except InvalidLaw as problem:
        return problem.problems
    return ()


@pytest.mark.parametrize("name", FILES)
def test_whatever_is_broken_is_refused_in_words_or_read(name: str) -> None:
    document = json.loads(serialise(FILES[name]))
    del document["hash"]
    strange = [..., None, True, "", "x", -1, 0, 2, 1e308, -0.5, 1 << 70, [], [[]], {}, {"kind": "set"}, [0.5, 0.5]]
    refused = [
        problem
        for path in places_in(document)
        for each in strange
        for problem in problems_of(changed(name, *path, to=copy.deepcopy(each)))
    ]
    assert len(refused) > 20
    assert all(problem.field and problem.reason for problem in refused)


def test_a_file_holds_one_thing() -> None:
    with pytest.raises(Invalid, match="two things"):
        LawFile()
    with pytest.raises(Invalid, match="belong to a law"):
        LawFile(dependence=Independent(), names=("ann",))


@pytest.mark.parametrize(
    ("rule", "name", "says"),
    [("apart", "x", "name nothing"), ("field", "", "must name the field"), ("county", "x", "must be apart")],
)
def test_members_follow_a_rule_that_is_known(rule: str, name: str, says: str) -> None:
    with pytest.raises(Invalid, match="components") as refused:
        Members(rule, name)
    assert says in refused.value.reason
