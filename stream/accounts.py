"""What it takes to keep the exact accounts of some users, and where it cannot be done."""

from __future__ import annotations

from typing import Final

from beliefs.chain import Chain
from beliefs.model_file import Model
from stream.settings.model import Settings

MOST_EVENTS: Final = 50
_MOST_TRANSITIONS: Final = 500_000
"""Of one account: they take some 25 ms."""
_MOST_NUMBERS: Final = 8_000_000
"""Of all accounts: 64 MB."""


def events_kept(users: int, chain: Chain) -> int:
    """How many of its latest events an account speaks of; fewer than two are no account."""
    by_time = _MOST_TRANSITIONS // max(1, int(chain.data.shape[0]))
    by_room = _MOST_NUMBERS // max(1, 2 * users * chain.size)
    return min(MOST_EVENTS, by_time, by_room)


def why_no_accounts(settings: Settings, model: Model) -> tuple[str, str, str] | None:
    """What is wrong with the settings `metrics.accounts`: what was found, what is allowed, how to put it right."""
    metrics, chain = settings.metrics, model.chain
    if not metrics.accounts:
        return None
    single = "single releases under a model of order 1 without a tail, event by event"
    kind = ""
    if settings.window is not None:
        kind = "windows"
    elif settings.model.step is not None:
        kind = "a model by the clock"
    elif settings.model.by is not None:
        kind = "models by segment"
    elif chain.phases > 1:
        kind = "a model in phases"
    elif chain.has_tail:
        kind = "a model with a tail"
    elif chain.size != chain.symbols:
        kind = f"a model of order {model.order}"
    if kind:
        return f"{metrics.accounts} beside {kind}", f"0; accounts are known for {single}", "write accounts: 0"
    if events_kept(metrics.accounts, chain) < 2:
        found = f"{metrics.accounts} beside a model of {chain.size} values and {chain.data.shape[0]} transitions"
        allowed = f"a model of at most {_MOST_TRANSITIONS // 2} transitions, and numbers that fit 64 MB"
        return found, allowed, "write fewer accounts, or 0"
    if metrics.accounts < metrics.small_count_floor:
        found = f"{metrics.accounts}, below metrics.small_count_floor {metrics.small_count_floor}: never shown"
        return found, "0, or at least metrics.small_count_floor", "write more accounts, or 0"
    return None
