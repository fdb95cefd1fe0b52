"""The definitions and theorems beside what is found of them."""

from __future__ import annotations

import math

from ddp_theorems import (
    PARITY,
    common_bit,
    copies_in_a_row,
    exclusive_or,
    mixtures,
    of_sum,
    parity_again,
    theorem_9,
    threshold,
    two_cells,
    window,
)
from paper_findings import Claim, Numbers, Section, verdict_of

from beliefs.dependence.information import information_bound
from beliefs.dependence.underestimate import kept


def section(laws: int, others: list[Claim]) -> Section:
    return Section(
        "theorems",
        "Definitions, theorems and lemmas",
        f"The laws that break a claim, and {laws} random ones; epsilon 1 where nothing else is said. Leaks are exact.",
        [*_definitions(), *_composition(), *_mechanism(laws), *others],
        [
            Numbers(
                "Sticky bits in a row (.9), a noisy sum of them, an adversary who knows nobody",
                ["values", "nats with Lap(1)", "scale for 1 nat", "scale of the baseline", "nats by any releases of 1"],
                [[n, told.told, told.scale, n, told.influence] for n, told in ((n, window(n)) for n in (10, 50))],
            )
        ],
    )


def _definitions() -> list[Claim]:
    nobody, anybody = exclusive_or()
    common, bound = common_bit(), information_bound(0.5)
    return [
        Claim(
            "Definitions 3 and 4",
            "DDP is stronger than DP: it is about dependent tuples, too.",
            verdict_of([nobody >= 1.0 - 1e-9, anybody >= 1.0 - 1e-9]),
            f"D_i xor D_j, two fair independent bits, Lap(1): {nobody:g} nats to one who knows nobody, {anybody:g} to "
            "one who knows D_j.",
            "the inequality is asked for every set of known tuples, too. Read as Eq. 12 and Appendix G compute it, all "
            "others are averaged, and epsilon-DDP does not imply epsilon-DP.",
        ),
        Claim(
            "Theorem 1 (LPM)",
            "Q + Lap(DeltaQ/epsilon) is epsilon-DP.",
            verdict_of([anybody <= 1.0 + 1e-9]),
            f"{anybody:g} at epsilon 1 to whoever knows all others.",
            "it is proved for tuples that are changed alone.",
        ),
        Claim(
            "Theorem 2",
            "The Leaked Information of Eq. 11 is at most epsilon.",
            verdict_of(
                [common.knowing_everybody <= bound, common.knowing_nobody <= 0.5, common.knowing_nobody <= bound]
            ),
            f"Ten readings of a hidden bit, 5 % wrong, sum at epsilon .5: {common.knowing_nobody:.4f} nats about one "
            f"to who knows nobody, {common.knowing_everybody:.4f} to who knows all others; the tight bound is "
            f"{bound:.4f}.",
            "it is I(D_i; S | D_-i), all others known: then t - 1 - ln t with t = epsilon/(1 - e^-epsilon) bounds it. "
            "As measured in the paper H(D_i) is without the graph and the posterior with it, which has no bound at "
            "all; the paper's unit is bits where epsilon's is nats.",
        ),
    ]


def _composition() -> list[Claim]:
    again, apart, tied = parity_again(), two_cells(0.0), two_cells(0.1)
    return [
        Claim(
            "Theorem 3 (sequential)",
            "Releases of epsilon_t-DDP together keep the sum of the epsilon_t.",
            verdict_of([again[1] <= 1.0 + 1e-6, again[2] <= 2.0 + 1e-6]),
            f"The sum of three bits of even parity, 1 nat each time: {again[2]:.4f} for two releases, {again[20]:.2f} "
            "for twenty. D_i xor D_j and D_j without noise tell 0 about D_i each, together everything.",
            "the mechanisms use one coupling that bounds each, as the baseline and Eq. 18 do. The proof takes outputs "
            "for independent given D_i; they are, given all of D.",
        ),
        Claim(
            "Theorem 4 (parallel)",
            "On disjoint subsets they keep the largest epsilon_t.",
            verdict_of([apart <= 1.0 + 1e-9, tied <= 1.0 + 1e-9, two_cells(0.5) <= 1.0 + 1e-9]),
            f"An attribute in one cell, its copy in another: {apart:.4f}; wrong with .1: {tied:.4f}; with .5: "
            f"{two_cells(0.5):.4f}.",
            "no dependence crosses the subsets. Otherwise epsilon_t counts by how far an attribute moves each release.",
        ),
        Claim(
            "Theorem 5 (post-processing)",
            "What is computed from a release keeps epsilon.",
            verdict_of([of_sum(PARITY, 2.0) <= of_sum(PARITY, 1.0) + 1e-12]),
            f"More noise afterwards: {of_sum(PARITY, 2.0):.4f} after {of_sum(PARITY, 1.0):.4f}.",
            "both densities are averaged over the same outputs.",
        ),
        Claim(
            "Theorem 6 (convexity)",
            "Choosing one of two mechanisms by a coin keeps epsilon.",
            verdict_of([mixtures(50) <= 1e-12]),
            "50 random mixtures: none beyond.",
            "the coin does not look at the data. (The text prints p for both chances.)",
        ),
    ]


