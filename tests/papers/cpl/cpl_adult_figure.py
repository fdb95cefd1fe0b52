"""Figure 4(a): what the reports of three attributes tell about gender in Adult, and Equation (6) on real data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from cpl_attack import guessed
from cpl_data import adult
from cpl_leaks import SHOWN, Pairs, exact_leak, leak_of_counts
from paper_command import Tick
from paper_drawing import Bar, draw_bars
from paper_findings import Claim, Numbers, Section, verdict_of, where

from beliefs.correlation.joint import joint_leak
from beliefs.correlation.published import equation_6
from beliefs.correlation.tables import given

EPSILON: Final = 1.0
FIVE: Final = ("grr", "sue", "exp", "olh", "oue")
NEIGHBOURS: Final = ("occupation", "education", "income")
KINDS: Final = ("guessed from reports, as the paper measures it", "the reports themselves")
TOGETHER: Final = ("occupation", "marital", "relationship")
"""A secret and two neighbours that hang together."""


class Told(NamedTuple):
    """Nats: the guess in closed form, the guess as drawn, the reports; and four deviations of what was drawn."""

    guess: float
    drawn: float
    reports: float
    room: float


Found = Mapping[str, Mapping[str, Told]]


def figure(folder: Path, copies: int, epsilons: Sequence[float], tick: Tick) -> Section:
    pairs = Pairs(adult())
    found: dict[str, dict[str, Told]] = {}
    for place, neighbour in enumerate(NEIGHBOURS):
        found[neighbour] = {mechanism: _told(pairs, neighbour, mechanism, copies) for mechanism in FIVE}
        tick((place + 1) / len(NEIGHBOURS))
    everywhere = {}
    for mechanism in FIVE:
        guess = float(pairs.attacked(mechanism, EPSILON).mean())
        everywhere[mechanism] = Told(guess, guess, float(pairs.exact(mechanism, EPSILON).mean()), 0.0)
    return Section(
        "fig4a",
        "Figure 4(a): Adult, five mechanisms",
        f"{pairs.data.source}; epsilon {EPSILON:g}; RAPPOR is SUE. Guesses in closed form, and drawn: keyed reports "
        f"of every record, {copies} of each.",
        [*_claims(found), _equation_6(epsilons)],
        [_numbers(found, everywhere)],
        [_drawn(folder, found, everywhere, copies)],
    )


def _told(pairs: Pairs, neighbour: str, mechanism: str, copies: int) -> Told:
    data, place = pairs.data, pairs.place("gender", neighbour)
    genders, values = (data.records[:, data.axis(name)] for name in ("gender", neighbour))
    drawn = guessed(mechanism, EPSILON, genders, values, copies).astype(np.float64)
    guess = float(pairs.attacked(mechanism, EPSILON)[place])
    # The logarithm of a count has a variance of about its inverse.
    room = 4.0 * math.sqrt(float((1.0 / drawn).sum(axis=0).max()))
    return Told(guess, leak_of_counts(drawn), exact_leak(pairs.laws[place], mechanism, EPSILON), room)


def _drawn(folder: Path, found: Found, everywhere: Mapping[str, Told], copies: int) -> str:
    panels = {f"gender, from {neighbour}": _bars(told) for neighbour, told in found.items()}
    panels["mean of all 56 ordered pairs"] = _bars(everywhere)
    caption = (
        f"Adult at epsilon {EPSILON:g}, nats. Whiskers reach to the guess as drawn, {copies} reports of every record. "
        "Claim: GRR leaks most. It does as long as one looks at guesses; the reports of RAPPOR, OLH and OUE themselves "
        "tell as much as those of any mechanism can."
    )
    title = "Figure 4(a): what other attributes' reports tell about gender"
    return draw_bars(folder / "fig4a.png", title, "leakage, nats", panels, KINDS, {}, caption)


def _bars(told: Mapping[str, Told]) -> tuple[list[Bar], list[Bar]]:
    guesses = [Bar(SHOWN[m], each.guess, min(each[:2]), max(each[:2])) for m, each in told.items()]
    return guesses, [Bar(SHOWN[m], each.reports, each.reports, each.reports) for m, each in told.items()]


def _numbers(found: Found, everywhere: Mapping[str, Told]) -> Numbers:
    rows = [
        [neighbour, kind, *(getattr(told[mechanism], kind) for mechanism in FIVE)]
        for neighbour, told in [*found.items(), ("mean of all pairs", everywhere)]
        for kind in ("guess", "drawn", "reports")
        if told is not everywhere or kind != "drawn"
    ]
    return Numbers("nats about gender", ["from", "", *(SHOWN[mechanism] for mechanism in FIVE)], rows)


def _claims(found: Found) -> list[Claim]:
    occupation, education, income = (found[neighbour] for neighbour in NEIGHBOURS)
    most = {
        kind: [
            all(getattr(told["grr"], kind) >= getattr(told[m], kind) - 1e-9 for m in FIVE) for told in found.values()
        ]
        for kind in ("guess", "reports")
    }
    drawn = [told[m] for told in found.values() for m in FIVE]
    wider = [occupation[m].guess > 1.5 * education[m].guess for m in FIVE]
    alike = [(occupation[m].guess > income[m].guess) == (occupation["grr"].guess > income["grr"].guess) for m in FIVE]
    return [
        Claim(
            "fig4a: GRR leaks most",
            "Out of five mechanisms GRR leaks most, so the other experiments use it.",
            verdict_of([all(most["guess"]), all(most["reports"])]),
            f"From occupation: GRR {occupation['grr'].guess:.4f}; guessed, RAPPOR {occupation['sue'].guess:.4f}, EXP "
            f"{occupation['exp'].guess:.4f}, OUE {occupation['oue'].guess:.4f}, OLH {occupation['olh'].guess:.4f}; "
            f"the reports of RAPPOR, OUE and OLH {occupation['oue'].reports:.4f}.",
            "one measures the guess of Appendix B. An output of the three stands for a set of occupations, and tells "
            "more about gender than any single one.",
        ),
        Claim(
            "fig4a: occupation before education",
            "Occupation tells far more about gender than education, with every mechanism.",
            verdict_of(wider),
            f"GRR: {occupation['grr'].guess:.4f} against {education['grr'].guess:.4f}; least ratio of guesses "
            f"{min(occupation[m].guess / education[m].guess for m in FIVE):.1f}.",
            "the order follows the conditional laws, which no mechanism changes.",
        ),
        Claim(
            "fig4a: one pattern for all mechanisms",
            "The five mechanisms show the same pattern across attributes.",
            verdict_of([all(wider), all(alike)]),
            f"Income before occupation with GRR ({income['grr'].guess:.4f}, {occupation['grr'].guess:.4f}), behind it "
            f"with OUE ({income['oue'].guess:.4f}, {occupation['oue'].guess:.4f}).",
            "attributes with about as many values are compared: what a guess loses depends on their number.",
        ),
        Claim(
            "fig4a: the guess",
            "The attack of Appendix B has the CPL that is measured from 50 copies of the data.",
            verdict_of([abs(each.guess - each.drawn) <= each.room for each in drawn]),
            "Largest difference of a drawn guess from the closed form: "
            f"{max(abs(each.guess - each.drawn) for each in drawn):.4f}, each within four deviations.",
            "a guess is randomised response with a smaller epsilon, since all wrong values are alike; nothing need be "
            "drawn to know what it tells.",
        ),
    ]


def _equation_6(epsilons: Sequence[float]) -> Claim:
    data = adult()
    weights = data.table(*(data.axis(name) for name in TOGETHER))
    told = [(e, joint_leak(given(weights, 0), [e, e]), equation_6(weights, [e, e])) for e in epsilons]
    worst = max(told, key=lambda each: each[1] - each[2])
    kept = [(epsilon, joint <= added + 1e-9) for epsilon, joint, added in told]
    return Claim(
        "fig4a: Equation (6) on Adult",
        "The sum of pairwise CPLs bounds what neighbours tell together.",
        verdict_of([so for _, so in kept]),
        f"Occupation from marital state and relationship, GRR in both: at epsilon {worst[0]:g} together "
        f"{worst[1]:.4f}, added {worst[2]:.4f}; a bound {where(kept)}.",
        "the budget is large. The two hang together given the occupation, so that at usual budgets one report says "
        "how to read the other.",
    )
