from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from gate_worlds import BEYOND, Drawn, gate_of, levels_of
from hypothesis import given, settings
from hypothesis import strategies as st

from beliefs.checks import Invalid
from beliefs.correlation.account import AccountField, Totals
from beliefs.rounding import INFINITE, UNITS_PER_NAT, units_up
from stream.fields.gate import COARSE, EIGHTH, FULL, HALF, QUARTER, SIGNS, WITHHELD, Gate, GateField, Turn

FIELDS = st.lists(
    st.builds(
        Drawn,
        size=st.integers(2, 4),
        inside=st.booleans(),
        responds=st.booleans(),
        epsilon=st.sampled_from([0.01, 0.3, 1.0, 2.5]),
        beyond=st.integers(0, 2),
        cap=st.sampled_from([0.0, 0.5, 2.0, 6.0]),
        longitudinal=st.sampled_from([0.0, 0.0, 1.7]),
    ),
    min_size=1,
    max_size=4,
)
WORLDS = st.tuples(FIELDS, st.integers(0, 5), st.sampled_from([0.0, 0.1]), st.sampled_from([0.0, 3.0]))


def world(drawn: tuple[list[Drawn], int, float, float]) -> Gate:
    return gate_of(*drawn)


def turns(gate: Gate, events: int) -> list[Turn]:
    made, account = [], gate.totals.nothing
    for _ in range(events):
        made.append(gate.turn(account))
        account = made[-1].account
    return made


@settings(max_examples=60, deadline=None)
@given(WORLDS)
def test_no_total_is_ever_above_its_cap(drawn: Any) -> None:
    gate = world(drawn)
    for turn in turns(gate, 15):
        assert turn.totals == gate.totals.of(turn.account)
        assert all(total <= cap for total, cap in zip(turn.totals, gate.caps, strict=True))


def test_nothing_is_told_back() -> None:
    """What was told before kept bits were is not less by what those tell together at most."""
    field = GateField("one", levels_of(1.0), longitudinal=units_up(0.5), coarse_longitudinal=units_up(0.25))
    for told in (units_up(4.0), INFINITE):
        assert field.told(FULL, told, 0) == (told, 0)
        assert field.told(COARSE, 0, told) == (0, told)
    assert field.told(FULL, 0, 0) == (units_up(0.5), 0)


@settings(max_examples=40, deadline=None)
@given(WORLDS)
def test_the_first_option_that_fits_is_taken(drawn: Any) -> None:
    """Against a gate that tries everything with the totals themselves."""
    gate = world(drawn)
    account = gate.totals.nothing
    for turn in turns(gate, 10):
        told = list(account)
        for place, field in enumerate(gate.fields):
            options = {"withhold": [0], "lower": [0, 1, 2, 3], "coarsen": [0, 4]}[field.beyond]
            fine, coarse = told[2 * place : 2 * place + 2]
            chosen = WITHHELD
            for choice in options:
                level = field.levels[choice] or 0
                limit = field.longitudinal or INFINITE
                pair = (fine, min(limit, coarse + level)) if choice == COARSE else (min(limit, fine + level), coarse)
                tried = [*told[: 2 * place], *pair, *told[2 * place + 2 :]]
                totals = gate.totals.of(tuple(tried))
                if all(total <= cap for total, cap in zip(totals, gate.caps, strict=True)):
                    chosen, told = choice, tried
                    break
            assert turn.choices[place] == chosen
        assert turn.account == tuple(told)
        account = turn.account


@settings(max_examples=40, deadline=None)
@given(WORLDS)
def test_an_option_that_did_not_fit_never_fits_again(drawn: Any) -> None:
    gate = world(drawn)
    made = turns(gate, 20)
    for before, after in itertools.pairwise(made):
        assert (after.choices >= before.choices).all()
        assert all(late >= early for early, late in zip(before.account, after.account, strict=True))
        if (before.choices == WITHHELD).all():
            assert after.account == before.account


@settings(max_examples=20, deadline=None)
@given(WORLDS)
def test_the_choice_is_a_function_of_the_account(drawn: Any) -> None:
    """Another gate of the same kind, asked in the opposite order, says the same."""
    gate, other = world(drawn), world(drawn)
    made = turns(gate, 8)
    for before, turn in reversed(list(zip([None, *made], made, strict=False))):
        again = other.turn(gate.totals.nothing if before is None else before.account)
        assert again.choices.tolist() == turn.choices.tolist()
        assert again[1:] == turn[1:]


def alone(beyond: int, cap: float, epsilon: float = 1.0, longitudinal: float = 0.0) -> Gate:
    return gate_of([Drawn(3, False, False, epsilon, beyond, cap, longitudinal)], 0)


def signs(gate: Gate, events: int) -> str:
    return "".join(SIGNS[turn.choices[0]] for turn in turns(gate, events))