def _mechanism(laws: int) -> list[Claim]:
    size, told, apart = copies_in_a_row()
    parity = of_sum(PARITY, 1.0), of_sum(PARITY, 1.0, knows_others=True)
    found, by_exact, by_18 = theorem_9(laws), threshold(0.1), threshold(0.55)
    rising, over = kept(5.0, 1.0, 0.8, 1.0), kept(5.0, 1.0, 1.0, 1.0)
    return [
        Claim(
            "Theorem 7 (baseline)",
            "L DeltaQ/epsilon is enough noise if a tuple depends on at most L - 1 others.",
            verdict_of([told <= 1.0 + 1e-9, apart <= 1.0 + 1e-9]),
            f"Twelve copies, each tied to its neighbours: the degree says L = {size}, and {told:g} nats are told; "
            f"with the component's size {apart:g}.",
            "tuples form independent groups of at most L. The degree of a graph is not L: dependence goes on through "
            "others.",
        ),
        Claim(
            "Theorems 8 and 9 (DPM)",
            "DeltaQ_i + sum of rho_ij DeltaQ_j over epsilon is enough noise.",
            verdict_of([parity[0] <= 1.0 + 1e-9, found.jensen <= 1.0 + 1e-9]),
            f"Bits of even parity: every rho is 0, {parity[0]:.4f} nats are told, {parity[1]:g} to one who knows a "
            f"bit. {found.above} of {found.laws} random laws of three bits are above, {found.worst:.3f} at worst.",
            "rho is that of Eq. 18 or its limit (worst of those laws "
            f"{found.jensen:.3f}), all dependents are counted, and what they add to the sum is what moves; or L is 2.",
        ),
        Claim(
            "Theorem 9: any query",
            "The same for any query of global sensitivity DeltaQ.",
            verdict_of([by_exact <= 1.0 + 1e-9, by_18 <= 1.0 + 1e-9, threshold(1.0) <= 1.0 + 1e-9]),
            f"D_i + 1[D_j >= .5] with D_j = .5 -+ .05: {by_exact:.4f} with the exact rho, {by_18:.4f} with Eq. 18.",
            "coefficients are those of what a tuple adds to the query: here rho = 1.",
        ),
        Claim(
            "VI-D3: too large and too small rho",
            "An overestimate is safe; an underestimate degrades gracefully.",
            verdict_of([over.epsilon <= 1.0 + 1e-12, rising.epsilon <= 1.0 / 0.8]),
            f"DS = 5, own part 1, rho taken at .8: epsilon {rising.epsilon:.4f} instead of 1, at most 1/.8.",
            "it is epsilon DS/(own + .8 (DS - own)).",
        ),
        Claim(
            "A budget for any releases",
            "(Ours.) Record-level losses carried along the chain bound what any releases tell, in any order.",
            verdict_of([math.isclose(window(10).influence, window(10).told, abs_tol=1e-9)]),
            f"Ten sticky bits, total loss 1: {window(10).influence:.6f}; the noisy sum attains {window(10).told:.6f}.",
            "what is passed on by one neighbour is bounded by its law, whatever was released before; so it adds up.",
        ),
    ]
