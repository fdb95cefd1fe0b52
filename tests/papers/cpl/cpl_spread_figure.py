"""Figure 4(d), how leaks spread over all data sets, and Figure 5, leaks beside what is usually called correlation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from cpl_data import ALL, Floats
from cpl_leaks import Pairs
from paper_drawing import Line, Panel, draw
from paper_findings import Cell, Claim, Numbers, Section, verdict_of

EPSILON: Final = 1.0
NEAR_ZERO: Final = 0.1
STEP: Final = 0.05
CLASSES: Final = 12
METRICS: Final = {"NMI": "normalised mutual information, I/H(X, Y)", "|PCC|": "absolute Pearson correlation"}


@lru_cache(maxsize=1)
def all_pairs() -> tuple[Pairs, ...]:
    return tuple(Pairs(each()) for each in ALL)


def told_of(found: Sequence[Pairs]) -> str:
    return "; ".join(pairs.data.source for pairs in found)


def spread(folder: Path, found: Sequence[Pairs]) -> Section:
    leaks = {pairs.data.label: pairs.exact("grr", EPSILON) for pairs in found}
    bins = np.arange(0.0, 1.0 + STEP, STEP)
    middles = (bins[:-1] + STEP / 2).tolist()
    shares = {name: np.histogram(told, bins)[0] / told.size for name, told in leaks.items()}
    lines = [Line(name, middles, each.tolist()) for name, each in shares.items()]
    caption = (
        f"GRR at epsilon {EPSILON:g}; shares of the ordered pairs in steps of {STEP:g}. Claim: most leakages in all "
        "four are close to zero. In Adult they are not."
    )
    panel = Panel("", "nats", "share of ordered pairs", lines)
    title = "Figure 4(d): how much attributes lose through each other"
    below = {name: float((told < NEAR_ZERO).mean()) for name, told in leaks.items()}
    rows: list[list[Cell]] = [
        [name, told.size, below[name], float(told.mean()), float(np.median(told)), float(told.max())]
        for name, told in leaks.items()
    ]
    return Section(
        "fig4d",
        "Figure 4(d): all data sets",
        f"{told_of(found)}. GRR, exact.",
        _spread_claims(found, below, leaks),
        [Numbers("leaks at epsilon 1", ["data", "pairs", f"below {NEAR_ZERO:g}", "mean", "median", "largest"], rows)],
        [draw(folder / "fig4d.png", title, [panel], caption)],
    )


def _of_common_values(found: Sequence[Pairs]) -> float:
    """The share of Adult's pairs near 0, of the records all of whose values at least 2 % have."""
    (data,) = (pairs.data for pairs in found if pairs.data.name == "Adult")
    shares = [np.bincount(column)[column] / len(column) for column in data.records.T]
    kept = data.records[np.min(shares, axis=0) >= 0.02]
    numbered = [np.unique(column, return_inverse=True)[1] for column in kept.T]
    return float((Pairs(data._replace(records=np.stack(numbered, axis=1))).exact("grr", EPSILON) < NEAR_ZERO).mean())


def _spread_claims(found: Sequence[Pairs], below: Mapping[str, float], leaks: Mapping[str, Floats]) -> list[Claim]:
    return [
        Claim(
            "fig4d: most near 0",
            "Most leakages in all four data sets are close to zero.",
            verdict_of([share > 0.5 for share in below.values()]),
            "Below .1: " + ", ".join(f"{name} {share:.0%}" for name, share in below.items()) + " of the ordered pairs.",
            "attributes have few values. Of many values some two differ a lot in what goes with them, and the worst "
            f"two count: in Adult without values rarer than 2 % it is {_of_common_values(found):.0%}.",
        ),
        Claim(
            "fig4d: below the worst case",
            "Most of the time CPL is much less than the budget.",
            verdict_of([float(np.median(told)) < EPSILON / 2 for told in leaks.values()]),
            "Medians "
            + ", ".join(f"{name} {float(np.median(told)):.3f}" for name, told in leaks.items())
            + " of 1 nat.",
            "half of the pairs lose less than half of epsilon in each data set.",
        ),
    ]


