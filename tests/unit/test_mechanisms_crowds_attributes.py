from __future__ import annotations

import itertools

import numpy as np
import pytest
from crowd_mondrian_oracle import smallest_box
from crowd_streams import loss_of, some_attributes

from beliefs.checks import Invalid, InvariantBroken
from beliefs.native import kernel
from mechanisms.contract import Floats, Integers
from mechanisms.crowds import attributes as rules
from mechanisms.crowds.attributes import Attributes, Numeric, Space, Tree, around, box_of, tree_of

WORK = tree_of({"any": {"medical": ["doctor", "nurse"], "office": ["clerk"], "field": {"far": ["guard", "driver"]}}})


def test_a_hierarchy_is_read_from_top_to_bottom() -> None:
    assert WORK.values == ("doctor", "nurse", "clerk", "guard", "driver")
    above = {node.name: WORK.nodes[node.parent].name for node in WORK.nodes}
    assert above == {
        **dict.fromkeys(("doctor", "nurse"), "medical"), "clerk": "office", **dict.fromkeys(("guard", "driver"), "far"),
        "far": "field", **dict.fromkeys(("medical", "office", "field", "any"), "any"),
    }  # fmt: skip
    assert [WORK.name_of(node.low, node.high) for node in WORK.nodes if node.name in ("any", "medical", "guard")] == [
        "guard", "medical", "any",
    ]  # fmt: skip
    assert (WORK.name_of(2, 2), WORK.name_of(3, 4)) == ("clerk", "far")  # the lowest of those with the same values
    with pytest.raises(Invalid, match="no node"):
        WORK.name_of(1, 2)


@pytest.mark.parametrize(
    ("hierarchy", "why"),
    [
        (["a"], "one name at the top"),
        ({}, "one name at the top"),
        ({"a": ["b"], "c": ["d"]}, "one name at the top"),
        ({"any": []}, "nothing below 'any'"),
        ({"any": {}}, "nothing below 'any'"),
        ({"any": {"a": ["b"], "c": []}}, "nothing below 'c'"),
        ({"any": "abc"}, "below 'any'"),
        ({"any": None}, "below 'any'"),
        ({"any": ["a", 3]}, "where a value stands"),
        ({"any": ["a", ""]}, "where a value stands"),
        ({"any": {7: ["a"]}}, "where a name stands"),
        ({"any": {"a": ["x"], "b": ["x"]}}, "'x' twice"),
        ({"any": {"a": ["any"]}}, "'any' twice"),
        ({"any": {"a": ["b"], "b": ["c"]}}, "'b' twice"),
    ],
)
def test_what_is_no_hierarchy_is_refused(hierarchy: object, why: str) -> None:
    with pytest.raises(Invalid, match=why) as refused:
        tree_of(hierarchy, "crowd.release.by.job.tree")
    assert refused.value.field == "crowd.release.by.job.tree"


def test_a_hierarchy_has_a_depth() -> None:
    def chain(levels: int) -> object:
        below: object = ["value"]
        for level in range(levels):
            below = {f"level {level}": below}
        return below

    assert tree_of(chain(rules.DEPTH_MOST)).cells == 1
    with pytest.raises(Invalid, match="levels deep"):
        tree_of(chain(rules.DEPTH_MOST + 1))


def test_sizes_are_bounded() -> None:
    for wrong in (0, rules.CELLS_MOST + 1):
        with pytest.raises(InvariantBroken):
            Numeric(wrong)
    for count in (0, rules.ATTRIBUTES_MOST + 1):
        with pytest.raises(InvariantBroken):
            Attributes((Numeric(2),) * count)
    pair = Attributes((Numeric(4), WORK))
    assert [pair.inside(cells) for cells in [(3, 4), (4, 4), (0, 5), (-1, 0), (0,), (0, 0, 0)]] == [True] + [False] * 5


@kernel
def measured(space: Space, boxes: Integers, cells: Integers, found: Floats) -> bool:
    """Boxes 0 and 1, people 0 and 1: whether box 0 holds person 1 and three losses; then box 0 is widened by him."""
    found[0] = rules.gap(space, cells, 0, 1)
    found[1] = rules.loss_with(space, boxes, 0, cells, 1)
    found[2] = rules.loss_joined(space, boxes, 0, 1)
    inside = rules.holds(boxes, 0, cells, 1)
    rules.widen(space, boxes, 0, cells, 1)
    rules.point(boxes, 1, cells, 1)
    return inside


def test_losses_are_those_of_the_smallest_boxes() -> None:
    generator = np.random.default_rng(81)
    trees = 0
    for _ in range(2_000):
        each = some_attributes(generator)
        trees += sum(isinstance(attribute, Tree) for attribute in each.each)
        space = each.space()
        people = [tuple(int(generator.integers(one.cells)) for one in each.each) for _ in range(6)]
        cells = np.array(people, dtype=np.int64)
        some = [[(people[at], -1) for at in range(first, 6)] for first in (0, 3)]
        boxes = np.zeros((2, 2 * len(each)), dtype=np.int64)
        for row, first in enumerate((0, 3)):
            chosen = np.arange(first + 0, 6)[::-1].copy()
            want = smallest_box(each, some[row])
            assert around(space, cells, chosen, chosen.size, boxes, row) == loss_of(each, want)
            assert box_of(boxes[row]) == want
        one, two = [(people[0], -1)], [(people[1], -1)]
        boxes[0], boxes[1] = boxes[1].copy(), boxes[0].copy()
        found = np.zeros(3)
        inside = measured(space, boxes, cells, found)
        wants = [smallest_box(each, group) for group in (one + two, some[1] + two, some[0])]
        assert found.tolist() == [loss_of(each, want) for want in wants]
        last = smallest_box(each, some[1])
        assert inside == all(low <= cell <= high for cell, (low, high) in zip(people[1], last, strict=True))
        assert (box_of(boxes[0]), box_of(boxes[1])) == (wants[1], tuple(zip(people[1], people[1], strict=True)))
    assert trees > 500


def test_a_cover_is_the_lowest_node_above_both_ends() -> None:
    space = Attributes((WORK,)).space()
    for low, high in itertools.combinations_with_replacement(range(5), 2):
        cells = np.array([[low], [high]], dtype=np.int64)
        box = np.zeros((1, 2), dtype=np.int64)
        around(space, cells, np.arange(2), 2, box, 0)
        nodes = [
            (node.high - node.low, node.low, node.high) for node in WORK.nodes if node.low <= low <= high <= node.high
        ]
        assert tuple(box[0]) == min(nodes)[1:]
