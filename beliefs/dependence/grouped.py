"""What any releases tell about attributes that hang together in ways nobody knows. Proof: grouped.md."""

from __future__ import annotations

import numpy as np

from beliefs.correlation.bound import Places
from beliefs.laws.components import Components
from beliefs.rounding import INFINITE, sum_units


def grouped_leaks(components: Components, losses: Places) -> Places:
    """About each attribute, in units: the losses of all that hang together, whoever is known."""
    order = np.argsort(components.of, kind="stable")
    ends = np.cumsum(components.sizes())
    begin, totals = 0, np.zeros(components.count, dtype=np.int64)
    for component, end in enumerate(ends.tolist()):
        members = losses[order[begin:end]]
        small = int(members.max()) < INFINITE // members.size
        totals[component] = int(members.sum()) if small else sum_units(members.tolist())
        begin = end
    leaks: Places = totals[components.of]
    return leaks
