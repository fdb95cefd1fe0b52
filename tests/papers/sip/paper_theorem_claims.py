"""What the paper claims in words, beside the numbers of paper_theorems.py."""

from __future__ import annotations

import numpy as np
from oracles import accuracy_by_linear_program
from paper_binary import TIMES, chain_of_case, singly_exact
from paper_findings import Claim, Section, verdict_of
from paper_theorems import (
    STICKY,
    algorithm_2,
    batched_theorem_2,
    chance_beyond,
    information,
    marginal_moves,
    other_prior,
    printed_rows,
    theorem_1,
    theorem_2,
    theorem_3,
    theorem_4,
    theorem_5,
)

from mechanisms.sequence.published_batch_value import published_window_value
from mechanisms.sequence.published_crr_value import published_value


def section() -> Section:
    return Section(
        "theorems",
        "Definitions, theorems and algorithms",
        "Small cases, by enumeration and linear programs; the chain is binary and stays with .9 where nothing else "
        "is said.",
        [*_bounds(), *_other_theorems(), *_mechanisms(), *_batches(), *_readers()],
    )


def _bounds() -> list[Claim]:
    sums, path = theorem_1(), theorem_2()
    printed, rooted = batched_theorem_2(20, 0.5, 1e-6)
    never, twice = chance_beyond(), batched_theorem_2(40, 0.5, 1e-6)[0]
    beyond = sum(lower > path.printed for lower in path.lower)
    return [
        Claim(
            "Definition (6)",
            "(epsilon, delta)-SIP: Pr(L > epsilon) < delta.",
            verdict_of([never < 0.0]),
            f"Three releases by `optimal` tell more than their epsilons with probability {never:g}, over all outputs; "
            f"Theorem 1 promises delta = 0, and {never:g} < 0 is false.",
            "it must read <= delta; and L in Definition 1 is a maximum over outputs, hence a constant.",
        ),
        Claim(
            "Theorem 1",
            "The sequence's leakage is at most the sum of the releases' leakages.",
            verdict_of([sums.exact <= sums.added + 1e-9, sums.exact <= sums.promised]),
            f"Three CRR releases of five values at epsilon 1: exactly {sums.exact:.2f} nats at worst, the true "
            f"leakages add to {sums.added:.2f}, the promised epsilons to {sums.promised:.0f}.",
            "each release's leakage is what it really is. The sum of CRR's epsilons is no bound.",
        ),
        Claim(
            "Theorem 2",
            "T releases keep (T eps (e^eps - 1) + sqrt(T) eps sqrt(2 ln 1/delta), delta)-SIP.",
            verdict_of([beyond == 0]),
            f"T = 100, eps = .1, delta = 1e-6: printed {path.printed:.3f}; the lower side of Definition 1 was "
            f"{min(path.lower):.3f} to {max(path.lower):.3f} in {len(path.lower)} of {len(path.lower)} runs.",
            "the maximum over all x takes the path of all other values, which loses eps with every release, with "
            "probability one. "
            f"For the one path that happened a bound of this kind is right ({path.true_path:.3f} with the tight "
            "drift eps tanh(eps/2)); that is not SIP.",
        ),
        Claim(
            "Theorem 2, batches",
            "Batches keep (tau eps (e^eps - 1) + tau eps sqrt(2 ln 1/delta), delta)-SIP, a sub-linear growth.",
            verdict_of([twice < 2 * printed - 1e-9]),
            f"At .5, delta = 1e-6: printed {printed:.1f} for 20 batches and {twice:.1f} for 40; with sqrt(tau) "
            f"{rooted:.1f} for 20; Theorem 1 gives 10.",
            "tau stands where sqrt(tau) belongs; as printed it grows like tau and is above the simple sum wherever "
            "delta is below e^-1/2.",
        ),
    ]


def _other_theorems() -> list[Claim]:
    (local, rows), five = theorem_3(), theorem_5()
    return [
        Claim(
            "Theorem 3",
            "epsilon-LDP implies epsilon-SIP, and that implies 2 epsilon-LDP.",
            verdict_of([local <= 1 + 1e-9, rows <= 2 + 1e-9]),
            f"100 random beliefs at epsilon 1: randomised response told at most {local:.4f}; rows of `optimal` are "
            f"at most {rows:.4f} apart.",
            "of values that the model calls possible; CRR on an impossible value has no bound, `optimal` covers "
            "those, too.",
        ),
        Claim(
            "Theorem 5",
            "A policy that looks at L batches only and keeps (24) keeps the leakage about all batches.",
            verdict_of([five[1] <= five[0] + 1e-9]),
            f"Two batches of two: about the last {five[0]:.4f}, about both {five[1]:.4f} nats.",
            "the release depends on the last batch alone, so every past has the same ratio.",
        ),
    ]


