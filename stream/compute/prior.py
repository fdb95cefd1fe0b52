"""Numbers of noisy sums over attributes that depend on each other: what an adversary with prior knowledge learns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.laws.chosen import LawSet
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query, Seen, context_of, require_adversary
from beliefs.prior.any_law import fitting
from beliefs.prior.calibration import WEAKEST, WORST, Named, chain_scale, gaussian_scale, table_scale
from beliefs.prior.gaussian import Sums, gaussian_leak, worst_gaussian
from beliefs.prior.releases import joint_leak
from beliefs.prior.releases import ledger as ledger_of
from beliefs.prior.releases import posterior as posterior_of
from beliefs.prior.worst import worst_of_table
from beliefs.prior.worst_chain import worst_of_chain
from beliefs.simplex import Vector
from stream.compute import prior_laws
from stream.compute.sequence import Result

Known = tuple[int, ...]


def leakage(
    scale: float,
    attacked: int,
    joint: Matrix | None = None,
    domains: Sequence[Vector] = (),
    laws: LawSet | None = None,
    weights: Vector | None = None,
    known: Known = (),
    known_values: Known | None = None,
) -> Result:
    """The exact leak to one adversary, and what brackets it; of several laws the largest."""
    if laws is not None:
        return prior_laws.leakage(laws, scale, attacked, weights, known, known_values)
    assert joint is not None
    law = TableLaw(joint, tuple(domains))
    query = Query.of(law, weights)
    seen = Seen.by(law, query, attacked, known, context_in(law, attacked, known, known_values))
    return seen.brackets(scale)._asdict()


def worst(
    scale: float,
    joint: Matrix | None = None,
    domains: Sequence[Vector] = (),
    laws: LawSet | None = None,
    weights: Vector | None = None,
    max_known: int | None = None,
) -> Result:
    """The adversary who learns most."""
    if laws is not None:
        return prior_laws.worst(laws, scale, weights, max_known)
    assert joint is not None
    law = TableLaw(joint, tuple(domains))
    found = worst_of_table(law, Query.of(law, weights), scale, max_known)
    return {**found._asdict(), "known": list(found.known)}


def gaussian(
    covariance: Matrix,
    range: float,  # noqa: A002 - the input's name
    weights: Vector | None = None,
    scale: float = 0.0,
    queries: Matrix | None = None,
    scales: Vector | None = None,
    attacked: int | None = None,
    known: Known | None = None,
) -> Result:
    """Theorem 6 for one adversary, or the worst of all."""
    law = GaussianLaw(covariance, range)
    if queries is not None:
        assert scales is not None
        if weights is not None:
            raise Invalid("weights", "go with one scale; several sums have their weights in queries")
        sums = Sums(_rows_for(queries, law.size), _one_each(scales, queries.shape[0]))
    else:
        sums = Sums(fitting(weights, law.size)[None], np.array([scale]))
    if attacked is None:
        if known is not None:
            raise Invalid("attacked", "is missing: known belongs to an adversary who attacks something")
        found = worst_gaussian(law, sums)
        return {**found._asdict(), "known": list(found.known)}
    require_adversary(law.size, attacked, known or ())
    return {
        "epsilon": gaussian_leak(law, sums, attacked, known or ()),
        "attacked": attacked,
        "known": list(known or ()),
    }


def markov(transition: Sequence[Vector], start: Vector, domain: Vector, length: int, scale: float) -> Result:
    """The sum of a chain: the worst of all adversaries, and of those who know nobody."""
    return worst_of_chain(MarkovLaw(np.array(transition), start, domain, length), scale)._asdict()


def calibrate(
    epsilon: float,
    joint: Matrix | None = None,
    domains: Sequence[Vector] = (),
    covariance: Matrix | None = None,
    range: float = 0.0,  # noqa: A002 - the input's name
    transition: Sequence[Vector] = (),
    start: Vector | None = None,
    domain: Vector | None = None,
    length: int = 0,
    laws: LawSet | None = None,
    weights: Vector | None = None,
    adversary: str | None = None,
    attacked: int | None = None,
    known: Known | None = None,
) -> Result:
    """The least noise with which nobody, or one adversary, learns more than epsilon."""
    if adversary not in (None, WORST, WEAKEST):
        raise Invalid("adversary", f"is not known; there are {WORST}, {WEAKEST}")
    named, whom = _named(adversary, attacked, known), adversary or WORST
    if laws is not None:
        _require_named(named, laws.size)
        return prior_laws.calibrate(laws, epsilon, whom, named, weights)
    if covariance is not None:
        law = GaussianLaw(covariance, range)
        _require_named(named, law.size)
        return gaussian_scale(law, fitting(weights, law.size), epsilon, whom, named)._asdict()
    if joint is not None:
        table = TableLaw(joint, tuple(domains))
    else:
        assert start is not None
        assert domain is not None
        chain = MarkovLaw(np.array(transition), start, domain, length)
        _require_named(named, chain.size)
        if weights is None and (named is None or named.known is not None):
            return chain_scale(chain, epsilon, whom, named)._asdict()
        table = _as_table(chain, "weights" if weights is not None else "attacked")
    _require_named(named, table.size)
    return table_scale(table, Query.of(table, weights), epsilon, whom, named)._asdict()


def posterior(
    joint: Matrix,
    domains: Sequence[Vector],
    scale: float,
    attacked: int,
    released: float,
    weights: Vector | None = None,
    known: Known = (),
    known_values: Known | None = None,
) -> Result:
    """What is believed after a release."""
    law = TableLaw(joint, tuple(domains))
    query = Query.of(law, weights)
    if known and known_values is None:
        raise Invalid("known_values", "is missing; a belief needs the values that are known")
    context_in(law, attacked, known, known_values)
    return {"posterior": posterior_of(law, query, scale, attacked, released, known, known_values or ()).tolist()}


def joint_release(
    attacked: int,
    queries: Matrix,
    scales: Vector,
    joint: Matrix | None = None,
    domains: Sequence[Vector] = (),
    laws: LawSet | None = None,
    known: Known = (),
    known_values: Known | None = None,
) -> Result:
    """The exact leak of several sums at once."""
    if laws is not None:
        return prior_laws.joint_release(laws, attacked, queries, _one_each(scales, len(queries)), known, known_values)
    assert joint is not None
    law = TableLaw(joint, tuple(domains))
    context = context_in(law, attacked, known, known_values)
    asked = [Query.of(law, row, "queries") for row in queries]
    return {"epsilon": joint_leak(law, asked, _one_each(scales, len(asked)).tolist(), attacked, known, context)}


def ledger(
    attacked: int,
    queries: Matrix,
    scales: Vector,
    released: Vector,
    joint: Matrix | None = None,
    domains: Sequence[Vector] = (),
    laws: LawSet | None = None,
) -> Result:
    """Several sums one after the other."""
    if laws is not None:
        _require_released(released, _one_each(scales, len(queries)))
        return prior_laws.ledger(laws, attacked, queries, scales, released)
    assert joint is not None
    law = TableLaw(joint, tuple(domains))
    require_adversary(law.size, attacked, ())
    asked = [Query.of(law, row, "queries") for row in queries]
    _require_released(released, _one_each(scales, len(asked)))
    return ledger_of(law, asked, scales.tolist(), attacked, released.tolist())._asdict()


def context_in(law: TableLaw, attacked: int, known: Known, values: Known | None) -> int | None:
    """The context that is named, or None for all that are possible."""
    require_adversary(law.size, attacked, known)
    return None if values is None else context_of(law, known, values)


def _named(adversary: str | None, attacked: int | None, known: Known | None) -> Named | None:
    """An adversary who is named with no class knows just what is said; a class leaves what he knows open."""
    if attacked is None:
        if known is not None:
            raise Invalid("attacked", "is missing: known belongs to an adversary who attacks something")
        return None
    if adversary is None:
        return Named(attacked, known or ())
    if known is not None:
        raise Invalid("known", "says what one adversary knows, adversary leaves that open: give one of the two")
    return Named(attacked, () if adversary == WEAKEST else None)


def _require_named(named: Named | None, size: int) -> None:
    if named is not None:
        require_adversary(size, named.attacked, named.known or ())


def _as_table(chain: MarkovLaw, field: str) -> TableLaw:
    try:
        return chain.table()
    except Invalid as problem:
        raise Invalid(field, f"makes the chain be looked at value by value, but a length {problem.reason}") from None


def _rows_for(queries: Matrix, size: int) -> Matrix:
    if queries.shape[1] != size:
        raise Invalid("queries", f"has rows of {queries.shape[1]} entries, but there are {size} attributes")
    return queries


def _one_each(scales: Vector, count: int) -> Vector:
    if scales.size != count:
        raise Invalid("scales", f"has {scales.size} entries, but there are {count} queries")
    return scales


def _require_released(released: Vector, scales: Vector) -> None:
    if released.size != scales.size:
        raise Invalid("released", f"has {released.size} entries, but there are {scales.size} queries")
