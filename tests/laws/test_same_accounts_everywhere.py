"""Totals and choices of several fields have the same bits on a plain processor: an audit may run anywhere."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from gate_worlds import Drawn, gate_of

from beliefs.correlation.account import AccountField, Totals
from beliefs.correlation.table_radii import counted_radii
from beliefs.rounding import units_up

TESTS = Path(__file__).parent.parent
PLAIN_PROCESSOR = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3"}


def digest() -> str:
    """Of thirty turns of gates whose neighbours respond, do not, and are coarsened; and of totals with radii."""
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
    weights = np.random.default_rng(5).gamma(0.4, size=(3, 4, 2)) + 1e-6
    known = [
        counted_radii(people, 24 // len(people), 0.05, 3) for people in ([300, 41, 7], [9, 88, 250, 1], [200, 148])
    ]
    for classes in ((tuple(range(3)), tuple(range(4)), (0, 1)), (None, (0, 1, 1, 0), None)):
        fields = [
            AccountField(str(axis), axis, each, (0, 1, 1, 1)[: weights.shape[axis]])
            for axis, each in enumerate(classes)
        ]
        totals = Totals(fields, weights, None, known)
        for number in range(30):
            told = [units_up(0.07 * number * (place + 1)) for place in range(3)]
            found.update(repr(totals.of(tuple(units for each in told for units in (each, each // 3)))).encode())
    return found.hexdigest()


def test_a_plain_processor_computes_the_same_accounts() -> None:
    command = [sys.executable, "-c", "from test_same_accounts_everywhere import digest; print(digest())"]
    search = os.pathsep.join([str(TESTS), str(TESTS / "laws"), str(TESTS.parent)])
    environment = {**os.environ, **PLAIN_PROCESSOR, "PYTHONPATH": search}
    elsewhere = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    assert elsewhere.stdout.strip() == digest()
