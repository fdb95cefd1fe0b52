"""A joint table of attributes whose values are numbers. Note: laws.md."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.laws.components import Components, all_together
from beliefs.simplex import TOLERANCE, Vector


@dataclass(frozen=True)
class TableLaw:
    """joint[v_0, v_1, ...] is the chance that attribute i has its value domains[i][v_i]."""

    joint: Matrix
    domains: tuple[Vector, ...]

    def __post_init__(self) -> None:
        _check_chances(self.joint)
        _check_domains(self.joint.shape, self.domains)

    @property
    def size(self) -> int:
        return self.joint.ndim

    def components(self) -> Components:
        """One: who knows that some attributes have nothing to do with others writes them as blocks."""
        return all_together(self.size)

    def arranged(self, known: tuple[int, ...], attacked: int) -> Matrix:
        """The table as [context, value of the attacked attribute, combination of all others]."""
        rest = tuple(axis for axis in range(self.size) if axis not in known and axis != attacked)
        turned = np.transpose(self.joint, (*known, attacked, *rest))
        contexts = math.prod(self.joint.shape[axis] for axis in known)
        arranged = turned.reshape(contexts, self.joint.shape[attacked], -1)
        return np.ascontiguousarray(arranged)


def _check_chances(joint: Matrix) -> None:
    if joint.ndim == 0 or joint.size == 0:
        raise Invalid("joint", "is empty; a law needs at least one attribute with one value")
    for what, wrong in (("no finite number", ~np.isfinite(joint)), ("negative", joint < 0.0)):
        if bool(wrong.any()):
            raise Invalid("joint", f"entry {_place(wrong)} is {what}")
    total = math.fsum(joint.ravel().tolist())
    if not abs(total - 1.0) <= TOLERANCE:
        raise Invalid("joint", f"sums to {total:.12g}; probabilities must sum to 1 within {TOLERANCE:g}")


def _check_domains(shape: tuple[int, ...], domains: tuple[Vector, ...]) -> None:
    if len(domains) != len(shape):
        raise Invalid("domains", f"are given for {len(domains)} attributes, but joint has {len(shape)} axes")
    for axis, (length, domain) in enumerate(zip(shape, domains, strict=True)):
        if domain.ndim != 1 or domain.size != length:
            raise Invalid(
                "domains", f"of attribute {axis} have {domain.size} values, but axis {axis} of joint {length}"
            )
        require_ascending(domain, "domains", f"of attribute {axis} ")


def require_ascending(values: Vector, field: str, where: str = "") -> None:
    """Finite numbers, each above the one before."""
    if not bool(np.isfinite(values).all()):
        raise Invalid(field, f"{where}must hold finite numbers; entry {int((~np.isfinite(values)).argmax())} is none")
    falling = np.flatnonzero(values[1:] <= values[:-1])
    if falling.size:
        raise Invalid(field, f"{where}must ascend; entry {falling[0] + 1} is not above the one before it")


def _place(wrong: np.typing.NDArray[np.bool_]) -> list[int]:
    return [int(each) for each in np.argwhere(wrong)[0]]
