"""Table I: what the notions cost and promise, as far as numbers can say."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from grid_walks import walk_on
from paper_findings import Claim, Numbers, Section, shown, verdict_of
from paper_releases import events_of_users, singly
from paper_theorems import information, theorem_1, theorem_2, theorem_3

from beliefs.chain import Chain

EVENTS: Final = 200


def microseconds(mechanism: str, chain: Chain, events: int = EVENTS) -> float:
    """An event of one user, prediction and all, on one core; the first call compiles."""
    values = events_of_users([np.zeros(events, dtype=np.int64)])
    singly(mechanism, 1.0, chain, values)
    began = time.perf_counter()
    singly(mechanism, 1.0, chain, values)
    return (time.perf_counter() - began) / events * 1e6


def dense_chain(size: int) -> Chain:
    source = np.random.default_rng(4)
    return Chain.from_dense(np.full(size, 1.0 / size), source.dirichlet(np.ones(size), size=size))


def section(sides: Sequence[int], dense: Sequence[int], tick: Callable[[float], None]) -> Section:
    walks = [walk_on(side, side) for side in sides]
    fulls = [dense_chain(size) for size in dense]
    rows: list[list[str | float | int]] = []
    for place, chain in enumerate([*walks, *fulls]):
        times = [microseconds(m, chain) for m in ("optimal", "published_crr", "randomised_response")]
        kind = "walk on a grid" if place < len(walks) else "dense"
        rows.append([f"{kind}, {chain.size} values", chain.size, chain.data.size, *times])
        tick((place + 1) / (len(walks) + len(fulls)))
    columns = ["chain", "values", "transitions", "optimal (SIP), us", "published CRR, us", "RR-LDP, us"]
    return Section(
        "table1",
        "Table I: notions",
        "Time of one event, one core, prediction included.",
        _claims(walks, fulls, rows),
        [Numbers("microseconds an event", columns, rows)],
        [],
    )


def _claims(walks: list[Chain], fulls: list[Chain], rows: list[list[str | float | int]]) -> list[Claim]:
    # What is counted decides, not the clock: products of one prediction against values.
    grow = [
        chains[-1].data.size / chains[0].data.size < 1.1 * chains[-1].size / chains[0].size for chains in (walks, fulls)
    ]
    spans = [
        f"{shown(rows[a][3])} us at {rows[a][1]} values to {shown(rows[b][3])} us at {rows[b][1]}"
        for a, b in ((0, len(walks) - 1), (len(walks), -1))
    ]
    worst = theorem_2(runs=1).lower[0]
    sums, (local, _) = theorem_1(), theorem_3()
    return [
        Claim(
            "Table I: SIP costs O(|X|)",
            "An event costs time proportional to |X|.",
            verdict_of(grow),
            f"`optimal`: {spans[0]} of a walk; {spans[1]} of a dense chain.",
            "the chain is sparse: the belief's update (13) adds one product a transition, |X|^2 of them in a dense "
            "chain.",
        ),
        Claim(
            "Table I: SIP composes",
            "Sequential composability: yes, worst case.",
            verdict_of([sums.exact <= sums.added + 1e-9]),
            f"Three CRR releases: {sums.exact:.2f} nats at most, their leakages add to {sums.added:.2f} (Theorem 1).",
            "it is what releases really tell that is added.",
        ),
        Claim(
            "Table I: LDP",
            "Online, composable, worst case, O(|X|); no use of correlation.",
            verdict_of([local <= 1 + 1e-9]),
            f"Randomised response told at most {local:.4f} of 1 by SIP for 100 beliefs; its channel never looks at "
            "the belief.",
            "rows are the same whatever is believed.",
        ),
        Claim(
            "Table I: MIP",
            "An average-case guarantee.",
            verdict_of([information() < worst]),
            f"A hundred releases at .1: {information():.3f} nats of information; what came out told up to {worst:.1f}.",
            "an average says nothing of the worst output. "
            "(That it is not composable is disputed by its own chain rule; the rows for Pufferfish and for MIP's "
            "cost speak of others' algorithms and are not examined.)",
        ),
    ]
