"""The definitions, lemmas and Theorems 1 to 4 and 6 beside what is found of them."""

from __future__ import annotations

import math
from typing import NamedTuple

from kanon_crowds import bits
from kanon_definitions import (
    LATTICE,
    nobody_is_chosen,
    of_fixed_data,
    own_exponents,
    removed_or_moved,
    values_move_the_sum,
    without_the_target,
)
from kanon_selection import by_delta, by_epsilon, split_of_probabilities
from kanon_sums import (
    distances,
    first_broken,
    least_constant,
    of_bits,
    of_lattices,
    tails,
    variances_alone,
    worst_known,
)
from paper_findings import Claim, Section, verdict_of

from beliefs.crowd import bounds, published
from beliefs.crowd.members import kinds_of
from beliefs.crowd.normal import normal_delta
from beliefs.crowd.worst import largest_delta


class Theorem4(NamedTuple):
    signed: float
    absolute: float


def section(rounds: int) -> Section:
    return Section(
        "theorems",
        "Definitions, lemmas and theorems",
        f"Random crowds, about {rounds:,} for each statement, and those that break it. Deltas are exact unless they "
        "are said to be a formula's.",
        [*_definitions(), *_theorem_1(rounds), *_lemmas(rounds), *_theorem_4(rounds), *_theorem_6(rounds)],
    )


def _definitions() -> list[Claim]:
    moved, fixed = values_move_the_sum(400, 7), of_fixed_data(5)
    return [
        Claim(
            "Definition 1",
            "The syntactic sensitivity s is by how many users the cloaked set changes.",
            verdict_of([values_move_the_sum(400, 1).told <= 0.05, moved.told <= 0.05]),
            f"399 bits and a value of 0 or 7: s is {moved.by_count}, the sum moves by {moved.by_sum}; at the epsilon "
            f"of "
            f"s the exact delta is {moved.told:.3f}, 1/sqrt(n) is .05.",
            "D_i is whether i is in the set. Of values s must be the largest |a - a'| of one user.",
        ),
        Claim(
            "Definition 2",
            "For all X, X*: Pr[F(X) in O] <= e^epsilon Pr[F(X*) in O] + delta.",
            verdict_of([max(fixed) < 1.0]),
            f"All {len(fixed)} pairs of 5 bits and their neighbours: delta is 0 or 1 at every epsilon.",
            "F is deterministic and X fixed. The chance must be over the other users, given D_i = a or a' and what is "
            "known.",
        ),
    ]


def _theorem_1(rounds: int) -> list[Claim]:
    found, second = by_epsilon(4 * rounds), by_delta(rounds)
    printed = published.theorem1_epsilon(70, 0.99, 68, 0.13)
    exact = largest_delta(kinds_of([bits(0.99, 71)]), printed)
    of_ten = published.theorem1_delta(10, 0.3, 2, 3.0)
    removed, moved = removed_or_moved(1_000, 0.3, 0.1)
    return [
        Claim(
            "Theorem 1 (I)",
            "epsilon is the larger logarithm, with mu from delta plus a tail bound.",
            verdict_of([found.seen == 0, found.given == 0, found.wrong == 0]),
            f"n = 70, p = .99, k = 68, delta = .13: epsilon {printed:.3f}, exact delta {exact:.4f}. Below the truth in "
            f"{found.seen} of {found.rounds} rounds, given that k are selected in {found.given}.",
            f"mu = sqrt(-n/2 ln delta) ({found.wrong} of {found.repaired} rounds): one tail bound is subtracted from "
            "another as if it were the tail. p/q multiplies inside the logarithm, and the factor 2 of (7) is not "
            "needed: each direction has one tail.",
        ),
        Claim(
            "Theorem 1: the split",
            "The first logarithm is the larger one for p < 1/2 - k/2n, else the second (6, 8).",
            verdict_of([found.smaller == 0, split_of_probabilities(rounds) == 0]),
            f"It is the smaller one in {found.smaller} of {found.rounds} rounds.",
            "the larger is taken, as the theorem says; which one it is, is the sign of (q - p)(mu (mu + 1) - npq) "
            f"(in all of {rounds}).",
        ),
        Claim(
            "Theorem 1 (II)",
            "delta is the larger of two terms, a tail bound subtracted from the first.",
            verdict_of([second.appendix == 0, second.stated == 0, second.repaired == 0]),
            f"n = 10, p = .3, k = 2, epsilon = 3: {of_ten:.5f}; nobody is selected with "
            f"{nobody_is_chosen(10, 0.3):.5f}. "
            f"Below the truth in {second.appendix} of {second.rounds} rounds by the appendix, in {second.stated} as "
            "stated.",
            f"nothing is subtracted and a term is 1 where its end is beyond the mean ({second.repaired} of "
            f"{second.rounds}); given k, the ends' own chances over P(M >= k) ({second.given}). The statement lost "
            "-np, the last line of the proof a minus, and (12) is the wrong way round.",
        ),
        Claim(
            "Theorem 1: the neighbour",
            "X* is X with one user removed.",
            verdict_of([abs(removed - moved) < 1e-9]),
            f"n = 1,000, p = .3, epsilon = .1: {removed:.2g} if one is removed before the selection, {moved:.2g} for M "
            "against M + 1.",
            "The proof compares M with M + 1: one who was selected for certain with one who was not.",
        ),
    ]


