"""Speed of the account of what any releases tell about users who depend on each other, in one process:

    python tests/bench/bench_dependence.py [--users N] [--rounds R]

tree         users along one random tree: read the law, account for one loss, account for losses of each user's own,
             and the largest loss for a target; even (one law everywhere) and uneven (three kernels, laws that vary)
chain        values in a row against those who know nobody and against the worst adversary
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from beliefs.dependence.budget import largest_loss
from beliefs.dependence.chain import ChainInfluence, stationary_law
from beliefs.dependence.tree import TreeInfluence
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.tree import TreeLaw
from beliefs.rounding import UNITS_PER_NAT

Found = TypeVar("Found")
ACCOUNT_S = 60.0
"""A million users are accounted for within so many seconds, the law read and all kernels compiled before."""

exceeded: list[str] = []


def show(name: str, rounds: int, work: Callable[[], Found], limit_s: float = float("inf")) -> Found:
    spent, found = [], None
    for _ in range(rounds):
        start, used = time.perf_counter(), time.process_time()
        found = work()
        spent.append((time.process_time() - used, time.perf_counter() - start))
    worked, waited = min(spent)
    print(f"{name:<58} processor {worked:8.3f} s   wall {waited:8.3f} s", flush=True)
    if worked > limit_s:
        exceeded.append(name)
        print(f"{name}: above its limit of {limit_s:g} s", flush=True)
    assert found is not None
    return found


def tree_of(generator: np.random.Generator, users: int, states: int, *, even: bool) -> TreeLaw:
    parents = np.concatenate([[-1], generator.integers(0, np.arange(1, users))])
    if even:
        kernels = np.full((1, states, states), 0.1 / (states - 1)) + (0.9 - 0.1 / (states - 1)) * np.eye(states)
    else:
        kernels = generator.dirichlet(np.ones(states), (3, states))
    kernel_of = generator.integers(0, len(kernels), users)
    return TreeLaw(parents, np.full((1, states), 1.0 / states), kernels, kernel_of, np.arange(float(states)))


def trees(generator: np.random.Generator, users: int, rounds: int) -> None:
    for even, states in ((True, 2), (True, 8), (False, 2), (False, 8), (False, 16)):
        kind = f"tree of {users:,} users, {states} values, {'even' if even else 'uneven'}"
        law = tree_of(generator, users, states, even=even)
        show(f"{kind}: influence", 1, lambda: TreeInfluence.of(tree_of(generator, 10, states, even=even)))  # noqa: B023
        tree = show(f"{kind}: law read", 1, lambda: TreeInfluence.of(law), ACCOUNT_S)  # noqa: B023
        alike = np.full(users, UNITS_PER_NAT // 10)
        tree.worst(alike)
        show(f"{kind}: one loss", rounds, lambda: tree.worst(alike), ACCOUNT_S)  # noqa: B023
        own = generator.integers(0, UNITS_PER_NAT, users)
        show(f"{kind}: losses of their own", rounds, lambda: tree.leaks(own), ACCOUNT_S)  # noqa: B023
        if states == 2:
            leak = lambda loss: tree.worst(np.full(users, loss)).units  # noqa: B023, E731
            show(f"{kind}: loss for a target", 1, lambda: largest_loss(leak, UNITS_PER_NAT, UNITS_PER_NAT), ACCOUNT_S)  # noqa: B023


def chains(rounds: int) -> None:
    for states, length in ((2, 1_440), (8, 1_440), (2, 1_000_000)):
        rows = np.full((states, states), 0.1 / (states - 1)) + (0.9 - 0.1 / (states - 1)) * np.eye(states)
        law = MarkovLaw(rows, stationary_law(rows), np.arange(float(states)), length)
        for knowing in (False, True):
            chain = ChainInfluence.of(law, knowing=knowing)
            kind = f"chain of {length:,}, {states} values, {'worst' if knowing else 'weakest'}"
            show(f"{kind}: one loss", rounds, lambda: chain.worst_of(UNITS_PER_NAT // 10))  # noqa: B023
            if length < 10_000:
                own = np.arange(length) % 7 * (UNITS_PER_NAT // 10)
                show(f"{kind}: losses of their own", rounds, lambda: chain.worst(own))  # noqa: B023


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=1_000_000, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    options = parser.parse_args()
    trees(np.random.default_rng(5), options.users, options.rounds)
    chains(options.rounds)
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
