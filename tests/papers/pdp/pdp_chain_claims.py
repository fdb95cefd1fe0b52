"""The chain rule, its corollary and the Gaussian half beside what is found of them."""

from __future__ import annotations

import math

import numpy as np
from paper_findings import Claim, Numbers, verdict_of
from pdp_graph import Assigned, full
from pdp_laws import ALL_COVARIANCES_POSITIVE, ALL_POSITIVE, PARITY, even, gauss, leak, sticky
from pdp_theorems import (
    all_increments,
    chain_on_random_laws,
    gaussian_against_densities,
    leaks_of_copies,
    paths_and_layers,
    repaired,
    slopes,
)

from beliefs.prior.adversary import Query
from beliefs.prior.published import full_search
from beliefs.prior.releases import joint_leak
from beliefs.prior.worst_chain import worst_of_chain

COPIES = 6


def claims(laws: int) -> list[Claim]:
    return [*_theorem_5(laws), *_graph(), *_corollary_1(), *_gaussian(laws)]


def copies_table() -> Numbers:
    return Numbers(
        "A fair bit and copies of one reading of it, 1 % wrong: nats about the bit",
        ["copies", "exact", "Theorem 5", "the repaired chain rule"],
        [list(row) for row in leaks_of_copies(COPIES)],
    )


