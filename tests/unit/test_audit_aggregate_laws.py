"""Laws of who depends on whom, held by the auditor against bounds of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aggregate_audited import KINDS, RING_KEYS, House

from stream.errors import CannotAudit

HOUSEHOLDS = b"""{"format": "sottovoce-law", "version": 1, "law": {"kind": "table", "domains": [[0, 1], [0, 1]],
"joint": [[0.4, 0.1], [0.1, 0.4]]}}"""
CHAIN = b"""{"format": "sottovoce-law", "version": 1, "law": {"kind": "chain", "transition": [[0.9, 0.1], [0.1, 0.9]],
"start": [0.5, 0.5], "domain": [0, 1], "length": 4}}"""


@pytest.mark.parametrize(
    ("law", "dependence", "queries", "adversary"),
    [
        (HOUSEHOLDS, "{users: {law: LAW}, windows: fresh}", KINDS[:1], "any"),
        (HOUSEHOLDS, "{users: {law: LAW}, windows: fresh}", KINDS[:1], "weakest"),
        (HOUSEHOLDS, "{users: {law: LAW}, windows: fresh}\nprotects: one_window", KINDS[:2], "any"),
        (CHAIN, "{users: independent, windows: {law: LAW}}\nprotects: one_window", KINDS[:1], "any"),
    ],
)
async def test_laws_are_held_against_bounds_of_the_auditors_own(
    tmp_path: Path, law: bytes, dependence: str, queries: tuple[str, ...], adversary: str
) -> None:
    (tmp_path / "law.json").write_bytes(law)
    more = f"dependence: {dependence.replace('LAW', str(tmp_path / 'law.json'))}\nadversary: {adversary}"
    house = House(*queries, more=more, target="target: {nats: 4, windows: 4, beyond: top_up}")
    assert (await house.audit(ring_keys=RING_KEYS)).agrees
    for part, factor in (("leak", 0.5), ("total", 0.5), ("leak", 3), ("total", 3), ("loss", 0.9)):
        before = list(house.released)
        house.change(3, lambda said, part=part, factor=factor: _scaled(said["guarantee"], part, factor))  # type: ignore[misc]
        found = (await house.audit()).findings.codes()
        house.released[:] = before
        assert "aggregate_account" in found, (part, factor)


def _scaled(guarantee: dict[str, Any], part: str, factor: float) -> None:
    guarantee[part] *= factor


async def test_a_law_that_is_gone_or_broken_cannot_be_audited(tmp_path: Path) -> None:
    law = tmp_path / "law.json"
    law.write_bytes(HOUSEHOLDS)
    house = House(KINDS[0], more=f"dependence: {{users: {{law: {law}}}, windows: fresh}}")
    law.write_bytes(b"{}")
    with pytest.raises(CannotAudit, match="A law that the settings name cannot be read"):
        await house.audit()
