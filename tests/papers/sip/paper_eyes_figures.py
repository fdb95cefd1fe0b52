"""Figures 7 and 9 drawn, and what they claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from paper_drawing import Line, Panel, draw, save
from paper_eyes import (
    BOUNDED,
    DOUBLE,
    FIVE,
    LOCAL,
    NEAR,
    ORDERS,
    PUBLISHED,
    RAW,
    RAW_DOUBLE,
    SHOWN_AT,
    TEN,
    WORKS,
    Study,
    Told,
    look,
    mean_distance,
)
from paper_findings import Claim, Numbers, Section, verdict_of, where
from paper_gaze import RATE, middles
from paper_releases import Integers

from beliefs.chain import Chain

Found = dict[int, dict[str, dict[float, Told]]]


def figures(
    folder: Path, what: Study, samples: int, epsilons: Sequence[float], tick: Callable[[float], None]
) -> tuple[Section, Section]:
    """Figure 7 at 10 a second, and Figure 9."""
    begin = what.sequences[0].size // 3
    stretch = [what.sequences[0][begin : begin + samples]]
    found: Found = {order: {name: {} for name in WORKS} for order in ORDERS}
    todo = [(order, name, e) for order in ORDERS for name in WORKS for e in epsilons]
    for place, (order, name, epsilon) in enumerate(todo):
        found[order][name][epsilon] = look(what, stretch, order, epsilon, name)
        tick((place + 1) / len(todo))
    picture = _drawn(folder, found)
    setting = (
        f"Seeded gaze of {len(what.sequences)} people, {what.sequences[0].size:,} samples each, {what.side} x "
        f"{what.side} cells; models from "
        f"all of it: {what.chains[1].data.size:,} pairs seen; order 2 with {what.chains[2].size:,} states. "
        f"{samples} samples of one person released."
    )
    seven = _traces(
        folder,
        what,
        stretch[0],
        {name: found[1][name][SHOWN_AT].symbols for name in (LOCAL, RAW, PUBLISHED, NEAR, TEN)},
    )
    return (
        Section("fig7", "Figure 7: traces of gaze", setting, [_picture_claim(found[1])], [], [seven]),
        Section(
            "fig9",
            "Figure 9: mean Euclidean distance",
            setting,
            _claims(what, found, epsilons),
            _tables(found, epsilons),
            [picture],
        ),
    )


def _drawn(folder: Path, found: Found) -> str:
    panels = [
        Panel(
            f"{'first' if order == 1 else 'second'} order chain",
            "epsilon a second (50 samples)",
            "mean Euclidean distance, screens",
            [
                Line(name, list(lines), [told.distance for told in lines.values()])
                for name, lines in found[order].items()
            ],
            log_across=True,
        )
        for order in ORDERS
    ]
    caption = (
        "Claims: batches are best, the larger the better; instantaneous SIP beats temporal LDP at 2 epsilon; "
        "utility more than twice that of LDP. Temporal LDP from raw values looks at the true value before, as in "
        "the paper: its sets tell it, "
        "so it is not LDP."
    )
    return draw(folder / "fig9.png", "Figure 9: how far releases of gaze are from the truth", panels, caption)


def _tables(found: Found, epsilons: Sequence[float]) -> list[Numbers]:
    return [
        Numbers(
            f"order {order}: {title}",
            ["mechanism", *(f"eps {e:g} a second" for e in epsilons)],
            [[name, *(told.numbers[place] for told in lines.values())] for name, lines in found[order].items()],
        )
        for order in ORDERS
        for place, title in (
            (0, "mean distance, screens"),
            (1, "most that a release (window) told, nats"),
            (2, "median told, nats"),
        )
    ]


def _traces(folder: Path, what: Study, true: Integers, shown: dict[str, Integers]) -> str:
    figure = Figure(figsize=(11, 7.6), facecolor="white")
    figure.suptitle(
        f"Figure 7: {true.size / RATE:g} s of gaze, released with epsilon {SHOWN_AT:g} a second (order 1)",
        fontsize=12,
        x=0.04,
        ha="left",
        weight="bold",
    )
    places = middles(what.side)
    axes = figure.subplots(2, 3)
    figure.subplots_adjust(left=0.05, right=0.98, top=0.9, bottom=0.14, wspace=0.18, hspace=0.25)
    for axis, (name, cells) in zip(axes.flat, {"the gaze itself, on the grid": true, **shown}.items(), strict=True):
        points = places[cells]
        axis.plot(points[:, 0], points[:, 1], color="#9db8cf", linewidth=0.5)
        axis.scatter(points[:, 0], points[:, 1], s=5, c=np.arange(cells.size), cmap="viridis", zorder=3, linewidths=0)
        far = mean_distance(what.side, true, cells)
        axis.set_title(name if cells is true else f"{name}\nmean distance {far:.3f}", fontsize=9)
        axis.set_xlim(0, 1)
        axis.set_ylim(0, 1)
        axis.set_aspect("equal")
        axis.set_xlabel("across the screen", fontsize=8)
        axis.set_ylabel("up the screen", fontsize=8)
        axis.label_outer()
        axis.tick_params(labelsize=7)
    caption = (
        "Claim: batched SIP keeps the trace, independent randomised response does not. From dark to light: time.\n"
        "What the published CRR and LDP from raw values show is bought with leaks beyond epsilon."
    )
    figure.text(0.04, 0.03, caption, fontsize=8.5, color="#333333")
    save(figure, folder / "fig7.png")
    return "fig7.png"


def _picture_claim(found: dict[str, dict[float, Told]]) -> Claim:
    at = {name: lines[SHOWN_AT].distance for name, lines in found.items()}
    return Claim(
        "fig7: the trace is kept",
        "Batched SIP keeps the shape of the trace where randomised response loses it.",
        verdict_of([at[TEN] < at[NEAR], at[TEN] < at[LOCAL]]),
        f"Mean distance: windows of 10 {at[TEN]:.3f}, near {at[NEAR]:.3f}, temporal LDP from releases "
        f"{at[LOCAL]:.3f}; published CRR {at[PUBLISHED]:.3f}.",
        "a window of ten has 2 nats at once, and a fixation is one decision about ten samples.",
    )


@dataclass(frozen=True)
class _Compared:
    found: Found
    epsilons: Sequence[float]

    def better(self, one: str, other: str, factor: float = 1.0) -> list[tuple[float, bool]]:
        """For each epsilon, whether one is nearer than the other (so many times) with both orders."""
        return [
            (e, all(factor * self.found[o][one][e].distance <= self.found[o][other][e].distance for o in ORDERS))
            for e in self.epsilons
        ]

    def at(self, name: str, order: int = 1) -> float:
        return self.found[order][name][SHOWN_AT].distance


def _claims(what: Study, found: Found, epsilons: Sequence[float]) -> list[Claim]:
    compared = _Compared(found, epsilons)
    return [*_of_utility(compared), *_of_promises(what, compared)]


def _of_utility(compared: _Compared) -> list[Claim]:
    at, better = compared.at, compared.better
    grown = [*better(FIVE, NEAR), *better(TEN, FIVE), *better(TEN, LOCAL)]
    beyond = [*better(TEN, PUBLISHED), *better(TEN, RAW_DOUBLE)]
    near, hamming, raw = better(NEAR, DOUBLE), better(BOUNDED, DOUBLE), better(NEAR, RAW_DOUBLE)
    twice, twice_raw = better(TEN, LOCAL, 2.0), better(TEN, RAW, 2.0)
    return [
        Claim(
            "fig9: batches",
            "Batched SIP releases outperform all others, and the gap grows with the batch.",
            verdict_of(so for _, so in (*grown, *beyond)),
            f"At 10 a second, order 1: near {at(NEAR):.3f}, windows of 5 {at(FIVE):.3f}, of 10 {at(TEN):.3f}, "
            "published "
            f"CRR {at(PUBLISHED):.3f}; order 2: {at(NEAR, 2):.3f}, {at(FIVE, 2):.3f}, {at(TEN, 2):.3f}, "
            f"{at(PUBLISHED, 2):.3f}.",
            "the others keep what they promise: gaze rests for many samples, and a window has w fiftieths of a "
            "second's "
            f"epsilon at once. Windows of 10 beat even the published CRR {where(better(TEN, PUBLISHED))}, and sets "
            "from "
            f"raw values {where(better(TEN, RAW_DOUBLE))}.",
        ),
        Claim(
            "fig9: better than 2 epsilon",
            "Instantaneous SIP is better than temporal LDP at 2 epsilon.",
            verdict_of(so for pairs in (near, hamming, raw) for _, so in pairs),
            f"At 10 a second: near {at(NEAR):.3f}, optimal {at(BOUNDED):.3f}; temporal LDP at 2 epsilon from "
            f"releases {at(DOUBLE):.3f}, from raw values {at(RAW_DOUBLE):.3f}.",
            f"the sets come from releases, as they must: near better {where(near)}. Against sets from raw values, "
            f"which tell the value before: {where(raw)}.",
        ),
        Claim(
            "fig9: twice the utility",
            "Utility is more than twice that of LDP mechanisms.",
            verdict_of(so for pairs in (twice, twice_raw) for _, so in pairs),
            f"At 10 a second windows of 10 are at {at(TEN):.3f}, temporal LDP at {at(LOCAL):.3f} from releases "
            f"({at(LOCAL) / at(TEN):.1f} times) and {at(RAW):.3f} from raw values.",
            f"the sets come from releases ({where(twice)}); against sets from raw values, which are no LDP: "
            f"{where(twice_raw)}.",
        ),
    ]


def _of_promises(what: Study, compared: _Compared) -> list[Claim]:
    found, epsilons = compared.found, compared.epsilons
    published = [(found[order][PUBLISHED][e], e) for order in ORDERS for e in epsilons]
    shown, possible = found[1][PUBLISHED][SHOWN_AT], _left_possible(what.chains[1])
    return [
        Claim(
            "fig9: CRR keeps epsilon",
            "The instantaneous mechanism of the paper keeps its share of epsilon.",
            verdict_of(told.most <= e / RATE + 1e-9 for told, e in published),
            f"At 10 a second a release has 0.2: the published CRR told up to {shown.most:.1f} nats, in the middle "
            f"{shown.usual:.1f}.",
            "hardly any cell ever reaches a belief of 1/(e^.2 + 1) = .45.",
        ),
        Claim(
            "fig9: temporal LDP from past values",
            "The support of the response is what may follow the previous values; that is epsilon-LDP.",
            verdict_of([possible >= what.side**2]),
            f"A release leaves {possible:.0f} of {what.side**2:,} cells possible for the true value before it, on "
            "average; all others are ruled out with certainty.",
            "the set is a function of the raw value before: P(y | x before) is 0 for some and not for others, so no "
            "epsilon bounds the ratio. Taken from releases, the support of a uniform start is everything, for ever.",
        ),
    ]


def _left_possible(chain: Chain) -> float:
    """Cells after which a release may come, averaged over releases drawn alike from what follows each cell."""
    counts = np.bincount(chain.indices, minlength=chain.size).astype(np.float64)
    sizes = np.diff(chain.indptr)
    weights = np.repeat(1.0 / sizes, sizes)
    return float((counts[chain.indices] * weights).sum() / chain.size)
