"""Figure 3: the graph of three tuples, here of a law, with what each adversary really learns."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Final

from matplotlib.figure import Figure
from paper_drawing import save
from paper_findings import Cell, Claim, Numbers, Section, verdict_of
from pdp_laws import alike, leak
from prior_oracles import adversaries

from beliefs.prior.adversary import Query
from beliefs.prior.published import chain_rule
from beliefs.prior.sound_chain import chain_bounds

LAW: Final = alike(3, 0.1)
Adversary = tuple[int, tuple[int, ...]]


def figure(folder: Path) -> Section:
    nodes = list(adversaries(3))
    edges = [(one, two) for one in nodes for two in nodes if _is_edge(one, two)]
    values = {node: (leak(LAW, *node), chain_rule(LAW, 1.0, *node)) for node in nodes}
    sound = chain_bounds(LAW, Query.of(LAW), 1.0)
    per_layer = [sum(len(known) == count for _, known in nodes) for count in (2, 1, 0)]
    largest, by_chain = (max(value[which] for value in values.values()) for which in (0, 1))
    rows: list[list[Cell]] = [[_name(node), *values[node], sound[node]] for node in nodes]
    return Section(
        "fig3",
        "Figure 3: everybody who may attack one of three tuples",
        "The law: three readings of one fair bit, each wrong in one of ten; scale 1.",
        [
            Claim(
                "fig3: nodes and layers",
                "Three layers and twelve nodes; an edge leads from each node to those who know one tuple less.",
                verdict_of([len(nodes) == 12, len(edges) == 12, per_layer == [3, 6, 3]]),
                f"{per_layer[0]}, {per_layer[1]} and {per_layer[2]} nodes, {len(edges)} edges.",
                "n 2^(n-1) and n(n - 1) 2^(n-2).",
            ),
            Claim(
                "fig3: the largest node",
                "The largest value in the graph is the leak.",
                verdict_of([largest <= by_chain + 1e-9]),
                f"Largest {largest:.4f} exactly, by the chain rule {by_chain:.4f}, by the repaired one "
                f"{max(sound.values()):.4f}.",
                "the two others are not independent given the third; the chain rule takes the least of what it adds.",
            ),
        ],
        [Numbers("nats", ["adversary (attacked, {known})", "exact", "chain rule", "repaired"], rows)],
        [_draw(folder / "fig3.png", nodes, edges, values)],
    )  # fmt: skip


def _is_edge(stronger: Adversary, weaker: Adversary) -> bool:
    return stronger[0] == weaker[0] and set(weaker[1]) < set(stronger[1]) and len(stronger[1]) == len(weaker[1]) + 1


def _name(node: Adversary) -> str:
    return f"({node[0] + 1}, {{{', '.join(str(each + 1) for each in node[1])}}})"


def _draw(
    path: Path,
    nodes: list[Adversary],
    edges: list[tuple[Adversary, Adversary]],
    values: dict[Adversary, tuple[float, float]],
) -> str:
    figure = Figure(figsize=(9.2, 5.2), facecolor="white")
    axis = figure.add_axes((0.09, 0.14, 0.9, 0.74))
    axis.set_axis_off()
    places = {node: _place(node, nodes) for node in nodes}
    for stronger, weaker in edges:
        axis.annotate(
            "",
            places[weaker],
            places[stronger],
            arrowprops={"arrowstyle": "-|>", "color": "#999999", "shrinkA": 22, "shrinkB": 22},
        )
    for node, place in places.items():
        told, printed = values[node]
        box = {"boxstyle": "round,pad=.4", "facecolor": "#eef2f6", "edgecolor": "#1b6ca8"}
        text = f"{_name(node)}\n{told:.3f}" + ("" if abs(told - printed) < 5e-4 else f" ({printed:.3f})")
        axis.text(*place, text, ha="center", va="center", fontsize=9, bbox=box)
    for layer in range(3):
        axis.text(-0.6, layer, f"layer {layer + 1}", ha="right", va="center", fontsize=9, color="#777777")
    axis.set_xlim(-0.55, 5.55)
    axis.set_ylim(-0.4, 2.4)
    title = "Figure 3: twelve adversaries of three tuples"
    figure.suptitle(title, fontsize=12, x=0.03, ha="left", weight="bold")
    caption = (
        "(attacked, {known}): nats that the adversary learns at most; in brackets what the chain rule says, where it "
        "is another number."
    )
    figure.text(0.03, 0.03, "\n".join(textwrap.wrap(caption, 120)), fontsize=8.5, color="#333333")
    save(figure, path)
    return path.name


def _place(node: Adversary, nodes: list[Adversary]) -> tuple[float, float]:
    """Attacked tuples beside each other, less knowledge above; a pair of nodes shares its column."""
    alike = [other for other in nodes if other[0] == node[0] and len(other[1]) == len(node[1])]
    shift = 0.5 if len(alike) == 1 else float(alike.index(node))
    return 2.0 * node[0] + shift, 2.0 - len(node[1])
