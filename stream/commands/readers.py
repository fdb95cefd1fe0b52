"""Whom a declared radius and a declared error of the chain cover, in plain words."""

import math
from collections.abc import Iterator, Mapping
from typing import Any


def reader_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Whom the radius and the error of the chain cover, what that costs, and what is left for all others."""
    window, most, built = facts["release_window"], facts["worst_under_any_model"], facts["built_for"]
    if facts["chain_error"]:
        yield (
            "the same against every reader whose model gives each start and transition probability within a factor of "
            f"{math.exp(facts['chain_error']):.4g} of this one's, either way (mechanism.chain_error); what they expect "
            f"{_apart(facts)}"
        )
    if facts["radius"]:
        about = "a user's next value" if window is None else "the values of a user's next window together"
        whose = "model's, or from that of such a reader," if facts["chain_error"] else "model's"
        yield (
            f"the same against every reader whose belief about {about}, whenever something is released, differs from "
            f"the {whose} by at most {facts['radius']:g} in total variation (mechanism.radius)"
        )
    yield f"for that it is built for {built:.4g} nats, and what is charged holds for all of these readers"
    yield (
        f"against a reader who is further away, whatever they know: at most {math.exp(most):.3g} times "
        f"({most:.4g} nats, never more than 2 epsilon)"
    )


def _apart(facts: Mapping[str, Any]) -> str:
    if 2 * facts["apart"] >= facts["epsilon"]:
        return (
            "may come so far from what the model expects that it is built for half of epsilon, which covers everybody"
        )
    return f"then stays for ever within a factor of {math.exp(facts['apart']):.4g} of what the model expects"
