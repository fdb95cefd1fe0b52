"""What is said of a plan for aggregates: a table of noise against what is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from stream.planning.aggregates import Outlook
from stream.settings.kinds import write_duration


def figures(found: Sequence[Outlook], users: int, horizon: int, target: float) -> dict[str, Any]:
    return {
        "users": users,
        "windows": horizon,
        "target_nats": target,
        "choices": [
            {
                "title": each.title,
                "aggregates": {
                    one.name: {"epsilon": one.epsilon, "scale": one.scale, "within": one.within} for one in each.queries
                },
                "window_tells_nats": {name: one for name, (one, _) in each.told.items()},
                "windows_tell_nats": {name: all_of_them for name, (_, all_of_them) in each.told.items()},
                "windows_that_fit": each.fit,
            }
            for each in found
        ],
    }


def told(found: Sequence[Outlook], users: int, horizon: int, length: int, target: float) -> str:
    return "\n".join(_lines(found, users, horizon, length, target))


def _lines(found: Sequence[Outlook], users: int, horizon: int, length: int, target: float) -> Iterator[str]:
    yield f"How far each number is from the truth at most, with 95 %; of a mean over {users:,} users in a window."
    yield ""
    yield _line("epsilons", "aggregate", "epsilon", "scale", "within")
    for each in found:
        for place, one in enumerate(each.queries):
            within = "unknown" if one.within is None else f"{one.within:.4g}"
            yield _line("" if place else each.title, one.name, f"{one.epsilon:.4g}", f"{one.scale:.4g}", within)
    over = f"{horizon:,} windows in a row ({write_duration(horizon * length)})"
    yield ""
    yield f"What that tells about one user, in nats: one window, and all {over}, by what ties users to each other."
    yield f"Fit: so many windows in a row the target of {target:g} nats pays for, as declared."
    yield ""
    names = list(found[0].told) if found else []
    yield _line("epsilons", "", *(f"{name}: one" if i == 0 else "all" for name in names for i in (0, 1)), "fit")
    for each in found:
        amounts = (f"{amount:.4g}" for name in names for amount in each.told[name])
        yield _line(each.title, "", *amounts, f"{each.fit:,}")


def _line(title: str, name: str, *columns: str) -> str:
    return f"{title:<18} {name:<16.16} " + " ".join(f"{each:>16}" for each in columns)