def _mechanisms() -> list[Claim]:
    four, moved = theorem_4(), marginal_moves("optimal")
    belief = np.array([0.5, 0.3, 0.2])
    sums = printed_rows(belief, 1.0).sum(axis=1)
    uniform = published_value(np.full(10, 0.1), 1.0)
    optimum = accuracy_by_linear_program(np.full(10, 0.1), 1.0, 1.0)
    return [
        Claim(
            "Theorem 4: the bound",
            "CRR keeps epsilon.",
            verdict_of([four.leaking == 0, four.leaking < four.beliefs]),
            f"{four.leaking} of {four.beliefs} random beliefs leak more than epsilon 1. Ten equal values: "
            f"{uniform.upper:.2f} nats and accuracy {uniform.accuracy:.3f}; the most that the bound allows is "
            f"{optimum:.3f}.",
            "every possible value has a belief of at least 1/(e^epsilon + 1); then at most e^epsilon + 1 values "
            "are possible.",
        ),
        Claim(
            "Theorem 4: optimal",
            "CRR has the least expected distance, whatever the distance.",
            verdict_of([four.excess_metric < 1e-6, four.excess_squared < 1e-6]),
            f"Where it keeps its bound: at most {four.excess_metric:.1e} above the linear program for metrics, "
            f"{four.excess_squared:.2%} above for squared distances.",
            "it keeps the bound and the distance is a metric. Mean squared error, which the paper names as an "
            "example, is none.",
        ),
        Claim(
            "Theorem 4: as printed",
            "a(y|x) is the belief in x over e^epsilon for y other than x.",
            verdict_of([bool(np.allclose(sums, 1.0))]),
            f"For beliefs .5, .3, .2 the rows sum to {', '.join(f'{s:.3f}' for s in sums)}.",
            "it must be the belief in y, as Algorithm 1 has it.",
        ),
        Claim(
            "Theorem 4: marginals",
            "The output at each time has the law of the input.",
            verdict_of([moved < 1e-9, marginal_moves("published_crr") < 1e-9]),
            f"The optimum moves the law by up to {moved:.2f} in total variation (100 random beliefs).",
            "CRR keeps its bound; elsewhere the optimum gives rare values up.",
        ),
    ]


def _batches() -> list[Claim]:
    (kept, best), response = algorithm_2(), published_window_value(STICKY, 5, 1.0)
    return [
        Claim(
            "Algorithm 2",
            "Gradient descent reaches the optimum of (30).",
            verdict_of([kept >= best - 1e-3]),
            f"Agreement {kept:.3f} against {best:.3f} by the linear program (w = 2, epsilon 1).",
            "entries freeze one by one at their first violation, and it depends on the step; |X|^2w entries "
            "besides: 10^40 for five samples of gaze.",
        ),
        Claim(
            "Window CRR",
            "On whole batches the response of Theorem 4 keeps the bound, and is only not optimal (section V).",
            verdict_of([response.upper <= 1.0]),
            f"Five values that stay with .9: agreement {response.agreement:.3f}, but {response.upper:.2f} nats at "
            "epsilon 1.",
            "the rarest string has a belief of 5e-5; the leak log(e^-eps + c/P(o)) grows with every position.",
        ),
    ]


def _readers() -> list[Claim]:
    told, nats = other_prior(), information()
    leak = singly_exact("optimal", chain_of_case("case 2"), 1.0, TIMES)[1]
    return [
        Claim(
            "A different prior",
            "If the adversary's prior differs from the true one, leakage only decreases.",
            verdict_of([told <= 1.0]),
            f"CRR for a fair coin at epsilon 1, read by one who believes 9 to 1: {told:.3f} nats.",
            "p(y) is another one for another reader; up to 2 epsilon, where rows keep that.",
        ),
        Claim(
            "Mutual information",
            "epsilon-SIP bounds the mutual information by epsilon.",
            verdict_of([nats <= 10.0]),
            f"A hundred fair bits at .1 each: {nats:.3f} nats of the 10 that SIP adds.",
            "an average is below its maximum.",
        ),
        Claim(
            "Bounded release",
            "Instantaneous release under an IIL of epsilon is possible at each step.",
            verdict_of([leak <= 1.0 + 1e-9]),
            f"`optimal` in Figure 5, case 2: {leak:.4f} nats at most at epsilon 1.",
            "its rows keep both sides for every value.",
        ),
    ]
