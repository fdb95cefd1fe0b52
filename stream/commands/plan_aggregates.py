"""`sottovoce plan` of aggregates: which epsilons bring numbers near enough, and which the target pays for.

Exit status 0 when the target pays for every window of what is asked for, or when nothing is asked; 1 when it does not.
"""

from __future__ import annotations

import math
import os

from stream.aggregates.opening import OpenedAggregates, open_aggregates
from stream.commands.plan_asked import Asked, Outputs
from stream.commands.report import say, say_json
from stream.names import EXIT_DONE, EXIT_FAILED
from stream.planning.aggregate_words import figures, told
from stream.planning.aggregates import AggregatePlans, Outlook
from stream.planning.target import impossible

_MOST_USERS = 1_000_000_000


def plan_aggregates(asked: Asked, outputs: Outputs, *, as_json: bool) -> int:
    if asked.config is None:
        raise ValueError("aggregates are declared in settings")
    if asked != Asked(config=asked.config, within=asked.within, users=asked.users) or outputs != Outputs():
        why = "agreement, distance, delay, budgets and files are for a field whose values follow one another"
        raise impossible("the options", why, "give no option but --within, --users and --json")
    if not 1 <= asked.users <= _MOST_USERS:
        raise impossible("--users", f"{asked.users} is no number of users", f"write one from 1 to {_MOST_USERS:,}")
    widths = dict(_width(text) for text in asked.within)
    opened = open_aggregates(asked.config, os.environ)
    found, wanted = _found(opened, asked.users, widths)
    horizon, target = opened.promise.horizon, opened.declared.target.nats
    fits = wanted is None or wanted.fit == horizon
    if as_json:
        say_json({"ok": fits, **figures(found, asked.users, horizon, target)})
    else:
        say(told(found, asked.users, horizon, opened.promise.length, target))
        if wanted is not None:
            say(_answer(wanted, horizon, target))
    return EXIT_DONE if fits else EXIT_FAILED


def _found(opened: OpenedAggregates, users: int, widths: dict[str, float]) -> tuple[list[Outlook], Outlook | None]:
    plans = AggregatePlans(opened, users)
    found = [*plans.scaled()]
    fitting = plans.fitting()
    if fitting is not None:
        found.append(fitting)
    wanted = plans.wanted(widths) if widths else None
    return (found if wanted is None else [*found, wanted]), wanted


def _width(text: str) -> tuple[str, float]:
    name, equals, amount = text.partition("=")
    try:
        width = float(amount)
    except ValueError:
        width = math.nan
    if not equals or not name or not 0 < width < math.inf:
        raise impossible(f"--within {text}", "it is no name with a width", "write --within people=20")
    return name, width


def _answer(wanted: Outlook, horizon: int, target: float) -> str:
    epsilons = ", ".join(f"{one.name} {one.epsilon:.4g}" for one in wanted.queries)
    if wanted.fit == horizon:
        return f"\nWhat is wanted takes epsilons of {epsilons}; the target of {target:g} nats pays for every window."
    return (
        f"\nWhat is wanted takes epsilons of {epsilons}; the target of {target:g} nats pays for {wanted.fit:,} of "
        f"{horizon:,} windows. Nothing less is near enough: want less, or let more be told, or make windows longer."
    )
