"""Figure 4: leaks by layer, that is by how many tuples are unknown, under assigned weights and Gaussian laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from paper_command import Tick
from paper_drawing import Line, Panel, draw
from paper_findings import Claim, Numbers, Section, verdict_of
from pdp_gaussian_figures import NEGATIVE, POSITIVE, claims, layers
from pdp_graph import UNEVEN, beta_weights, full, hybrid_weights
from pdp_laws import alike, leak

from beliefs.correlation.bound import Matrix
from beliefs.prior.published import chain_rule

Curves = Mapping[str, Sequence[float]]
BELOW: Final = (-0.2, -0.4, -0.6, -0.8)
READINGS: Final = 8
CAPTION: Final = (
    "(a), (b): Algorithm 1 on assigned weights. (c), (d): Theorem 6. Last panel: a law instead of weights; what the "
    "chain rule says beside what the adversary learns. Curves are named by the mean of the weights, or the correlation."
)


def figure(folder: Path, size: int, runs: int, tick: Tick) -> Section:
    done, all_of_them = 0, 3 * len(POSITIVE)

    def drawn(mean: float, *narrow: float) -> list[float]:
        nonlocal done
        source = np.random.default_rng([41, round(1000 * abs(mean)), mean < 0])
        found = _mean_layers([beta_weights(source, size, mean, *narrow) for _ in range(runs)])
        done += 1
        tick(done / all_of_them)
        return found

    positive, negative = ({mean: drawn(mean) for mean in each} for each in (POSITIVE, BELOW))
    uneven = {mean: drawn(mean, UNEVEN) for mean in POSITIVE}
    source = np.random.default_rng(42)
    hybrid = _mean_layers([hybrid_weights(source, size) for _ in range(runs)])
    gaussian = {rho: layers(rho) for rho in (*POSITIVE, *NEGATIVE)}
    truth, chain = law_and_chain(READINGS)
    panels = [
        _panel("(a) weights of a positive mean", positive),
        _panel("(b) weights of a negative mean", negative, {"from -1 to 1, even": hybrid}),
        _panel("(c) Gaussian, positive", {rho: gaussian[rho] for rho in POSITIVE}),
        _panel("(d) Gaussian, negative", {rho: gaussian[rho] for rho in NEGATIVE}),
        _panel("(a) with weights spread more, k = 10", uneven),
        _panel(f"{READINGS} readings of one bit, a tenth wrong", {}, {"exact": truth, "Theorem 5": chain}),
    ]
    return Section(
        "fig4",
        "Figure 4: prior knowledge and correlation",
        f"Layer L: 15 - L tuples are known ({size} tuples in (a) and (b)); the largest leak of the layer. Ranges and "
        f"scale 1. Weights are sign(m) Beta(k |m|, k (1 - |m|)), k = 200, the mean of {runs} graphs: the paper gives "
        "no parameters and no numbers. The last panel is not the paper's.",
        [
            *_claims(positive, negative, uneven, hybrid[0]),
            _hybrid_claim(hybrid),
            *claims(gaussian),
            _law_claim(truth, chain),
        ],
        [
            _numbers("(a) and (b), mean of the weights", {**positive, **negative}),
            _numbers("(c) and (d), correlation", gaussian),
        ],
        [draw(folder / "fig4.png", "Figure 4: leaks by the number of unknown tuples", panels, CAPTION, columns=3)],
    )


def _mean_layers(graphs: Sequence[Matrix]) -> list[float]:
    return [float(each) for each in np.mean([full(weights) for weights in graphs], axis=0)]


def law_and_chain(size: int) -> tuple[list[float], list[float]]:
    """The exact leak and Theorem 5's value by layer, for readings of one hidden bit."""
    law = alike(size, 0.1)
    known = [tuple(range(1, size + 1 - layer)) for layer in range(1, size + 1)]
    return [leak(law, 0, each) for each in known], [chain_rule(law, 1.0, 0, each) for each in known]


def _panel(
    title: str, rows: Mapping[float, Sequence[float]], others: Mapping[str, Sequence[float]] | None = None
) -> Panel:
    curves = {**{f"at {key:g}": row for key, row in rows.items()}, **(others or {})}
    lines = [Line(key, [float(each) for each in range(1, len(row) + 1)], row) for key, row in curves.items()]
    return Panel(title, "layer (unknown tuples)", "nats", lines)


