from __future__ import annotations

import numpy as np
import pytest
from gate_worlds import Drawn, gate_of

from beliefs.checks import InvariantBroken
from stream.fields.turns import UNKNOWN, Turns


def some_turns(most: int = 65_536) -> Turns:
    fields = [
        Drawn(3, True, True, 0.1, 1, 30.0, 0.0),
        Drawn(2, True, True, 0.3, 2, 0.0, 0.0),
        Drawn(2, False, True, 0.01, 0, 0.0, 0.0),
    ]
    return Turns(gate_of(fields, 1, budget=0.2), most)


def chain(turns: Turns, events: int) -> np.ndarray:
    """The accounts that one user goes through, as the gate itself says, all different up to some end."""
    rows, account = [], turns.gate.totals.nothing
    for _ in range(events):
        rows.append(account)
        account = turns.gate.turn(account).account
    return np.array(rows, dtype=np.int64)


def check_rows(turns: Turns, numbers: np.ndarray) -> None:
    """Every row that was worked out is what the gate says of its account."""
    for number in set(numbers.tolist()):
        account = tuple(turns.accounts[number].tolist())
        assert tuple(turns.totals[number].tolist()) == turns.gate.totals.of(account)
        turn, after = turns.gate.turn(account), turns.work_out(number)
        assert turns.choices[number].tolist() == turn.choices.tolist()
        assert tuple(turns.accounts[after].tolist()) == turn.account


def test_a_table_says_what_the_gate_says() -> None:
    turns = some_turns()
    rows = chain(turns, 30)
    generator = np.random.default_rng(71)
    block = rows[generator.integers(0, 30, 500)]
    numbers = turns.number_of(block)
    assert (turns.accounts[numbers] == block).all()
    assert turns.count == len(np.unique(block, axis=0))
    assert (turns.following[numbers] == UNKNOWN).all()
    check_rows(turns, numbers)
    assert (turns.number_of(block) == numbers).all()


def test_all_that_a_block_meets_is_worked_out_ahead() -> None:
    turns = some_turns()
    rows = chain(turns, 40)
    starts, events = np.array([0, 3, 3, 9, 20]), np.array([5, 1, 20, 0, 12])
    numbers = turns.number_of(rows[starts])
    turns.reach(numbers, events)
    for number, start, many in zip(numbers.tolist(), starts.tolist(), events.tolist(), strict=True):
        for step in range(many):
            assert (turns.accounts[number] == rows[start + step]).all()
            assert turns.following[number] != UNKNOWN
            number = turns.following[number]
    assert turns.following[turns.number_of(rows[9:10])[0]] != UNKNOWN, "met by the third user"
    assert turns.count < 45


def test_the_end_of_a_chain_follows_itself() -> None:
    turns = Turns(gate_of([Drawn(3, False, True, 1.0, 0, 2.0, 0.0)], 1))
    numbers = turns.number_of(np.zeros((3, 2), dtype=np.int64))
    turns.reach(numbers, np.array([1, 1_000_000, 2]))
    assert turns.count == 3
    assert turns.following[2] == 2
    check_rows(turns, np.arange(3))


def test_a_table_never_grows_without_end() -> None:
    turns = Turns(gate_of([Drawn(3, False, True, 0.5, 0, 0.0, 0.0)], 1), most=50)
    account = np.zeros((1, 2), dtype=np.int64)
    largest = 0
    for _ in range(40):
        number = int(turns.number_of(account)[0])
        turns.reach(np.array([number]), np.array([7]))
        for _ in range(7):
            number = int(turns.following[number])
        account = turns.accounts[number : number + 1].copy()
        largest = max(largest, turns.count)
    assert largest <= 50 + 8
    assert turns.gate.fields[0].levels[0] is not None
    assert account[0, 0] == 280 * turns.gate.fields[0].levels[0]


def test_accounts_that_share_a_mark_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = some_turns()
    monkeypatch.setattr(turns, "_mixers", np.zeros_like(turns._mixers))
    rows = chain(turns, 12)
    numbers = turns.number_of(rows[[3, 1, 3, 7, 11, 1]])
    assert len(set(numbers.tolist())) == 4
    assert (turns.accounts[numbers] == rows[[3, 1, 3, 7, 11, 1]]).all()
    turns.reach(numbers, np.full(6, 3))
    check_rows(turns, numbers)


def test_many_users_are_looked_up_together() -> None:
    turns = some_turns()
    rows = chain(turns, 200)
    assert len(np.unique(rows, axis=0)) > 60
    generator = np.random.default_rng(72)
    places = generator.integers(0, 200, 20_000)
    numbers = turns.number_of(rows[places])
    assert (turns.accounts[numbers] == rows[places]).all()
    assert turns.number_of(rows[:0]).size == 0


def test_what_is_not_an_account_is_refused() -> None:
    turns = some_turns()
    for broken in (np.zeros((2, 5), dtype=np.int64), np.zeros(6, dtype=np.int64)):
        with pytest.raises(InvariantBroken):
            turns.number_of(broken)
    with pytest.raises(InvariantBroken):
        turns.work_out(0)