def test_what_happens_at_a_cap_is_what_was_asked_for() -> None:
    assert [BEYOND.index(name) for name in ("withhold", "lower", "coarsen")] == [0, 1, 2]
    assert signs(alone(0, 2.5), 5) == "00---"
    assert signs(alone(1, 2.5), 5) == "001--"
    assert signs(alone(1, 2.9), 6) == "00123-"
    assert signs(alone(2, 2.5), 4) == "00--"
    assert signs(alone(0, 0.0), 5) == "00000"
    assert signs(alone(0, 2.0), 4) == "00--"
    assert signs(alone(0, 2.5, longitudinal=1.9), 6) == "000000"


def test_a_cap_is_filled_to_the_last_unit_and_never_passed() -> None:
    field = GateField("only", (7, None, None, None, 2), "coarsen", 16)
    gate = Gate([field], Totals([AccountField("only", None, None, (0, 1))]))
    assert signs(gate, 5) == "00c--"
    assert turns(gate, 5)[-1].totals == (16,)
    assert turns(gate, 5)[-1].account == (14, 2)


def test_a_field_gives_way_to_one_that_stands_before_it() -> None:
    """Without a table both count in full for both, so that the first takes what is there."""
    first, second = (Drawn(3, False, False, 1.0, 0, cap, 0.0) for cap in (0.0, 3.0))
    made = turns(gate_of([first, second], 0), 4)
    assert ["".join(SIGNS[choice] for choice in turn.choices) for turn in made] == ["00", "0-", "--", "--"]


def test_the_protected_field_sets_its_budget_aside() -> None:
    field = Drawn(3, False, False, 1.0, 0, 2.3, 0.0)
    assert signs(gate_of([field], 0), 3) == "00-"
    assert signs(gate_of([field], 0, budget=0.25), 3) == "0--"
    loose = Drawn(3, False, False, 1.0, 0, 0.0, 0.0)
    assert signs(gate_of([loose], 0, budget=0.25, protected_cap=2.3), 4) == "00--"


def test_a_gate_that_could_never_report_is_refused() -> None:
    field = Drawn(3, False, False, 1.0, 0, 0.4, 0.0)
    with pytest.raises(Invalid, match=r"field 0: has a cap of 0\.4 nats, but 0\.5 are set aside"):
        gate_of([field], 0, budget=0.25)
    loose = Drawn(3, False, False, 1.0, 0, 0.0, 0.0)
    with pytest.raises(Invalid, match=r"protected_cap: has a cap of 0\.2 nats, but 0\.25 are set aside"):
        gate_of([loose], 0, budget=0.25, protected_cap=0.2)


def test_fields_that_do_not_go_with_their_totals_are_refused() -> None:
    pair = np.array([[3.0, 1.0], [1.0, 2.0]])
    totals = Totals([AccountField("one", 0, (0, 1)), AccountField("two", 1, (0, 1))], pair)
    names = [GateField(name, levels_of(1.0), "coarsen") for name in ("one", "two")]
    with pytest.raises(Invalid, match="one: may be coarsened"):
        Gate(names, totals)
    with pytest.raises(Invalid, match="same order"):
        Gate(names[::-1], totals)
    with pytest.raises(Invalid, match="no level for any"):
        Gate([GateField("one", (None, 1, 1, 1, 1))], Totals([AccountField("one")]))
    with pytest.raises(Invalid, match="there is none"):
        Gate([GateField("one", levels_of(1.0))], Totals([AccountField("one")]), 5)


def test_choices_have_the_numbers_and_signs_of_the_released_header() -> None:
    assert list(range(6)) == [FULL, HALF, QUARTER, EIGHTH, COARSE, WITHHELD]
    assert SIGNS == "0123c-"


def test_an_account_without_end_stays_at_the_end() -> None:
    gate = alone(0, 0.0)
    assert gate.turn((INFINITE - 5, 0)).account == (INFINITE, 0)
    assert gate.turn((INFINITE, 0)).totals == (INFINITE,)
    assert alone(0, 3.0).turn((units_up(2.5), 0)).choices.tolist() == [WITHHELD]


def test_five_correlated_fields_and_fifty_events_cost_little() -> None:
    """Every event asks each field's option: the table is asked once for each, and not at all where nothing is near."""
    drawn = [Drawn(4, True, True, 0.2, number % 2, 4.0, 0.0) for number in range(5)]
    gate = gate_of(drawn, 3)
    made = turns(gate, 50)
    assert max(made[-1].totals) <= 4 * UNITS_PER_NAT
    assert sum((turn.choices < WITHHELD).sum() for turn in made) > 20
    assert gate.totals.table is not None
    assert gate.totals.table._kept.cache_info().misses < 50 * 5 * 4
