"""Speed of the questions about noisy sums of dependent attributes, in one process:

    python tests/bench/bench_prior.py [--rounds R] [--users N] [--only WORD]

users        the worst adversary of a joint table of 20 bits: chain, tree, star, households, exchangeable, weak ties
             of one sign, twins, independent; and three without usable structure, whose answers are bounds
chain        the worst adversary of 1,000 values of a chain: sticky, alternating, three and four values
gaussian     all adversaries of 20 Gaussian attributes
door         a table of 20 bits as JSON through the door of `sottovoce compute`
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable

import numpy as np

from beliefs import json_text
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query
from beliefs.prior.gaussian import Sums, worst_gaussian
from beliefs.prior.worst import worst_of_table
from beliefs.prior.worst_chain import worst_of_chain
from stream.compute.door import answer

BITS = np.array([0.0, 1.0])


def ising(ties: np.ndarray, fields: np.ndarray) -> np.ndarray:
    """exp of the sum of ties and fields over spins of -1 and 1."""
    count = fields.size
    spins = ((np.arange(2**count)[:, None] >> np.arange(count)[::-1]) & 1) * 2 - 1
    energy = spins @ fields
    for one in range(count):
        for two in range(one):
            if ties[one, two]:
                energy = energy + ties[one, two] * spins[:, one] * spins[:, two]
    joint: np.ndarray = np.exp(energy - energy.max()).reshape((2,) * count)
    return joint


def tables(generator: np.random.Generator, users: int) -> dict[str, np.ndarray]:
    nothing, fields = np.zeros((users, users)), generator.normal(size=users) * 0.2
    chain, tree, star, grid = (nothing.copy() for _ in range(4))
    for user in range(1, users):
        chain[user, user - 1] = 0.5 * math.log(9.0)
        tree[user, generator.integers(user)] = generator.uniform(0.2, 1.0)
        star[user, 0] = 0.5 * math.log(9.0)
        if user % 5:
            grid[user, user - 1] = 0.2
        if user >= 5:
            grid[user, user - 5] = 0.2
    households = np.ones(())
    for start in range(0, users, 4):
        size = min(4, users - start)
        households = np.multiply.outer(households, generator.dirichlet(np.ones(2**size)).reshape((2,) * size))
    twins = np.zeros((2,) * users)
    for own, others, mass in ((0, 0, 0.495), (1, 1, 0.495), (1, 0, 0.005), (0, 1, 0.005)):
        twins[(own, *(others,) * (users - 1))] = mass
    weak = np.tril(generator.normal(size=(users, users)) * 0.05, -1)
    return {
        "chain": ising(chain, nothing[0]),
        "alternating chain": ising(-chain, nothing[0]),
        "tree": ising(tree, fields),
        "star": ising(star, nothing[0]),
        "households of four": households,
        "exchangeable": ising(np.tril(np.full((users, users), 0.05), -1), nothing[0]),
        "weak ties of one sign": ising(np.abs(weak), fields),
        "twins": twins,
        "independent": ising(nothing, fields),
        "grid of 4 x 5": ising(grid, nothing[0]),
        "weak ties of both signs": ising(weak, fields),
        "no structure": generator.dirichlet(np.ones(2**users)).reshape((2,) * users),
    }


def chains() -> dict[str, tuple[MarkovLaw, float]]:
    def law(rows: list[list[float]], domain: list[float]) -> MarkovLaw:
        states = len(domain)
        return MarkovLaw(np.array(rows), np.full(states, 1.0 / states), np.array(domain), 1_000)

    three = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    walk = [[0.99, 0.01, 0.0], [0.01, 0.98, 0.01], [0.0, 0.01, 0.99]]
    four = [[0.5, 0.3, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.2, 0.2, 0.3, 0.3], [0.1, 0.1, 0.1, 0.7]]
    return {
        "sticky bits .9": (law([[0.9, 0.1], [0.1, 0.9]], [0.0, 1.0]), 1.0),
        "sticky bits .999": (law([[0.999, 0.001], [0.001, 0.999]], [0.0, 1.0]), 1.0),
        "alternating bits .001": (law([[0.001, 0.999], [0.999, 0.001]], [0.0, 1.0]), 1.0),
        "alternating bits .1": (law([[0.1, 0.9], [0.9, 0.1]], [0.0, 1.0]), 1.0),
        "three values .8": (law(three, [0.0, 1.0, 2.0]), 1.0),
        "slow walk on three": (law(walk, [0.0, 1.0, 2.0]), 1.0),
        "four values 0 1 5 7": (law(four, [0.0, 1.0, 5.0, 7.0]), 5.0),
    }


def show(name: str, rounds: int, work: Callable[[], object]) -> None:
    spent, found = [], None
    for _ in range(rounds):
        start, used = time.perf_counter(), time.process_time()
        found = work()
        spent.append((time.process_time() - used, time.perf_counter() - start))
    worked, waited = min(spent)
    print(f"{name:<34} processor {worked:7.2f} s   wall {waited:7.2f} s   {found}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--users", type=int, default=20, help="default: %(default)s")
    parser.add_argument("--only", default="", help="those whose name holds this word")
    options = parser.parse_args()
    generator = np.random.default_rng(5)
    pair = TableLaw(np.full((2, 2), 0.25), (BITS, BITS))
    worst_of_table(pair, Query.of(pair), 1.0)  # compiled, or taken from the cache
    for name, joint in tables(generator, options.users).items():
        if options.only in f"users: {name}":
            law = TableLaw(joint / joint.sum(), (BITS,) * joint.ndim)
            show(f"users: {name}", options.rounds, lambda: _told(worst_of_table(law, Query.of(law), 1.0)))  # noqa: B023
    for name, (chain, scale) in chains().items():
        if options.only in f"chain: {name}":
            show(f"chain: {name}", options.rounds, lambda: _told(worst_of_chain(chain, scale)))  # noqa: B023
    factor = generator.normal(size=(20, 20))
    gauss = GaussianLaw(factor @ factor.T / 20.0 + 0.1 * np.eye(20), 1.0)
    if options.only in "gaussian: 20 attributes":
        sums = Sums(np.ones((1, 20)), np.ones(1))
        show("gaussian: 20 attributes", options.rounds, lambda: _told(worst_gaussian(gauss, sums)))
    if options.only in "door: 20 bits as JSON":
        joint = tables(generator, options.users)["chain"]
        inputs = {"joint": (joint / joint.sum()).tolist(), "domains": [[0, 1]] * options.users, "scale": 1}
        text = json.dumps({"what": "pdp.worst", "inputs": inputs}).encode()
        show(f"door: {len(text) / 1e6:.0f} MB of JSON", options.rounds, lambda: answer(json_text.read(text)))


def _told(found: object) -> str:
    """The figures without whom the adversary knows."""
    shown = {name: value for name, value in found._asdict().items() if name not in ("known", "attacked")}  # type: ignore[attr-defined]
    return "  ".join(f"{name} {value:.6g}" if isinstance(value, float) else f"{value}" for name, value in shown.items())


if __name__ == "__main__":
    main()
