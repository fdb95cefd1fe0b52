"""What holds for every registered noise of aggregates, and for what is claimed of it: the same bits on any machine."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from beliefs.dependence.claim import Windows, claim_of
from beliefs.dependence.odds import GraphOdds
from beliefs.dependence.user_accounts import account_of
from beliefs.laws.dependence import Independent
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.laws.tree import TreeLaw
from beliefs.rounding import UNITS_PER_NAT, units_up
from mechanisms.aggregate.coin_stream import CoinStream
from mechanisms.aggregate.geometric import slimmed
from mechanisms.aggregate.registry import REGISTRY

TESTS = Path(__file__).parent.parent
PLAIN_PROCESSOR = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
BITS = np.array([0.0, 1.0])
ROWS = np.array([[0.85, 0.15], [0.3, 0.7]])
LOSSES = [UNITS_PER_NAT // 100, UNITS_PER_NAT // 3, 2 * UNITS_PER_NAT]


def told() -> list[int]:
    """By every way that a claim is made of + - * / alone."""
    tree = TreeLaw(np.array([-1, 0, 0, 1]), np.array([[0.6, 0.4]]), ROWS[None], np.array([-1, 0, 0, 0]), BITS)
    pair = TableLaw(np.array([0.6, 0.4])[:, None] * ROWS, (BITS, BITS))
    ring = np.array([[k, (k + 1) % 7] for k in range(7)])
    accounts = [account_of(law, knowing=knowing) for law in (tree, pair) for knowing in (False, True)]
    found = [account.told(loss) for account in accounts for loss in LOSSES]
    found += [account.largest(UNITS_PER_NAT) for account in accounts]
    found += GraphOdds.of(np.arange(7), ring, np.full(7, units_up(1.5))).leaks(np.full(7, LOSSES[1])).tolist()
    windows: Windows = MarkovLaw(ROWS, np.array([2.0, 1.0]) / 3.0, BITS, 30)
    for adversary in ("any", "weakest"):
        chain = claim_of(Independent(), windows, protects="one_window", adversary=adversary, horizon=30)
        found += [chain.leak([LOSSES[k * k % 3] for k in range(30)]), chain.leak([LOSSES[1]] * 30)]
    return found


def digest() -> str:
    found = hashlib.sha256(repr(told()).encode())
    for made in REGISTRY.values():
        for sensitivity, loss in ((1, LOSSES[1]), (80, LOSSES[0]), (3, LOSSES[2])):
            noise = made(sensitivity, loss)
            found.update(noise.draws(CoinStream(bytes(range(32)), 5, 2), 20_000).tobytes())
            found.update(repr((noise.interval(0.95), noise.variance, noise.loss(sensitivity))).encode())
    return found.hexdigest()


def test_a_plain_processor_draws_and_claims_the_same_bits() -> None:
    command = [sys.executable, "-c", "from test_aggregate_laws import digest; print(digest())"]
    search = os.pathsep.join([str(TESTS), str(TESTS / "laws"), str(TESTS.parent)])
    environment = {**os.environ, **PLAIN_PROCESSOR, "PYTHONPATH": search}
    elsewhere = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    assert elsewhere.stdout.strip() == digest()


@pytest.mark.parametrize("name", REGISTRY)
def test_noise_tells_at_most_its_loss_at_every_sensitivity_and_less_when_slimmed(name: str) -> None:
    for sensitivity in (1, 2, 7, 80, 12_345):
        for loss in LOSSES:
            noise = REGISTRY[name](sensitivity, loss)
            assert loss * (1 - 1e-8) <= noise.loss(sensitivity) <= loss
            for factor in (Fraction(1), Fraction(3, 2), Fraction(8)):
                assert slimmed(noise, factor).loss(sensitivity) <= -(-loss // factor)


@pytest.mark.parametrize("name", REGISTRY)
def test_noise_is_drawn_again_alike_and_is_another_one_elsewhere(name: str) -> None:
    noise, key = REGISTRY[name](2, UNITS_PER_NAT // 4), bytes(range(32))
    drawn = noise.draws(CoinStream(key, 3, 0), 100).tolist()
    assert drawn == noise.draws(CoinStream(key, 3, 0), 100).tolist()
    others = [CoinStream(key, 4, 0), CoinStream(key, 3, 1), CoinStream(key[::-1], 3, 0)]
    assert all(noise.draws(other, 100).tolist() != drawn for other in others)
