"""The noise of aggregates by its names. A new one is one file, its note, a line here and
tests/vectors/aggregate_<name>.json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mechanisms.aggregate.geometric import Geometric, scale_for

REGISTRY: Mapping[str, Callable[[int, int], Geometric]] = {"geometric": scale_for}
"""Each makes its noise of what one person may move, in steps of the grid, and of the units that may be told."""
