"""Records that nobody's pipeline writes: the audit of crowds finds something wrong with each of them, and reads on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from crowd_audited import RECORDS, RING_KEYS, AuditedHouse, House
from crowd_lives import HISTOGRAM, MEAN, SUM
from flow_audited import FlowHouse
from test_audit_crowds import FRESH, TOLD, TOPPED

from stream.audit.crowd_numbers import alike

ODD: list[Any] = [None, True, -1, 0, 1.5, 10**30, "", "a", [], [1], [[]], {}, {"a": 1}, "released", "exact", [None, 1]]


def places_in(said: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a document, as its holder and its key there."""
    for key in list(said) if isinstance(said, dict) else range(len(said)):
        yield said, key
        if isinstance(said[key], dict | list):
            yield from places_in(said[key])


async def check_forged(house: AuditedHouse, chance: Random) -> None:
    before = list(house.released)
    for _ in range(60):
        house.released[:] = before
        place = chance.randrange(len(before))
        said = json.loads(before[place].value or b"")
        holder, key = chance.choice(list(places_in(said)))
        old = holder[key]
        if isinstance(holder, dict) and chance.random() < 0.2:
            del holder[key]
        else:
            holder[key] = chance.choice(ODD)
            if alike(holder[key]) == alike(old):
                continue
        house.released[place] = replace(before[place], value=json.dumps(said).encode())
        report = await house.audit(ring_keys=chance.choice((None, RING_KEYS)))
        assert not report.agrees, (key, old, holder)


@pytest.mark.parametrize(
    ("release", "believes"), [(SUM, TOPPED), (MEAN, TOLD), (HISTOGRAM, FRESH), (RECORDS, "believes: nothing_declared")]
)
async def test_a_window_in_which_anything_is_something_else_is_found(
    tmp_path: Path, release: str, believes: str
) -> None:
    await check_forged(House(tmp_path, release, believes, minutes=3), Random(release))


@pytest.mark.parametrize("grouper", ["castle", "sky"])
async def test_a_crowd_in_which_anything_is_something_else_is_found(grouper: str) -> None:
    await check_forged(FlowHouse(grouper), Random(grouper))
