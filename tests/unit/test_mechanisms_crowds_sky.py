from __future__ import annotations

import numpy as np
from crowd_flow_oracles import PlainSky, check_race, parts_of
from crowd_streams import centres, played, some_attributes, streams

from mechanisms.crowds.attributes import Attributes, Numeric, tree_of
from mechanisms.crowds.diversity import Rule
from mechanisms.crowds.flow import FlowForm
from mechanisms.crowds.halving import halving
from mechanisms.crowds.sky import Sky

LINE = Attributes((Numeric(8),))
SQUARE = Attributes((Numeric(201), Numeric(201)))


def test_the_same_as_in_plain_python_on_thousands_of_streams() -> None:
    check_race(Sky, PlainSky, seed=51, count=1_200)


def test_every_box_is_one_of_the_tree() -> None:
    for form, steps in streams(seed=52, count=600):
        flow, levels = Sky(form), [parts_of(each) for each in form.attributes.each]
        tree = {tuple(step) for step in halving(form.attributes).level.tolist()}
        for emitted in (each for step in steps for each in played(flow, step)):
            if emitted.box is not None:
                at = [
                    {level for level, parts in enumerate(each) if ends in parts}
                    for each, ends in zip(levels, emitted.box, strict=True)
                ]
                assert any(all(level in some for level, some in zip(step, at, strict=True)) for step in tree)


def test_the_tree_ends_at_single_cells_and_divides_one_attribute_at_a_time() -> None:
    generator = np.random.default_rng(53)
    for _ in range(300):
        attributes = some_attributes(generator)
        tree = halving(attributes)
        assert not tree.level[0].any()
        assert (np.diff(tree.level, axis=0).sum(axis=1) == 1).all()
        for place, each in enumerate(attributes.each):
            assert all(low == high for low, high in parts_of(each)[int(tree.level[-1, place])])


def test_a_wide_lattice_is_divided_in_as_many_steps_as_its_numbers_have_digits() -> None:
    assert halving(Attributes((Numeric(1 << 31), Numeric(2)))).level.shape == (33, 2)
    assert halving(Attributes((Numeric(1),))).level.tolist() == [[0]]
    assert halving(Attributes((tree_of({"all": ["a"]}),))).level.tolist() == [[0]]


def test_a_cell_with_k_users_waits_for_nothing_and_takes_all_its_events_along() -> None:
    flow = Sky(FlowForm(LINE, Rule(3), 9, 9))
    for seq, user in enumerate([b"ann", b"bob", b"ann"]):
        assert flow.take(seq, 0, user, (5,), -1) == []
    assert flow.take(3, 0, b"cid", (4,), -1) == []
    (left,) = flow.take(4, 0, b"cid", (5,), -1)
    assert (left.seqs, left.users, left.box, left.loss) == ((0, 1, 2, 4), 3, ((5, 5),), 0.0)
    (again,) = flow.take(5, 0, b"dan", (5,), -1)
    assert (again.seqs, again.users, again.reused) == ((5,), 3, True)


def test_a_node_is_finished_by_its_own_crowd_and_not_by_that_of_a_part() -> None:
    flow = Sky(FlowForm(LINE, Rule(2), 9, 9))
    flow.take(0, 0, b"ann", (1,), -1)
    assert [each.box for each in flow.take(1, 0, b"bob", (1,), -1)] == [((1, 1),)]
    flow.take(2, 0, b"cid", (0,), -1)
    assert [each.reason for each in flow.overdue(9)] == ["too_few"]


def test_a_finished_node_below_the_nearest_crowd_is_taken() -> None:
    flow = Sky(FlowForm(LINE, Rule(2), 9, 9))
    flow.take(0, 0, b"ann", (0,), -1)
    flow.take(1, 0, b"bob", (1,), -1)
    assert [(each.seqs, each.box) for each in flow.overdue(9)] == [((0, 1), ((0, 1),))]
    flow.take(2, 9, b"cid", (1,), -1)
    flow.take(3, 9, b"dan", (3,), -1)
    first, second = flow.overdue(18)
    assert (first.seqs, first.box, first.reused) == ((2,), ((0, 1),), True)
    assert (second.seqs, second.reason) == ((3,), "too_few")


def test_a_finished_cell_keeps_what_its_rule_forbids() -> None:
    flow = Sky(FlowForm(LINE, Rule(2, values=2, diverse=2), 9, 9))
    flow.take(0, 0, b"ann", (1,), 0)
    assert flow.take(1, 0, b"bob", (1,), 0) == []
    assert [each.seqs for each in flow.take(2, 0, b"cid", (1,), 1)] == []
    assert [each.seqs for each in flow.take(3, 0, b"dan", (1,), 1)] == [(0, 1, 2, 3)]
    assert flow.take(4, 0, b"eva", (1,), 0) == [], "three of four would have one value"


def test_where_cells_are_few_most_leave_at_once() -> None:
    flow = Sky(FlowForm(Attributes((Numeric(4), Numeric(4))), Rule(10), 1_000, 1 << 40))
    waited, lost = [], []
    for seq, (user, (x, y)) in enumerate(centres(seed=54, count=6_000)):
        for each in flow.take(seq, seq, user, (x // 51, y // 51), -1):
            waited += [seq - one for one in each.seqs]
            lost += [each.loss] * len(each.seqs)
    assert np.median(waited) == 0
    assert np.mean(waited) < 50
    assert np.mean(lost) < 0.02


def test_on_a_fine_grid_the_loss_is_that_of_the_tree() -> None:
    flow = Sky(FlowForm(SQUARE, Rule(10), 1_000, 1 << 40))
    lost = [
        each.loss
        for seq, (user, cells) in enumerate(centres(seed=55, count=8_000))
        for each in flow.take(seq, seq, user, cells, -1)
        for _ in each.seqs
    ]
    assert np.mean(lost) < 0.1
