"""Figure 8: whose gaze is it? A recurrent net is trained on half of each person's stream and reads pieces of the other.

Two readers. One takes releases as they are. The other knows the chain and the mechanisms: it reads, instead of each
release, the cell that it believes in most after all releases so far; in windows, once the window is closed. Where the
set of a response depends on the true value before, this reader uses that, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from paper_drawing import Bar, draw_bars
from paper_eyes import BOUNDED, DOUBLE, FIVE, LOCAL, NEAR, ORDERS, PUBLISHED, RAW, RAW_DOUBLE, TEN, WORKS, Study
from paper_findings import Claim, Numbers, Section, verdict_of
from paper_gaze import RATE
from paper_readers import believed, believed_from_raw, believed_in_windows
from paper_releases import Floats, Integers, events_of_users

from stream.attack.bounds import interval_of
from stream.attack.recurrent import Training, log_chances, step_forward, train
from stream.attack.reidentify import Attempt, attempt_of

COARSE: Final = 10
"""The net is told the field of 10 by 10 that a cell lies in, and how far the last step went: 400 values."""
STEPS: Final = (0.5, 4.0, 12.0)
READ: Final = (LOCAL, RAW, RAW_DOUBLE, PUBLISHED, NEAR, FIVE, TEN)
_SINGLE: Final = {
    LOCAL: ("temporal_ldp", 1.0),
    DOUBLE: ("temporal_ldp", 2.0),
    PUBLISHED: ("published_crr", 1.0),
    BOUNDED: ("optimal", 1.0),
    NEAR: ("near", 1.0),
}
WINDOWS: Final = {FIVE: 5, TEN: 10}


class Pieces(NamedTuple):
    """What the net learns from, what is released, and whose each piece is."""

    training: list[Integers]
    attacked: list[Integers]
    owners: list[int]


def pieces_of(what: Study, training: int, pieces: int, length: int) -> Pieces:
    """From the first half of each stream its end; from the second half pieces that are far from each other."""
    trained, attacked, owners = [], [], []
    for person, sequence in enumerate(what.sequences):
        middle = sequence.size // 2
        trained.append(sequence[middle - training : middle])
        for piece in range(pieces):
            begin = middle + (piece + 1) * (sequence.size - middle) // (pieces + 1)
            attacked.append(sequence[begin : begin + length])
            owners.append(person)
    return Pieces(trained, attacked, owners)


def fields_of(cells: Integers, side: int) -> Integers:
    """What the net reads of a sequence of cells."""
    row, column = cells // side, cells % side
    moved = np.hypot(np.diff(row, prepend=row[:1]), np.diff(column, prepend=column[:1])) * 100 / side
    far = np.searchsorted(np.array(STEPS), moved)
    return ((row * COARSE // side) * COARSE + column * COARSE // side) * (len(STEPS) + 1) + far


def net_scores(weights: dict[str, Floats], attacked: Sequence[Integers]) -> Floats:
    """As `recurrent_scores`, for a net that is trained already; pieces are of one length and are read side by side."""
    table, units = np.array(attacked), weights["Ur"].shape[0]
    h, total = np.zeros((table.shape[0], units)), np.zeros((table.shape[0], weights["v"].shape[0]))
    for at in range(table.shape[1]):
        h = step_forward(weights, table[:, at], h)["h"]
        total += log_chances(weights, h)
    return total


class Rates(NamedTuple):
    data: Attempt
    informed: Attempt


def figure(
    folder: Path, what: Study, cut: Pieces, epsilons: Sequence[float], how: Training, tick: Callable[[float], None]
) -> Section:
    fields = COARSE * COARSE * (len(STEPS) + 1)
    weights = train([fields_of(each, what.side) for each in cut.training], fields, how)

    def named(cells: Sequence[Integers]) -> Attempt:
        return attempt_of(net_scores(weights, [fields_of(each, what.side) for each in cells]), cut.owners)

    unprotected = named(cut.attacked)
    found: dict[int, dict[str, dict[float, Rates]]] = {order: {name: {} for name in READ} for order in ORDERS}
    todo = [(order, name, e) for order in ORDERS for name in READ for e in epsilons]
    for place, (order, name, epsilon) in enumerate(todo):
        shown, read = _read(what, cut, order, name, epsilon)
        found[order][name][epsilon] = Rates(named(shown), named(read))
        tick((place + 1) / len(todo))
    picture = _drawn(folder, found, epsilons, unprotected)
    low, high = unprotected.interval
    setting = (
        f"A net of {how.units} gated units, trained on {cut.training[0].size / RATE:g} s of each of "
        f"{unprotected.users} people, reads "
        f"{unprotected.pieces} pieces of {cut.attacked[0].size / RATE:g} s from their other halves. Unperturbed: "
        f"{unprotected.rate:.2f} ({low:.2f} to {high:.2f}); chance {unprotected.chance:.2f}."
    )
    return Section(
        "fig8",
        "Figure 8: re-identification",
        setting,
        _claims(found, epsilons, unprotected),
        _tables(found, epsilons),
        [picture],
    )


Found = dict[int, dict[str, dict[float, Rates]]]


def _drawn(folder: Path, found: Found, epsilons: Sequence[float], unprotected: Attempt) -> str:
    panels = {
        f"{'first' if order == 1 else 'second'} order chain, epsilon {e:g} a second": (
            [Bar(name, *_told(lines[e].data)) for name, lines in found[order].items()],
            [Bar(name, *_told(lines[e].informed)) for name, lines in found[order].items()],
        )
        for order in ORDERS
        for e in epsilons
    }
    return draw_bars(
        folder / "fig8.png",
        "Figure 8: how often a recurrent net names the right person first",
        "share of pieces named right",
        panels,
        ("reader of releases alone", "reader who knows the chain"),
        {
            f"chance {unprotected.chance:.2f}": unprotected.chance,
            f"unperturbed {unprotected.rate:.2f}": unprotected.rate,
        },
        "Claims: on releases alone temporal LDP protects best; a reader who knows the chain gains from all, least from "
        f"SIP, which then leaks less than LDP. {unprotected.pieces} pieces; whiskers: 99 % intervals.",
    )


def _tables(found: Found, epsilons: Sequence[float]) -> list[Numbers]:
    return [
        Numbers(
            f"order {order}, epsilon {e:g} a second",
            ["mechanism", "releases alone", "99 % from", "to", "knows the chain", "99 % from", "to"],
            [[name, *_told(lines[e].data), *_told(lines[e].informed)] for name, lines in found[order].items()],
        )
        for order in ORDERS
        for e in epsilons
    ]


def _read(what: Study, cut: Pieces, order: int, name: str, epsilon: float) -> tuple[list[Integers], list[Integers]]:
    chain = what.chains[order]
    if name in _SINGLE:
        mechanism, times = _SINGLE[name]
        return believed(chain, mechanism, times * epsilon / RATE, what, cut.attacked)
    if name in WINDOWS:
        return believed_in_windows(chain, WINDOWS[name], WINDOWS[name] * epsilon / RATE, what, cut.attacked)
    events = events_of_users(cut.attacked)
    ends = np.cumsum([piece.size for piece in cut.attacked])[:-1]
    shown = np.split(WORKS[name](chain, events, cut.attacked, epsilon, what.distance)[0], ends)
    return shown, believed_from_raw(chain, (2.0 if name == RAW_DOUBLE else 1.0) * epsilon / RATE, shown)


def _told(attempt: Attempt) -> tuple[float, float, float]:
    return attempt.rate, *attempt.interval


def _claims(found: Found, epsilons: Sequence[float], unprotected: Attempt) -> list[Claim]:
    cases = [(order, e) for order in ORDERS for e in epsilons]
    sip, local = (PUBLISHED, NEAR, FIVE, TEN), (RAW,)

    def pooled(names: Sequence[str], place: int) -> tuple[float, float, float]:
        first = sum(found[o][n][e][place].first for o, e in cases for n in names)
        pieces = sum(found[o][n][e][place].pieces for o, e in cases for n in names)
        return (first / pieces, *interval_of(first, pieces, 0.99))

    bounded = (NEAR, FIVE, TEN)
    alone = [found[o][RAW][e].data.rate <= min(found[o][n][e].data.rate for n in sip) for o, e in cases]
    raw_more, sip_more = (pooled(names, 1)[0] - pooled(names, 0)[0] for names in (local, bounded))
    less = [max(found[o][n][e].informed.rate for n in bounded) <= found[o][RAW][e].informed.rate for o, e in cases]
    published_less = [found[o][PUBLISHED][e].informed.rate <= found[o][RAW][e].informed.rate for o, e in cases]
    told = ", ".join(f"{name} {pooled([name], 0)[0]:.2f} then {pooled([name], 1)[0]:.2f}" for name in READ)
    return [
        Claim(
            "fig8: data only",
            "Read without the correlation, temporal LDP protects best.",
            verdict_of(alone),
            f"Named right, releases alone then knowing the chain, all settings together: {told}.",
            "its sets come from releases, where it is noise over the whole grid; as the paper runs it (sets from "
            "raw values) releases stay near the gaze, "
            "and a net reads them as well.",
        ),
        Claim(
            "fig8: informed reader",
            "Knowing the correlation helps against all, but less against SIP than against LDP.",
            verdict_of([sip_more <= raw_more]),
            f"Knowing the chain changed the rate by {sip_more:+.3f} for the bounded SIP mechanisms and by "
            f"{raw_more:+.3f} for temporal LDP from raw values.",
            "what SIP shows was made for a reader who knows the chain; what the sets of LDP from raw values give "
            "away is read by him alone.",
        ),
        Claim(
            "fig8: SIP leaks less then",
            "Against the informed reader SIP leaks less than temporal LDP.",
            verdict_of([*less, *published_less]),
            f"Bounded SIP at most as often right as against temporal LDP from raw values in {sum(less)} of "
            f"{len(less)} settings, the published CRR in {sum(published_less)}. "
            f"Unperturbed {unprotected.rate:.2f}, chance {unprotected.chance:.2f}.",
            "LDP takes its sets from raw values and the SIP mechanism keeps its bound. LDP with sets from releases "
            "is at chance, "
            "and is useless (Figure 9); rates of so few pieces differ by chance as well.",
        ),
    ]
