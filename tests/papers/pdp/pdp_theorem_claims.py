"""The definitions, theorems and corollaries beside what is found of them."""

from __future__ import annotations

import numpy as np
import pdp_chain_claims
from paper_findings import Claim, Section, verdict_of
from pdp_laws import (
    CONTEXTS,
    FLIPPED_SIGN,
    FLIPPED_SIGNS,
    INTERIOR,
    OTHER_PAIR,
    RIGHT_TAIL,
    TABLE_2,
    leak,
)
from pdp_theorems import clamped, covariances, independent, largest_ratio, response_to_parity, signs

from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query, Seen
from beliefs.prior.published import chain_rule, correlation_of_values, influences
from beliefs.prior.releases import joint_leak


def section(laws: int) -> Section:
    return Section(
        "theorems",
        "Definitions, theorems and algorithms",
        f"The laws that break a claim, and {laws} random ones each; scale 1 where nothing else is said. Leaks are "
        "exact unless they are said to be a formula's.",
        [*_definitions(), *_theorem_2(), *_theorem_3(laws), *pdp_chain_claims.claims(laws)],
        [pdp_chain_claims.copies_table()],
    )


def _definitions() -> list[Claim]:
    contexts = [Seen.by(CONTEXTS, Query.of(CONTEXTS), 0, (2,), context).leak(1.0) for context in (0, 1)]
    (known, unknown), cut = response_to_parity(1.0), clamped()
    bins = [joint_leak(TABLE_2["a"], [_bin(TABLE_2["a"], sign) for sign in chosen], [1.0] * len(chosen), 0)
            for chosen in ((1,), (-1, 1))]  # fmt: skip
    return [
        Claim(
            "Definition 2",
            "The leak is the supremum over x_i, x_i' and r.",
            verdict_of([contexts[0] == contexts[1], abs(max(contexts) - leak(CONTEXTS, 0, (2,))) < 1e-12]),
            f"Where the known one decides whether the others are alike: {contexts[0]:.4f} and {contexts[1]:.4f}.",
            "x_K is quantified, too: over all that is possible. With one x_K it is a number about that x_K.",
        ),
        Claim(
            "Theorem 1",
            "If tuples are independent, prior knowledge has no impact.",
            verdict_of([independent() < 1e-9, known == unknown, abs(cut[0] - cut[1]) < 1e-9]),
            f"Sum of three bits: LS/lambda for all. Randomised response on x1 xor x2: {known:g} with x2 known, "
            f"{unknown:g} without. Lap(1) cut to [.5, 1.5]: {cut[0]:.6f} and {cut[1]:.6f}.",
            "the release is a linear sum with Laplace noise.",
        ),
        Claim(
            "Remark 1",
            "l is at most DP(M): DP bounds PDP from above.",
            verdict_of([leak(TABLE_2["b"]) <= 1, leak(TABLE_2["c"]) <= 1]),
            f"Two equal bits: {leak(TABLE_2['c']):.4f}; DP is 1.",
            "what Eq. (4) bounds it by is DP of |U| + 1 tuples that change together, which is group privacy.",
        ),
        Claim(
            "Theorem 4",
            "Whoever knows all others learns LS_i/lambda.",
            verdict_of([leak(TABLE_2["a"], 0, (1,)) == 1, leak(TABLE_2["c"], 0, (1,)) == 1]),
            f"Table II (a) {leak(TABLE_2['a'], 0, (1,)):g}, (c) {leak(TABLE_2['c'], 0, (1,)):g}.",
            "the extreme values are possible given the others; it is a bound in any case, which is all that is proved.",
        ),
        Claim(
            "Linear queries: the histogram",
            "The results hold for count, sum, mean and histogram.",
            verdict_of([abs(bins[0] - leak(TABLE_2["a"])) < 1e-9, abs(bins[1] - bins[0]) < 1e-9]),
            f"Table II (a): one bin {bins[0]:.6f}, both bins with Lap(1) each {bins[1]:.6f}.",
            "one number is released. Several bins tell more than the largest, and less than all added.",
        ),
    ]


def _bin(law: TableLaw, sign: int) -> Query:
    return Query.of(law, np.full(law.size, float(sign)))


