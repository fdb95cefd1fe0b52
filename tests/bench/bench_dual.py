"""What a window through one channel takes, and how near it is to the best, by its number of sequences.

    python tests/bench/bench_dual.py

Prints a table: for sticky, random and independent values the median and the slowest time of a window over several
beliefs about its first value, and the largest certified gap. One thread.
"""

from __future__ import annotations

import statistics
import time
from typing import NamedTuple

import numpy as np

from beliefs.chain import Chain
from beliefs.forward import chain_arrays, normalise
from beliefs.rounding import budget_units
from mechanisms.contract import constants_of, design_units
from mechanisms.sequence import dual
from mechanisms.sequence.dual_prices import DualRoom, new_rooms
from mechanisms.sequence.dual_sequences import law_of_sequences
from mechanisms.sequence.dual_value import dual_value

SIZES = ((2, 5), (4, 3), (4, 4), (5, 4), (6, 4))
EPSILONS = (0.5, 1.0, 2.0, 4.0)
BELIEFS = 3


class Measured(NamedTuple):
    seconds: float
    gap: float


def rows_of(kind: str, size: int, random: np.random.Generator) -> np.ndarray:
    if kind == "random":
        return random.dirichlet(np.ones(size), size=size)
    if kind == "independent":
        return np.tile(random.dirichlet(np.full(size, 3.0)), (size, 1))
    return np.full((size, size), 0.1 / size) + 0.9 * np.eye(size)


def one_window(chain: Chain, length: int, epsilon: float, room: DualRoom) -> Measured:
    law = np.zeros(chain.size**length)
    law_of_sequences(chain_arrays(chain), chain.start.copy(), length, law)
    normalise(law)
    units = design_units(budget_units(epsilon), 0)
    constants = np.array(constants_of(units))
    began = time.perf_counter()
    dual.prepare(law, constants, room)
    seconds = time.perf_counter() - began
    return Measured(seconds, dual_value(law, units, epsilon, room).gap)


def main() -> None:
    random = np.random.default_rng(1)
    one_window(Chain.from_dense([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]]), 2, 1.0, new_rooms(2, 2)[-1])
    print("| sequences | chain | epsilon | ms, median | ms, slowest | gap, largest |\n|---|---|---|---|---|---|")
    for size, length in SIZES:
        room = new_rooms(size, length)[-1]
        for kind in ("sticky", "random", "independent"):
            for epsilon in EPSILONS:
                chains = (
                    Chain.from_dense(random.dirichlet(np.ones(size)), rows_of(kind, size, random))
                    for _ in range(BELIEFS)
                )
                seen = [one_window(chain, length, epsilon, room) for chain in chains]
                times = [1e3 * one.seconds for one in seen]
                gap = max(one.gap for one in seen)
                text = f"{size**length:,} | {kind} | {epsilon:g} | {statistics.median(times):.1f} | {max(times):.1f}"
                print(f"| {text} | {gap:.4f} |", flush=True)


if __name__ == "__main__":
    main()
