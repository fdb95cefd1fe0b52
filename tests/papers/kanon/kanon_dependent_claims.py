"""Theorems 5 and 7, and what k alone promises, beside what is found of them."""

from __future__ import annotations

import numpy as np
from kanon_crowds import FAIR, sticky
from kanon_definitions import everybody_else_is_known
from kanon_dependent import (
    RUNS,
    all_but_one_pair,
    by_blocks,
    counted,
    distance_of_pairs,
    in_blocks,
    linkages,
    repaired_users,
    users_for,
)
from paper_findings import Claim, Numbers, Section, verdict_of

from beliefs.crowd.markov import chain_delta
from beliefs.crowd.members import Group, kinds_of
from beliefs.crowd.normal import normal_delta
from beliefs.crowd.ranges import range_delta
from beliefs.crowd.required import required_users
from beliefs.crowd.windows import windows_delta
from beliefs.crowd.worst import largest_delta

RARE = np.array([0.5, 0.3, 0.15, 0.049, 0.001])


def dependent(rounds: int) -> Section:
    return Section(
        "dependent",
        "Theorems 5 and 7: people who depend on each other",
        f"Blocks of people, and {rounds:,} random ones for each statement; deltas and distances are exact.",
        [*_theorem_5(rounds), *_theorem_7(rounds)],
    )


def _theorem_5(rounds: int) -> list[Claim]:
    exact, fraction, count = distance_of_pairs(50)
    ten, fifty = in_blocks(100, 10), in_blocks(20, 50)
    wrong, least = counted(rounds)
    needed = users_for(0.1, 1, 0.25, 0.125, 0.0625), users_for(0.1, 3, *RUNS)
    sticking, independent = (chain_delta(sticky(stay, 100), 0.5) for stay in (0.9, 0.5))
    return [
        Claim(
            "Equation 35",
            "lambda1 < 1 is a share of the users and max |N_i|.",
            verdict_of([exact <= fraction, wrong == 0]),
            f"50 pairs of equal bits: the distance is {exact:.4f}, by a fraction {fraction:.4f}, by a count "
            f"{count:.4f}. By counts {wrong} of {rounds} random blocks are beyond it, and it is {least:.2f} at least.",
            "it is a number of people, the person himself included, and moments are central and absolute.",
        ),
        Claim(
            "Equation 36",
            "delta follows from the distance.",
            verdict_of([ten.exact <= ten.printed, fifty.exact <= fifty.printed]),
            f"100 blocks of 10: {ten.printed:.4f}, exactly {ten.exact:.4f}; 20 of 50: {fifty.printed:.4f}, exactly "
            f"{fifty.exact:.4f}. By counts a delta below .1 needs {needed[0]:,} independent users, or {needed[1]:,} of "
            "whom each depends on both neighbours.",
            "lambda1 is taken for a share, and s for a user's own bit although he moves his block. As stated "
            "Theorem 5 has lambda1^3 and 1 + e^epsilon under the root, the proof has them right.",
        ),
        Claim(
            "Equation 35: its second constant",
            "It is sqrt(26/pi).",
            verdict_of([linkages(rounds) <= 1.0]),
            f"4/sqrt(pi) is enough: Var(sum of X_i X_j) is at most 8 D^3 times the sum of fourth moments "
            f"({linkages(rounds):.3f} of that at most in {rounds} enumerated crowds).",
            "four people of which each follows from the one before are at most D^3 for the first, and a product of "
            "four is at most the mean of the fourth powers.",
        ),
        Claim(
            "Theorem 5: what moves",
            "D_i is changed, and the rest keeps its law.",
            verdict_of([sticking <= independent]),
            f"100 values in a row, .9 sticky, epsilon .5: {sticking:.4f}; as if independent {independent:.6f}.",
            "people who depend on him move along: the laws of the rest given both values have to be compared.",
        ),
    ]


def _theorem_7(rounds: int) -> list[Claim]:
    printed, exact = all_but_one_pair(100)
    repaired = by_blocks(rounds)
    return [
        Claim(
            "Theorem 7",
            "The same with sums over whom nobody knows.",
            verdict_of([exact <= printed, repaired.wrong == 0]),
            f"100 pairs, one of each known but of the target's none: {printed:.4f}, exactly {exact:.0f}.",
            "blocks are the summands, those that hold anybody known are left out, and s is a block's range "
            f"({repaired.wrong} of {repaired.rounds}, {repaired.useful} below 1). As stated it has lambda2^2 for "
            "max |N_i|^2, 1/sqrt under the root, and c for c'.",
        ),
    ]


def alone() -> Section:
    """What "cloaking in a set of no less than k" offers by itself."""
    sizes = [(delta, required_users(FAIR, 1.0, delta), repaired_users(delta, 1.0)) for delta in (0.1, 0.01, 0.001)]
    ten = np.full(10, 0.1)
    spread, added_up = range_delta(ten, 10, 1.0), largest_delta(kinds_of([Group(ten, 10)]), 1.0)
    rare = {users: range_delta(RARE, users, 1.0) for users in (20, 1_000)}
    again = {times: windows_delta(FAIR, 200, times, 1.0) for times in (1, 2, 10)}
    constant, epsilon = everybody_else_is_known(1_000)
    return Section(
        "alone",
        "What k alone promises",
        "Epsilon 1 where nothing else is said; exact.",
        [
            Claim(
                "k offers noiseless privacy",
                "Cloaking in a set of size no less than k offers noiseless privacy.",
                verdict_of([constant < 1.0, sizes[0][1] <= 10]),
                f"1,000 people of whom one may vary: delta {constant:g}, epsilon {epsilon:g}. Of fair bits "
                f"{', '.join(str(exact) for _, exact, _ in sizes)} hide each with delta .1, .01, .001.",
                "the others are unknown and vary. k is not what counts, their law is.",
            ),
            Claim(
                "The bounds of moments",
                "The bounds tell a designer how many to cloak.",
                verdict_of([bound <= 100 * exact for _, exact, bound in sizes]),
                f"Repaired, they ask for {', '.join(f'{bound:,}' for _, _, bound in sizes)} where "
                f"{', '.join(str(exact) for _, exact, _ in sizes)} are enough.",
                "the distance from the normal law falls as 1/sqrt(n) only, what is told falls exponentially.",
            ),
            Claim(
                "Sets by their range",
                "A bound on the sum bounds what the set tells.",
                verdict_of([spread <= added_up, range_delta(ten, 100, 1.0) <= added_up, rare[1_000] <= 0.1]),
                f"Ten even values, k = 10: delta {spread:.4f} of the range, {added_up:.3f} of the sum; k = 100 "
                f"{range_delta(ten, 100, 1.0):.1e}. One value of .001: {rare[20]:.3f} at k = 20, {rare[1_000]:.3f} at "
                "1,000.",
                "values are common at both ends. A box is accounted as a box.",
            ),
            Claim(
                "Several releases",
                "What holds of one release holds of those that follow (nothing else is said).",
                verdict_of([again[10] <= again[1], normal_delta(10**0.5, 199**0.5 / 2, 1.0) >= again[10]]),
                f"A bit repeated among 200, once, twice, ten times: "
                f"{', '.join(f'{each:.2g}' for each in again.values())}. "
                f"A normal sum with ten times the square of s says {normal_delta(10**0.5, 199**0.5 / 2, 1.0):.4g} for "
                "ten.",
                "what windows tell adds up, and the normal law is no bound for it.",
            ),
        ],
        [Numbers("Fair bits at epsilon 1", ["delta", "users, exactly", "by the repaired bound"], sizes)],
    )
