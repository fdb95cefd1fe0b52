"""Counts, laws, scores and choices against their definitions, written out over plain lists."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from chains import GROUPS, counted, first_order, learnt, second_order
from hypothesis import given, settings
from hypothesis import strategies as st

from beliefs.alphabet import IntegerRange
from beliefs.checks import Invalid
from beliefs.contexts import longest_suffix
from beliefs.learning.choice import choose, standard_error
from beliefs.learning.counts import Counting, largest_order
from beliefs.learning.levels import STRENGTHS, Keeping, Strength, levels_of
from beliefs.learning.written import keepings_of, learn, past_values
from beliefs.model_file import parse, serialise, serialise_contexts

Sequences = list[list[int]]
SYMBOLS = 3
sequences = st.lists(st.lists(st.integers(0, SYMBOLS - 1), max_size=9), min_size=1, max_size=12)


def counting_of(users: Sequences, order: int, cuts: Sequence[int], most: int = 1 << 20) -> Counting:
    """Events of users in turn, handed over in portions that end at the cuts."""
    events = [(user, value) for place in range(9) for user, row in enumerate(users) for value in row[place : place + 1]]
    counting, begin = Counting(SYMBOLS, order, GROUPS, most), 0
    for end in [*sorted(cut for cut in cuts if cut < len(events)), len(events)]:
        part = np.array(events[begin:end], dtype=np.int64).reshape(-1, 2)
        counting.add(part[:, 0], part[:, 1], part[:, 0] % GROUPS)
        begin = end
    return counting


def pasts_of(users: Sequences, order: int) -> Counter[tuple[int, tuple[int, ...], int]]:
    found: Counter[tuple[int, tuple[int, ...], int]] = Counter()
    for user, row in enumerate(users):
        for place, value in enumerate(row):
            found[user % GROUPS, tuple(row[max(0, place - order) : place]), value] += 1
    return found


@given(sequences, st.integers(1, 4), st.lists(st.integers(1, 60), max_size=4))
def test_counts_are_those_of_the_definition_however_the_events_are_cut(
    users: Sequences, order: int, cuts: list[int]
) -> None:
    counts = counting_of(users, order, cuts).counts()
    found = Counter()
    for group, past, value, count in zip(counts.groups_of, counts.pasts, counts.values, counts.counts, strict=True):
        length = next(k for k in range(order, -1, -1) if k == 0 or past // counts.base ** (k - 1) > 0)
        found[int(group), past_values(int(past), length, counts.base), int(value)] += int(count)
    assert found == pasts_of(users, order)
    firsts = Counter((user % GROUPS, row[0]) for user, row in enumerate(users) if row)
    assert {place: int(n) for place, n in np.ndenumerate(counts.starts) if n} == dict(firsts)


@given(sequences)
def test_what_lies_apart_follows_nothing(users: Sequences) -> None:
    halves = [half for row in users for half in (row[:4], row[4:])]
    counting = Counting(SYMBOLS, 2, GROUPS)
    for number, half in enumerate(halves):
        values, user = np.array(half, dtype=np.int64), np.full(len(half), number // 2, dtype=np.int64)
        apart = np.zeros(len(half), dtype=np.int64)
        apart[:1] = number % 2 and len(halves[number - 1]) > 0
        counting.add(user, values, user * 0, apart)
    counts = counting.counts()
    there = [(n * GROUPS, half) for n, half in enumerate(halves)]
    expected: Counter[tuple[tuple[int, ...], int]] = Counter()
    for _, half in there:
        for place, value in enumerate(half):
            expected[tuple(half[max(0, place - 2) : place]), value] += 1
    found = Counter()
    for past, value, count in zip(counts.pasts, counts.values, counts.counts, strict=True):
        length = 2 if past >= counts.base else 1 if past else 0
        found[past_values(int(past), length, counts.base), int(value)] += int(count)
    assert found == expected
    assert counts.starts.sum() == sum(bool(row) for row in users)


def test_too_many_pasts_shorten_all_of_them_as_if_never_counted() -> None:
    rng = np.random.default_rng(3)
    users = [rng.integers(0, SYMBOLS, 9).tolist() for _ in range(40)]
    shortened = counting_of(users, 4, [100, 200, 250], most=120)
    counts = shortened.counts()
    assert 1 <= counts.order < 4
    plain = counting_of(users, counts.order, []).counts()
    assert counts.keys.tolist() == plain.keys.tolist()
    assert counts.counts.tolist() == plain.counts.tolist()
    with pytest.raises(Invalid, match="more than 3 different ways"):
        counting_of(users, 1, [], most=3).counts()


def law_of(
    found: Counter[tuple[int, tuple[int, ...], int]], past: tuple[int, ...], chosen: Sequence[Strength]
) -> list[float]:
    """The smoothed law after a past, from the formula."""
    law = [1.0 / SYMBOLS] * SYMBOLS
    for order in range(len(past) + 1):
        tail = past[len(past) - order :]
        counts = [
            sum(
                n
                for (_, before, value), n in found.items()
                if value == y and len(before) >= max(order, 1) and before[len(before) - order :] == tail
            )
            for y in range(SYMBOLS)
        ]
        weight = chosen[order].amount * (sum(n > 0 for n in counts) if chosen[order].by_kinds else 1)
        if sum(counts) + weight > 0:
            law = [(n + weight * p) / (sum(counts) + weight) for n, p in zip(counts, law, strict=True)]
    return law


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, SYMBOLS - 1), min_size=2, max_size=9), min_size=9, max_size=14))
def test_scores_and_strengths_are_those_of_laws_that_know_nothing_of_the_group(users: Sequences) -> None:
    counts = counting_of(users, 2, [20]).counts()
    levels, rows = levels_of(counts)
    chosen = choose(levels, rows, SYMBOLS, [Keeping()] * 3)
    found = pasts_of(users, 2)
    for order, score in enumerate(chosen.scores):
        losses, events, hits = [0.0] * GROUPS, [0] * GROUPS, 0.0
        for (group, past, value), n in found.items():
            if not past:
                continue
            others = Counter({key: m for key, m in found.items() if key[0] != group})
            law = law_of(others, past[max(0, len(past) - order) :] if order else (), chosen.strengths)
            losses[group] -= n * math.log(law[value])
            events[group] += n
            hits += n * (law[value] > max([p for y, p in enumerate(law) if y != value]) + 1e-12)
        assert score.losses == pytest.approx(losses, rel=1e-9)
        assert chosen.events.tolist() == events[: len(chosen.events)]
        mean = sum(losses) / sum(events)
        assert score.loss == pytest.approx(mean, rel=1e-12)
        used = [(loss, n) for loss, n in zip(losses, events, strict=True) if n]
        spread = sum((loss - mean * n) ** 2 for loss, n in used) * len(used) / (len(used) - 1)
        assert score.error == pytest.approx(math.sqrt(spread) / sum(events), rel=1e-9)
        assert score.accuracy >= hits / sum(events) - 1e-12  # where two values are equally likely either may count


def test_the_strength_of_each_order_is_the_best_of_those_tried() -> None:
    rng = np.random.default_rng(11)
    values = first_order(rng.dirichlet(np.ones(3), 3), 30, 12, rng)
    found = pasts_of(values.tolist(), 1)
    counts = counted(values, 3, 1)
    levels, rows = levels_of(counts)
    chosen = choose(levels, rows, 3, [Keeping()] * 2)
    losses = []
    for strength in STRENGTHS:
        tried, loss = [chosen.strengths[0], strength], 0.0
        for (group, past, value), n in found.items():
            others = Counter({key: m for key, m in found.items() if key[0] != group})
            loss -= n * math.log(law_of(others, past, tried)[value]) if past else 0.0
        losses.append(loss)
    assert STRENGTHS[int(np.argmin(losses))] == chosen.strengths[1]


@pytest.mark.parametrize(("kind", "order"), [("no memory", 0), ("one value", 1), ("two values", 2)])
def test_the_order_of_the_data_is_chosen(kind: str, order: int) -> None:
    right = 0
    for seed in range(20):
        rng = np.random.default_rng(100 + seed)
        law = rng.dirichlet(np.ones(3), (3, 3))
        if kind == "no memory":
            values = first_order(np.tile(law[0, 0], (3, 1)), 200, 30, rng)
        elif kind == "one value":
            values = first_order(law[0], 200, 30, rng)
        else:
            values = second_order(law, 200, 30, rng)
        chosen = learnt(values, 3)[0]
        assert chosen.order >= order
        right += chosen.order == order
    assert right >= 19


def test_what_is_written_is_the_law_and_nothing_is_impossible() -> None:
    rng = np.random.default_rng(7)
    values = second_order(rng.dirichlet(np.ones(3), (3, 3)), 300, 40, rng)
    chosen, laws, _, counts = learnt(values, 4)  # the fourth value never came
    assert chosen.order == laws.order == 2
    data = serialise_contexts(IntegerRange(0, 3), laws.order, laws.start, laws.laws, {"source": "a test"})
    model = parse(data)
    assert (model.version, model.order, model.contexts) == (2, 2, len(laws.laws))
    assert float(model.chain.data.min()) > 0
    levels, _ = levels_of(counts)
    level = levels[2]
    for entry in range(level.values.size):
        past = past_values(int(level.pasts[level.contexts[entry]]), 2, 5)
        following, chances = laws.laws[longest_suffix(past, laws.laws)]
        at = int(np.searchsorted(following, level.values[entry]))
        assert chances[at] == pytest.approx(laws.deepest[entry], rel=1e-12)


def test_many_values_get_rows_that_name_few_and_a_tail_for_the_rest() -> None:
    rng = np.random.default_rng(8)
    symbols = 400
    steps = rng.integers(1, 4, (200, 60))
    values = (rng.integers(0, symbols, (200, 1)) + np.cumsum(steps, axis=1)) % symbols
    chosen, laws, radii, counts = learnt(values, symbols, order=1)
    assert (chosen.order, laws.order) == (1, 1)
    assert laws.chain is not None
    model = parse(serialise(IntegerRange(0, symbols - 1), laws.chain, {"source": "a test"}))
    assert model.version == 3
    assert float(model.chain.left.min()) > 0 and float(model.chain.tail.min()) > 0
    levels, _ = levels_of(counts)
    level = levels[1]
    for entry in range(0, level.values.size, 37):
        following, chances = model.chain.row(int(level.pasts[level.contexts[entry]]) - 1)
        assert following.size == symbols
        assert chances[level.values[entry]] == pytest.approx(laws.deepest[entry], rel=1e-9)
        if level.totals[entry] < 2:
            assert level.values[entry] not in model.chain.named(int(level.pasts[level.contexts[entry]]) - 1)[0]
    assert radii.worst == 1.0 or radii.visits.size == symbols


def test_a_row_seen_without_end_still_leaves_its_tail_something() -> None:
    counts = counted(np.tile(np.arange(300), (16, 2)), 300, 1)
    many = type(counts)(300, 1, GROUPS, counts.keys, counts.counts * 10**13, counts.starts)
    levels, rows = levels_of(many)
    keepings = keepings_of(levels, 300, 2)
    laws = learn(levels, choose(levels, rows, 300, keepings, only=1), keepings, 300, many.starts.sum(axis=0))
    assert laws.chain is not None
    model = parse(serialise(IntegerRange(0, 299), laws.chain, {"source": "a test"}))
    assert float(model.chain.left.min()) > 1e-9


def test_what_cannot_be_counted_or_judged_is_refused() -> None:
    assert largest_order(2, 8) == 16
    assert largest_order(65_536, 8) == 2
    with pytest.raises(Invalid, match="from 1 to 2"):
        Counting(65_536, 3, 8)
    counts = counting_of([[0, 1, 2]], 1, []).counts()
    levels, rows = levels_of(counts)
    with pytest.raises(Invalid, match="too few users"):
        choose(levels, rows, SYMBOLS, [Keeping()] * 2)


def test_the_standard_error_of_equal_groups_is_that_of_their_means() -> None:
    sums, events = np.array([3.0, 5.0, 4.0, 8.0]), np.full(4, 2.0)
    expected = float(np.std(sums / events, ddof=1)) / 2
    assert standard_error(sums, events) == pytest.approx(expected)


def test_what_is_kept_grows_with_different_pasts_and_not_with_events() -> None:
    rng = np.random.default_rng(5)
    counting = Counting(SYMBOLS, 3, GROUPS)
    for _ in range(60):
        users = rng.integers(0, 50, 100_000)
        counting.add(users, rng.integers(0, SYMBOLS, users.size), users % GROUPS)
        assert counting._waits < 1 << 22
    counts = counting.counts()
    assert counts.counts.sum() == 6_000_000
    assert counts.keys.size <= GROUPS * SYMBOLS**4 + 3 * SYMBOLS * 50
