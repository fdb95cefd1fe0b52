"""The law of some values of a Markov chain in a row, whose values are whole numbers. Note: laws.md."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.laws.components import Components, all_apart, all_together
from beliefs.laws.rows import divided, require_laws
from beliefs.laws.table import TableLaw, require_ascending
from beliefs.simplex import Vector, normalised, probabilities

CELLS_MAX = 1 << 20


@dataclass(frozen=True)
class MarkovLaw:
    """`length` attributes in a row; start[v] is the law of the first, transition[v] that of what follows v."""

    transition: Matrix
    start: Vector
    domain: Vector
    length: int

    def __post_init__(self) -> None:
        states = self.transition.shape[0]
        if self.transition.ndim != 2 or self.transition.shape[1] != states:
            raise Invalid("transition", f"has {states} rows of {self.transition.shape[-1]} entries; it must be square")
        require_laws(self.transition, "transition")
        if probabilities(self.start, "start").size != states:
            raise Invalid("start", f"has {self.start.size} entries, but transition has {states} rows")
        if self.domain.size != states:
            raise Invalid("domain", f"has {self.domain.size} values, but transition has {states} rows")
        require_ascending(self.domain, "domain")
        if not bool((self.domain == np.rint(self.domain)).all()):
            raise Invalid("domain", "must hold whole numbers")
        if self.length < 1:
            raise Invalid("length", "must be 1 or more")

    @property
    def size(self) -> int:
        return self.length

    @property
    def rows(self) -> Matrix:
        """The transition, each row divided by its sum."""
        return divided(self.transition)

    def components(self) -> Components:
        """The whole chain, unless what follows does not depend on what was."""
        return all_apart(self.length) if bool((self.rows == self.rows[0]).all()) else all_together(self.length)

    def table(self) -> TableLaw:
        """The same law cell by cell; only where there are at most CELLS_MAX."""
        states = self.start.size
        if states**self.length > CELLS_MAX:
            raise Invalid("length", f"of {self.length} has more than {CELLS_MAX} combinations of values")
        joint, rows = normalised(self.start), self.rows
        for _ in range(1, self.length):
            joint = joint[..., None] * rows
        whole = math.fsum(joint.ravel().tolist())
        return TableLaw(joint / whole, tuple(itertools.repeat(self.domain, self.length)))
