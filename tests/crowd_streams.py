"""Random streams for groupers of crowds, and a watch that holds all their promises against what they let out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from mechanisms.crowds.attributes import Attribute, Attributes, Box, Numeric, Tree, tree_of
from mechanisms.crowds.diversity import Rule
from mechanisms.crowds.flow import Emitted, Flow, FlowForm
from mechanisms.crowds.waiting import Arrival

HIERARCHIES = (
    {"any": {"medical": ["doctor", "nurse"], "office": ["clerk"]}},
    {"any": ["a", "b", "c"]},
    {"any": {"one": {"only": ["a"]}, "more": {"few": ["b", "c"], "many": ["d", "e", "f", "g"]}, "last": ["h"]}},
    {"any": {"chain": {"of": {"one": ["a", "b"]}}}},
)

GRID = 201
"""Of `centres`: half a unit of 100 a cell."""

Step = Arrival | int
"""An event, or a time that the clock tells."""


def some_attributes(generator: np.random.Generator) -> Attributes:
    each: list[Attribute] = []
    for _ in range(generator.integers(1, 4)):
        if generator.random() < 0.35:
            each.append(tree_of(HIERARCHIES[generator.integers(len(HIERARCHIES))]))
        else:
            each.append(Numeric(int(generator.integers(1, 24))))
    return Attributes(tuple(each))


def some_rule(generator: np.random.Generator, k: int) -> Rule:
    loss_most = 1.0 if generator.random() < 0.7 else float(generator.choice([0.2, 0.5, 0.8]))
    kind = generator.integers(4)
    if kind < 2:
        return Rule(k, loss_most=loss_most)
    values = int(generator.integers(2, 4))
    diverse = int(generator.integers(1, min(k, values) + 1)) if kind == 2 else 1
    close = -1 if kind == 2 and diverse > 1 else int(generator.choice([100_000, 300_000, 500_000]))
    return Rule(k, values, diverse, close, loss_most)


def some_form(generator: np.random.Generator) -> FlowForm:
    k = int(generator.integers(2, 5))
    events = int(generator.integers(k, 4 * k))
    return FlowForm(some_attributes(generator), some_rule(generator, k), events, int(generator.integers(3, 60)))


def some_steps(generator: np.random.Generator, form: FlowForm, length: int) -> list[Step]:
    """Events of few users, close together now and then; sometimes the clock speaks; sometimes numbers are left out."""
    users, seq, time = int(generator.integers(1, 3 * form.rule.k)), 0, 0
    steps: list[Step] = []
    centre = [int(generator.integers(each.cells)) for each in form.attributes.each]
    for _ in range(length):
        if generator.random() < 0.1:
            centre = [int(generator.integers(each.cells)) for each in form.attributes.each]
        time += int(generator.integers(0, 4))
        if generator.random() < 0.08:
            time += int(generator.integers(0, form.time + 5))
            steps.append(time)
        seq += 1 if generator.random() < 0.95 else int(generator.integers(1, form.events + 2))
        cells = tuple(
            int(np.clip(at + generator.integers(-2, 3), 0, each.cells - 1))
            for at, each in zip(centre, form.attributes.each, strict=True)
        )
        sensitive = int(generator.integers(form.rule.values)) if form.rule.values else -1
        steps.append(Arrival(seq, time, int(generator.integers(users)), cells, sensitive))
    steps.append(time + form.time)
    return steps


def played(flow: Flow, step: Step) -> list[Emitted]:
    return flow.overdue(step) if isinstance(step, int) else flow.take(*step)


def loss_of(attributes: Attributes, box: Box) -> float:
    shares = (
        (high - low) / (each.cells - 1) if high > low else 0.0
        for each, (low, high) in zip(attributes.each, box, strict=True)
    )
    return sum(shares) / len(attributes)


@dataclass
class Crowd:
    users: int
    people: Counter[int]
    events: Counter[int]


@dataclass
class Watch:
    """Sees what goes in and what comes out, and remembers everything."""

    form: FlowForm
    there: dict[int, Arrival] = field(default_factory=dict)
    taken: list[Arrival] = field(default_factory=list)
    let_out: dict[Box, list[Crowd]] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)

    def play(self, flow: Flow, step: Step) -> list[Emitted]:
        found = played(flow, step)
        time = step if isinstance(step, int) else step.time
        if not isinstance(step, int):
            self.there[step.seq] = step
            self.taken.append(step)
        newest = self.taken[-1].seq if self.taken else -1
        for emitted in found:
            self.check(emitted)
        assert flow.waiting == len(self.there)
        first = min(self.there, default=None)
        assert flow.oldest == (None if first is None else (first, self.there[first].time))
        assert all(seq > newest - self.form.events for seq in self.there), "longer than so many events"
        assert all(each.time + self.form.time > time for each in self.there.values()), "longer than so long"
        return found

    def check(self, emitted: Emitted) -> None:
        assert list(emitted.seqs) == sorted(set(emitted.seqs))
        arrivals = [self.there.pop(seq) for seq in emitted.seqs]  # each waited: no event comes out twice
        users = len({each.user for each in arrivals})
        assert arrivals
        if emitted.reason is not None:
            assert (emitted.users, emitted.box, emitted.loss, emitted.reused) == (users, None, 1.0, False)
            self.seen[emitted.reason] += 1
            return
        assert emitted.box is not None
        self.check_box(emitted.box, emitted.loss, arrivals)
        if emitted.reused:
            (arrival,) = arrivals
            earlier = self.let_out[emitted.box]
            assert emitted.users in {crowd.users for crowd in earlier}
            for crowd in earlier:
                crowd.people[arrival.sensitive] += 1
                crowd.events[arrival.sensitive] += 1
            assert any(self.fitted(crowd) for crowd in earlier)
            self.seen["reused"] += 1
            return
        assert emitted.users == users >= self.form.rule.k
        pairs = {(each.user, each.sensitive) for each in arrivals}
        crowd = Crowd(users, Counter(value for _, value in pairs), Counter(each.sensitive for each in arrivals))
        assert self.fitted(crowd)
        self.let_out.setdefault(emitted.box, []).append(crowd)
        self.seen["crowds"] += 1

    def check_box(self, box: Box, loss: float, arrivals: Sequence[Arrival]) -> None:
        for place, each in enumerate(self.form.attributes.each):
            low, high = box[place]
            assert all(low <= arrival.cells[place] <= high for arrival in arrivals)
            if isinstance(each, Tree):
                assert (low, high) in {(node.low, node.high) for node in each.nodes}
        assert loss == loss_of(self.form.attributes, box) <= self.form.rule.loss_most

    def fits(self, crowd: Crowd, one: Arrival) -> bool:
        value = Counter([one.sensitive])
        return self.mixed(Crowd(crowd.users, crowd.people + value, crowd.events + value))

    def fitted(self, crowd: Crowd) -> bool:
        """What was due when the newest event came may have left before it was counted."""
        return self.mixed(crowd) or self.mixed(crowd, 1)

    def mixed(self, crowd: Crowd, uncounted: int = 0) -> bool:
        rule = self.form.rule
        if not rule.about_values:
            return True
        if max(crowd.people.values()) * rule.diverse > crowd.users:
            return False
        everybody = self.taken[: len(self.taken) - uncounted]
        whole, inside = Counter(each.sensitive for each in everybody), crowd.events.total()
        apart = sum(
            abs(Fraction(crowd.events[value], inside) - Fraction(whole[value], whole.total()))
            for value in range(rule.values)
        )
        return rule.close < 0 or apart / 2 <= Fraction(rule.close, 1_000_000)


def streams(seed: int, count: int, length: int = 24) -> Iterator[tuple[FlowForm, list[Step]]]:
    generator = np.random.default_rng(seed)
    for _ in range(count):
        form = some_form(generator)
        yield form, some_steps(generator, form, length)


def centres(seed: int, count: int, users: int = 300) -> list[tuple[int, tuple[int, int]]]:
    """Users who turn up around 12 places of a square, at a spread of 6 in 100: (user, cells) for each event."""
    generator = np.random.default_rng(seed)
    middles = generator.uniform(0, 100, (12, 2))
    who, where = generator.integers(0, users, count), generator.integers(0, 12, count)
    points = np.clip(middles[where] + generator.normal(0, 6, (count, 2)), 0, 100)
    cells = np.rint(points * (GRID - 1) / 100).astype(np.int64)
    return [(int(user), (int(x), int(y))) for user, (x, y) in zip(who, cells, strict=True)]
