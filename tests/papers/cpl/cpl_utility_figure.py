"""Figure 7: what eight mechanisms are worth in Adult beside what they leak through correlation, Equations (22) to "
"(24)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from cpl_attack import KEY
from cpl_data import Data
from cpl_leaks import MECHANISMS, SHOWN, Pairs
from paper_command import Tick
from paper_drawing import Line, Panel, draw
from paper_findings import Cell, Claim, Numbers, Section, verdict_of

from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.registry import drawn, local

SHARE: tuple[str, str] = ("of the guess", "of the reports")


class Worth(NamedTuple):
    """Shares of Algorithm 2's TCPL (22) that the guess and the reports leak, the error of frequencies (23) as drawn and
    as expected, and how often the guess is wrong (24)."""

    guess: float
    reports: float
    error: float
    expected: float
    wrong: float


Found = Mapping[tuple[str, float], Worth]


def worth(pairs: Pairs, mechanism: str, epsilon: float, whole: float) -> Worth:
    missed, expected = errors(pairs.data, mechanism, epsilon)
    return Worth(
        float(pairs.attacked(mechanism, epsilon).sum()) / whole,
        float(pairs.exact(mechanism, epsilon).sum()) / whole,
        missed,
        expected,
        float(np.mean([local(mechanism, size, epsilon).guess().wrong for size in pairs.data.sizes])),
    )


def errors(data: Data, mechanism: str, epsilon: float) -> tuple[float, float]:
    """Of all attributes together: squared errors over squared frequencies, drawn once, and as variances say."""
    missed = expected = squares = 0.0
    for axis, size in enumerate(data.sizes):
        values, found = data.records[:, axis], drawn(mechanism, size, epsilon)
        truth = np.bincount(values, minlength=size) / values.size
        key = field_key(KEY, f"{data.name} {data.names[axis]} {mechanism} {epsilon:g}")
        reports = found.draw(values, report_coins(key, 0, values.size, found.words))
        estimate = found.estimate(found.counts(reports).astype(np.float64), values.size)
        missed += float(((estimate.frequencies - truth) ** 2).sum())
        expected += float(estimate.variances.sum())
        squares += float((truth**2).sum())
    return missed / squares, expected / squares


def figure(folder: Path, found: Sequence[Pairs], epsilons: Sequence[float], tick: Tick) -> Section:
    (adult,) = (pairs for pairs in found if pairs.data.name == "Adult")
    told: dict[tuple[str, float], Worth] = {}
    for place, epsilon in enumerate(epsilons):
        whole = float(adult.bound(epsilon).sum())
        for mechanism in MECHANISMS:
            told[mechanism, epsilon] = worth(adult, mechanism, epsilon, whole)
        tick((place + 1) / len(epsilons))
    columns = [
        "mechanism",
        "epsilon",
        *(f"TCPL {each}" for each in SHARE),
        "error, drawn",
        "error, expected",
        "0-1 error",
    ]
    rows: list[list[Cell]] = [[SHOWN[mechanism], epsilon, *each] for (mechanism, epsilon), each in told.items()]
    return Section(
        "fig7",
        "Figure 7: utility beside TCPL",
        f"{adult.data.source}; RAPPOR is SUE. Frequencies from one keyed report of each record and attribute.",
        [*_claims(told, epsilons), _elsewhere(found)],
        [Numbers("Adult", columns, rows)],
        [_drawn(folder, told, epsilons)],
    )


def _drawn(folder: Path, told: Found, epsilons: Sequence[float]) -> str:
    def panel(title: str, across: str, at: Callable[[Worth], float], up: Callable[[Worth], float]) -> Panel:
        lines = []
        for mechanism in MECHANISMS:
            points = [told[mechanism, epsilon] for epsilon in epsilons]
            lines.append(Line(SHOWN[mechanism], [at(each) for each in points], [up(each) for each in points]))
        return Panel(title, across, "share of Algorithm 2's TCPL", lines, across == FREQUENCY, ticks_at_points=False)

    panels = [
        panel(f"(a) TCPL {SHARE[0]}, as in the paper", FREQUENCY, lambda each: each.error, lambda each: each.guess),
        panel(f"(a) TCPL {SHARE[1]}", FREQUENCY, lambda each: each.error, lambda each: each.reports),
        panel(f"(b) TCPL {SHARE[0]}, as in the paper", WRONG, lambda each: each.wrong, lambda each: each.guess),
        panel(f"(b) TCPL {SHARE[1]}", WRONG, lambda each: each.wrong, lambda each: each.reports),
    ]
    caption = (
        f"Adult; epsilon {', '.join(f'{epsilon:g}' for epsilon in epsilons)} along each line, from right to left. "
        "Claim: OLH has little error at 60 % of the TCPL of SS. That is what its guess leaks; its reports leak all "
        "that a mechanism can, as do those of RAPPOR, OUE, BLH and SHE."
    )
    return draw(folder / "fig7.png", "Figure 7: utility and leakage of eight mechanisms", panels, caption, columns=2)


FREQUENCY, WRONG = "error of frequencies (23)", "0-1 error of the guess (24)"


def _claims(told: Found, epsilons: Sequence[float]) -> list[Claim]:
    olh, ss = told["olh", epsilons[0]], told["ss", epsilons[0]]
    spread = [max(told[m, e].guess for m in MECHANISMS) - min(told[m, e].guess for m in MECHANISMS) for e in epsilons]
    real = [max(told[m, e].reports for m in ANY_SET) - min(told[m, e].reports for m in ANY_SET) for e in epsilons]
    falls = [
        told[m, before].wrong > told[m, after].wrong
        for m in MECHANISMS
        for before, after in itertools.pairwise(epsilons)
    ]
    first, last = (np.mean([told[m, e].wrong for m in MECHANISMS]) for e in (epsilons[0], epsilons[-1]))
    return [
        Claim(
            "fig7: OLH at 60 % of SS",
            f"At epsilon {epsilons[0]:g} OLH has a frequency error of about .002 at only 60 % of the TCPL of SS.",
            verdict_of([abs(olh.error - 0.002) < 0.001, olh.guess < 0.7 * ss.guess, olh.reports < 0.7 * ss.reports]),
            f"Error {olh.error:.4f}; guessed {olh.guess:.3f} against {ss.guess:.3f}, {olh.guess / ss.guess:.0%}; the "
            f"reports {olh.reports:.3f} against {ss.reports:.3f}.",
            "the guess of Appendix B is all that an attacker does with a report. By the reports OLH leaks more than "
            "SS.",
        ),
        Claim(
            "fig7: mechanisms leak differently",
            "At one budget mechanisms differ in TCPL.",
            verdict_of([each > 0.1 for each in spread] + [each > 0.1 for each in real]),
            f"Shares span {min(spread):.2f} to {max(spread):.2f} for guesses; for the reports of the five whose "
            f"outputs stand for any set {max(real):.1g}.",
            "guesses are compared, or GRR, EXP and SS: the reports of the five others all leak the bound.",
        ),
        Claim(
            "fig7: 0-1 error behaves alike",
            "The 0-1 error falls with the budget, as the error of frequencies does.",
            verdict_of(falls),
            f"On average {first:.2f} at epsilon {epsilons[0]:g} and {last:.2f} at {epsilons[-1]:g}.",
            "a larger budget makes the guess better, with each of the eight.",
        ),
    ]


ANY_SET = ("sue", "oue", "blh", "olh", "she")


def _elsewhere(found: Sequence[Pairs]) -> Claim:
    ratios = {
        kind: {
            pairs.data.label: float(getattr(pairs, kind)("olh", 1.0).sum() / getattr(pairs, kind)("ss", 1.0).sum())
            for pairs in found
        }
        for kind in ("attacked", "exact")
    }
    return Claim(
        "fig7: other data sets",
        "The results are consistent with the other data sets: OLH leaks less than SS.",
        verdict_of([ratio < 0.95 for each in ratios.values() for ratio in each.values()]),
        "OLH's share of SS's TCPL at epsilon 1, guessed and really: "
        + "; ".join(f"{name} {ratios['attacked'][name]:.2f}, {ratios['exact'][name]:.2f}" for name in ratios["exact"])
        + ".",
        "guesses are compared; the reports of OLH never leak less.",
    )