def _theorem_5(laws: int) -> list[Claim]:
    found = {count: chain_on_random_laws(count, laws if count < 4 else laws // 3) for count in (2, 3, 4)}
    fixed, rows = repaired(max(20, laws // 4)), leaks_of_copies(COPIES)
    return [
        Claim(
            "Theorem 5 (chain rule)",
            "The least value over all paths is the leak.",
            verdict_of([found[2].below == 0, abs(rows[0][1] - rows[0][2]) < 1e-6, rows[-1][1] <= rows[-1][2]]),
            "Too low for " + ", ".join(f"{each.below:.0%} (n = {count})" for count, each in found.items())
            + f" of the adversaries; six copies: {rows[-1][1]:.4f}, printed {rows[-1][2]:.4f}.",
            "the unknown ones are independent given the attacked one and the known ones, and tails and pairs agree. A "
            "least value would be right over upper bounds, which these are not.",
        ),
        Claim(
            "Algorithm 1: the answer",
            "The largest node bounds what the worst adversary learns.",
            verdict_of([each.answers == 0 for each in found.values()]),
            "Below the truth on " + ", ".join(f"{each.answers:.0%} (n = {count})" for count, each in found.items())
            + " of random laws of bits.",
            "nodes are too low. Too high ones elsewhere hide it at times.",
        ),
        Claim(
            "The chain rule, repaired",
            "(Ours.) Adding what a loss about x_j passes on to x_i never says too little.",
            verdict_of([fixed.below == 0]),
            f"{fixed.adversaries} adversaries on random laws: none above it, {fixed.tight} within a thousandth.",
            "each step is a bound, so the least over all steps is one; of copies it is exact.",
        ),
    ]  # fmt: skip


def _graph() -> list[Claim]:
    rows = leaks_of_copies(COPIES)
    positive, negative = paths_and_layers(60, 1.0), paths_and_layers(60, -1.0)
    nodes = {count: (count << (count - 1), len(Assigned(np.zeros((count, count, 1))))) for count in (1, 2, 3, 15)}
    return [
        Claim(
            "Theorem 5 and Algorithm 1",
            "The algorithm computes Theorem 5's least path.",
            verdict_of([positive == 0, negative == 0]),
            f"They differ on {positive} of 60 graphs of four with positive edges and {negative} with negative ones.",
            "no edge is negative: only then does |v + IC| grow with v.",
        ),
        Claim(
            "The size of the graph",
            "There are no fewer edges than nodes, n 2^(n-1).",
            verdict_of([edges >= size for size, edges in nodes.values()]),
            ", ".join(f"n = {count}: {size} nodes, {edges} edges" for count, (size, edges) in nodes.items()) + ".",
            "n is at least 3.",
        ),
        Claim(
            "Eq. (16) and (17)",
            "l is at most the sum of LS_j/lambda over all unknown ones, and (k + 1) GS/lambda.",
            verdict_of([truth <= count + 1 + 1e-9 for count, truth, _, _ in rows]),
            ", ".join(f"{truth:.4f} of {count + 1}" for count, truth, _, _ in rows) + " for copies.",
            "this is group privacy, whatever the law.",
        ),
    ]  # fmt: skip


def _corollary_1() -> list[Claim]:
    gains = all_increments(ALL_POSITIVE)
    weakest, other = max(leak(ALL_POSITIVE, each) for each in range(3)), leak(ALL_POSITIVE, 1, (2,))
    chain = worst_of_chain(sticky(10), 1.0)
    weights = np.full((3, 3, 8), 0.1)
    weights[0, 2, 2] = 5.0
    low = full(np.full((3, 3, 8), -0.3))
    bottom, own = full_search([1.0, 3.0], 1.0, {}, -3.0).layers
    return [
        Claim(
            "Corollary 1 (1)",
            "With all IC = 1, PDP is group privacy.",
            verdict_of([abs(full(np.ones((4, 4, 16)))[-1] - 4.0) < 1e-12]),
            f"Four attributes of range 1: {full(np.ones((4, 4, 16)))[-1]:g}.",
            "it is IR = 1 that is meant: IC is in nats.",
        ),
        Claim(
            "Corollary 1 (2)",
            "With all IC > 0 the weakest adversary is the worst.",
            verdict_of([other <= weakest, chain.epsilon <= chain.weakest, full(weights)[-1] >= max(full(weights))]),
            f"All {len(gains)} increments above {min(gains):.3f}: {other:.4f} with one known, {weakest:.4f} at most "
            f"with none. Ten sticky bits: {chain.epsilon:.6f} with both ends known, {chain.weakest:.6f}. By the "
            f"paper's own rule: layers {', '.join(f'{each:g}' for each in full(weights))}.",
            "a tuple that is known can set others free to speak; and a least value over paths need not grow with them.",
        ),
        Claim(
            "Corollary 1 (3)",
            "With all IC < 0 the strongest adversary is the worst.",
            verdict_of([max(low) == low[0], bottom >= own, own <= 1.0]),
            f"All at -.3: {', '.join(f'{each:g}' for each in low)}. An attribute of range 1 beside one of range 3, IC "
            f"-3: {own:g} for the weaker adversary, 1 for the stronger.",
            "over all attacked attributes: |v + IC| is at most the larger of v and LS_j/lambda. Not for each of them.",
        ),
    ]


def _gaussian(laws: int) -> list[Claim]:
    slope = slopes(1.5)
    strange = {known: gauss(ALL_COVARIANCES_POSITIVE, 0, known) for known in ((), (1,))}
    apart = gaussian_against_densities(laws)
    return [
        Claim(
            "Lemma 2",
            "(log G)' falls from 1 to -1.",
            verdict_of([abs(slope[0] - 1) < 1e-9, abs(slope[-1] + 1) < 1e-9, bool(np.all(np.diff(slope) < 1e-9))]),
            f"At deviation 1.5: from {slope[0]:.6f} to {slope[-1]:.6f}, never rising.",
            "Laplace noise has the heavier tails.",
        ),
        Claim(
            "Theorem 6",
            "l = (M/lambda)|1 + mu_0i|.",
            verdict_of([apart < 1e-9]),
            f"{laws} random covariances and known sets: at most {apart:.0e} off the ratio of the densities.",
            "x_i keeps some variance given what is known; the ratio is reached far out.",
        ),
        Claim(
            "Corollary 2",
            "The weakest adversary learns |1 + sum of covariances/variance| M/lambda.",
            verdict_of([math.isclose(strange[()], 1 + 0.95 + 1.07, rel_tol=1e-9)]),
            f"Variances 1, covariances .95 and 1.07: {strange[()]:.4f}.",
            "Theorem 6 without knowledge. (The proof drops a 1/rho_ii on the way.)",
        ),
        Claim(
            "Positive covariances",
            "If all correlations are positive, a weaker adversary learns more.",
            verdict_of([strange[()] >= strange[(1,)], gauss(even(3, 0.8)) >= gauss(even(3, 0.8), 0, (1,))]),
            f"All covariances positive: {strange[()]:.4f} knowing nobody, {strange[(1,)]:.4f} knowing x2.",
            "no partial correlation is negative. Given that x2 the third is ten times the first.",
        ),
        Claim(
            "Releases that follow each other",
            "(Not in the paper.) Leaks of single releases add up to one of all.",
            verdict_of([_parity(1, 2) <= _parity(1) + _parity(2) + 1e-9]),
            f"x1 = x2 xor x3: the release of x2 tells {_parity(1):g} about x1, that of x3 {_parity(2):g}, both "
            f"{_parity(1, 2):.6f} = ln cosh 1.",
            "what is believed of the others changes with the first release; charged under that belief they do add up.",
        ),
    ]


def _parity(*released: int) -> float:
    queries = [Query.of(PARITY, np.eye(3)[each]) for each in released]
    return joint_leak(PARITY, queries, [1.0] * len(released), 0)
