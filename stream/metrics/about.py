"""What a worker says about its settings on the status page, in words that whoever opened them has made.

The metrics know settings as figures; what they promise is said in one place, by `explain`, and carried here unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Said:
    """Sentences under a title."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class About:
    """Lengths in milliseconds; where there is no such thing, 0 and nothing."""

    released: str = "one by one"
    budget_window_ms: int = 0
    budget_events: int = 0
    """Any so many events of a user in a row have the budget."""
    when_spent: str = ""
    radius: float = 0.0
    chain_error: float = 0.0
    models_by: str = ""
    """The public field that says which of several models serves a user."""
    models: tuple[tuple[str, str], ...] = ()
    """Of several: whom it serves, and its name."""
    promise: tuple[Said, ...] = ()
    warnings: tuple[str, ...] = ()
