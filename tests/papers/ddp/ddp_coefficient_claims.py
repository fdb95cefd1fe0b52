"""The dependence coefficient, accuracy and the equations between, beside what is found of them."""

from __future__ import annotations

import math

from ddp_theorems import (
    by_points,
    degree_histogram,
    example_coefficients,
    friend_coefficients,
    friend_rows,
    half,
    independent,
    moved_centroids,
    pairs_are_safe,
    square,
)
from paper_findings import Claim, verdict_of

from beliefs.dependence.accuracy import LARGEST, SUM, chance_beyond


def claims(laws: int) -> list[Claim]:
    return [*_coefficients(laws), *_friends(), *_accuracy(), *_queries()]


def _coefficients(laws: int) -> list[Claim]:
    slope, alone, (correlation, squared), example = half(), independent(), square(), example_coefficients()
    pairs = pairs_are_safe(laws)
    return [
        Claim(
            "Eq. 14: two tuples",
            "exp(rho DeltaD/sigma) is the ratio of what D_j shows of two values of D_i.",
            verdict_of([pairs <= 1 + 1e-9, abs(example.exact - 0.5) < 1e-6]),
            f"{laws} random pairs at the noise that it asks for: {pairs:.6f} of epsilon 1; Example 1 "
            f"{example.exact:.4f}.",
            "the print lacks the maximum over outputs and both values (and Eq. 13 a minus sign).",
        ),
        Claim(
            "rho = 1 if and only if determined",
            "0 means independent, 1 means fully dependent.",
            verdict_of([independent().exact < 1e-12, slope.exact > 1 - 1e-9]),
            f"D_j = D_i/2: {slope.exact:.4f}; independent: {alone.exact:g}.",
            "it is 0 for independent tuples; for determined ones it is how far the other one moves.",
        ),
        Claim(
            "Eq. 18",
            "Eq. 14 may be computed as Eq. 18.",
            verdict_of([alone.farthest < 0.5, abs(example.farthest - example.exact) < 0.01]),
            f"Independent: {alone.farthest:.4f}; Example 1: {example.farthest:.4f}, exactly {example.exact:.4f}; "
            "bits: 1 always.",
            "it is a bound, at least 1/2 whatever the law; so it beats the baseline with the same L by at most 2L/(L "
            "+ 1).",
        ),
        Claim(
            "Zhu et al.: correlations",
            "Correlations may stand for dependence.",
            verdict_of([abs(correlation) >= squared.exact - 1e-9]),
            f"D_j = D_i^2 on -1, 0, 1: correlation {correlation:g}, effect {squared.exact:g}.",
            "a correlation is about straight lines; no bound follows from it.",
        ),
    ]


def _friends() -> list[Claim]:
    (least, most), friends = friend_rows(), friend_coefficients()
    return [
        Claim(
            "Eq. 26",
            "P(D_j | D_i) = a(|d_i - d_j| + b)^-c with a = .0019, b = .196, c = 1.05.",
            verdict_of([least > 0.99, most < 1.01]),
            f"On 20 x 20 cells of a unit square rows sum to {least:.2f} to {most:.2f}. Divided by their sums, along "
            f"one coordinate: rho {friends.exact:.3f} exactly, {friends.farthest:.3f} by Eq. 18.",
            "its source says how often people so far apart are friends, which is no law of places; a cancels once "
            "rows are divided.",
        ),
        Claim(
            "The scale in rho",
            "DS is a number that the noise is then made for.",
            verdict_of([abs(example_at(1.0) - example_at(4.0)) < 1e-9]),
            f"Example 1 by Eq. 18: {example_at(1.0):.4f} at scale 1, {example_at(4.0):.4f} at 4.",
            "rho contains sigma: the scale solves an equation, and putting it in again and again need not end.",
        ),
    ]


def example_at(scale: float) -> float:
    return example_coefficients(scale=scale).farthest


def _accuracy() -> list[Claim]:
    one, many = math.exp(-5 / 3.5), chance_beyond(5 / 3.5, 96, SUM)
    largest = chance_beyond(5 / 3.5, 96, LARGEST)
    single, together = by_points()
    return [
        Claim(
            "Theorem 10",
            "beta = exp(-epsilon alpha/DS).",
            verdict_of([abs(chance_beyond(5 / 3.5, 1, SUM) - one) < 1e-12, abs(many - one) < 1e-9]),
            f"alpha/scale = 1.43: {one:.4f}; of 96 coordinates {many:.4f} (their sum), {largest:.4f} (the largest).",
            "one number is released; the sum of q has a gamma law. (Appendix F has a stray t.)",
        ),
        Claim(
            "Lemma 2",
            "At the same accuracy epsilon of DPM is below -L ln(beta)/alpha.",
            verdict_of([_for_same(3.5, 1.0) < _for_same(5.0, 1.0), _for_same(7.0, 2.0) < -5.0 * math.log(0.05) / 5.0]),
            f"DS = 3.5, L = 5, alpha = 5, beta = .05: {_for_same(3.5, 1.0):.4f} against {_for_same(5.0, 1.0):.4f}; "
            f"with DeltaQ = 2 {_for_same(7.0, 2.0):.4f}, and the printed bound stays {-math.log(0.05):.4f}.",
            "DeltaQ is 1: it is missing on the right. (Lemma 1 calls beta the chance of success.)",
        ),
        Claim(
            "Definition 6",
            "(epsilon, delta)-DDP relaxes DDP.",
            verdict_of([single >= together]),
            f"Lap(.01) on a bit in steps of 10^-6: delta {single:.0e} for each output at epsilon 0, {together:.4f} "
            "for sets.",
            "it must be asked of sets of outputs; of points of a density delta costs nothing.",
        ),
    ]


def _for_same(dependent: float, own: float, margin: float = 5.0, failure: float = 0.05) -> float:
    return -dependent * math.log(failure) / margin


def _queries() -> list[Claim]:
    told, moved = degree_histogram(), moved_centroids(2000)
    return [
        Claim(
            "IV-B: noise on centroids",
            "Laplace noise of 1/epsilon on K-means centroids is epsilon-DP.",
            verdict_of([moved <= 1.0]),
            f"One of nine points moves two centroids by {moved:.3f}.",
            "an average moves by 1/n only while nobody changes clusters. Counts and sums with public centres move by "
            "2q + 2 at most (14 for q = 6), and are what is released here.",
        ),
        Claim(
            "VII-B3: the sensitivity of a degree histogram",
            "(The paper names none.) It is that of a counting query.",
            verdict_of([told.edge <= 2, told.degree <= 2, told.person <= 2]),
            f"All graphs of five: {told.edge} for an edge, {told.degree} for a reported degree, {told.person} for a "
            "person's edges.",
            "what one may change is said: a person's edges move 2n.",
        ),
    ]
