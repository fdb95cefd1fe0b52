from __future__ import annotations

import itertools

import numpy as np
import pytest
from crowd_mondrian_oracle import Person, first_cut, plain_mondrian, smallest_box
from crowd_streams import loss_of, some_attributes, some_rule

from beliefs.checks import InvariantBroken
from mechanisms.crowds.attributes import Attributes, Numeric, tree_of
from mechanisms.crowds.diversity import Rule
from mechanisms.crowds.mondrian import Crowds, mondrian

WORK = tree_of({"any": {"medical": ["doctor", "nurse"], "office": ["clerk", "boss", "guard"]}})


def cut(attributes: Attributes, people: list[Person], rule: Rule) -> Crowds:
    cells = np.array([cells for cells, _ in people], dtype=np.int64).reshape(len(people), len(attributes))
    values = np.array([value for _, value in people], dtype=np.int64) if rule.values else None
    return mondrian(attributes, cells, values, rule)


def check_against_plain(attributes: Attributes, people: list[Person], rule: Rule) -> Crowds:
    found = cut(attributes, people, rule)
    want = plain_mondrian(attributes, people, rule)
    losses = [loss_of(attributes, box) for box, _ in want]
    kept = [each for each, loss in zip(want, losses, strict=True) if loss <= rule.loss_most]
    assert [
        (box, sorted(people[row] for row in group)) for box, group in zip(found.boxes, found.groups, strict=True)
    ] == kept
    assert found.losses == [loss for loss in losses if loss <= rule.loss_most]
    assert sorted([*found.suppressed.tolist(), *(row for group in found.groups for row in group)]) == list(
        range(len(people))
    )
    if kept != want:
        assert found.reason == "loss"
    elif want:
        assert found.reason is None
    elif people:
        assert found.reason == ("too_few" if len(people) < rule.k else "not_diverse")
    return found


def some_people(generator: np.random.Generator, attributes: Attributes, rule: Rule, count: int) -> list[Person]:
    wide = generator.random() < 0.5  # else many have the same cells
    return [
        (
            tuple(int(generator.integers(each.cells if wide else min(each.cells, 3))) for each in attributes.each),
            int(generator.integers(rule.values)) if rule.values else -1,
        )
        for _ in range(count)
    ]


def test_thousands_of_small_windows_are_cut_as_plain_lists_are() -> None:
    generator = np.random.default_rng(71)
    crowds = most = lost = 0
    for _ in range(2_500):
        attributes = some_attributes(generator)
        rule = some_rule(generator, int(generator.integers(2, 5)))
        people = some_people(generator, attributes, rule, int(generator.integers(0, 40)))
        found = check_against_plain(attributes, people, rule)
        crowds, most, lost = crowds + len(found.groups), max(most, len(found.groups)), lost + found.suppressed.size
    assert crowds > 6_000
    assert most > 10
    assert lost > 1_000


SMALL = [
    (Attributes((Numeric(3), Numeric(2))), Rule(2), 5),
    (Attributes((tree_of({"any": {"one": ["a", "b"], "two": ["c"]}}), Numeric(2))), Rule(2), 5),
    (Attributes((Numeric(4),)), Rule(2, 2, 2, 400_000), 6),
]


@pytest.mark.parametrize(("attributes", "rule", "count"), SMALL)
def test_every_small_window_in_every_order(attributes: Attributes, rule: Rule, count: int) -> None:
    """All multisets of people: what is let out is the same for each order of them, and nothing more could be cut."""
    kinds = [
        (cells, value)
        for cells in itertools.product(*(range(each.cells) for each in attributes.each))
        for value in (range(rule.values) if rule.values else (-1,))
    ]
    generator = np.random.default_rng(72)
    for size in range(1, count + 1):
        for window in itertools.combinations_with_replacement(kinds, size):
            people = list(window)
            found = check_against_plain(attributes, people, rule)
            groups = [[people[row] for row in group] for group in found.groups]
            for box, group in zip(found.boxes, groups, strict=True):
                assert len(group) >= rule.k
                assert box == smallest_box(attributes, group)
                assert first_cut(attributes, rule, group, people) is None
            for one, two in itertools.combinations(found.boxes, 2):
                assert any(b[1] < a[0] or a[1] < b[0] for a, b in zip(one, two, strict=True)), "boxes that overlap"
            orders = (
                list(itertools.permutations(people))
                if size < 4
                else [[people[place] for place in generator.permutation(size)] for _ in range(2)]
            )
            for order in orders:
                again = cut(attributes, list(order), rule)
                assert again.boxes == found.boxes
                assert [sorted(order[row] for row in group) for group in again.groups] == [sorted(g) for g in groups]


