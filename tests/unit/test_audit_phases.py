"""The auditor follows models in phases with arithmetic of its own: by events, by the clock, with longer memories."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from audit_world import run
from phase_models import random_phases
from test_audit_memory import agrees

from stream.audit.book import MECHANISMS
from stream.audit.law import law_of


@pytest.mark.parametrize("mechanism", ["optimal", "near", "published_crr"])
@pytest.mark.parametrize("when_spent", ["forecast", "forecast_draw", "suppress", "stop"])
@pytest.mark.parametrize(("symbols", "order", "phases"), [(2, 1, 2), (5, 1, 24), (3, 2, 3)])
def test_it_agrees_event_by_event(mechanism: str, when_spent: str, symbols: int, order: int, phases: int) -> None:
    assert mechanism in MECHANISMS
    model = random_phases(symbols, order, phases, 1)
    settings: dict[str, Any] = {"mechanism": mechanism, "when_spent": when_spent}
    assert agrees(run(symbols, events=1200, users=12, model=model, **settings))


@pytest.mark.parametrize(("step", "most"), [("1s", 1000), ("2s", 2), ("1h", 5)])
@pytest.mark.parametrize("order", [1, 2])
def test_it_agrees_by_the_clock(order: int, step: str, most: int) -> None:
    model = random_phases(3, order, 5, 2)
    assert agrees(run(3, events=1200, users=12, model=model, step=step, most=most, when_spent="forecast"))


def test_releases_by_phases_in_another_order_are_found() -> None:
    finished = run(3, events=600, users=6, model=random_phases(3, 1, 2, 1))
    right = finished.task().public
    swapped = random_phases(3, 1, 2, 9)
    found = finished.report(public=replace(right, law=law_of(swapped.chain))).findings.codes()
    assert "not_likeliest" in found or "state_differs" in found
