"""A replay on another machine computes the same bits.

The code compiled for a plain processor, without vector units or fused operations, releases and stores the same bytes as
the code compiled for this one.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from step_help import Run, events_of, policy_of, sticky_chain

from beliefs.distance import haversine
from beliefs.rounding import budget_units

TESTS = Path(__file__).parent.parent
PLAIN_PROCESSOR = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}


def digest(mechanism: str) -> str:
    """Of everything that 3,000 events change, over two alphabets."""
    found = hashlib.sha256()
    for size in (3, 37):
        policy = policy_of(mechanism, 0.9, budget=budget_units(40.0), window=9_000)
        run = Run(policy, sticky_chain(size), users=20, distance=haversine([(x, 3 * x) for x in range(size)]))
        releases = run.block(events_of(1_500, 20, size, seed=size))
        for part in (releases.symbol, releases.outcome, releases.upper, releases.lower, run.heads, run.codes):
            found.update(part.tobytes())
    return found.hexdigest()


@pytest.mark.parametrize("mechanism", ["optimal", "marginal_preserving", "top_k_grr", "near"])
def test_a_plain_processor_computes_the_same_bits(mechanism: str) -> None:
    command = [sys.executable, "-c", f"from test_same_bits_everywhere import digest; print(digest({mechanism!r}))"]
    search = os.pathsep.join([str(TESTS), str(TESTS / "laws"), str(TESTS.parent)])
    environment = {**os.environ, **PLAIN_PROCESSOR, "PYTHONPATH": search}
    elsewhere = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    assert elsewhere.stdout.strip() == digest(mechanism)