def test_a_plane_is_cut_at_its_medians() -> None:
    people = [((x, y), -1) for x, y in [(0, 0), (1, 9), (2, 1), (3, 8), (7, 0), (8, 9), (9, 1), (10, 8)]]
    found = cut(Attributes((Numeric(11), Numeric(11))), people, Rule(2))
    assert found.boxes == [((0, 2), (0, 1)), ((1, 3), (8, 9)), ((7, 9), (0, 1)), ((8, 10), (8, 9))]
    assert [group.tolist() for group in found.groups] == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert found.losses == [pytest.approx(0.15)] * 4
    assert (found.suppressed.tolist(), found.reason) == ([], None)


def test_people_with_the_same_number_stay_together_on_the_evener_side() -> None:
    numbers = Attributes((Numeric(10),))
    assert cut(numbers, [((x,), -1) for x in [1, 5, 5, 5, 5, 9, 9]], Rule(2)).boxes == [((1, 5),), ((9, 9),)]
    assert cut(numbers, [((x,), -1) for x in [1, 1, 5, 5, 5, 5, 9]], Rule(2)).boxes == [((1, 1),), ((5, 9),)]
    assert cut(numbers, [((x,), -1) for x in [1, 5, 5, 5, 5, 9]], Rule(2)).boxes == [((1, 9),)]


def test_a_hierarchy_is_cut_into_what_is_below_it() -> None:
    found = cut(Attributes((WORK,)), [((cell,), -1) for cell in [0, 0, 1, 2, 2, 3, 3, 3]], Rule(2))
    # A nurse alone is no crowd, so the medical stay together; clerks and bosses are two crowds.
    assert [WORK.name_of(*box[0]) for box in found.boxes] == ["medical", "clerk", "boss"]
    assert [len(group) for group in found.groups] == [3, 2, 3]


def test_values_may_forbid_a_cut() -> None:
    people = [((0,), 0), ((1,), 0), ((8,), 1), ((9,), 1)]
    assert cut(Attributes((Numeric(10),)), people, Rule(2, 2)).boxes == [((0, 1),), ((8, 9),)]
    assert cut(Attributes((Numeric(10),)), people, Rule(2, 2, 2)).boxes == [((0, 9),)]
    assert cut(Attributes((Numeric(10),)), people, Rule(2, 2, 1, 499_999)).boxes == [((0, 9),)]
    assert cut(Attributes((Numeric(10),)), people, Rule(2, 2, 1, 500_000)).boxes == [((0, 1),), ((8, 9),)]


def test_sensitive_values_and_their_rule_come_together() -> None:
    cells = np.zeros((3, 1), dtype=np.int64)
    for values, rule in ((None, Rule(2, 2, 2)), (np.zeros(3, dtype=np.int64), Rule(2))):
        with pytest.raises(InvariantBroken):
            mondrian(Attributes((Numeric(2),)), cells, values, rule)


def test_a_window_of_very_many_is_cut_down_to_crowds_of_k() -> None:
    generator = np.random.default_rng(73)
    cells = generator.integers(0, 1_000, (50_000, 2))
    found = mondrian(Attributes((Numeric(1_000), Numeric(1_000))), cells, None, Rule(10))
    sizes = [group.size for group in found.groups]
    assert sum(sizes) == 50_000
    assert min(sizes) >= 10
    assert max(sizes) < 20
    assert sum(size * loss for size, loss in zip(sizes, found.losses, strict=True)) / 50_000 < 0.014
