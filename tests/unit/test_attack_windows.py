"""What the adversary believes about the values of windows is Bayes over all raw sequences and coins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attack_help import attacked, longer_memory
from attack_windows import BISECT, DUAL, NATURAL, User, chances, users_of
from audit_world import Run, model_of, run
from phase_models import random_phases

from beliefs.alphabet import IntegerRange
from beliefs.model_file import Model
from stream.adversary import attack
from stream.adversary.facts import Known
from stream.attack.watch import BEFORE, BLIND, DOWN, GAIN, GIVEN, KIND, RELEASED, SURE, UP
from stream.audit.amounts import Floats
from stream.audit.law import Law, law_of

pytestmark = pytest.mark.timeout(600)  # the first of each kind compiles
ORDERS = {"bisect": BISECT, "natural": NATURAL, "dual": DUAL}
KINDS: dict[str, dict[str, Any]] = {
    "dense": {},
    "holes": {"model": model_of(3, sparse=True)},
    "large epsilon": {"epsilon": 4.0},
    "longer memory": {"symbols": 2, "model": longer_memory(2, 3)},
    "clock": {"step": "2s", "most": 3},
    "near": {"mechanism": "near", "distance": "absolute", "alphabet": IntegerRange(0, 2)},
}
NOT_DUAL = ("longer memory", "clock", "near")


def run_of(kind: str, order: str) -> Run:
    settings = {"symbols": 3, "events": 90, "users": 6, "nats": "unlimited", **KINDS[kind]}
    return run(**settings, windows=ORDERS[order])


def check(found: User, law: Law, known: dict[int, int], *, natural: bool) -> int:
    """Each event of the user's first windows, before, after and without what was told."""
    compared, ends = 0, [window.start + window.length for window in found.windows]
    for number, window in enumerate(found.windows):
        for place in range(window.length):
            at = window.start + place
            until = at + 1 if natural else ends[number]
            earlier = [(one, one.length) for one in found.windows[:number]]
            now = [*earlier, (window, place + 1 if natural else window.length)]
            row = found.rows[at]
            if row[KIND] == GIVEN:
                continue
            assert row[KIND] == RELEASED
            after, before, blind = (chances(law, found, known, told, at, until) for told in (now, earlier, []))
            # A channel is worked out for a law rounded to 2^-32 (`dual`) or within 2^-30 of an epsilon (the others).
            within = 1e-4 if window.share == 0.0 else 1e-6
            assert row[SURE] == pytest.approx(after.max(), abs=within)
            assert row[BEFORE] == pytest.approx(before.max(), abs=within)
            assert row[BLIND] == pytest.approx(blind.max(), abs=1e-9)
            moved = np.log(after[before > 0] / before[before > 0])
            assert row[UP] == pytest.approx(moved.max(), abs=within)
            assert row[DOWN] == pytest.approx(-moved.min(), abs=within)
            assert row[GAIN] == pytest.approx(gain(after, blind), abs=within)
            compared += 1
    return compared


def gain(after: Floats, blind: Floats) -> float:
    possible = after > 0
    return float((after[possible] * np.log(after[possible] / blind[possible])).sum())


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_posterior_is_bayes_over_all_sequences_and_coins(kind: str, order: str) -> None:
    if order == "dual" and kind in NOT_DUAL:
        order = "bisect"
    finished = run_of(kind, order)
    found = list(users_of(finished))
    assert len(found) == 6
    assert sum(check(user, law_of(finished.model.chain), {}, natural=order == "natural") for user in found[:4]) >= 20


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("own", [model_of(3, sparse=True), longer_memory(3, 9), random_phases(3, 1, 2, 8)])
def test_so_it_is_for_who_believes_another_model_and_knows_some_values(order: str, own: Model) -> None:
    finished = run_of("dense", order)
    side = Known(by_step={(b"user-0-%d" % user, step): 1 for user in range(6) for step in (2, 6)})
    if own.chain.size == 3 and own.chain.phases == 1:  # a law with holes has room for some values only
        side = Known(by_step={(b"user-0-%d" % user, 2): 1 for user in range(6)})
    known = {step - 1: 1 for _, step in side.by_step}
    found = list(users_of(finished, own, side))
    compared = [check(user, law_of(own.chain), known, natural=order == "natural") for user in found[:2]]
    assert sum(compared) >= 6


@pytest.mark.parametrize("order", ORDERS)
def test_it_does_not_matter_how_the_records_are_cut(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    finished = run(3, events=400, users=7, nats=6, windows=ORDERS[order].replace("}", ", stretch: 20s}"))
    whole = attacked(finished).scores
    monkeypatch.setattr(attack, "CHUNK", 1)
    cut = attacked(finished).scores
    assert whole.released == cut.released > 100
    for name in ("sure", "before", "blind", "gain", "right", "allowed", "scored"):
        assert getattr(whole, name) == pytest.approx(getattr(cut, name), rel=1e-12)
    assert whole.evidence.log10 == pytest.approx(cut.evidence.log10, abs=1e-9)
