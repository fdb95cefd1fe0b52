"""What the paper claims in words about its definitions, lemmas and algorithms, beside the numbers of "
"cpl_theorems.py."""

from __future__ import annotations

import math

import numpy as np
from correlation_oracles import response
from cpl_theorems import (
    THREE,
    budgets,
    cells,
    every_output,
    halves,
    largest_loss,
    leaky,
    optimum,
    pointwise,
    relaxed,
    rows_and_columns,
    sums_of_pairs,
    twice,
)
from paper_findings import Claim, Numbers, Section, verdict_of

from beliefs.correlation.bound import bound, saturation
from beliefs.correlation.outputs import sets_leak
from mechanisms.local.rappor import rappor
from mechanisms.local.registry import local


def section(trials: int) -> Section:
    columns = ["mechanism", "values", "every output, nats", "the guess, nats", "GRR, nats"]
    return Section(
        "theorems",
        "Definitions, lemmas and algorithms",
        "Small cases, by enumeration, linear programs and densities; epsilon is 1 where nothing else is said.",
        [*_algorithms(trials), *_sums(), *_delta(), *_limits(), *_mechanisms()],
        [Numbers("two secrets with disjoint halves of the values", columns, [list(each) for each in every_output()])],
    )


def _algorithms(trials: int) -> list[Claim]:
    (printed, true), found, kept = rows_and_columns(), optimum(trials), budgets()
    alike = rows_and_columns(response(2, 1.0))
    return [
        Claim(
            "Algorithm 1",
            "Algorithm 1 computes the actual CPL from the transition probabilities.",
            verdict_of([abs(printed - true) < 1e-9, abs(alike[0] - alike[1]) < 1e-9]),
            f"Rows .9 .1 and .2 .8 through the channel .95 .05, .4 .6: as printed {printed:.4f}, by (7) {true:.4f} "
            "nats.",
            "the channel is symmetric, as for GRR and EXP: line 3 takes the row of an input where (7) needs the "
            "column of an output. Where outputs are no inputs (OUE, hashing) the sizes do not even fit.",
        ),
        Claim(
            "Algorithm 2",
            "It finds the optimum of (9) at delta = 0 (Theorem IV.6), a tight bound for any epsilon-LDP mechanism.",
            verdict_of([found.sets < 1e-9, found.program < 1e-6, found.attained < 1e-9]),
            f"{found.laws} random laws: {found.sets:.0e} from all sets, {found.program:.0e} from the linear program, "
            f"{found.attained:.0e} from what binary randomised response of the best set loses.",
            "the best set is a prefix of the falling ratios, and some mechanism has that set's column.",
        ),
        Claim(
            "Algorithm 3",
            "It returns the largest equal budget whose total stays within the limit (30).",
            verdict_of([kept.beyond == 0]),
            f"{kept.beyond} of {kept.tables} random tables end beyond their limit of 2, by up to {kept.most:.3f}; one "
            f"attribute alone with a limit of 1 gets {kept.alone:.2f}.",
            "the loop ends once the limit is broken, and then adds a step; it never goes back.",
        ),
    ]


def _sums() -> list[Claim]:
    found, (exact, added) = sums_of_pairs(), twice()
    return [
        Claim(
            "Equation (6)",
            "DPL plus all pairwise CPLs bounds the total leakage, by sequential composition.",
            verdict_of([found.joint <= found.printed, found.independent < 1e-9]),
            f"Two fair bits and their exclusive or: pairwise {found.printed:.4f}, together ln cosh 1 = "
            f"{found.joint:.6f}. {found.broken} of {found.tables} random tables of four binary attributes lose more "
            f"together. One neighbour reported twice: {exact:.6f} against {added:.6f}.",
            "neighbours are independent of each other given the secret. Composition needs reports that depend on each "
            "other through the secret alone; neighbours are other values.",
        ),
        Claim(
            "Definition (4)",
            "TCPL, the sum over ordered pairs, is a data set's total leakage.",
            verdict_of([found.joint <= found.printed]),
            "As (6): the exclusive or has a TCPL of 0, and its bits tell everything of each other.",
            "it is a score to compare mechanisms with, and bounds nothing.",
        ),
    ]


def _delta() -> list[Claim]:
    loose, (told, most), (each, together) = relaxed(), leaky(0.01), pointwise(0.01, 10)
    single = pointwise(0.01, 1)
    return [
        Claim(
            "Equation (13) for delta > 0",
            "Without c_min nothing tighter than the saturation (13) bounds the ratio of one output.",
            verdict_of([abs(told - most) < 1e-9]),
            f"Telling one value with chance .01, which is (0, .01)-LDP: {told:.4f} nats; (13) is {most:.4f}.",
            "an output of chance delta may be certain about the value. Strictly less, as (12) prints, is at most.",
        ),
        Claim(
            "Equation (20): the relaxation f*",
            "(l, f*) is what an (epsilon, delta) mechanism leaves of the secret.",
            verdict_of([loose.below == 0, loose.unset is not None]),
            f"Rows .5 .3 .2 and .1 .3 .6, delta .05: f* {loose.printed:.4f}, the smallest that is right "
            f"{loose.tight:.4f}; over random laws up to {loose.loosest:.0f} times too large, never too small. At "
            f"epsilon 0 it stays unset, where {loose.lost:.3f} is lost.",
            "some pair of secrets has l > 0. The tight value is delta (e^l - 1)/(e^epsilon - 1), and needs no choice "
            "among equal sets.",
        ),
        Claim(
            "Equation (16)",
            "p(y|x)/p(y|x') <= e^epsilon + delta/p(y|x') for every y is the form of (epsilon, delta)-LDP.",
            verdict_of([each >= together - 1e-9, single[0] >= single[1] - 1e-9]),
            f"Ten outputs that each keep (16) with delta {each:g} at epsilon 0: as a set they need {together:g}.",
            "delta is 0, or no set has more than one such output: Definition II.1 is about sets of outputs.",
        ),
        Claim(
            "Corollary H.2",
            "Nothing is lost at epsilon 0, or between independent attributes.",
            verdict_of([loose.lost <= 1e-9, bound(THREE, 0.0).epsilon == 0.0]),
            f"The same rows at epsilon 0 and delta .05: nothing at delta 0, but a delta of {loose.lost:.3f} else.",
            "delta is 0, or the attributes are independent: delta times the total variation is lost.",
        ),
    ]


