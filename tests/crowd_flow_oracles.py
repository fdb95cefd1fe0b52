"""FADS and SKY in plain Python: lists, sorting, every box written out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from crowd_streams import Crowd, Step, Watch, loss_of, played, streams

from mechanisms.crowds.attributes import Attribute, Attributes, Box, Numeric
from mechanisms.crowds.flow import Emitted, Flow, FlowForm
from mechanisms.crowds.waiting import Arrival


@dataclass
class Before:
    box: Box
    since: int
    crowd: Crowd


class PlainNearest:
    """The rules of fads.md, word for word."""

    def __init__(self, form: FlowForm) -> None:
        self.form, self.law = form, Watch(form)
        self.there: list[Arrival] = []
        self.before: list[Before] = []  # oldest first
        self.newest = -1

    def gap(self, one: Arrival, two: Arrival) -> float:
        raise NotImplementedError

    def box_of(self, crowd: list[Arrival]) -> Box:
        raise NotImplementedError

    def arrived(self, one: Arrival) -> list[Emitted]:
        return []

    def play(self, step: Step) -> list[Emitted]:
        if isinstance(step, int):
            return self.late(step)
        found = self.late(step.time)
        found += self.due(step.seq - self.form.events - 1)
        self.there.append(step)
        self.law.taken.append(step)
        self.newest = step.seq
        return found + self.arrived(step) + self.due(step.seq - self.form.events)

    def late(self, time: int) -> list[Emitted]:
        found = []
        while self.there and self.there[0].time + self.form.time <= time:
            found += self.leave(self.there[0])
        return found

    def due(self, last: int) -> list[Emitted]:
        found = []
        while self.there and self.there[0].seq <= last:
            found += self.leave(self.there[0])
        return found

    def leave(self, one: Arrival) -> list[Emitted]:
        rule = self.form.rule
        nearest: dict[int | bytes, tuple[float, int, Arrival]] = {}
        for other in self.there:
            if other.user != one.user:
                found = (self.gap(one, other), other.seq, other)
                nearest[other.user] = min(nearest.get(other.user, found), found, key=lambda each: each[:2])
        crowd, reason = self.crowd(one, [other for _, _, other in sorted(nearest.values(), key=lambda each: each[:2])])
        loss = 2.0
        if reason is None and (loss := loss_of(self.form.attributes, self.box_of(crowd))) > rule.loss_most:
            loss, reason = 2.0, "loss"
        better = self.covering(one, loss)
        if better is not None:
            return [self.again(one, better)]
        if reason is not None:
            self.there.remove(one)
            return [Emitted((one.seq,), 1, None, 1.0, False, reason)]  # type: ignore[arg-type]
        return [self.together(crowd, self.box_of(crowd))]

    def crowd(self, one: Arrival, others: list[Arrival]) -> tuple[list[Arrival], str | None]:
        rule, crowd = self.form.rule, [one]
        for other in others:
            if len(crowd) >= rule.k:
                if self.law.mixed(counted(crowd)):
                    break
                if self.too_much(crowd, other.sensitive):
                    continue
            crowd.append(other)
        if len(crowd) < rule.k:
            return crowd, "too_few"
        if self.law.mixed(counted(crowd)):
            return crowd, None
        if rule.diverse > 1:
            return self.evenly([one, *others])
        return crowd, "not_diverse"

    def evenly(self, all_of_them: list[Arrival]) -> tuple[list[Arrival], str | None]:
        """With at most so many of each value as can be."""
        rule = self.form.rule
        for most in range(len(all_of_them), 0, -1):
            seen: Counter[int] = Counter()
            crowd = []
            for each in all_of_them:
                seen[each.sensitive] += 1
                if seen[each.sensitive] <= most:
                    crowd.append(each)
            if len(crowd) >= max(rule.k, most * rule.diverse):
                for count in range(rule.k, len(crowd) + 1):
                    if self.law.mixed(counted(crowd[:count])):
                        return crowd[:count], None
                return crowd, "not_diverse"
        return all_of_them, "not_diverse"

    def too_much(self, crowd: list[Arrival], value: int) -> bool:
        inside = Counter(each.sensitive for each in crowd)
        whole = Counter(each.sensitive for each in self.law.taken)
        if self.form.rule.diverse > 1 and inside[value] == max(inside.values()):
            return True
        return self.form.rule.close >= 0 and Fraction(inside[value], len(crowd)) > Fraction(whole[value], whole.total())

    def covering(self, one: Arrival, below: float) -> Before | None:
        fitting = [
            each
            for each in reversed(self.before)
            if each.since > self.newest - 4 * self.form.events
            and all(low <= cell <= high for cell, (low, high) in zip(one.cells, each.box, strict=True))
            and loss_of(self.form.attributes, each.box) < below
            and self.law.fits(each.crowd, one)
        ]
        return min(fitting, key=lambda each: loss_of(self.form.attributes, each.box), default=None)

    def again(self, one: Arrival, before: Before) -> Emitted:
        self.there.remove(one)
        before.crowd.people[one.sensitive] += 1
        before.crowd.events[one.sensitive] += 1
        loss = loss_of(self.form.attributes, before.box)
        return Emitted((one.seq,), before.crowd.users, before.box, loss, True, None)

    def together(self, crowd: list[Arrival], box: Box) -> Emitted:
        for each in crowd:
            self.there.remove(each)
        counts = counted(crowd)
        self.before = [each for each in self.before if each.box != box] + [Before(box, self.newest, counts)]
        loss = loss_of(self.form.attributes, box)
        return Emitted(tuple(sorted(each.seq for each in crowd)), counts.users, box, loss, False, None)


def counted(crowd: list[Arrival]) -> Crowd:
    pairs = {(each.user, each.sensitive) for each in crowd}
    people = Counter(value for _, value in pairs)
    return Crowd(len({each.user for each in crowd}), people, Counter(each.sensitive for each in crowd))


class PlainFads(PlainNearest):
    def gap(self, one: Arrival, two: Arrival) -> float:
        return loss_of(self.form.attributes, self.box_of([one, two]))

    def box_of(self, crowd: list[Arrival]) -> Box:
        found = []
        for place, each in enumerate(self.form.attributes.each):
            low, high = min(one.cells[place] for one in crowd), max(one.cells[place] for one in crowd)
            if not isinstance(each, Numeric):
                nodes = [(node.low, node.high) for node in each.nodes if node.low <= low and high <= node.high]
                low, high = min(nodes, key=lambda node: node[1] - node[0])
            found.append((low, high))
        return tuple(found)


class PlainSky(PlainNearest):
    def __init__(self, form: FlowForm) -> None:
        super().__init__(form)
        self.levels = [parts_of(each) for each in form.attributes.each]
        self.order = order_of(form.attributes, self.levels)

    def boxes(self, one: Arrival) -> list[Box]:
        """From the box of everything down to the cell."""
        return [
            tuple(
                next((low, high) for low, high in parts[level] if low <= cell <= high)
                for parts, level, cell in zip(self.levels, at, one.cells, strict=True)
            )
            for at in self.order
        ]

    def gap(self, one: Arrival, two: Arrival) -> float:
        return sum(mine != others for mine, others in zip(self.boxes(one), self.boxes(two), strict=True))

    def box_of(self, crowd: list[Arrival]) -> Box:
        return [
            box
            for box in self.boxes(crowd[0])
            if all(low <= cell <= high for one in crowd for cell, (low, high) in zip(one.cells, box, strict=True))
        ][-1]

    def arrived(self, one: Arrival) -> list[Emitted]:
        cell = self.boxes(one)[-1]
        for before in self.before:
            if before.box == cell and (found := self.covering(one, 1e-300)) is not None:
                return [self.again(one, found)]
        alike = [other for other in self.there if other.cells == one.cells]
        counts = counted(alike)
        if counts.users >= self.form.rule.k and self.law.mixed(counts):
            return [self.together(alike, cell)]
        return []


Parts = list[list[tuple[int, int]]]


def parts_of(attribute: Attribute) -> Parts:
    """Of each level all parts, each value in one of them."""
    if isinstance(attribute, Numeric):
        levels = [[(0, attribute.cells - 1)]]
        while any(low < high for low, high in levels[-1]):
            finer = []
            for low, high in levels[-1]:
                middle = (low + high) // 2
                finer += [(low, middle), (middle + 1, high)] if low < high else [(low, high)]
            levels.append(finer)
        return levels
    top = len(attribute.nodes) - 1
    level = [top]
    levels = []
    while True:
        levels.append([(attribute.nodes[node].low, attribute.nodes[node].high) for node in level])
        below = {
            node: [each for each in range(top) if attribute.nodes[each].parent == node] or [node] for node in level
        }
        if all(below[node] == [node] for node in level):
            return levels
        level = [each for node in level for each in below[node]]


def order_of(attributes: Attributes, levels: list[Parts]) -> list[tuple[int, ...]]:
    at = [0] * len(levels)
    order = [tuple(at)]
    while True:
        widest = [
            Fraction(max(high - low for low, high in parts[level]), max(1, each.cells - 1))
            for each, parts, level in zip(attributes.each, levels, at, strict=True)
        ]
        if not any(widest):
            return order
        at[widest.index(max(widest))] += 1
        order.append(tuple(at))


def check_race(
    made: Callable[[FlowForm], Flow], plain: Callable[[FlowForm], PlainNearest], seed: int, count: int
) -> None:
    """Both on the same streams: what leaves at each step must be the same to the last bit."""
    left = 0
    for number, (form, steps) in enumerate(streams(seed, count)):
        flow, oracle = made(form), plain(form)
        for step in steps:
            want = oracle.play(step)
            assert played(flow, step) == want, (number, form, step)
            left += len(want)
    assert left > 10 * count
