"""What a mechanism really samples: the whole numbers of a row, the coin's choice, and what that choice tells.

Units of a row are texts, because a 62-bit number is exact in JSON but not in every reader of JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from beliefs.checks import Invalid
from beliefs.distance import equal, from_table
from beliefs.rounding import budget_units, log_units_up, nats
from beliefs.simplex import Vector, normalised
from mechanisms import registry
from mechanisms.coins import keystream, pick
from mechanisms.contract import Floats, Workspace, constants_of, design_units, new_workspace

EPSILON_MAX = 32.0

Result = Mapping[str, object]


def release(
    mechanism: str,
    prior: Vector,
    epsilon: float,
    value: int,
    key: bytes | None = None,
    offset: int = 0,
    distance: Sequence[Vector] | None = None,
) -> Result:
    """The row of `value`; with a partition's key, also what the coin of `offset` picks from it."""
    if mechanism not in registry.MECHANISMS:
        raise Invalid("mechanism", f"is not known; the mechanisms are {', '.join(registry.MECHANISMS)}")
    if epsilon > EPSILON_MAX:
        raise Invalid("epsilon", f"is above {EPSILON_MAX:g} nats, the most that a mechanism is built for")
    if value >= prior.size:
        raise Invalid("value", f"is no value of a prior over {prior.size}; values start at 0")
    code = registry.MECHANISMS[mechanism].code
    costs = equal() if code == registry.NEAR else None
    if distance is not None:
        costs = from_table(distance, prior.size, "distance", as_costs=True)
    belief, work = normalised(prior), new_workspace(prior.size, costs)
    constants = np.array(constants_of(design_units(budget_units(epsilon), 0)))
    worst = registry.prepare(code, belief, constants, work)
    registry.row(code, value, belief, work)
    count = int(work.size[0])
    result: dict[str, object] = {
        "released": work.head[:count].tolist(),
        "row": [str(units) for units in work.row[:count].tolist()],
        "worst": _leak(worst),
    }
    return result if key is None else result | _picked(code, belief, work, key, offset)


def _picked(code: int, belief: Floats, work: Workspace, key: bytes, offset: int) -> dict[str, object]:
    chosen = pick(work.row, int(work.size[0]), keystream(key, offset, 1)[0, 0])
    ratios = registry.column(code, chosen, belief, work)
    return {
        "release": int(work.head[chosen]),
        "likelihood": [str(int(units)) for units in work.likelihood.tolist()],
        "leak": _leak(ratios),
    }


def _leak(ratios: tuple[float, float, float]) -> dict[str, float]:
    """In nats, rounded up to whole units of 2^-40."""
    upper, lower, _ = ratios
    return {"upper": nats(log_units_up(upper)), "lower": nats(log_units_up(lower))}
