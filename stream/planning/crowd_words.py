"""What is said of a plan for crowds: tables of what is released, how late, how wide, and what it tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from stream.crowds.promise import CrowdPromise
from stream.planning.crowd_groupers import GrouperOutlook
from stream.planning.crowds import WindowOutlook
from stream.settings.kinds import write_duration

Needed = dict[str, int | None]
"""Of each type of people, how many meet the target alone."""


def window_figures(found: Sequence[WindowOutlook], needed: Needed) -> dict[str, Any]:
    return {
        "needed_users": needed,
        "windows": [
            {
                "window_ms": each.length,
                "users": each.users,
                "least_users": each.least,
                "delta": each.delta,
                "noise_scale": None if each.scale is None else float(each.scale),
                "released_share": each.released,
                "delay_ms": each.delay,
            }
            for each in found
        ],
    }


def grouper_figures(found: Sequence[GrouperOutlook]) -> dict[str, Any]:
    return {
        "groupers": [
            {
                "grouper": each.grouper,
                "k": each.k,
                "users": each.users,
                "loss": each.loss,
                "suppressed_share": each.suppressed,
                "delay_ms": each.delay,
                "delay_events": each.delay_events,
                "delta": each.delta,
            }
            for each in found
        ]
    }


def windows_told(promise: CrowdPromise, found: Sequence[WindowOutlook], needed: Needed, *, sampled: bool) -> str:
    return "\n".join(_windows(promise, found, needed, sampled=sampled))


def _windows(promise: CrowdPromise, found: Sequence[WindowOutlook], needed: Needed, *, sampled: bool) -> Iterator[str]:
    yield from _needed(promise, needed)
    if sampled:
        yield "Windows of the sample: the users of one in the middle, the fewest, and the share that would be released."
    else:
        yield "Users are taken in proportion to the window's length. Where the same people stay, a longer window has"
        yield "fewer than that; a sample (--sample) says how many."
    yield "Delay: how long an event waits on average until its window is released."
    yield ""
    yield _line("window", "users", "fewest", "delta", "noise", "released", "delay")
    for each in found:
        yield _line(
            write_duration(each.length),
            f"{each.users:,}",
            f"{each.least:,}",
            _delta(each.delta),
            "-" if each.scale is None else f"{float(each.scale):.4g}",
            f"{each.released:.0%}",
            f"{each.delay / 1000:,.1f}s",
        )


def _needed(promise: CrowdPromise, needed: Needed) -> Iterator[str]:
    target = promise.target
    if target is None:
        yield f"Nothing is declared of what an adversary believes: {promise.k:,} users are all that a window needs."
        return
    for name, users in needed.items():
        whom = f" of type {name} alone" if len(needed) > 1 else ""
        told = "no window can hold enough users" if users is None else f"{users:,} users"
        yield f"For epsilon {target.epsilon:g} and delta {target.delta:g} a window needs {told}{whom}, without noise."


def groupers_told(found: Sequence[GrouperOutlook]) -> str:
    return "\n".join(_groupers(found))


def _groupers(found: Sequence[GrouperOutlook]) -> Iterator[str]:
    yield "Crowd: users of one, on average. Loss: how much detail a released box lacks on average, 0 nothing and 1 all."
    yield "Left out: the share of people in a window, or of events, that fits no box. Delay: how long an event waits on"
    yield "average (and how many later ones come meanwhile). Delta: of a window in the middle, at the target's epsilon;"
    yield "1 where no bound is known, and then k is all that is promised."
    yield ""
    yield _line("grouper", "k", "crowd", "loss", "left out", "delay", "delta")
    for each in found:
        events = "" if each.delay_events is None else f" ({each.delay_events:,.0f})"
        yield _line(
            each.grouper,
            f"{each.k:,}",
            f"{each.users:,.1f}",
            f"{each.loss:.3f}",
            f"{each.suppressed:.1%}",
            f"{each.delay / 1000:,.1f}s{events}",
            _delta(1.0 if each.delta is None else each.delta),
        )


def _delta(delta: float | None) -> str:
    return "unknown" if delta is None else f"{delta:.3g}"


def _line(title: str, *columns: str) -> str:
    return f"{title:<12} " + " ".join(f"{each:>14}" for each in columns)
