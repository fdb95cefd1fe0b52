"""Figure 9: clustering, classification and degrees with noise of four kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from ddp_noise import EQ_18, EVERYBODY, LPM, coverage
from paper_command import Tick
from paper_drawing import Line, Panel, draw
from paper_findings import Claim, Numbers, Section, verdict_of

from stream.social.draws import Floats
from stream.social.release import CENTRES, CITY_OF_CENTRE, UNITS, Question
from stream.social.world import World

RECORDS: Final = 30_162
ATTRIBUTES: Final = 14
REGULARISED: Final = 1e-3
MEAN_DEGREE: Final = 65.49
GROUP: Final = 200
"""The largest number of people of one profile that the stand-in of degrees takes."""

Rates = Mapping[str, Sequence[float]]


def clustering(world: World, epsilons: Sequence[float], repeats: int, tick: Tick) -> Rates:
    """The share of test people who get the cluster that the noiseless centroids give them."""
    source, question = np.random.default_rng(91), Question()
    multiples = coverage(world).named()
    found = {name: np.zeros(len(epsilons)) for name in multiples}
    added = question.contributions(world.city, world.goes_to)
    for repeat in range(repeats):
        order = source.permutation(world.size)
        train, test = order[world.size // 5 :], order[: world.size // 5]
        totals = added[train].sum(axis=0).astype(float)
        right = _nearest(world, test, _centroids(totals))
        for name, multiple in multiples.items():
            for place, epsilon in enumerate(epsilons):
                noisy = totals + source.laplace(0.0, question.sensitivity * multiple / epsilon, totals.size)
                found[name][place] += (_nearest(world, test, _centroids(noisy)) == right).mean() / repeats
        tick((repeat + 1) / repeats)
    return {name: row.tolist() for name, row in found.items()}


def _centroids(totals: Floats) -> Floats:
    counts, east, north = totals.reshape(len(CENTRES), 3).T
    counts = np.maximum(counts, UNITS)
    found: Floats = np.clip(np.stack([east / counts, north / counts], axis=1) + 0.5, 0.0, 1.0)
    return found


def _nearest(world: World, people: np.ndarray, centroids: Floats) -> np.ndarray:
    apart = ((world.homes[people][:, None] - centroids) ** 2).sum(axis=2)
    found: np.ndarray = np.where(world.city[people][:, None] == CITY_OF_CENTRE, apart, np.inf).argmin(axis=1)
    return found


def profiles(source: np.random.Generator, records: int = RECORDS) -> tuple[Floats, np.ndarray]:
    """A stand-in for Adult: dense attributes in [0, 1], a quarter of the labels positive, by a logistic law."""
    values = source.beta(2.0, 2.0, (records, ATTRIBUTES))
    score = (values - 0.5) @ source.normal(0.0, 4.0, ATTRIBUTES)
    score -= np.quantile(score, 0.78)
    return values, np.where(source.random(records) < 1 / (1 + np.exp(-2.0 * score)), 1.0, -1.0)


def separating(values: Floats, labels: np.ndarray, steps: int = 400) -> Floats:
    """A linear SVM by subgradients, with a constant attribute; rows are scaled to length 1 at most."""
    weights = np.zeros(values.shape[1])
    for step in range(1, steps + 1):
        inside = labels * (values @ weights) < 1.0
        slope = REGULARISED * weights - (labels[inside, None] * values[inside]).sum(axis=0) / len(labels)
        weights -= slope / (REGULARISED * (step + 100))
    return weights


def classification(
    multiples: Mapping[str, float], epsilons: Sequence[float], repeats: int
) -> tuple[Rates, float, float]:
    """Rates right with output perturbation; the rate without noise, and of the larger class."""
    source = np.random.default_rng(92)
    raw, labels = profiles(source)
    values = np.concatenate([raw - 0.5, np.ones((len(raw), 1))], axis=1)
    values /= np.sqrt(ATTRIBUTES / 4 + 1)
    cut = len(labels) * 4 // 5
    weights = separating(values[:cut], labels[:cut])
    test, wanted = values[cut:], labels[cut:]
    found = {name: [_rate(source, weights, 2 * multiple / (cut * REGULARISED * epsilon), test, wanted, repeats)
                    for epsilon in epsilons] for name, multiple in multiples.items()}  # fmt: skip
    return found, float((np.sign(test @ weights) == wanted).mean()), float((wanted < 0).mean())


def _rate(
    source: np.random.Generator, weights: Floats, scale: float, test: Floats, wanted: np.ndarray, repeats: int
) -> float:
    """The noise has a direction at random and a length of a gamma law: density in proportion to e^-length/scale."""
    directions = source.normal(size=(repeats, weights.size))
    directions /= np.sqrt((directions**2).sum(axis=1, keepdims=True))
    noisy = weights + directions * source.gamma(weights.size, scale, (repeats, 1))
    return float((np.sign(test @ noisy.T) == wanted[:, None]).mean())


def affinities(people: int = 2000) -> tuple[float, float]:
    """The largest printed affinity of two profiles, and the share of pairs whose cosine is above .8."""
    values, _ = profiles(np.random.default_rng(93), people)
    products = values @ values.T
    sums, lengths = values.sum(axis=1), np.sqrt((values**2).sum(axis=1))
    others = ~np.eye(people, dtype=bool)
    printed = products / sums[:, None] / sums
    return float(printed[others].max()), float((products / lengths[:, None] / lengths > 0.8)[others].mean())


def degrees(multiples: Mapping[str, float], epsilons: Sequence[float], people: int) -> tuple[Rates, float]:
    """The L1 error of the noisy histogram of degrees, each count at least 0; and that of publishing nothing."""
    source = np.random.default_rng(94)
    drawn = np.rint(np.exp(source.normal(np.log(MEAN_DEGREE) - 0.72, 1.2, people))).astype(int).clip(1, 2000)
    exact = np.bincount(drawn, minlength=2001).astype(float)

    def error(scale: float) -> float:
        noisy = np.maximum(exact + source.laplace(0.0, scale, exact.size), 0.0)
        return float(np.abs(noisy - exact).sum())

    found = {name: [error(2 * each / epsilon) for epsilon in epsilons] for name, each in multiples.items()}
    return found, float(people)


def figure(folder: Path, world: World, epsilons: Sequence[float], repeats: int, people: int, tick: Tick) -> Section:
    clustered = clustering(world, epsilons, repeats, tick)
    printed, cosine = affinities()
    alike = {
        "DPM, printed affinity (LPM)": 1.0,
        "DPM, cosine above .8": 1.0 + 0.5 * cosine * (RECORDS - 1),
        EVERYBODY: float(RECORDS),
    }
    classified, noiseless, larger = classification(alike, epsilons, 20 * repeats)
    grouped = {LPM: 1.0, EQ_18: 1.0 + 0.8 * GROUP, "baseline, component": float(GROUP), EVERYBODY: float(people)}
    counted, nothing = degrees(grouped, epsilons, people)
    panels = [
        Panel(
            "(a) clustering", "epsilon", "share of test people", [Line(n, epsilons, r) for n, r in clustered.items()]
        ),
        Panel("(b) classification", "epsilon", "share right", [Line(n, epsilons, r) for n, r in classified.items()]),
        Panel(
            "(c) degrees: L1 error",
            "epsilon",
            "people",
            [Line(n, epsilons, r) for n, r in counted.items()],
            log_up=True,
        ),
    ]
    columns = ["method", *(f"{epsilon:g}" for epsilon in epsilons)]
    return Section(
        "fig9",
        "Figure 9: three uses of noisy answers",
        f"(a) 4/5 of the stand-in for training, 1/5 for testing, {repeats} times. (b) A stand-in for Adult: "
        f"{RECORDS:,} records of {ATTRIBUTES} dense attributes; linear SVM, output perturbation. (c) Log-normal "
        f"degrees of {people:,} people, mean {MEAN_DEGREE:g}, profiles of at most {GROUP} people.",
        [
            *_claims_a(clustered, epsilons),
            *_claims_b(classified, noiseless, larger, (printed, cosine)),
            *_claims_c(counted, nothing),
        ],
        [
            Numbers("(a) shares", columns, [[name, *row] for name, row in clustered.items()]),
            Numbers("(b) shares", columns, [[name, *row] for name, row in classified.items()]),
            Numbers("(c) L1 errors", columns, [[name, *row] for name, row in counted.items()]),
        ],
        [draw(folder / "fig9.png", "Figure 9: clustering, classification, degrees", panels, CAPTION)],
    )


CAPTION: Final = (
    "(a): a guess at random is right in a half to a third. (b): without any weights one half is right. (c): counts "
    "below 0 are taken for 0; publishing zeros alone errs by the number of people."
)


def _claims_a(clustered: Rates, epsilons: Sequence[float]) -> list[Claim]:
    at = min(range(len(epsilons)), key=lambda place: abs(epsilons[place] - 0.9))
    dpm, all_of_them = clustered[EQ_18][at], clustered[EVERYBODY][at]
    return [
        Claim(
            "fig9a: clustering at epsilon .9",
            "Nearly 80 % with DPM, more than twice the others.",
            verdict_of([dpm > 0.75, dpm > 2 * all_of_them]),
            f"DPM {dpm:.0%} (exact rho {clustered['DPM, exact rho'][at]:.0%}), baseline {all_of_them:.0%}, LPM "
            f"{clustered[LPM][at]:.0%}.",
            "noise for 200 people on counts of 700 leaves little; and of two or three clusters in a city chance alone "
            "is right in 40 %.",
        ),
    ]


def _claims_b(classified: Rates, noiseless: float, larger: float, affinity: tuple[float, float]) -> list[Claim]:
    lpm, cosine, everybody = (row[-1] for row in classified.values())
    return [
        Claim(
            "fig9b: the affinity graph",
            "An edge where |d_i.d_j|/(|d_i|_1 |d_j|_1) is above .8.",
            verdict_of([affinity[0] > 0.8]),
            f"The largest is {affinity[0]:.3f}: no edge. By the cosine {affinity[1]:.0%} of all pairs are above .8.",
            "the product of two L1 norms is about 14 times too large. Without edges DPM is LPM.",
        ),
        Claim(
            "fig9b: classification",
            "85 % with DPM, more than twice the others.",
            verdict_of([lpm > 0.8, lpm > 2 * everybody]),
            f"Without noise {noiseless:.0%}; printed affinity {lpm:.0%}, cosine {cosine:.0%}, baseline "
            f"{everybody:.0%}; the larger class has {larger:.0%}.",
            "DPM's graph is empty. The others cannot be below one half on average: the noise points both ways.",
        ),
    ]


def _claims_c(counted: Rates, nothing: float) -> list[Claim]:
    dpm, component, everybody = (counted[name][-1] for name in (EQ_18, "baseline, component", EVERYBODY))
    return [
        Claim(
            "fig9c: degrees",
            "Almost ten times better than the others.",
            verdict_of([everybody > 8 * dpm, component > 8 * dpm]),
            f"L1 error {dpm:.3g} with Eq. 18, {component:.3g} with components of {GROUP}, {everybody:.3g} with "
            f"everybody; publishing nothing {nothing:.3g}.",
            "L is the number of people. With the size of a component the baseline errs hardly more.",
        )
    ]
