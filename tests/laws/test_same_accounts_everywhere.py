"""Totals and choices of several fields have the same bits on a plain processor: an audit may run anywhere."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from gate_worlds import Drawn, gate_of

TESTS = Path(__file__).parent.parent
PLAIN_PROCESSOR = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3"}


def digest() -> str:
    """Of thirty turns of gates whose neighbours respond, do not, and are coarsened."""
    found = hashlib.sha256()
    for seed in range(4):
        fields = [
            Drawn(7, True, seed < 2, 0.3, 1, 3.0, 0.0),
            Drawn(5, True, seed < 3, 0.2, 2, 4.0, 0.0),
            Drawn(9, True, seed < 2, 0.4, seed % 3, 5.0, 0.0),
            Drawn(3, False, True, 0.05, 0, 0.0, 0.0),
        ]
        gate = gate_of(fields, seed, budget=0.1)
        account = gate.totals.nothing
        for _ in range(30):
            turn = gate.turn(account)
            account = turn.account
            found.update(turn.choices.tobytes())
            found.update(repr((turn.account, turn.totals)).encode())
    return found.hexdigest()


def test_a_plain_processor_computes_the_same_accounts() -> None:
    command = [sys.executable, "-c", "from test_same_accounts_everywhere import digest; print(digest())"]
    search = os.pathsep.join([str(TESTS), str(TESTS / "laws"), str(TESTS.parent)])
    environment = {**os.environ, **PLAIN_PROCESSOR, "PYTHONPATH": search}
    elsewhere = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    assert elsewhere.stdout.strip() == digest()
