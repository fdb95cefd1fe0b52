"""Windows whose values go through one channel for their sequence."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import orjson
import pytest
from command_house import change, make_house, run
from pipeline_help import ACTIVITIES, Line, Record, promise_of, walk, windows_of
from step_help import policy_of, sticky_chain

from beliefs.chain import Chain
from beliefs.forward import chain_arrays, reversed_arrays
from beliefs.rounding import budget_units
from mechanisms.sequence.dual_sequences import (
    last_of_sequences,
    law_of_sequences,
    number_of,
    values_of,
    wrong_places,
)
from stream.names import EXIT_REFUSED
from stream.promise import WindowRules
from stream.state import Word
from stream.windows.dual import Sequences

EPSILON = budget_units(1.0)
START = 1_700_000_000_000


def sparse_chain() -> Chain:
    return Chain.from_dense([0.5, 0.25, 0.25], [[0.9, 0.1, 0.0], [0.0, 0.8, 0.2], [0.3, 0.0, 0.7]])


@pytest.mark.parametrize("chain", [sticky_chain(4), sparse_chain(), sticky_chain(1)], ids=["dense", "sparse", "one"])
@pytest.mark.parametrize("length", [1, 2, 4])
def test_the_law_of_sequences_is_the_product_along_each(chain: Chain, length: int) -> None:
    arrays, size = chain_arrays(chain), chain.size
    law = np.zeros(size**length)
    law_of_sequences(arrays, chain.start.copy(), length, law)
    values = np.zeros(length, dtype=np.int64)
    likelihood = np.random.default_rng(1).random(law.shape[0])
    last = np.zeros(size)
    last_of_sequences(law, likelihood, last)
    expected = np.zeros(size)
    for number, sequence in enumerate(itertools.product(range(size), repeat=length)):
        assert number_of(np.array(sequence), size) == number
        values_of(number, size, values)
        assert tuple(values) == sequence
        chance = chain.start[sequence[0]]
        for before, now in itertools.pairwise(sequence):
            following, shares = chain.row(before)
            chance *= dict(zip(following.tolist(), shares.tolist(), strict=True)).get(now, 0.0)
        assert law[number] == pytest.approx(chance)
        expected[sequence[-1]] += chance * likelihood[number]
    assert last == pytest.approx(expected)


def test_wrong_places_are_counted() -> None:
    wrong = wrong_places(3, 4)
    for x, y in itertools.product(range(81), repeat=2):
        one, other = (np.base_repr(number, 3).zfill(4) for number in (x, y))
        assert wrong[x, y] == sum(a != b for a, b in zip(one, other, strict=True))


def line_of(events: int, **changes: int) -> Line:
    return Line(promise_of(policy=policy_of(**changes), windows=windows_of(events, dual=True)))


def test_every_way_to_cut_the_records_releases_the_same() -> None:
    records = walk(300, users=5)
    uncut, cut, got = line_of(4), line_of(4), []
    expected = list(uncut.carry_out(records).releases)
    for start in range(0, 300, 7):
        got += list(cut.carry_out(records[start : start + 7]).releases)
    assert got == expected
    assert dict(cut.store.held()) == dict(uncut.store.held())


def test_no_window_tells_more_than_epsilon_and_a_spent_budget_tells_nothing() -> None:
    line = line_of(3, budget=5 * EPSILON)
    effects = line.carry_out(walk(900, users=2))
    assert 0 < max(effects.upper_units.max(), effects.lower_units.max()) <= EPSILON
    heads = np.concatenate(list(line.store.all_heads()))
    assert heads[:, Word.UPPER].sum() == effects.upper_units.sum()
    assert heads[:, [Word.UPPER, Word.LOWER]].max() <= 5 * EPSILON
    assert effects.outcomes["forecast"] > 500


def test_it_keeps_as_much_as_position_by_position_or_more() -> None:
    random, symbols = Random(3), [0]
    for _ in range(5_999):
        symbols.append(symbols[-1] if random.random() < 0.5 else random.randrange(4))
    records = [
        Record(i, orjson.dumps({"activity": ACTIVITIES[s], "battery": i}), b"u1", START + i)
        for i, s in enumerate(symbols)
    ]
    kept = []
    for dual in (True, False):
        line = Line(promise_of(windows=windows_of(3, dual=dual)))
        shown = [orjson.loads(release.value)["activity"] for release in line.carry_out(records).releases]
        kept.append(np.mean([ACTIVITIES[s] == value for s, value in zip(symbols, shown, strict=True)]))
    assert kept[0] > kept[1] - 0.01


def test_the_worst_case_of_every_belief_fits() -> None:
    random = np.random.default_rng(4)
    sequences = Sequences(chain_arrays(sparse_chain()), 5)
    for length in (1, 2, 3, 5):
        for _ in range(20):
            worst = sequences.prepare(random.dirichlet(np.ones(3)), EPSILON - 64, length)
            assert max(worst.upper, worst.lower) <= EPSILON
            assert worst.spread <= 2 * EPSILON


def test_too_many_sequences_are_refused(tmp_path) -> None:
    make_house(tmp_path)
    told = run("validate", change(tmp_path, "budget:", "window: {events: 9, order: dual}\nbudget:"))
    assert told.exit_code == EXIT_REFUSED
    assert "at most 1,300 sequences" in told.stderr
    assert "at most 6 events" in told.stderr


@pytest.mark.parametrize(("symbols", "length", "together"), [(2, 2, 250), (2, 8, 76), (6, 4, 2), (36, 2, 2)])
def test_few_windows_are_closed_together_where_each_takes_long(symbols: int, length: int, together: int) -> None:
    rules = WindowRules(length, 0, False, 1000, reversed_arrays(sticky_chain(symbols)), True)
    assert rules.closed_together == together


def test_windows_of_single_channels_are_closed_250_at_a_time() -> None:
    rules = WindowRules(10, 0, False, 1000, reversed_arrays(sticky_chain(36)), False)
    assert rules.closed_together == 250
