"""Figure 5: Algorithm 2 beside Algorithm 1."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from paper_command import Tick
from paper_drawing import Line, Panel, draw
from paper_findings import Cell, Claim, Numbers, Section, verdict_of
from pdp_graph import EVEN, UNEVEN, Assigned, beta_weights, fast, full, hybrid_weights

MEANS: Final = (0.2, 0.5, 0.8)
HYBRID: Final = "from -1 to 1"
FULL, FAST = "Algorithm 1, all nodes", "Algorithm 2, n of a layer"


class Runs(NamedTuple):
    """For one kind of weights and each size: leaks, seconds and edges of both searches, one row for each run."""

    whole: list[list[float]]
    quick: list[list[float]]
    seconds: list[tuple[float, float]]
    edges: list[tuple[int, int]]


def runs_of(kind: str, sizes: Sequence[int], runs: int) -> Runs:
    source, found = np.random.default_rng([51, *kind.encode()]), Runs([], [], [], [])
    for size in sizes:
        whole, quick, took, edges = [], [], [0.0, 0.0], 0
        for _ in range(runs):
            weights = hybrid_weights(source, size) if kind == HYBRID else beta_weights(source, size, *_parameters(kind))
            began = time.perf_counter()
            whole.append(max(full(weights)))
            between = time.perf_counter()
            told = fast(weights)
            took = [took[0] + between - began, took[1] + time.perf_counter() - between]
            quick.append(max(told.layers))
            edges = max(edges, told.edges)
        found.whole.append(whole)
        found.quick.append(quick)
        found.seconds.append((took[0] / runs, took[1] / runs))
        found.edges.append((len(Assigned(weights)), edges))
    return found


def _name(mean: float, narrow: float) -> str:
    return f"mean {mean:g}, k = {narrow:g}"


def _parameters(kind: str) -> tuple[float, float]:
    mean, narrow = kind.removeprefix("mean ").split(", k = ")
    return float(mean), float(narrow)


def figure(folder: Path, sizes: Sequence[int], runs: int, tick: Tick) -> Section:
    kinds = [*(_name(mean, narrow) for narrow in (EVEN, UNEVEN) for mean in MEANS), HYBRID]
    found: dict[str, Runs] = {}
    for place, kind in enumerate(kinds):
        found[kind] = runs_of(kind, sizes, runs)
        tick((place + 1) / len(kinds))
    across = [float(size) for size in sizes]
    panels = [_panel(f"({letter}) {kind}", found[kind], across) for letter, kind in zip("abc", kinds, strict=False)]
    panels.append(_time_panel(found, across))
    panels += [_panel(kind, found[kind], across) for kind in kinds[3:]]
    rows: list[list[Cell]] = [
        [kind, size, *(float(each) for each in (np.mean(w), np.var(w), np.mean(q), np.var(q)))]
        for kind, told in found.items()
        for size, w, q in zip(sizes, told.whole, told.quick, strict=True)
        if size in (sizes[-1], 5, 10)
    ]
    return Section(
        "fig5",
        "Figure 5: the fast search beside the full one",
        f"Up to {sizes[-1]} tuples, {runs} graphs each, weights as in Figure 4; bars are one standard deviation. k is "
        "not given in the paper; the second row is with weights that are spread more.",
        [*_claims(found, sizes), *_other_claims(found, sizes)],
        [Numbers("nats", ["weights", "n", "full, mean", "variance", "fast, mean", "variance"], rows)],
        [
            draw(
                folder / "fig5.png",
                "Figure 5: the largest value, and the time it takes",
                panels,
                "Neither is a bound of what a law leaks: weights stand for increments, which the chain rule adds "
                "wrongly. Times are of this machine.",
                columns=4,
            )
        ],
    )


def _panel(title: str, told: Runs, across: Sequence[float]) -> Panel:
    lines = [
        Line(name, across, [float(np.mean(each)) for each in rows], [float(np.std(each)) for each in rows])
        for name, rows in ((FULL, told.whole), (FAST, told.quick))
    ]
    return Panel(title, "tuples", "nats", lines)


def _time_panel(found: Mapping[str, Runs], across: Sequence[float]) -> Panel:
    means = np.mean([told.seconds for told in found.values()], axis=0)
    lines = [Line(name, across, [float(each) for each in means[:, which]]) for which, name in enumerate((FULL, FAST))]
    return Panel("(d) time", "tuples", "seconds", lines, log_up=True)


def _claims(found: Mapping[str, Runs], sizes: Sequence[int]) -> list[Claim]:
    last = {kind: (float(np.mean(told.whole[-1])), float(np.mean(told.quick[-1]))) for kind, told in found.items()}
    never_below = {kind: _shares_below(told) == 0 for kind, told in found.items()}
    strong = [_name(mean, narrow) for narrow in (EVEN, UNEVEN) for mean in MEANS[1:]]
    weak = {kind: last[kind] for kind in (_name(MEANS[0], narrow) for narrow in (EVEN, UNEVEN))}
    close = [quick / whole - 1 < 0.25 for whole, quick in (last[kind] for kind in strong)]
    looked_at = found[HYBRID].edges[-1]
    return [
        Claim(
            "fig5: above the full search",
            "The fast search generally gives more, since its nodes are a subset.",
            verdict_of([*never_below.values(), False]),
            f"Never less in {sum(len(each) for told in found.values() for each in told.whole)} graphs. On the graph "
            "of three in beliefs/prior/published.md it gives 1.6 and the full search 2.3.",
            "what it leaves out are smaller predecessors, each of which would lower a least value; but it may also "
            "leave out the way to the largest node. No theorem.",
        ),
        Claim(
            "fig5: very close",
            "At means .5 and .8 both are very close.",
            verdict_of(close),
            "; ".join(f"{kind}: {last[kind][1]:.3g} and {last[kind][0]:.3g}" for kind in strong) + ".",
            "the weights are much alike (k = 200; within a quarter is taken for close).",
        ),
        Claim(
            "fig5: weak correlations",
            "At mean .2 they differ.",
            verdict_of([quick > 1.1 * whole for whole, quick in weak.values()]),
            "; ".join(f"{kind}: {quick:.3g} and {whole:.3g}" for kind, (whole, quick) in weak.items()) + ".",
            "the spread of the weights is largest beside their mean.",
        ),
        Claim(
            "fig5d: far less time",
            "The fast search takes far less time.",
            verdict_of([looked_at[1] * 5 < looked_at[0]]),
            f"{looked_at[1]} of {looked_at[0]} edges are looked at with {sizes[-1]} tuples.",
            "its edges are at most n^2(n - 1)/2, the graph's n(n - 1) 2^(n-2).",
        ),
    ]  # fmt: skip


def _other_claims(found: Mapping[str, Runs], sizes: Sequence[int]) -> list[Claim]:
    whole, quick = (float(np.mean(each[-1])) for each in found[HYBRID][:2])
    edges = list(zip(sizes, found[HYBRID].edges, strict=True))
    looked_at = edges[-1][1]
    return [
        Claim(
            "fig5: weights of both signs",
            "(Hybrid correlations are named, not tried.) The fast search stays close.",
            verdict_of([quick < 1.25 * whole]),
            f"{quick:.3g} and {whole:.3g}.",
            "least values cut most of what is large, and the fast search sees few of them.",
        ),
        Claim(
            "Propositions 1 and 2",
            "O(n^4 2^(n-1)) and O(n^4).",
            verdict_of([told <= size**2 * (size - 1) / 2 for size, (_, told) in edges]),
            f"Edges at n = {sizes[-1]}: {looked_at[0]} and {looked_at[1]}.",
            "both are loose: n^2 2^n on an array, n^3 log n with sorting.",
        ),
    ]  # fmt: skip


def _shares_below(told: Runs) -> int:
    return sum(
        quick < whole - 1e-9
        for one, other in zip(told.whole, told.quick, strict=True)
        for whole, quick in zip(one, other, strict=True)
    )