def _theorem_2() -> list[Claim]:
    rows = {
        "the right tail": (leak(RIGHT_TAIL), chain_rule(RIGHT_TAIL, 1.0, 0, ())),
        "an output between": (leak(INTERIOR), chain_rule(INTERIOR, 1.0, 0, ())),
        "another pair": (leak(OTHER_PAIR), chain_rule(OTHER_PAIR, 1.0, 0, ())),
    }
    seen = Seen.by(INTERIOR, Query.of(INTERIOR), 0, ())
    return [
        Claim(
            "Theorem 2",
            "l(i, K') = |l(i, K) + IC|.",
            verdict_of([abs(leak(TABLE_2["a"]) - chain_rule(TABLE_2["a"], 1.0, 0, ())) < 1e-9,
                        *(abs(truth - printed) < 1e-9 for truth, printed in rows.values())]),
            "; ".join(f"{name}: {truth:.4f}, printed {printed:.4f}" for name, (truth, printed) in rows.items()) + ".",
            "Eq. (9) sees r far to the left. The largest ratio may be far to the right, at a sum in between (both "
            f"tails of the second say {seen.tails(1.0):.4f}), and l and IC may belong to different pairs. Table II is "
            "symmetric.",
        ),
        Claim(
            "Appendix A",
            "Step (26) takes Pr(r | x_i, x_K) out of the sum.",
            verdict_of([rows["the right tail"][0] <= rows["the right tail"][1] + 1e-9]),
            f"{rows['the right tail'][0]:.4f} against {rows['the right tail'][1]:.4f} after it.",
            "it may be done for one x_j at a time only: the density under x_i' is that of another x_j.",
        ),
    ]  # fmt: skip


def _theorem_3(laws: int) -> list[Claim]:
    two, three = signs(2, laws), signs(3, 4 * laws)
    rho = correlation_of_values(FLIPPED_SIGN.joint, *FLIPPED_SIGN.domains)
    gain = influences(FLIPPED_SIGN.joint, FLIPPED_SIGN.domains[1], 4.0)[0][2]
    wide = [each for _, _, each in influences(FLIPPED_SIGNS.joint, FLIPPED_SIGNS.domains[1], 4.0)]
    apart = influences(np.outer([0.2, 0.5, 0.3], [0.1, 0.6, 0.3]), np.arange(3.0), 1.0)
    return [
        Claim(
            "Theorem 3 (1)",
            "IR lies in [-1, 1].",
            verdict_of([largest_ratio(laws) <= 1 + 1e-12]),
            f"At most {largest_ratio(laws):.3f} over {laws} random tables of three by four values.",
            "e^-x/lambda lies between its ends. (Eq. (30) has x_i where x_j belongs.)",
        ),
        Claim(
            "Theorem 3 (2)",
            "Of two bits IR has the sign of the correlation.",
            verdict_of([two.other == 0]),
            f"In {two.tables} of {two.tables} random tables.",
            "a mean of two values moves one way only.",
        ),
        Claim(
            "Theorem 3 (3)",
            "So it has if x_j has more values and lambda > GS.",
            verdict_of([gain > 0, three.other < three.tables, three.safe_other == 0]),
            f"Correlation {rho:.4f}, IC {gain:.4f} at lambda 4, twice the range; {three.other} of {three.tables} "
            "random tables.",
            f"the means differ by more than LS_j^2/(8 lambda) ({three.safe_other} of {three.safe} such tables fail), "
            "or the laws are ordered. The proof takes e^x for a straight line.",
        ),
        Claim(
            "Theorem 3: more values of x_i",
            "At least one IR has the sign of the correlation; all are 0 if independent.",
            verdict_of([all(abs(each) < 1e-12 for _, _, each in apart), any(each > 1e-12 for each in wide)]),
            f"Three values each, correlation {_rho(FLIPPED_SIGNS):.4f}: IC "
            f"{', '.join(f'{each:.4f}' for each in wide)}.",
            "x_j has two values, or x_i and x_j are independent.",
        ),
        Claim(
            "Lemma 3",
            "The covariance is (x_12 - x_11)(y_2 - y_1).",
            verdict_of([abs(_covariance(TABLE_2["a"]) - 0.2) < 1e-9, covariances(laws) < 1e-12]),
            f"Table II (a): {_covariance(TABLE_2['a']):.4f}; printed .2.",
            "multiplied with p_1. p_2., which is lost on the way and changes no sign. (App. B has mu_2 for nu_1.)",
        ),
    ]


def _rho(law: TableLaw) -> float:
    return correlation_of_values(law.joint, *law.domains)


def _covariance(law: TableLaw) -> float:
    joint = law.joint
    return float(joint[1, 1] - joint[1].sum() * joint[:, 1].sum())
