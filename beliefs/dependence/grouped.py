"""What any releases tell about attributes that hang together in ways nobody knows. Proof: grouped.md."""

from __future__ import annotations

import numpy as np

from beliefs.correlation.bound import Places
from beliefs.laws.components import Components
from beliefs.rounding import INFINITE, sum_units


def grouped_leaks(components: Components, losses: Places) -> Places:
    """About each attribute, in units: the losses of all that hang together, whoever is known."""
    order, ends = np.argsort(components.of, kind="stable"), np.cumsum(components.sizes())
    ordered = np.minimum(losses, INFINITE)[order]
    if int(ordered.max()) < INFINITE // components.largest:
        totals = np.add.reduceat(ordered, np.concatenate([[0], ends[:-1]]))
    else:
        totals = np.array([sum_units(part.tolist()) for part in np.split(ordered, ends[:-1])], dtype=np.int64)
    leaks: Places = totals[components.of]
    return leaks