def _numbers(title: str, rows: Mapping[float, Sequence[float]]) -> Numbers:
    length = len(next(iter(rows.values())))
    return Numbers(
        title, ["", *(f"L = {layer}" for layer in range(1, length + 1))], [[f"{k:g}", *row] for k, row in rows.items()]
    )


def _claims(
    positive: Mapping[float, Sequence[float]],
    negative: Mapping[float, Sequence[float]],
    uneven: Mapping[float, Sequence[float]],
    hybrid_at_first: float,
) -> list[Claim]:
    firsts = {row[0] for rows in (positive, negative, uneven) for row in rows.values()}
    rising = {mean: bool(np.all(np.diff(row) > 0)) for mean, row in [*positive.items(), *uneven.items()]}
    dips = [mean for mean, row in uneven.items() if not np.all(np.diff(row) > 0)]
    falling = [bool(np.all(np.diff(row) <= 1e-9)) for row in negative.values()]
    by_mean = np.diff(np.array(list(positive.values())), axis=0)[:, 1:]
    least = {mean: min(row) for mean, row in negative.items()}
    return [
        Claim(
            "fig4: layer 1",
            "At layer 1 the leak does not depend on the correlation.",
            verdict_of([firsts == {1.0}, hybrid_at_first == 1.0]),
            "1 everywhere.",
            "whoever knows all others learns LS/lambda (Theorem 4).",
        ),
        Claim(
            "fig4a: grows with the correlation",
            "With positive weights the leak generally grows with their mean.",
            verdict_of([bool(np.all(by_mean > 0))]),
            f"At the last layer {', '.join(f'{row[-1]:.3f} at {mean:g}' for mean, row in positive.items())}.",
            "every node is a sum of positive weights.",
        ),
        Claim(
            "fig4a: grows with the layer",
            "And it grows with the layer.",
            verdict_of([*rising.values(), not dips]),
            f"With k = 200 at every mean; with k = 10 not at {', '.join(f'{mean:g}' for mean in dips) or 'none'}, "
            f"where layer 2 is {uneven[POSITIVE[0]][1]:.3f}, layer 3 {uneven[POSITIVE[0]][2]:.3f}.",
            "the weights are much alike: the largest node of a layer has lucky weights, and the least path avoids them "
            "where there are several.",
        ),
        Claim(
            "fig4b: no trend, highest at layer 1",
            "With negative weights there is no monotone trend, and layer 1 is the highest.",
            verdict_of([not any(falling), all(max(row) == row[0] for row in negative.values())]),
            f"Down to {', '.join(f'{low:.3f} at {mean:g}' for mean, low in least.items())}, and up again.",
            "|v + IC| turns where v is smaller than the weight; it never exceeds the larger of the two.",
        ),
    ]


def _hybrid_claim(hybrid: Sequence[float]) -> Claim:
    return Claim(
        "fig4: weights of both signs",
        "(Hybrid correlations are named, not tried.) Layer 1 is no longer the highest.",
        verdict_of([max(hybrid) > 1.0 + 1e-9]),
        f"{', '.join(f'{each:.3f}' for each in hybrid[:5])} at layers 1 to 5, {hybrid[-1]:.3f} at the last.",
        "one positive weight on the only path to a node of layer 2 is enough.",
    )


def _law_claim(truth: Sequence[float], chain: Sequence[float]) -> Claim:
    return Claim(
        "fig4: a law instead of weights",
        "(Ours.) The chain rule gives a law's leak at each layer.",
        verdict_of([abs(one - other) < 1e-6 for one, other in zip(truth, chain, strict=True)]),
        f"Readings of one bit: exact {truth[1]:.4f}, {truth[3]:.4f}, {truth[-1]:.4f} at layers 2, 4, {len(truth)}; "
        f"Theorem 5 {chain[1]:.4f}, {chain[3]:.4f}, {chain[-1]:.4f}.",
        "at most one tuple is unknown, or the two happen to agree.",
    )
