"""Figure 6: the Kosarak click-stream, or a seeded stand-in of the same shape.

With SOTTOVOCE_DATA naming a folder that holds the beginning of the public click-stream, sessions are real. The model is
learnt from the sessions of all others: rows name what followed, the tail is how frequent items are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from click_stream import Clicks, learnt_chain
from paper_drawing import Line, Panel, draw
from paper_findings import Claim, Numbers, Section, verdict_of, where
from paper_releases import Floats, Integers, events_of_users, in_windows, response_error, singly, uniforms

from beliefs.chain import Chain
from mechanisms.sequence.tops_value import tops_value
from stream.policy import Events

NAMED: Final = 1_900
"""Rows name what follows among so many frequent items, so that beliefs list all that rows name."""
LENGTHS: Final = (5, 10)
TOPS_SAMPLES: Final = 0.2
PUBLISHED, BOUNDED, TOPS = "published CRR (claims SIP)", "optimal (SIP)", "ToPS (LDP)"
LOCAL, DOUBLE = "RR-LDP", "RR-LDP, 2 epsilon"


class Experiment(NamedTuple):
    chain: Chain
    events: Events
    found: Clicks
    users: int


def experiment(found: Clicks, users: int) -> Experiment:
    """So many random sessions are perturbed; the model comes from all others."""
    chosen = set(np.random.default_rng(1).permutation(len(found.sessions))[:users].tolist())
    others = [session for place, session in enumerate(found.sessions) if place not in chosen]
    told = [np.array(found.sessions[place], dtype=np.int64) for place in sorted(chosen)]
    return Experiment(learnt_chain(others, found.items, NAMED), events_of_users(told), found, len(told))


class Kept(NamedTuple):
    """The mean distance of item numbers, the share of wrong items, the largest and the median of what was told."""

    distance: float
    wrong: float
    most: float
    usual: float


def kept(events: Events, symbols: Integers, told: Floats) -> Kept:
    far, some = np.abs(symbols - events.symbol), told[told > 0]
    return Kept(
        float(far.mean()),
        float((far > 0).mean()),
        float(told.max(initial=0.0)),
        float(np.median(some)) if some.size else 0.0,
    )


def tops(events: Events, items: int, epsilon: float) -> Kept:
    """Item numbers as numbers, all sessions one after the other: the first fifth gives the threshold."""
    stream = events.symbol.astype(np.float64)
    value = tops_value(
        stream, items - 1.0, epsilon, max(1, int(TOPS_SAMPLES * stream.size)), 0.95, 1, uniforms(7, stream.size)
    )
    shown = np.rint(np.array(value.smoothed)).astype(np.int64)
    return kept(events, shown, np.full(stream.size, epsilon))


Work = tuple[str, float, Callable[[], Kept]]


def works_of(what: Experiment, epsilons: Sequence[float], windowed: Sequence[float]) -> list[Work]:
    def alone(mechanism: str, epsilon: float) -> Callable[[], Kept]:
        return lambda: kept(what.events, *singly(mechanism, epsilon, what.chain, what.events))

    def together(length: int, epsilon: float) -> Callable[[], Kept]:
        return lambda: kept(what.events, *in_windows(length, epsilon, what.chain, what.events))

    def topped(epsilon: float) -> Callable[[], Kept]:
        return lambda: tops(what.events, what.found.items, epsilon)

    works: list[Work] = []
    for e in epsilons:
        works += [
            (PUBLISHED, e, alone("published_crr", e)),
            (BOUNDED, e, alone("optimal", e)),
            (LOCAL, e, alone("randomised_response", e)),
            (DOUBLE, e, alone("randomised_response", 2 * e)),
            (TOPS, e, topped(e)),
        ]
    for length in LENGTHS:
        for e in windowed:
            works.append((f"windows of {length} (SIP)", e, together(length, length * e)))
            works.append((f"windows of {length}, one epsilon each", e, together(length, e)))
    return works


def look(
    what: Experiment, epsilons: Sequence[float], windowed: Sequence[float], tick: Callable[[float], None]
) -> dict[str, dict[float, Kept]]:
    found: dict[str, dict[float, Kept]] = {}
    works = works_of(what, epsilons, windowed)
    for place, (name, epsilon, work) in enumerate(works):
        found.setdefault(name, {})[epsilon] = work()
        tick((place + 1) / len(works))
    return found


def figure(
    folder: Path,
    found: Clicks,
    users: int,
    epsilons: Sequence[float],
    windowed: Sequence[float],
    tick: Callable[[float], None],
) -> Section:
    what = experiment(found, users)
    lines = look(what, epsilons, windowed, tick)

    def panel(title: str, up: str, place: int) -> Panel:
        return Panel(
            title,
            "epsilon an event",
            up,
            [
                Line(
                    name, list(values), [each[place] / (_length(name) if place == 2 else 1) for each in values.values()]
                )
                for name, values in lines.items()
                if "one epsilon" not in name
            ],
        )

    panels = [
        panel("Distance of item numbers", "mean |x - y|", 0),
        panel("Wrong items", "share", 1),
        panel("Most that a release told, for each of its values", "nats", 2),
    ]
    caption = (
        "Claims: SIP beats RR-LDP at 2 epsilon and ToPS, larger batches are better. Windows of w have w epsilon. "
        "The third panel: the published CRR tells many times its epsilon; it is no epsilon-SIP mechanism here."
    )
    picture = draw(folder / "fig6.png", f"Figure 6: {what.users:,} users, {found.source}", panels, caption)
    setting = (
        f"{found.source}; {what.users:,} users, {what.events.slot.size:,} clicks, {found.items:,} items; the model "
        "from all other "
        f"sessions: {what.chain.data.size:,} named transitions and a tail. RR-LDP and ToPS: LDP; the others: SIP."
    )
    return Section(
        "fig6",
        "Figure 6: click-streams",
        setting,
        _claims(lines, epsilons, windowed, found.items),
        _tables(lines, epsilons),
        [picture],
    )


def _length(name: str) -> int:
    return next((length for length in LENGTHS if name.startswith(f"windows of {length} ")), 1)


def _tables(lines: dict[str, dict[float, Kept]], epsilons: Sequence[float]) -> list[Numbers]:
    return [
        Numbers(
            title,
            ["mechanism", *(f"eps {e:g}" for e in epsilons)],
            [[name, *(values[e][place] if e in values else "" for e in epsilons)] for name, values in lines.items()],
        )
        for place, title in enumerate(
            (
                "mean distance of item numbers",
                "share of wrong items",
                "most that one release told, nats",
                "median that a release told, nats",
            )
        )
    ]


def _better(
    lines: dict[str, dict[float, Kept]], one: str, other: str, place: int, among: Sequence[float]
) -> list[tuple[float, bool]]:
    return [(e, lines[one][e][place] < lines[other][e][place]) for e in among]


def _claims(
    lines: dict[str, dict[float, Kept]], epsilons: Sequence[float], windowed: Sequence[float], items: int
) -> list[Claim]:
    return [*_against_local(lines, epsilons, items), *_batches_and_tops(lines, epsilons, windowed)]


def _against_local(lines: dict[str, dict[float, Kept]], epsilons: Sequence[float], items: int) -> list[Claim]:
    at = 1.0
    published = [so for _, so in _better(lines, PUBLISHED, DOUBLE, 0, epsilons)]
    bounded = _better(lines, BOUNDED, DOUBLE, 0, epsilons)
    right = _better(lines, BOUNDED, DOUBLE, 1, epsilons)
    leak = [lines[PUBLISHED][e] for e in epsilons]
    return [
        Claim(
            "fig6: beats 2 epsilon-LDP",
            "The proposed mechanisms consistently outperform 2 epsilon-LDP.",
            verdict_of([*published, *(so for _, so in bounded)]),
            f"Distance at epsilon 1: published CRR {lines[PUBLISHED][at].distance:,.0f}, `optimal` "
            f"{lines[BOUNDED][at].distance:,.0f}, "
            f"RR-LDP at 2 epsilon {lines[DOUBLE][at].distance:,.0f}. Wrong items: {lines[PUBLISHED][at].wrong:.3f}, "
            f"{lines[BOUNDED][at].wrong:.3f}, {lines[DOUBLE][at].wrong:.3f}.",
            f"by distance {where(bounded)}, by items {where(right)} also where the bound is kept: randomised "
            f"response over {items:,} values is "
            f"noise until epsilon is near ln {items:,} = {np.log(items):.1f} (error "
            f"{response_error(2.0, items):.4f} at 2), while a belief names a few items.",
        ),
        Claim(
            "fig6: CRR keeps epsilon",
            "The published mechanism is epsilon-SIP.",
            verdict_of(k.most <= e + 1e-9 for k, e in zip(leak, epsilons, strict=True)),
            "; ".join(
                f"epsilon {e:g}: told up to {k.most:.1f} nats, median {k.usual:.1f}"
                for e, k in zip(epsilons, leak, strict=True)
            ),
            "nearly every item's belief is far below 1/(e^epsilon + 1).",
        ),
    ]


def _batches_and_tops(
    lines: dict[str, dict[float, Kept]], epsilons: Sequence[float], windowed: Sequence[float]
) -> list[Claim]:
    at = 1.0
    one, two = (f"windows of {length} (SIP)" for length in LENGTHS)
    alone = [f"windows of {length}, one epsilon each" for length in LENGTHS]
    shared = [
        so for name, before in ((one, BOUNDED), (two, one)) for _, so in _better(lines, name, before, 1, windowed)
    ]
    each = [
        so
        for name, before in ((alone[0], BOUNDED), (alone[1], alone[0]))
        for _, so in _better(lines, name, before, 1, windowed)
    ]
    against_tops = [_better(lines, BOUNDED, TOPS, 0, epsilons), _better(lines, TOPS, LOCAL, 0, epsilons)]
    return [
        Claim(
            "fig6: larger batches",
            "Larger batch sizes contribute to improved utility.",
            verdict_of([*shared, *each]),
            f"Wrong items at epsilon 1: {lines[BOUNDED][at].wrong:.3f}, {lines[one][at].wrong:.3f}, "
            f"{lines[two][at].wrong:.3f} for 1, 5, 10 with w epsilon a window; "
            f"{lines[alone[0]][at].wrong:.3f} and {lines[alone[1]][at].wrong:.3f} with one epsilon.",
            "a window of w values has w epsilon; with one epsilon for a whole window more is wrong.",
        ),
        Claim(
            "fig6: ToPS between",
            "ToPS improves on RR-LDP but is worse than the SIP mechanisms.",
            verdict_of(so for pairs in against_tops for _, so in pairs),
            f"Distance at epsilon 1: ToPS {lines[TOPS][at].distance:,.0f}, RR-LDP {lines[LOCAL][at].distance:,.0f}, "
            f"`optimal` {lines[BOUNDED][at].distance:,.0f}.",
            f"SIP better than ToPS {where(against_tops[0])}; ToPS better than RR-LDP {where(against_tops[1])}. ToPS "
            "reads item numbers as quantities: "
            "it is near in number and nearly never names the item.",
        ),
    ]
