"""What every grouper of a stream promises: nobody is lost, nobody waits too long, k users, their box, the rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from crowd_streams import Watch, centres, played, streams

from beliefs.checks import Invalid
from mechanisms.crowds.attributes import Attributes, Numeric
from mechanisms.crowds.diversity import Rule
from mechanisms.crowds.flow import Emitted, Flow, FlowForm
from mechanisms.crowds.registry import REGISTRY
from mechanisms.crowds.waiting import Arrival

GROUPERS = [pytest.param(made, id=name) for name, made in REGISTRY.items()]
Made = Callable[[FlowForm], Flow]


@pytest.mark.parametrize("made", GROUPERS)
def test_thousands_of_small_streams_are_let_out_as_promised(made: Made) -> None:
    seen: Counter[str] = Counter()
    for form, steps in streams(seed=31, count=2_500):
        watch, flow = Watch(form), made(form)
        for step in steps:
            watch.play(flow, step)
        assert not watch.there
        assert flow.waiting == 0
        seen += watch.seen
    assert min(seen[kind] for kind in ("crowds", "reused", "too_few", "not_diverse", "loss")) > 50, seen


@pytest.mark.parametrize("made", GROUPERS)
def test_a_flow_that_is_restored_at_every_step_goes_on_exactly(made: Made) -> None:
    for form, steps in streams(seed=32, count=500):
        waiting: dict[int, Arrival] = {}
        one, other = made(form), made(form)
        for step in steps:
            found = played(one, step)
            assert played(other, step) == found
            if isinstance(step, Arrival):
                waiting[step.seq] = step
            for seq in (seq for emitted in found for seq in emitted.seqs):
                del waiting[seq]
            state = one.state()
            assert other.state() == state
            other = made(form)
            other.restore(state, list(waiting.values()))
            assert (other.waiting, other.oldest, other.state()) == (one.waiting, one.oldest, state)


@pytest.mark.parametrize("made", GROUPERS)
def test_who_users_are_is_nothing_to_a_crowd(made: Made) -> None:
    for form, steps in streams(seed=33, count=200):
        one, other = made(form), made(form)
        for step in steps:
            renamed = step if isinstance(step, int) else step._replace(user=b"%d" % -step.user)
            assert played(one, step) == played(other, renamed)


@pytest.mark.parametrize("made", GROUPERS)
def test_a_state_of_something_else_is_refused(made: Made) -> None:
    form = FlowForm(Attributes((Numeric(9),)), Rule(2), 4, 10)
    flow = made(form)
    arrival = Arrival(3, 1, "ann", (4,), -1)
    flow.take(*arrival)
    state = flow.state()
    others = [each(form).state() for each in REGISTRY.values() if each is not made]
    for wrong in (b"", state[:-1], state + b"\0", b"\x63" + state[1:], *others):
        with pytest.raises(Invalid):
            made(form).restore(wrong, [arrival])
    for missing in ([], [arrival, arrival._replace(seq=4)], [arrival._replace(seq=9)]):
        with pytest.raises(Invalid):
            made(form).restore(state, missing)


@pytest.mark.parametrize("made", GROUPERS)
def test_a_state_is_some_kilobytes_for_a_thousand_events(made: Made) -> None:
    flow = made(FlowForm(Attributes((Numeric(201), Numeric(201))), Rule(10), 1_000, 1_000_000))
    largest = 0
    for seq, (user, cells) in enumerate(centres(seed=34, count=5_000)):
        flow.take(seq, seq, user, cells, -1)
        if seq % 250 == 0:
            largest = max(largest, len(flow.state()))
    assert 500 < largest < 8_000


class Wrong:
    """Lets out crowds of two, of which one thing is not so."""

    def __init__(self, wrong: Callable[[Emitted], Emitted]) -> None:
        self.wrong = wrong
        self.held: list[Arrival] = []

    @property
    def waiting(self) -> int:
        return len(self.held)

    @property
    def oldest(self) -> tuple[int, int] | None:
        return (self.held[0].seq, self.held[0].time) if self.held else None

    def take(self, seq: int, time: int, user: int | bytes, cells: tuple[int, ...], sensitive: int) -> list[Emitted]:
        self.held.append(Arrival(seq, time, user, cells, sensitive))
        if len(self.held) < 2:
            return []
        low, high = sorted(each.cells[0] for each in self.held)
        seqs = tuple(each.seq for each in self.held)
        self.held = []
        return [self.wrong(Emitted(seqs, 2, ((low, high),), (high - low) / 8, False, None))]

    def overdue(self, time: int) -> list[Emitted]:
        return []

    def state(self) -> bytes:
        return b""

    def restore(self, state: bytes, waiting: object) -> None: ...


FAULTS = [
    lambda right: right._replace(users=3),
    lambda right: right._replace(seqs=right.seqs[:1]),
    lambda right: right._replace(seqs=right.seqs * 2),
    lambda right: right._replace(box=((right.box[0][0] + 1, 8),)),
    lambda right: right._replace(loss=right.loss + 0.01),
    lambda right: right._replace(seqs=right.seqs[:1], reused=True),
    lambda right: right._replace(reason="too_few"),
]
"""One at a time."""


@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_the_watch_sees_what_is_wrong(number: int) -> None:
    form = FlowForm(Attributes((Numeric(9),)), Rule(2, 2, 2), 4, 10)
    couple = [Arrival(0, 0, "ann", (2,), 0), Arrival(1, 0, "bob", (5,), 1)]

    def watched(wrong: Callable[[Emitted], Emitted], pair: list[Arrival]) -> None:
        watch, flow = Watch(form), Wrong(wrong)
        for arrival in pair:
            watch.play(flow, arrival)

    watched(lambda right: right, couple)
    with pytest.raises((AssertionError, KeyError)):
        watched(FAULTS[number], couple)
    for wrong in ([couple[0], couple[1]._replace(user="ann")], [couple[0], couple[1]._replace(sensitive=0)]):
        with pytest.raises(AssertionError):
            watched(lambda right: right, wrong)
    late = Watch(form)
    flow = Wrong(lambda right: right)
    late.play(flow, couple[0])
    with pytest.raises(AssertionError):
        late.play(flow, form.time)