def _limits() -> list[Claim]:
    any_mechanism, response = largest_loss(8, 1.0)
    reached = bound(THREE, 40.0).epsilon
    return [
        Claim(
            "Corollary H.1",
            "The largest CPL is epsilon, attained where no value is possible under both secrets.",
            verdict_of([abs(any_mechanism - 1.0) < 1e-9, abs(response - 1.0) < 1e-9]),
            f"Four values each: the bound is {any_mechanism:.4f}, GRR loses {response:.4f}.",
            "outputs stand for the whole set of values. GRR loses ln(1 + (e^epsilon - 1) max g). (The proof says H = "
            "epsilon for H = e^epsilon.)",
        ),
        Claim(
            "Corollary IV.4 (OB2)",
            "CPL saturates at (13) as epsilon grows, if all probabilities are positive.",
            verdict_of([abs(reached - saturation(THREE)) < 1e-9]),
            f"The rows above at epsilon 40: {reached:.6f}; (13), ln 5, is {saturation(THREE):.6f}.",
            "the largest ratio of two chances is all that a value can tell; with one of two 0 it has no end.",
        ),
        Claim(
            "Lemma IV.5",
            "A value (sigma g', g') raises H if and only if sigma is at least H.",
            verdict_of([_raises(2.0, 0.3) and not _raises(1.1, 0.3), not _raises(1.1, 0.0)]),
            "With A = .5, B = .1: sigma 2 raises it and 1.1 does not; with g' = 0 any sigma leaves it equal.",
            "g' is positive. The algorithm is right all the same: a value with g' = 0 < g has an infinite ratio.",
        ),
        Claim(
            "Lemma C.1",
            "(a x + b)/(c x + d) is monotone.",
            verdict_of([_fraction(0.0) < _fraction(0.5), _fraction(0.5) < _fraction(2.0)]),
            f"x/(1 - x): {_fraction(0.0):g}, {_fraction(0.5):g}, {_fraction(2.0):g} at 0, .5, 2.",
            "its pole lies outside; all that the paper needs it for has none.",
        ),
    ]


def _raises(sigma: float, other: float) -> bool:
    weight, inside, against = math.expm1(1.0), 0.5, 0.1
    before = (1 + inside * weight) / (1 + against * weight)
    return (1 + (inside + sigma * other) * weight) / (1 + (against + other) * weight) >= before


def _fraction(x: float) -> float:
    return x / (1 - x)


def _mechanisms() -> list[Claim]:
    level = rappor(10, 0.5, 0.5, 0.75).level
    budget = [0.9, 1.1, 1.3]
    sets = [sets_leak(halves(8), local("ss", 8, epsilon).worst_sets(), epsilon) for epsilon in budget]
    enumerated, point = every_output(), cells(8, 1.0, -1.0, 2.0)
    return [
        Claim(
            "The outputs of OUE, RAPPOR, BLH, OLH and SHE",
            "Their CPL is what Appendix B's guess of the value tells (Figures 4, 6 and 7, Table II).",
            verdict_of([abs(each.real - each.guessed) < 1e-3 for each in enumerated]),
            "Disjoint halves: "
            + "; ".join(f"{each.name} {each.real:.4f}, guessed {each.guessed:.4f}" for each in enumerated)
            + f"; SHE {point:.4f} at one output.",
            "an output stands for any set of values, so all five lose exactly the bound of Algorithm 2; the guess "
            "throws that away.",
        ),
        Claim(
            "Appendix A: RAPPOR's constants",
            "f = .5, p = .5, q = .75 at each privacy budget.",
            verdict_of([abs(level - epsilon) < 1e-3 for epsilon in (1.0, 3.0, 5.0)]),
            f"One report's level is {level:.6f} whatever epsilon is; 2.197225 of all reports of one value.",
            "the paper's own Table II varies with epsilon, and is met by SUE: f = 2/(1 + e^(epsilon/2)), reported "
            "once.",
        ),
        Claim(
            "Appendix A: EXP",
            "The exponential mechanism runs at the budget epsilon.",
            verdict_of([abs(local("exp", 10, 1.0).level - 1.0) < 1e-9]),
            f"Its level at epsilon 1 is {local('exp', 10, 1.0).level:g}: GRR at half of epsilon.",
            "with the utility 0 or 1 the usual factor of 1/2 spends half; that it leaks less says no more than that.",
        ),
        Claim(
            "Appendix N: CPL grows with the budget",
            "L rises monotonically with epsilon.",
            verdict_of([sets[0] < sets[1], bool(np.all(np.diff([bound(THREE, e).epsilon for e in budget]) > 0))]),
            "SS on disjoint halves of eight at .9, 1.1, 1.3: " + ", ".join(f"{each:.4f}" for each in sets) + " nats.",
            "the mechanism is not SS, whose size of sets changes with epsilon; the bound always grows.",
        ),
    ]
