"""The auditor follows models with a longer memory and models that go by the clock, to the last bit."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from audit_world import Row, Run, add_to_word, codes, differing, run, settings_of
from context_models import DETOUR, law_of, random_contexts

from beliefs.alphabet import Categories
from beliefs.chain import CONTRACTION_ONE, Chain
from beliefs.clock import at_rest
from beliefs.contexts import Context, chain_of
from beliefs.forward import chain_arrays
from beliefs.model_file import Model, parse, serialise, serialise_contexts
from stream.audit.follow import KEPT_SHORT, _after_one, shrunk
from stream.audit.law import differs
from stream.audit.law import law_of as audited_law_of
from stream.drift import after_an_event

MECHANISMS = ("optimal", "marginal_preserving", "published_crr")


def remembering(symbols: int, order: int, least: float = 0.05, seed: int = 1) -> Model:
    start, laws = random_contexts(random.Random(f"{symbols} {order} {seed}"), symbols, order, least)
    laws |= {
        (0,) * order: law_of([1 - 0.5 * (symbols > 1)] + [0.5 / (symbols - 1)] * (symbols - 1 if symbols > 1 else 0))
    }
    names = Categories([f"act{x}" for x in range(symbols)])
    return parse(serialise_contexts(names, order, start, laws, {}))


def agrees(finished: Run) -> bool:
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    assert report.tally.released == finished.outcomes["released"]
    assert report.tally.forecast == finished.outcomes["forecast"]
    return report.agrees


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("when_spent", ["forecast", "forecast_draw", "suppress", "stop"])
@pytest.mark.parametrize(("symbols", "order"), [(2, 3), (5, 2)])
def test_it_agrees_on_models_with_contexts(mechanism: str, when_spent: str, symbols: int, order: int) -> None:
    model = remembering(symbols, order)
    assert model.chain.size > symbols
    settings: dict[str, Any] = {"mechanism": mechanism, "when_spent": when_spent}
    assert agrees(run(symbols, events=1200, users=12, model=model, **settings))


@pytest.mark.parametrize("least", [0.0, 0.05], ids=["impossible values", "all values possible"])
def test_it_agrees_on_the_drift_of_contexts(least: float) -> None:
    """Many events for each user, so that several spans are looked back upon; every drift is compared."""
    model = remembering(3, 3, least, seed=5)
    assert (model.chain.contraction == CONTRACTION_ONE) == (least == 0.0)
    assert agrees(run(3, events=1500, users=2, model=model, nats="unlimited"))


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("when_spent", ["forecast", "forecast_draw"])
@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize(("step", "most"), [("1s", 1000), ("2s", 2), ("1h", 5)])
def test_it_agrees_by_the_clock(mechanism: str, when_spent: str, order: int, step: str, most: int) -> None:
    """Events are 0.1 s apart and up to 20 s late; 12 users: several steps, none, and late ones in every run."""
    model = remembering(3, order) if order > 1 else None
    settings: dict[str, Any] = {"mechanism": mechanism, "when_spent": when_spent, "step": step, "most": most}
    assert agrees(run(3, events=1200, users=12, model=model, **settings))


@pytest.mark.parametrize("step", ["event", "2s"])
def test_it_agrees_on_a_radius_beside_contexts_and_a_clock(step: str) -> None:
    assert agrees(run(3, events=1200, users=12, model=remembering(3, 2), step=step, radius=0.1, chain_error=0.001))


def test_it_agrees_after_silences_in_which_the_belief_comes_to_rest() -> None:
    """Users have an event in half a minute; a belief of this model comes to rest in less than 20 steps of a second."""
    rows = [[0.4, 0.3, 0.3], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4]]
    model = parse(serialise(Categories([f"act{x}" for x in range(3)]), Chain.from_dense([0.5, 0.25, 0.25], rows), {}))
    assert agrees(run(3, events=1500, users=300, model=model, step="1s"))


@pytest.mark.parametrize("place", [0, 2])
def test_a_belief_is_at_rest_only_when_no_bit_of_it_moves(place: int) -> None:
    belief = np.array([0.25, 0.25, 0.5])
    ahead = belief.copy()
    assert at_rest(ahead, belief)
    assert not differs(ahead, belief)
    ahead[place] = np.nextafter(ahead[place], 1.0)
    assert differs(ahead, belief)
    assert not at_rest(ahead, belief)


def test_it_agrees_where_a_mass_was_too_small_between_two_steps() -> None:
    """Nothing small is left in what is kept then: only the drift tells that there was something."""
    model = parse(serialise(Categories([f"act{x}" for x in range(5)]), DETOUR, {}))
    finished = run(5, events=300, users=12, model=model, step="1s", most=3, nats="unlimited")
    states = [one.value or b"" for one in finished.states() if (one.key or b"")[:1] == b"u"]
    unknown = [row for row in states if row[60:64] == b"\xff" * 4]
    assert any(row[48] == 2 and row[72:88] == bytes(16) for row in unknown)  # one jump over three steps
    assert agrees(finished)


def test_the_clock_changes_what_is_released() -> None:
    one, other = (run(3, events=600, users=12, step=step) for step in ("event", "1s"))
    assert [kept.value for kept in one.released()] != [kept.value for kept in other.released()]
    assert {len(kept.value or b"") for kept in one.states() if (kept.key or b"")[:1] == b"u"} == {64 + 12}
    assert {len(kept.value or b"") for kept in other.states() if (kept.key or b"")[:1] == b"u"} == {72 + 12}


def test_an_audit_with_another_step_disagrees() -> None:
    finished = run(3, events=600, users=12, step="1s")
    task = finished.task()
    rules = task.public.rules._replace(interval=2000)
    changed = type(task.public)(**{**vars(task.public), "rules": rules})
    assert "state_differs" in codes(finished, public=changed)


def test_records_of_another_step_bear_another_model() -> None:
    finished = run(3, events=600, users=12, step="1s")
    assert {header for one in finished.released() for header in one.headers if header[0] == "model"} == {
        ("model", f"1:{finished.model.short}/1s".encode())
    }
    finished.settings = settings_of(step="2s")
    assert {"wrong_model", "wrong_owner"} <= codes(finished)


def test_a_wrong_clock_in_a_state_is_found() -> None:
    finished = run(3, events=600, users=12, step="1s")
    finished.change_state(add_to_word(64, "<i8", 1))
    assert differing(finished) == {"clock"}


def test_a_row_of_version_1_is_set_aside_by_the_clock() -> None:
    finished = run(3, events=600, users=12, step="1s")

    def as_version_1(row: Row) -> None:
        row[0] = 1

    finished.change_state(as_version_1)
    assert codes(finished) == {"quarantined_rows"}


def test_a_belief_in_another_state_of_the_same_value_is_found() -> None:
    """Sums over states agree, states do not: the comparison is of states."""
    model = remembering(2, 2)
    finished = run(2, events=600, users=5, model=model)
    one, other = (64 + 4 * int(state) for state in np.flatnonzero(model.chain.symbol_of == 0)[:2])

    def swap(row: Row) -> None:
        row[one : one + 4], row[other : other + 4] = row[other : other + 4].copy(), row[one : one + 4].copy()

    finished.change_state(swap)
    assert differing(finished) == {"belief"}


@pytest.mark.parametrize("seed", range(12))
def test_the_contraction_of_contexts_is_worked_out_alike(seed: int) -> None:
    source = random.Random(seed)
    start, laws = random_contexts(source, source.randrange(1, 5), 4, least=0.02 * (seed % 3))
    chain = chain_of(start, laws)
    law, arrays = audited_law_of(chain), chain_arrays(chain)
    assert (law.contraction, law.span) == (arrays.contraction, arrays.span)


@pytest.mark.parametrize("drift", [0, 1, 777, 10**6, 2**32 - 2, 2**32 - 1])
@pytest.mark.parametrize("events", [1, 2, 3, 6])
def test_the_drift_after_an_event_is_worked_out_alike(drift: int, events: int) -> None:
    contexts: dict[Context, Any] = {(): law_of([0.5, 0.5]), (0, 0, 1): law_of([0.25, 0.75])}
    law = audited_law_of(chain_of(np.array([0.5, 0.5]), contexts))
    assert law.span == 3
    assert _after_one(law, drift, events) == after_an_event(drift, events, law.contraction, law.span)
    assert shrunk(drift, 2**32) == drift
    assert KEPT_SHORT == 129
