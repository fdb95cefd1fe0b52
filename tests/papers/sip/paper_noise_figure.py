"""Figures 3 and 4 drawn, and what they claim."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from paper_drawing import Line, Panel, draw
from paper_findings import FAILS, ONLY_WHEN, Claim, Numbers, Section, verdict_of
from paper_noise import (
    EPSILON,
    NOISE_KEPT,
    STARTS,
    Printed,
    Steps,
    breaks_at,
    data_correlation,
    least_second,
    printed,
    two_steps,
)

from mechanisms.sequence.noise_value import NoiseValue, noise_value


class Curves(NamedTuple):
    """Everything that is drawn, for flips from nearly 0 to nearly 1; `few` are those for which a search is made."""

    name: str
    one: float
    flips: list[float]
    values: list[NoiseValue]
    closed: list[Printed]
    alone: list[float]
    published: list[Steps]
    bounded: list[Steps]
    few: list[float]
    together: dict[tuple[str, bool], list[float]]

    @property
    def data(self) -> list[float]:
        return [value.data_correlation for value in self.values]

    @property
    def beyond(self) -> list[bool]:
        """Where a published step tells more than its epsilon."""
        return [max(step.first, step.second) > EPSILON + 1e-9 for step in self.published]


def curves_of(name: str, points: int, tick: Callable[[float], None]) -> Curves:
    one = STARTS[name]
    # From .001, where the paper's curves seem to end.
    flips = (0.5 - 0.499 * np.cos(np.linspace(0.0, math.pi, points))).tolist()
    few = flips[:: max(1, (points - 1) // 24)]
    together: dict[tuple[str, bool], list[float]] = {}
    for number, flip in enumerate(few):
        for mechanism in ("published_crr", "optimal"):
            for blind in (False, True):
                second = max(least_second(mechanism, one, flip, blind=blind), 1e-6)
                told = two_steps(mechanism, one, flip, EPSILON, second, blind=blind).together
                together.setdefault((mechanism, blind), []).append(told)
        tick(number / len(few))
    return Curves(
        name,
        one,
        flips,
        [noise_value([1 - one, one], flip, [EPSILON, EPSILON]) for flip in flips],
        [printed(one, flip) for flip in flips],
        [2 * p * (1 - p) / math.e for p in (one * (1 - flip) + (1 - one) * flip for flip in flips)],
        [two_steps("published_crr", one, flip) for flip in flips],
        [two_steps("optimal", one, flip) for flip in flips],
        [data_correlation(one, flip) for flip in few],
        together,
    )


def figure(folder: Path, name: str, points: int, tick: Callable[[float], None]) -> Section:
    curves = curves_of(name, points, tick)
    claims = [*_claims(curves), _less_noise(curves), _with_noise_bounded(curves)]
    if name == "fig4":
        claims.append(_intercepts())
    rows = [
        [flip, v.data_correlation, v.noise_correlation, v.information, v.noise[1], alone, step.first, step.second]
        for flip, v, alone, step in zip(curves.flips, curves.values, curves.alone, curves.published, strict=True)
    ]
    columns = ["phi", "rho_X", "rho_N", "I(N1;N2)", "P(N2)", "P(N2), independent", "step 1 tells", "step 2 tells"]
    return Section(
        name,
        f"Figure {name[3:]}: Example 1 with P1 = {curves.one:g}",
        "Two binary values, the second flipped with phi; epsilon 1 (SIP) a step; bounded noise: the second epsilon is "
        f"the least that keeps the noise at time 2 at {NOISE_KEPT:g}. The paper names none of these numbers.",
        claims,
        [Numbers("the published mechanism", columns, rows[:: max(1, points // 20)])],
        [_drawn(folder, curves)],
    )


def _drawn(folder: Path, curves: Curves) -> str:
    data, few, together = curves.data, curves.few, curves.together
    bands = _bands(data, [d for d, bad in zip(data, curves.beyond, strict=True) if bad])
    lines = {
        ("How the noises hang together", "correlation; nats"): [
            Line("correlation of the noises", data, [v.noise_correlation for v in curves.values]),
            Line("mutual information of the noises", data, [v.information for v in curves.values]),
        ],
        ("Noise at time 2", "P(Y2 differs from X2)"): [
            Line("published CRR", data, [v.noise[1] for v in curves.values]),
            Line("published CRR, values taken as independent", data, curves.alone),
            Line("optimal (keeps epsilon)", data, [step.noise_second for step in curves.bounded]),
        ],
        (f"What both tell, noise at time 2 kept at {NOISE_KEPT:g}", "nats, by enumeration"): [
            Line("published CRR", few, together["published_crr", False]),
            Line("published CRR, values taken as independent", few, together["published_crr", True]),
            Line("optimal (keeps epsilon)", few, together["optimal", False]),
            Line("optimal, values taken as independent", few, together["optimal", True]),
        ],
        ("What the published steps really tell", "nats"): [
            Line("step 1", data, [step.first for step in curves.published]),
            Line("step 2", data, [step.second for step in curves.published]),
            Line("the epsilon that is promised", data, [EPSILON] * len(data)),
        ],
    }
    panels = [Panel(title, "correlation of the data", up, drawn, bands=bands) for (title, up), drawn in lines.items()]
    title = f"Figure {curves.name[3:]}: Example 1, P1 = {curves.one:g}, epsilon 1 (SIP) a step"
    caption = (
        "Claim: the more the data are correlated, the more the noises are, and the less noise is needed at time 2. "
        "Shaded: a published step tells more than its epsilon there, so what is drawn is not epsilon-SIP."
    )
    return draw(folder / f"{curves.name}.png", title, panels, caption, columns=2)


def _bands(data: list[float], beyond: list[float]) -> list[tuple[float, float]]:
    """Neighbours in the order of the correlation that are all beyond."""
    bad, found, start = set(beyond), [], None
    ordered = sorted(data)
    for place, value in enumerate(ordered):
        if value in bad and start is None:
            start = value
        if start is not None and (value not in bad or place == len(ordered) - 1):
            found.append((start, value if value in bad else ordered[place - 1]))
            start = None
    return found


def _claims(curves: Curves) -> list[Claim]:
    name, values = curves.name, curves.values
    apart = max(
        abs(one - other)
        for c, v in zip(curves.closed, values, strict=True)
        for one, other in (
            (c.noise_correlation, v.noise_correlation),
            (c.noise_second, v.noise[1]),
            (c.data_correlation, v.data_correlation),
        )
    )
    rootless = max(abs(c.without_root - v.noise_correlation) for c, v in zip(curves.closed, values, strict=True))
    strong = sorted((abs(v.data_correlation), v.noise_correlation) for v in values)
    rising = all(b[1] >= a[1] - 1e-9 for a, b in pairwise(strong))
    least = min(values, key=lambda v: abs(v.data_correlation))
    ends = max(step.first for step in curves.published), max(step.second for step in curves.published)
    rarest, beyond = min(curves.one, 1 - curves.one), breaks_at(curves.one)
    return [
        Claim(
            f"{name}: closed forms",
            "Appendices D and E give the noises in closed form.",
            ONLY_WHEN if apart < 1e-12 < rootless else FAILS,
            f"Largest difference from sixteen outcomes: {apart:.1e}. With the standard deviation as printed, "
            f"Pr(N=1) Pr(N=0): {rootless:.2f}.",
            "the square root is put back that the printed standard deviation lacks.",
        ),
        Claim(
            f"{name}: noises follow the data",
            "The correlation of the noises falls to 0 with that of the data; independent data, independent noises.",
            verdict_of([rising, least.information < 1e-9, abs(least.noise_correlation) < 1e-6]),
            f"rho_N from {strong[0][1]:.3f} at |rho_X| = {strong[0][0]:.3f} to {strong[-1][1]:.3f} at "
            f"{strong[-1][0]:.3f}; least I {least.information:.1e} nats.",
            "rho_N grows with |rho_X| on both sides.",
        ),
        Claim(
            f"{name}: epsilon-SIP",
            "Each step keeps epsilon.",
            verdict_of([not bad for bad in curves.beyond]),
            f"At epsilon 1 step 1 tells up to {ends[0]:.2f} nats and step 2 up to {ends[1]:.2f}.",
            f"|rho_X| is at most {beyond:.3f}: beyond it a belief falls below 1/(e^epsilon + 1) = .269."
            if beyond is not None
            else f"the rarer first value has {rarest:.2f}, below 1/(e^epsilon + 1) = .269, whatever phi is.",
        ),
    ]


def _intercepts() -> Claim:
    flat, steep = (noise_value([1 - one, one], 0.001, [EPSILON, EPSILON]) for one in STARTS.values())
    return Claim(
        "fig4: the steeper prior",
        "The intercept of Figure 4 is above that of Figure 3: the more skewed the prior, the more the noises hang "
        "together.",
        verdict_of([steep.noise_correlation > flat.noise_correlation]),
        f"rho_N at phi = .001: {flat.noise_correlation:.3f} for P1 = .5, {steep.noise_correlation:.3f} for .95.",
        "both releases are of the same, rare value. (Neither end keeps epsilon.)",
    )


def _less_noise(curves: Curves) -> Claim:
    ordered = sorted(
        (abs(v.data_correlation), v.noise[1], alone, step.noise_second)
        for v, alone, step in zip(curves.values, curves.alone, curves.bounded, strict=True)
    )
    steps = list(pairwise(ordered))
    falls = all(after[1] <= before[1] + 1e-9 for before, after in steps)
    turns = [before[0] for before, after in steps if after[3] > before[3] + 1e-6]
    strongest = ordered[-1]
    verdict = verdict_of([falls, not turns])
    why = "the belief about X2 is the more skewed, and a skewed belief is released more often as it is"
    return Claim(
        f"{curves.name}: less noise at time 2",
        "The more correlated the data, the less noise is needed at time 2.",
        verdict,
        f"At |rho_X| = {strongest[0]:.2f}: published CRR {strongest[1]:.4f}, values taken as independent "
        f"{strongest[2]:.4f}, least that keeps epsilon {strongest[3]:.4f}; uncorrelated {ordered[0][1]:.4f}.",
        f"epsilon is not kept, or |rho_X| is below {min(turns):.2f}: from there the least noise that keeps epsilon "
        "first "
        "rises, because the rarer value may no longer be released as it is."
        if verdict == ONLY_WHEN
        else f"{why}.",
    )


def _with_noise_bounded(curves: Curves) -> Claim:
    told = curves.together
    pairs = list(zip(curves.few, told["published_crr", False], told["published_crr", True], strict=True))
    better = [aware <= unaware + 1e-6 for _, aware, unaware in pairs]
    at, aware, unaware = pairs[1]
    bounded = [told["optimal", blind][1] for blind in (False, True)]
    spans = [abs(data) for (data, _, _), so in zip(pairs, better, strict=True) if so and abs(data) > 0.02]
    why = "the noise at time 2 is spent where the belief after Y1 needs it"
    otherwise = (
        "elsewhere step 1, which no choice at time 2 changes, and the rare value at time 2 decide the largest leak"
    )
    verdict = verdict_of(better)
    return Claim(
        f"{curves.name}: bounded noise",
        "With the noise at time 2 bounded, knowing the correlation makes the total leakage of both values smaller.",
        verdict,
        f"At |rho_X| = {abs(at):.2f}: {aware:.3f} nats with and {unaware:.3f} without, by enumeration; "
        f"`optimal`: {bounded[0]:.3f} and {bounded[1]:.3f}.",
        f"|rho_X| is {min(spans):.2f} or more: {why}; {otherwise}." if verdict == ONLY_WHEN else f"{why}.",
    )
