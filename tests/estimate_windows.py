"""Windows of values of which estimates are made: chains whose channels tell of all values, and one where not."""

from __future__ import annotations

from beliefs.alphabet import Categories
from beliefs.chain import Chain
from beliefs.model_file import Model, parse, serialise

CHAINS = {
    "two": ([0.5, 0.5], [[0.6, 0.4], [0.35, 0.65]]),
    "three": ([0.3, 0.4, 0.3], [[0.4, 0.3, 0.3], [0.3, 0.45, 0.25], [0.3, 0.3, 0.4]]),
    "sticky": ([0.5, 0.3, 0.2], [[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.04, 0.06, 0.9]]),
}
ORDERS = {
    "bisect": "{events: 3}",
    "natural": "{events: 3, order: natural}",
    "dual": "{events: 3, order: dual}",
}


def model_of_windows(name: str) -> Model:
    start, rows = CHAINS[name]
    return parse(serialise(Categories([f"v{x}" for x in range(len(start))]), Chain.from_dense(start, rows), {}))
