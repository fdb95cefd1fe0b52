"""Chains from windows: expected transitions by adding up over all paths and both sides of every coin, and recovery."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from chains import first_order

from beliefs.learning.hidden import Heard, learn_hidden, told_by, without_each
from beliefs.learning.hidden_windows import HeardSequences, HeardWindows
from beliefs.simplex import Vector

START, ROWS = np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.2, 0.8]])
SHARE = 0.3
LENGTHS = ((2, 3, 1), (4,), (1, 2))
"""Of each of three users, how many values his windows have."""
Weigh = Callable[[tuple[int, ...], int], float]


def cases() -> tuple[HeardWindows, HeardSequences, list[list[Weigh]]]:
    """The same windows in both forms: with a coin, and as a number for each sequence; and how to weigh values."""
    source = np.random.default_rng(8)
    columns = source.random((13, 2)) + 0.1
    which, begins = source.integers(0, 13, 13), np.array([0, 6, 10, 13])
    opens, shares, tables, weighs, at = [], [], [], [], 0
    for lengths in LENGTHS:
        own: list[Weigh] = []
        for length in lengths:
            said = columns[which[at : at + length]]

            def weigh(values: tuple[int, ...], start: int, said: Vector = said) -> float:
                its = values[start : start + len(said)]
                return SHARE + (1 - SHARE) * float(np.prod([said[i, x] for i, x in enumerate(its)]))

            own.append(weigh)
            tables.append([weigh(values, 0) for values in itertools.product(range(2), repeat=length)])
            opens += [1] + [0] * (length - 1)
            shares += [SHARE] * length
            at += length
        weighs.append(own)
    padded = np.array([row + [0.0] * (16 - len(row)) for row in tables])
    each = np.array([length for its in LENGTHS for length in its])
    users = np.concatenate([[0], np.cumsum([len(its) for its in LENGTHS])])
    windows = HeardWindows(columns, which, begins, np.array(opens), np.array(shares))
    return windows, HeardSequences(padded, np.arange(6), users, each, 2), weighs


def by_all_paths(weighs: list[list[Weigh]]) -> tuple[float, Vector, Vector]:
    whole, expected, firsts = 0.0, np.zeros((2, 2)), np.zeros(2)
    for lengths, own in zip(LENGTHS, weighs, strict=True):
        starts, total = np.concatenate([[0], np.cumsum(lengths)]), 0.0
        counts, begun = np.zeros((2, 2)), np.zeros(2)
        for path in itertools.product(range(2), repeat=int(starts[-1])):
            chance = START[path[0]] * np.prod([ROWS[a, b] for a, b in itertools.pairwise(path)])
            chance *= np.prod([weigh(path, start) for weigh, start in zip(own, starts[:-1].tolist(), strict=True)])
            total += chance
            begun[path[0]] += chance
            for a, b in itertools.pairwise(path):
                counts[a, b] += chance
        whole, expected, firsts = whole + np.log(total), expected + counts / total, firsts + begun / total
    return whole, expected, firsts


@pytest.mark.parametrize("form", [0, 1], ids=["coin", "sequences"])
def test_expectations_are_sums_over_all_paths(form: int) -> None:
    *heards, weighs = cases()
    heard: Heard = heards[form]
    expected, firsts = np.zeros((2, 2)), np.zeros(2)
    told = heard.expect(START, ROWS, heard.workplace(), expected, firsts)
    wanted = by_all_paths(weighs)
    assert told == pytest.approx(wanted[0])
    assert expected == pytest.approx(wanted[1]) and firsts == pytest.approx(wanted[2])
    assert (heard.users, heard.values, heard.events) == (3, 2, 13)
    assert told_by(heard, START, ROWS) == pytest.approx(told / 13)
    alone = heard.of_users(np.array([1]))
    assert (alone.users, alone.events) == (1, 4)
    apart = sum(told_by(heard.of_users(np.array([user])), START, ROWS) * count for user, count in enumerate((6, 4, 3)))
    assert apart == pytest.approx(told)


def test_windows_of_one_value_without_a_coin_are_single_releases() -> None:
    source = np.random.default_rng(2)
    columns, which, begins = source.random((9, 2)), np.arange(9), np.array([0, 4, 9])
    single = Heard(columns, which, begins)
    windows = HeardWindows(columns, which, begins, np.ones(9, dtype=np.int64), np.zeros(9))
    assert told_by(windows, START, ROWS) == pytest.approx(told_by(single, START, ROWS), rel=1e-12)
    found = [learn_hidden(each, START, ROWS) for each in (windows, single)]
    assert found[0].matrix == pytest.approx(found[1].matrix, abs=1e-6)


def test_a_chain_comes_back_from_windows_with_secret_coins() -> None:
    """Randomised response under tails, a stranger's value under heads; taken for single releases, it is another one."""
    source, users, length, share = np.random.default_rng(5), 400, 20, 0.3
    truth = np.array([[0.85, 0.15], [0.3, 0.7]])
    values = first_order(truth, users, length, source)
    heads = np.repeat(source.random((users, length // 4)) < share, 4, axis=1)
    seen = np.where(heads, source.integers(0, 2, values.shape), values)
    seen = np.where(source.random(values.shape) < 0.1, 1 - seen, seen)
    columns, which = np.array([[0.9, 0.1], [0.1, 0.9]]) * 2, seen.ravel()
    begins = np.arange(0, users * length + 1, length)
    opens = np.tile([1, 0, 0, 0], users * length // 4)
    heard = HeardWindows(columns, which, begins, opens, np.full(which.size, share))
    rough = np.full((2, 2), 0.5)
    whole = learn_hidden(heard, np.full(2, 0.5), rough)
    assert np.abs(whole.matrix - truth).max() < 0.05
    single = learn_hidden(Heard(columns, which, begins), np.full(2, 0.5), rough)
    assert np.abs(single.matrix - truth).max() > 0.08
    rest = without_each(heard, np.arange(users) % 2, whole)
    assert len(rest) == 2 and all(np.abs(one.matrix - truth).max() < 0.08 for one in rest)