def _lemmas(rounds: int) -> list[Claim]:
    over, used = tails(rounds, 1.0)
    beyond, _ = tails(rounds, 8.0)
    repaired, printed = distances(rounds)
    constant = bounds.constant_of_tail(1e-5)
    broken = normal_delta(1.0, bounds.constant_of_tail(0.1) / 8.0, 8.0)
    fifteen = published.tail_without_point(0.05, 0.1)
    return [
        Claim(
            "Lemma 2",
            "A normal sum with a deviation of c s/epsilon1 keeps (epsilon1, delta1).",
            verdict_of([over == 0, beyond == 0]),
            f"Up to epsilon 1 in all of {rounds}, {used:.3f} of delta1 being used at most. At 8, delta1 = .1, delta is "
            f"{broken:.3f}; it is false from {first_broken(0.1):.2f} on, for .001 from {first_broken(1e-3):.2f} on.",
            "epsilon1 <= 1 and |u - v| <= s, which are not said. At 1e-5 its c is "
            f"{constant:.4f}, the textbook's {math.sqrt(2.0 * math.log(1.25e5)):.4f}, {least_constant(1e-5, 0.1):.2f} "
            "is enough at .1.",
        ),
        Claim(
            "Equation 15",
            "P(x >= u) is below sigma/sqrt(2 pi) e^(-u^2/2 sigma^2).",
            verdict_of([0.5 * math.erfc(0.5 / math.sqrt(2.0)) <= fifteen]),
            f"sigma = .1, u = .05: {0.5 * math.erfc(0.5 / math.sqrt(2.0)):.4f}, printed {fifteen:.4f}.",
            "a factor 1/u is lost. (16) has it again.",
        ),
        Claim(
            "Lemma 3",
            "The distance from the normal law is at most .5591 sum rho^2 over sum sigma^2.",
            verdict_of([printed == 0, repaired == 0]),
            f"Beyond it in {printed} of {rounds} random sums.",
            f"it is .5591 sum rho over (sum sigma^2)^(3/2) ({repaired} of {rounds}). As printed it changes with the "
            "unit of the data.",
        ),
    ]


def negative_and_large() -> Theorem4:
    """Bits of .9, a thousand: as printed, and with absolute moments over the printed denominator."""
    signed = published.theorem4(1_000, 1.0, 10, 0.1, 90.0, -72.0, 27.0)[1]
    return Theorem4(signed, published.theorem4(1_000, 1.0, 10, 0.1, 90.0, 73.8, 27.0)[1])


def _theorem_4(rounds: int) -> list[Claim]:
    printed, repaired, intervals = negative_and_large(), of_bits(rounds), of_lattices(rounds)
    one, printed_at = own_exponents(1_000, 1.0, 100, 0.1, 90.0)
    seen_alone, with_target = without_the_target(1.0, 1.0, 0.5, 3)
    claimed = bounds.moments_bound(99.0, 99.0 / 99.0**1.5, 1.0, 2, None, 0.1)
    lattice = kinds_of(LATTICE, attacked=0)
    everything, spans = largest_delta(lattice, claimed.epsilon), largest_delta(lattice, claimed.epsilon, "intervals")
    return [
        Claim(
            "Theorem 4",
            "delta is 1.1182 sum of third moments over sum of v^(3/2), times 1 + e^..., plus 1/sqrt(n).",
            verdict_of([0.0 <= printed.signed <= 1.0, 0.0 <= printed.absolute <= 1.0, repaired.wrong == 0]),
            f"1,000 bits of .9: delta {printed.signed:.2f}; with absolute moments {printed.absolute:.2f}. Its exponent "
            f"is {one:.3f} where epsilon is {printed_at:.3f} (k = 100).",
            "moments are absolute, the denominator is (sum of v)^(3/2), the exponent is epsilon, and the target's own "
            f"variance is left out ({repaired.wrong} of {repaired.rounds} bounds below the truth, {repaired.useful} "
            f"below 1, {repaired.above:.0f} times it in the median).",
        ),
        Claim(
            "Theorem 4: whose variance",
            "The variance is that of all users.",
            verdict_of([seen_alone <= with_target]),
            f"Three normal values, epsilon .5: {seen_alone:.4f}, with his own variance {with_target:.4f}.",
            "who is attacked does not hide himself: his value is given.",
        ),
        Claim(
            "Theorem 4: for all O",
            "It holds for all sets O of answers.",
            verdict_of([everything <= claimed.delta, spans <= claimed.delta, intervals.wrong == 0]),
            f"A bit beside 99 people of 0 or 2: (epsilon, delta) = ({claimed.epsilon:.3f}, {claimed.delta:.3f}), "
            f"exactly "
            f"{everything:.3f} at every epsilon: odd or even. Of intervals {spans:.4f}.",
            "O is an interval, with the error twice on each side "
            f"({intervals.wrong} of {intervals.rounds}, {intervals.useful} below 1). Lemma 3 is about half-lines.",
        ),
    ]


def _theorem_6(rounds: int) -> list[Claim]:
    repaired, intervals = of_bits(rounds, 0.2), of_lattices(rounds, 0.2)
    by_variance, known = variances_alone(rounds), worst_known(max(rounds // 10, 20))
    return [
        Claim(
            "Theorem 6",
            "The same with sums over whom nobody knows.",
            verdict_of([repaired.wrong == 0, intervals.wrong == 0, negative_and_large().signed >= 0.0]),
            f"A fifth known: {repaired.wrong} of {repaired.rounds} repaired bounds below the truth, {repaired.useful} "
            f"below 1; of intervals {intervals.wrong} of {intervals.rounds}.",
            "it is repaired as Theorem 4.",
        ),
        Claim(
            "Theorem 6: whoever is known",
            "A share lambda2 is known.",
            verdict_of([by_variance.wrong == 0, known.wrong == 0]),
            f"Dropping the largest variances is never below the truth ({by_variance.rounds} crowds, "
            f"{by_variance.useful} "
            f"below 1). They are the worst set exactly in {known.largest_variances} of {known.rounds} small crowds, "
            f"else {known.off:.1%} below it at most.",
            "the bound by variances and ranges falls as variance grows.",
        ),
    ]
