from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
from crowd_flow_oracles import PlainFads, check_race
from crowd_streams import centres

from mechanisms.crowds.attributes import Attributes, Numeric
from mechanisms.crowds.diversity import Rule
from mechanisms.crowds.fads import Fads
from mechanisms.crowds.flow import Emitted, FlowForm
from mechanisms.crowds.nearest import RECENT

LINE = Attributes((Numeric(101),))


def fed(flow: Fads, *events: tuple[str, int] | tuple[str, int, int]) -> list[Emitted]:
    """Users and their cells, from number 0 on, at time 0."""
    found = []
    for user, cell, *sensitive in events:
        seq = flow.held.newest + 1
        found += flow.take(seq, 0, user.encode(), (cell,), sensitive[0] if sensitive else -1)
    return found


def test_the_same_as_in_plain_python_on_thousands_of_streams() -> None:
    check_race(Fads, PlainFads, seed=41, count=2_000)


def test_the_older_of_two_who_are_equally_near_comes_along() -> None:
    flow = Fads(FlowForm(LINE, Rule(2), 3, 9))
    (left,) = fed(flow, ("ann", 50), ("bob", 52), ("cid", 48), ("dan", 90))
    assert left.seqs == (0, 1)


def test_of_a_user_only_the_nearest_event_comes_along() -> None:
    flow = Fads(FlowForm(LINE, Rule(3), 4, 9))
    (left,) = fed(flow, ("ann", 50), ("bob", 60), ("bob", 51), ("ann", 50), ("cid", 70))
    assert (left.seqs, left.users, left.box) == ((0, 2, 4), 3, ((50, 70),))
    assert flow.waiting == 2


def test_one_user_alone_is_never_a_crowd() -> None:
    flow = Fads(FlowForm(LINE, Rule(2), 2, 9))
    found = fed(flow, *[("ann", 5)] * 50)
    assert [each.seqs for each in found] == [(seq,) for seq in range(48)]
    assert {each.reason for each in found} == {"too_few"}


def test_a_box_is_used_again_only_where_it_loses_less_and_only_for_a_while() -> None:
    flow = Fads(FlowForm(LINE, Rule(2), 2, 9))
    assert [each.box for each in fed(flow, ("ann", 40), ("bob", 48), ("cid", 90))] == [((40, 48),)]
    assert [each.box for each in fed(flow, ("dan", 45), ("eva", 91))] == [((90, 91),)]
    (again,) = fed(flow, ("fay", 70))
    assert (again.seqs, again.box, again.users, again.reused) == ((3,), ((40, 48),), 2, True)
    (less,) = fed(flow, ("gil", 45), ("hal", 69))
    assert (less.seqs, less.box, less.reused) == ((5, 7), ((69, 70),), False)
    (last,) = fed(flow, ("ida", 20))
    assert (last.seqs, last.box, last.reused) == ((6,), ((40, 48),), True)
    (crowd,) = fed(flow, ("jon", 45), ("kim", 20))
    assert (crowd.seqs, crowd.box) == ((8, 10), ((20, 20),))
    (late,) = fed(flow, ("leo", 20))
    assert (late.seqs, late.box, late.reused) == ((9, 11), ((20, 45),), False)
    assert flow.held.newest == 2 + RECENT * flow.form.events + 1, "the first box was kept when number 2 was the newest"


def test_too_many_of_one_value_are_passed_over_until_the_rule_holds() -> None:
    flow = Fads(FlowForm(LINE, Rule(2, values=3, diverse=2), 4, 9))
    (left,) = fed(flow, ("ann", 50, 1), ("bob", 51, 1), ("cid", 60, 2), ("dan", 52, 1), ("eva", 90, 0))
    # Bob is nearest, of the same value: Dan would make it three of three, Cid makes it two of three, Eva two of four.
    assert left.seqs == (0, 1, 2, 4)
    alone = fed(flow, *[("fay", 1, 1)] * 3)
    assert [(each.seqs, each.reason) for each in alone] == [((3,), "not_diverse")]


def test_who_is_kept_back_as_not_diverse_had_no_crowd_at_all() -> None:
    kept_back = 0
    generator = np.random.default_rng(43)
    for _ in range(600):
        k, values = int(generator.integers(2, 5)), int(generator.integers(2, 4))
        form = FlowForm(LINE, Rule(k, values, int(generator.integers(2, min(k, values) + 1))), 8, 9)
        flow = Fads(form)
        there: dict[int, tuple[int, int]] = {}
        for seq in range(40):
            there[seq] = (seq % 11, int(generator.choice([0, 0, 0, *range(values)])))
            for each in flow.take(seq, 0, seq % 11, (int(generator.integers(101)),), there[seq][1]):
                one, *others = (there[seq] for seq in sorted(there) if seq >= each.seqs[0])
                if each.reason == "not_diverse":
                    kept_back += 1
                    others = [other for other in others if other[0] != one[0]]
                    crowds = (
                        Counter([one[1], *(value for _, value in some)])
                        for count in range(k - 1, len(others) + 1)
                        for some in itertools.combinations(others, count)
                    )
                    assert all(max(crowd.values()) * form.rule.diverse > crowd.total() for crowd in crowds)
                for gone in each.seqs:
                    del there[gone]
    assert kept_back > 300


def test_a_crowd_like_everybody_is_sought() -> None:
    flow = Fads(FlowForm(LINE, Rule(2, values=2, close=100_000), 4, 9))
    (left,) = fed(flow, ("ann", 50, 0), ("bob", 51, 0), ("cid", 60, 1), ("dan", 52, 0), ("eva", 90, 1))
    # Everybody: three to two. Ann and Bob are too far from that, with Cid two to one is near enough.
    assert left.seqs == (0, 1, 2)


def test_a_crowd_that_loses_too_much_stays_and_only_who_is_due_is_kept_back() -> None:
    flow = Fads(FlowForm(LINE, Rule(2, loss_most=0.1), 2, 9))
    (left,) = fed(flow, ("ann", 0), ("bob", 50), ("cid", 51))
    assert (left.seqs, left.reason, flow.waiting) == ((0,), "loss", 2)


def test_the_clock_lets_out_who_is_old_enough_and_his_crowd() -> None:
    flow = Fads(FlowForm(LINE, Rule(2), 9, 10))
    flow.take(4, 100, b"ann", (1,), -1)
    flow.take(5, 105, b"bob", (2,), -1)
    flow.take(6, 106, b"cid", (9,), -1)
    assert flow.overdue(109) == []
    assert [each.seqs for each in flow.overdue(110)] == [(4, 5)]
    assert flow.oldest == (6, 106)
    assert [(each.seqs, each.reason) for each in flow.overdue(200)] == [((6,), "too_few")]


def test_around_twelve_centres_less_than_a_quarter_is_lost() -> None:
    for seed in range(42, 47):
        flow = Fads(FlowForm(Attributes((Numeric(201), Numeric(201))), Rule(10), 100, 1 << 40))
        losses = []
        for seq, (user, cells) in enumerate(centres(seed, count=8_000)):
            for each in flow.take(seq, seq, user, cells, -1):
                losses += [each.loss] * len(each.seqs)
        assert len(losses) > 7_900
        assert np.mean(losses) <= 0.23
