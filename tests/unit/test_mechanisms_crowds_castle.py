from __future__ import annotations

from collections import Counter

import pytest
from crowd_castle_oracle import PlainCastle
from crowd_flow_oracles import check_race
from crowd_streams import Watch, centres, streams

from mechanisms.crowds import waiting
from mechanisms.crowds.attributes import Attributes, Numeric
from mechanisms.crowds.castle import Castle
from mechanisms.crowds.diversity import Rule
from mechanisms.crowds.flow import Emitted, FlowForm
from mechanisms.crowds.waiting import Arrival

SIZES = [(2, 3, 2), (4, 4, 8), (50, 100, 128)]
"""Open clusters, losses in the threshold, boxes kept: so few that each is often full, and the usual ones."""


@pytest.mark.parametrize("sizes", SIZES)
def test_it_lets_out_what_plain_lists_let_out(sizes: tuple[int, int, int]) -> None:
    check_race(lambda form: Castle(form, *sizes), lambda form: PlainCastle(form, *sizes), 40 + sizes[0], 800)


@pytest.mark.parametrize("sizes", SIZES[:2])
def test_few_clusters_and_boxes_keep_the_promises(sizes: tuple[int, int, int]) -> None:
    seen: Counter[str] = Counter()
    for form, steps in streams(seed=50 + sizes[0], count=1_750):
        watch, flow = Watch(form), Castle(form, *sizes)
        for step in steps:
            watch.play(flow, step)
        assert not watch.there
        seen += watch.seen
    assert min(seen[kind] for kind in ("crowds", "reused", "too_few", "not_diverse", "loss")) > 20, seen


def line(k: int, events: int, values: int = 0, diverse: int = 1, loss_most: float = 1.0, sizes: int = 50) -> Castle:
    """One number of 101 cells, time without end."""
    return Castle(
        FlowForm(Attributes((Numeric(101),)), Rule(k, values, diverse, -1, loss_most), events, 1 << 40), sizes
    )


def told(flow: Castle, people: str, cells: list[int], values: list[int] | None = None) -> list[Emitted]:
    first = flow.held.newest + 1
    return [
        emitted
        for at, (user, cell) in enumerate(zip(people, cells, strict=True))
        for emitted in flow.take(first + at, 0, user.encode(), (cell,), -1 if values is None else values[at])
    ]


def test_a_cluster_leaves_when_its_oldest_event_is_as_old_as_may_be() -> None:
    flow = line(k=2, events=3)
    assert told(flow, "abc", [10, 10, 90]) == []
    assert told(flow, "d", [10]) == [Emitted((0, 1, 3), 3, ((10, 10),), 0.0, False, None)]
    assert (flow.waiting, flow.oldest, flow.merged) == (1, (2, 0), 0)


def test_users_count_and_not_their_events() -> None:
    flow = line(k=3, events=3)
    assert told(flow, "abab", [10, 10, 10, 10]) == [Emitted((0,), 1, None, 1.0, False, "too_few")]
    assert told(flow, "c", [10]) == [Emitted((1, 2, 3, 4), 3, ((10, 10),), 0.0, False, None)]


def test_a_cluster_of_too_few_takes_the_nearest_in() -> None:
    flow = line(k=2, events=3)
    assert told(flow, "abcd", [10, 40, 90, 95]) == [Emitted((0, 1), 2, ((10, 40),), 0.3, False, None)]
    assert flow.overdue(1 << 41) == [Emitted((2, 3), 2, ((90, 95),), 0.05, False, None)]
    assert flow.merged == 2


def test_a_kept_box_serves_one_more() -> None:
    flow = line(k=2, events=2)
    # The threshold is the mean of .5 and .02: the second box loses less and is kept.
    found = told(flow, "abcd", [0, 50, 60, 62]) + flow.overdue(1 << 41)
    assert [each.box for each in found] == [((0, 50),), ((60, 62),)]
    flow.held.now = 0
    assert told(flow, "xyz", [61, 5, 99]) == [Emitted((4,), 2, ((60, 62),), 0.02, True, None)]


def test_a_kept_box_takes_no_more_of_a_value_than_the_rule_allows() -> None:
    flow = line(k=4, events=9, values=3, diverse=2, sizes=1)
    for people, cells in (("abcde", [0, 50, 1, 2, 3]), ("abcde", [60, 61, 62, 60, 60])):
        told(flow, people, cells, [0, 0, 1, 1, 2])
        assert [each.users for each in flow.overdue(1 << 41)] == [5]
        flow.held.now = 0
    told(flow, "vwx", [61] * 3, [2, 2, 0])
    # One of 5 had the value 2, and twice 2 is at most 5; twice 3 is not. Two of 5 had the value 0.
    assert [each.reason for each in flow.overdue(1 << 41)] == [None, "too_few", "too_few"]


def test_a_crowd_of_twice_k_is_divided_from_outside_in() -> None:
    flow = line(k=2, events=6, sizes=1)
    found = told(flow, "abcdefg", [50, 52, 10, 90, 91, 11, 30])
    # From 50 the farthest is 91, near 90; then 10, near 11; then 30, near 50; and 52 is left, which joins 30..50.
    assert [(each.seqs, each.box) for each in found] == [
        ((3, 4), ((90, 91),)),
        ((2, 5), ((10, 11),)),
        ((0, 1, 6), ((30, 52),)),
    ]


def test_what_would_lose_too_much_waits_for_better_company() -> None:
    flow = line(k=2, events=3, loss_most=0.2)
    assert told(flow, "abcd", [10, 60, 90, 95]) == [Emitted((0,), 1, None, 1.0, False, "loss")]
    assert told(flow, "e", [62]) == [Emitted((1, 4), 2, ((60, 62),), 0.02, False, None)]


def test_the_counts_of_everybody_are_halved_before_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "EVENTS_MOST", 6)
    form = FlowForm(Attributes((Numeric(3),)), Rule(2, 2, 1, 500_000), 4, 10)
    flow = Castle(form)
    for seq in range(7):
        flow.take(seq, 0, seq, (1,), seq % 3 == 0)
    assert flow.held.everybody.tolist() == [2, 2]  # 4 and 2 before, and one more
    again = Castle(form)
    again.restore(flow.state(), [Arrival(seq, 0, seq, (1,), seq % 3 == 0) for seq in range(7 - flow.waiting, 7)])
    assert again.state() == flow.state()
    assert again.held.everybody.tolist() == [2, 2]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_users_around_twelve_places_lose_about_a_fifth(seed: int) -> None:
    flow = Castle(FlowForm(Attributes((Numeric(201), Numeric(201))), Rule(10), 100, 1 << 40))
    found: list[Emitted] = []
    for seq, (user, cells) in enumerate(centres(seed, 5_000)):
        found += flow.take(seq, 0, user, cells, -1)
    found += flow.overdue(1 << 41)
    events = sum(len(each.seqs) for each in found)
    assert events == 5_000
    assert sum(len(each.seqs) * each.loss for each in found) / events < 0.21  # who is kept back loses all
    assert sum(len(each.seqs) for each in found if each.reason) < 10
