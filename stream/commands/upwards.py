"""What two_budget promises, in plain words: less upwards than it may tell, only where the budget has that left."""

import math
from collections.abc import Iterator, Mapping
from typing import Any


def upward_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Both sides of one release, and what holds against everybody else."""
    upper, epsilon, most = facts["upper"], facts["epsilon"], facts["worst_under_any_model"]
    yield (
        "against somebody who reads all that is released, knows this model and knows how a user's events hang "
        f"together: one release makes no value more than {facts['factor']:.3g} times less likely than it was before "
        f"(epsilon = {epsilon:g} nats), and none more than {math.exp(upper):.3g} times more likely "
        f"(upper = {upper:g} nats)"
    )
    yield (
        "upwards it may tell the largest of a few fixed amounts from epsilon to upper that the user's budget has left, "
        "which everybody can see; rare values are released where that is much, and early releases may leave little"
    )
    if facts["chain_error"]:
        yield (
            "the same against every reader whose model gives each start and transition probability within a factor of "
            f"{math.exp(facts['chain_error']):.4g} of this one's, either way (mechanism.chain_error); for that it is "
            f"built for {facts['built_for']:.4g} nats downwards and as much less upwards"
        )
    yield (
        f"against somebody whose model is a better one than yours: at most {math.exp(most):.3g} times ({most:.4g} "
        "nats, never more than epsilon + upper), whatever they know"
    )
