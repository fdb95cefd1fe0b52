"""The same numbers where an adversary may believe any of several laws, of any kind: the worst of them counts."""

from __future__ import annotations

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.laws.chosen import LawSet
from beliefs.laws.law_rows import read_law
from beliefs.prior.adversary import require_adversary
from beliefs.prior.any_law import fitting
from beliefs.prior.calibration import Named
from beliefs.prior.families import joint_leak_of_laws, leak_of_laws, ledger_of_laws, scale_of_laws, worst_of_laws
from beliefs.simplex import Vector
from stream.compute.inputs import objects
from stream.compute.sequence import Result

Known = tuple[int, ...]


def laws(value: object, field: str) -> LawSet:
    """Laws as a law's file writes them."""
    found = []
    for place, each in enumerate(objects(value, field)):
        try:
            law = read_law(each, f"{field}[{place}]")
        except Invalid as problem:
            raise Invalid(field, f"are wrong at {problem.field}, which {problem.reason}") from None
        if isinstance(law, LawSet):
            raise Invalid(field, f"are a set of laws; put the laws of entry {place} in its place")
        found.append(law)
    return LawSet(tuple(found))


def leakage(
    theta: LawSet, scale: float, attacked: int, weights: Vector | None, known: Known, known_values: Known | None
) -> Result:
    require_adversary(theta.size, attacked, known)
    _require_values(known, known_values)
    return leak_of_laws(theta, scale, Named(attacked, known), known_values, weights)._asdict()


def worst(theta: LawSet, scale: float, weights: Vector | None, max_known: int | None) -> Result:
    if max_known is not None:
        raise Invalid("max_known", "goes with joint: of laws of any kind all adversaries are looked at")
    return worst_of_laws(theta, scale, weights)._asdict()


def calibrate(theta: LawSet, epsilon: float, adversary: str, named: Named | None, weights: Vector | None) -> Result:
    return scale_of_laws(theta, epsilon, adversary, named, weights)._asdict()


def joint_release(
    theta: LawSet, attacked: int, queries: Matrix, scales: Vector, known: Known, known_values: Known | None
) -> Result:
    require_adversary(theta.size, attacked, known)
    _require_values(known, known_values)
    for row in queries:
        fitting(row, theta.size, "queries")
    return joint_leak_of_laws(theta, queries, scales.tolist(), attacked, known, known_values)._asdict()


def ledger(theta: LawSet, attacked: int, queries: Matrix, scales: Vector, released: Vector) -> Result:
    require_adversary(theta.size, attacked, ())
    found, law = ledger_of_laws(theta, queries, scales.tolist(), attacked, released.tolist())
    return {**found._asdict(), "law": law}


def _require_values(known: Known, values: Known | None) -> None:
    if values is not None and len(values) != len(known):
        raise Invalid("known_values", f"has {len(values)} entries for {len(known)} known attributes")