def metrics(folder: Path, found: Sequence[Pairs]) -> Section:
    leaks = np.concatenate([pairs.exact("grr", EPSILON) for pairs in found])
    correlations = [each for pairs in found for each in pairs.correlations()]
    levels = {
        "NMI": np.array([each.normalised for each in correlations]),
        "|PCC|": np.array([abs(each.pearson) for each in correlations]),
    }
    summary = {name: _classes(level, leaks) for name, level in levels.items()}
    panels = [
        Panel(
            f"CPL against {name}",
            METRICS[name],
            "nats",
            [
                Line("one ordered pair", levels[name].tolist(), leaks.tolist(), joined=False),
                Line("mean and standard deviation", *_columns(summary[name])),
            ],
            log_across=name == "NMI",
            ticks_at_points=False,
        )
        for name in METRICS
    ]
    caption = (
        f"{len(leaks):,} ordered pairs of four data sets, GRR at epsilon {EPSILON:g}; as many pairs in each class. "
        "Claims: CPL grows with the metrics, but cannot be told from them."
    )
    columns = ["from", "mean", "deviation", "least", "largest"]
    return Section(
        "fig5",
        "Figure 5: CPL and correlation",
        f"{told_of(found)}. GRR at epsilon {EPSILON:g}, exact; NMI is I/H(X, Y), which is what Appendix K computes.",
        _metric_claims(found, levels, leaks, summary),
        [Numbers(f"classes of {name}", columns, rows) for name, rows in summary.items()],
        [draw(folder / "fig5.png", "Figure 5: conventional metrics do not tell the leak", panels, caption)],
    )


def _columns(rows: list[list[float]]) -> tuple[list[float], list[float], list[float]]:
    """Level, mean and deviation."""
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def _classes(level: Floats, leaks: Floats) -> list[list[float]]:
    """Classes with about as many pairs each, by rising level."""
    order = np.argsort(level, kind="stable")
    rows = []
    for places in np.array_split(order, CLASSES):
        told = leaks[places]
        rows.append(
            [float(level[places].mean()), float(told.mean()), float(told.std()), float(told.min()), float(told.max())]
        )
    return rows


def _metric_claims(
    found: Sequence[Pairs], levels: Mapping[str, Floats], leaks: Floats, summary: Mapping[str, list[list[float]]]
) -> list[Claim]:
    ranks = {name: _rank_correlation(level, leaks) for name, level in levels.items()}
    widest = {name: max(rows, key=lambda row: row[4] - row[3]) for name, rows in summary.items()}
    apart = max(
        float(np.abs(told - told[[pairs.pairs.index((b, a)) for a, b in pairs.pairs]]).max())
        for pairs in found
        for told in [pairs.exact("grr", EPSILON)]
    )
    return [
        Claim(
            "fig5: CPL grows with the metrics",
            "CPL increases as NMI, or the Pearson correlation, increases.",
            verdict_of([rank > 0.5 for rank in ranks.values()]),
            "Rank correlations " + ", ".join(f"{name} {rank:.2f}" for name, rank in ranks.items()) + ".",
            "both are 0 for independent attributes and grow on average.",
        ),
        Claim(
            "fig5: no metric tells it (OB3)",
            "CPL cannot be told from the metric: at NMI .5 it varies by about .6.",
            verdict_of([row[4] - row[3] > 0.5 for row in widest.values()]),
            "; ".join(f"at {name} {row[0]:.3f} from {row[3]:.3f} to {row[4]:.3f} nats" for name, row in widest.items())
            + ". Few pairs of these data reach NMI .5.",
            "the metric is an average over all values, the leak that of the two secrets that differ most.",
        ),
        Claim(
            "fig5: symmetric metrics",
            "A symmetric metric cannot describe CPL, which is not.",
            verdict_of([apart > 0.1]),
            f"Two directions of one pair differ by up to {apart:.3f} nats, its NMI and PCC by nothing.",
            "P(U|X) and P(X|U) are different laws.",
        ),
    ]


def _rank_correlation(one: Floats, other: Floats) -> float:
    ranks = [np.argsort(np.argsort(each, kind="stable"), kind="stable") for each in (one, other)]
    return float(np.corrcoef(ranks[0].astype(float), ranks[1].astype(float))[0, 1])
