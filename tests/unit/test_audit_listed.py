"""The auditor follows models with a tail, and rows that list a few states of many, to the last bit."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from audit_world import Run, add_to_word, differing, run
from tail_models import zipf_chain
from test_beliefs_listed import SHAPES, pair

from beliefs.alphabet import Categories
from beliefs.chain import Chain
from beliefs.listed import new_listing
from beliefs.model_file import Model, parse, serialise
from mechanisms.contract import DRIFT_UNKNOWN
from stream import state
from stream.audit.law import law_of
from stream.audit.listing import keep_listed, new_tray
from stream.drift import OF_CODES, after_listing

MECHANISMS = ("optimal", "marginal_preserving", "published_crr", "top_k_grr")


def model_of(chain: Chain) -> Model:
    return parse(serialise(Categories([f"act{x}" for x in range(chain.size)]), chain, {}))


def agrees(finished: Run) -> bool:
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    assert report.tally.released == finished.outcomes["released"] > 0
    assert report.tally.forecast == finished.outcomes["forecast"]
    return report.agrees


def followed(chain: Chain, listed: int | None, **settings: Any) -> Run:
    wished = "" if listed is None else f", listed: {listed}"
    model = model_of(chain)
    return run(chain.size, events=800, users=12, model=model, listed=wished, **settings)


def states_of(finished: Run) -> list[bytes]:
    return [one.value or b"" for one in finished.states() if one.key is not None and one.key[:1] == b"u"]


def drifts_of(finished: Run) -> set[int]:
    return {int.from_bytes(row[60:64], "little") for row in states_of(finished)}


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("when_spent", ["forecast", "suppress", "stop"])
def test_it_agrees_where_listing_loses_something(mechanism: str, when_spent: str) -> None:
    nats = "unlimited" if mechanism == "published_crr" else 4
    finished = followed(zipf_chain(300, left=0.9), 20, mechanism=mechanism, when_spent=when_spent, nats=nats)
    assert agrees(finished)
    assert {row[0] for row in states_of(finished)} == {4}
    assert {len(row) for row in states_of(finished)} == {64 + 8 + 8 * 20}
    lost = {drift for drift in drifts_of(finished) if drift > 1 << 20}
    assert lost - {DRIFT_UNKNOWN} if mechanism == "optimal" else lost


def test_it_agrees_where_listing_loses_nothing() -> None:
    finished = followed(zipf_chain(300, reach=15), 20, nats="unlimited")
    assert agrees(finished)
    assert max(drifts_of(finished)) < 140 * 800


@pytest.mark.parametrize("left", [0.0, 0.3])
def test_it_agrees_where_the_drift_is_unknown(left: float) -> None:
    finished = followed(zipf_chain(300, left=left), 3, nats="unlimited")
    assert agrees(finished)
    assert DRIFT_UNKNOWN in drifts_of(finished)


@pytest.mark.parametrize(("step", "most"), [("1s", 1000), ("1h", 5)])
def test_it_agrees_by_the_clock(step: str, most: int) -> None:
    finished = followed(zipf_chain(100, left=0.8), 30, step=step, most=most)
    assert agrees(finished)
    assert {row[0] for row in states_of(finished)} == {5}


@pytest.mark.parametrize("left", [0.0, 0.5, 1.0])
def test_it_agrees_on_tails_without_a_list(left: float) -> None:
    finished = followed(zipf_chain(50, left=left), None)
    assert agrees(finished)
    assert {row[0] for row in states_of(finished)} == {1}


@pytest.mark.parametrize(("place", "field"), [(64, "belief"), (68, "belief"), (72, "belief"), (60, "drift")])
def test_a_changed_word_is_found(place: int, field: str) -> None:
    finished = followed(zipf_chain(100, reach=8), 10)
    finished.change_state(add_to_word(place, "<u4", 1))
    assert differing(finished) == {field}


def test_a_worker_that_lists_less_is_found() -> None:
    finished = followed(zipf_chain(100, left=0.9), 10)
    other = followed(zipf_chain(100, left=0.9), 9)
    assert {"wrong_model", "wrong_policy"} <= finished.report(public=other.task().public).findings.codes()


@pytest.mark.parametrize("left", [0.0, 1e-3, 0.5, 1.0])
def test_the_contraction_is_worked_out_alike(left: float) -> None:
    chain = zipf_chain(60, left=left)
    assert law_of(chain).contraction == chain.contraction


@pytest.mark.parametrize(("shape", "size"), list(product(SHAPES, (1, 2, 60, 5_000))))
def test_the_rows_of_any_belief_are_alike(shape: str, size: int) -> None:
    for seed, share in product(range(3), (0.0, 0.01, 0.2, 1.0)):
        belief, tail = pair(shape, size, seed)
        words = np.zeros(state.codes_of(size, max(1, int(share * size))), dtype=np.uint32)
        codes, room = words.copy(), new_listing(size)
        exact, spread = state.encode_listed(belief, belief.view(np.int64), tail, room, codes)
        back = np.zeros(size)
        state.decode_listed(codes, tail, room, back, back.view(np.int64))
        drift = keep_listed(tail, new_tray(size), belief, words, 1000)
        assert np.array_equal(words, codes)
        assert np.array_equal(belief, back)
        charged = after_listing(1000, spread, exact)
        assert (drift + OF_CODES if drift != DRIFT_UNKNOWN else drift) == charged
