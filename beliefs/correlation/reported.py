"""The joint law of two fields, learnt from reports of both, and how far it may be off. Proof: reported.md.

A report is a row of features: 1 at the output that came out, or a bit for each value that it supports, or noisy cells.
What each feature is on average given the value is known, and is inverted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, rows_of
from beliefs.simplex import Vector, on_the_simplex, probabilities

_OUTWARD = 1.0 + 2.0**-40
_INVERTED_TO = 2.0**-40
_FEATURES_MAX, _VALUES_MAX = 1 << 10, 1 << 7
_SQUARINGS = 8
_ROUNDINGS = 2.0**-37


@dataclass(frozen=True)
class Reading:
    """Features times `weights` are on average 1 at the reported value, and 0 at all others.

    `whole` and `along` bound the variance given the value: the sum over all values, and that in any one direction.
    `own` and `others` bound it at each value: for those who have it, and for those who do not. `reach` bounds the
    length of what comes out, `reaches` its size at each value.
    """

    weights: Matrix
    whole: float
    along: float
    own: Vector
    others: Vector
    reach: float
    reaches: Vector


class Told(NamedTuple):
    """Sums over users: of the products of both reports' features, and of the first report's alone."""

    users: int
    pairs: Matrix
    firsts: Vector


class Learnt(NamedTuple):
    """The joint law and the rows P(second | first), each with its total variation; `shares` may be below 0."""

    table: Matrix
    table_radius: float
    rows: Matrix
    radii: Vector
    shares: Vector


def told_of(first: Matrix, second: Matrix) -> Told:
    """One row of features for each user, in both in the same order."""
    pairs = np.array([(feature[:, None] * second).sum(axis=0) for feature in first.T], dtype=np.float64)
    return Told(first.shape[0], pairs, first.sum(axis=0, dtype=np.float64))


def by_channel(channel: Matrix) -> Reading:
    """Of reports of which each output's chance is known: `channel[value, output]`, the feature 1 at the output."""
    if len(channel) == 0:
        raise Invalid("channel", "is empty; it needs a row for each value")
    laws = rows_of([probabilities(row, "channel") for row in channel])
    weights = _inverse(laws)
    squares = np.array([_product(weights.T * law, weights) for law in laws])
    means = np.eye(len(laws))
    spreads = squares - means[:, :, None] * means[:, None, :]
    lengths = np.sqrt((weights**2).sum(axis=1))
    return _reading(weights, spreads, float(lengths.max()), np.abs(weights).max(axis=0))


def by_support(values: int, p: float, q: float, independent: bool = False) -> Reading:
    """Of bits: the own value's is 1 with chance p, each other one with q; `independent` ones given the value or not."""
    means = np.full((values, values), q)
    np.fill_diagonal(means, p)
    weights = _inverse(means)
    variances = means * (1.0 - means)
    rises, falls = np.maximum(weights, 0.0).sum(axis=0), np.maximum(-weights, 0.0).sum(axis=0)
    reaches = np.maximum(rises, falls)
    reach = float(np.sqrt((reaches**2).sum()))
    if independent:
        return _reading(weights, np.array([_product(weights.T * each, weights) for each in variances]), reach, reaches)
    # However the bits hang together, deviations add up to no more than this.
    at_most = _product(np.sqrt(variances), np.abs(weights)) ** 2
    whole = _largest(_product(weights, weights.T)) * float(variances.sum(axis=1).max()) * _OUTWARD
    return Reading(weights, whole, whole, *_own_and_others(at_most), reach, reaches)


def by_cells(values: int, variance: float, reach: float) -> Reading:
    """Of cells with independent noise: on average 1 at the value and 0 elsewhere, none beyond -reach and reach."""
    each = np.full(values, variance)
    return Reading(
        np.eye(values), variance * values, variance, each, each, reach * math.sqrt(values), np.full(values, reach)
    )


def learn(told: Told, first: Reading, second: Reading, failure: float) -> Learnt:
    """All radii hold at once but for `failure`. A row that is told nothing of is even, and its radius is 1."""
    if not 0.0 < failure < 1.0:
        raise Invalid("failure", "must lie between 0 and 1")
    if told.users < 1:
        raise Invalid("users", "must be 1 or more: nothing was reported")
    read = len(first.weights), len(second.weights)
    if told.pairs.shape != read or told.firsts.shape != read[:1]:
        found = f"are sums of {told.pairs.shape} pairs and {told.firsts.shape} first features"
        raise Invalid("pairs", f"{found}, but the readings have {read[0]} and {read[1]}: give fields in one order")
    joint = _product(_product(first.weights.T, told.pairs), second.weights) / told.users
    shares: Vector = (first.weights.T * told.firsts).sum(axis=1) / told.users
    table = on_the_simplex(joint.ravel()).reshape(joint.shape)
    values = joint.shape[1]
    known = shares > _INVERTED_TO  # below, it is nothing but roundings, and the radius is 1 anyway
    rows = np.full(joint.shape, 1.0 / values)
    for place in np.flatnonzero(known):
        rows[place] = on_the_simplex(joint[place] / shares[place])
    errors = _row_errors(told.users, shares, first, second, failure)
    radii = np.ones(shares.size)
    radii[known] = np.minimum(1.0, _variation(errors[known], values) / shares[known] * _OUTWARD)
    return Learnt(table, table_radius(told.users, first, second, failure), rows, radii, shares)


def table_radius(users: int, first: Reading, second: Reading, failure: float) -> float:
    """Of the joint law: it depends on no report, so it can be asked for beforehand."""
    off = _off(
        users,
        (first.whole + 1.0) * (second.whole + 1.0),
        (first.along + 1.0) * (second.along + 1.0),
        first.reach * second.reach + 1.0,
        math.log(4.0 / failure),
    )
    error = np.array([off + _rounded(first.reach, second)])
    return min(1.0, float(_variation(error, first.weights.shape[1] * second.weights.shape[1])[0]))


def _row_errors(users: int, shares: Vector, first: Reading, second: Reading, failure: float) -> Vector:
    """How long, at most, what is read of a row is beyond the share that is read times the true row."""
    of_shares, of_rows = math.log(4.0 * shares.size / failure), math.log(2.0 * shares.size / failure)
    errors = []
    for place, share in enumerate(shares):
        own, others, reach = (float(each[place]) for each in (first.own, first.others, first.reaches))
        highest = share + _off(users, 0.0, max(own, others) + 0.25, reach + 1.0, of_shares) + _rounded(reach, second)
        highest = min(1.0, max(0.0, highest))
        whole, along = (
            # Linear in the true share, which is somewhere from 0 to `highest`.
            max((own + 1.0) * (spread + 1.0) * part + others * (spread + 2.0) * (1.0 - part) for part in (0.0, highest))
            for spread in (second.whole, second.along)
        )
        off = _off(users, whole, along, reach * (second.reach + 1.0), of_rows)
        errors.append(off + _rounded(reach, second))
    return np.array(errors)


def _off(users: int, whole: float, along: float, largest: float, doubt: float) -> float:
    """How long the mean of so many independent vectors is at most, but for exp(-doubt): Bousquet's inequality."""
    mean = math.sqrt(users * whole)
    around = math.sqrt(2.0 * doubt * (users * along + 2.0 * largest * mean))
    return (mean + around + largest * doubt / 3.0) / users * _OUTWARD


def _rounded(reach: float, second: Reading) -> float:
    return _ROUNDINGS * (1.0 + reach) * (1.0 + second.reach)


def _variation(lengths: Vector, values: int) -> Vector:
    """Half the sum of so many sizes, given the root of the sum of their squares."""
    return 0.5 * math.sqrt(values) * lengths * _OUTWARD


def _inverse(means: Matrix) -> Matrix:
    """What `means` times is the identity: means' (means means')^-1, with one step of Newton's."""
    values, features = means.shape
    if values > _VALUES_MAX or features > _FEATURES_MAX:
        most = f"{_VALUES_MAX} and {_FEATURES_MAX}"
        raise Invalid("channel", f"has {values} values and {features} outputs; at most {most} are inverted")
    with np.errstate(all="ignore"):  # what overflows is seen below
        rough = _product(means.T, _eliminated(_product(means, means.T)))
        weights: Matrix = 2.0 * rough - _product(rough, _product(means, rough))
        off = np.abs(_product(means, weights) - np.eye(values)).sum(axis=1).max()
    if not float(off) <= _INVERTED_TO:
        raise Invalid("channel", "cannot be inverted: some values are reported alike; raise the budget of the field")
    return weights


def _eliminated(square: Matrix) -> Matrix:
    """The inverse by elimination, the largest of a column first."""
    size = len(square)
    work = np.concatenate([square, np.eye(size)], axis=1)
    for column in range(size):
        largest = column + int(np.abs(work[column:, column]).argmax())
        work[[column, largest]] = work[[largest, column]]
        work[column] /= work[column, column]
        factors = work[:, column].copy()
        factors[column] = 0.0
        work -= factors[:, None] * work[column]
    return work[:, size:]


def _product(left: Matrix, right: Matrix) -> Matrix:
    """The product of matrices, each sum in the order of its terms."""
    whole = np.zeros((left.shape[0], right.shape[1]))
    for place in range(right.shape[0]):
        whole += left[:, place, None] * right[place]
    return whole


def _largest(spread: Matrix) -> float:
    """At least the largest eigenvalue, and at most k^(1/256) times as much: the root of the 256th power's trace."""
    log, power = 0.0, spread
    for squaring in range(_SQUARINGS):
        scale = float(np.trace(power))
        if not scale > 0.0:
            return 0.0
        log += math.log(scale) / 2.0**squaring
        power = _product(power / scale, power / scale)
    return math.exp(log + math.log(float(np.trace(power))) / 2.0**_SQUARINGS) * _OUTWARD


def _reading(weights: Matrix, spreads: Matrix, reach: float, reaches: Vector) -> Reading:
    """`spreads[x]` is the covariance of what is read of those who have x."""
    sizes = np.maximum(np.array([np.diag(spread) for spread in spreads]), 0.0)
    whole, along = float(sizes.sum(axis=1).max()), max(_largest(spread) for spread in spreads)
    # The covariances are differences, whose roundings are small beside the squares of the weights.
    room = _INVERTED_TO * (1.0 + reach) ** 2
    own, others = _own_and_others(sizes)
    return Reading(weights, whole + room, along + room, own + room, others + room, reach, reaches)


def _own_and_others(sizes: Matrix) -> tuple[Vector, Vector]:
    """Of `sizes[x, u]` for each u: that of x = u, and the largest of all other x; none, if there is one value only."""
    own = np.diag(sizes).copy()
    apart = sizes.copy()
    np.fill_diagonal(apart, 0.0)
    return own, apart.max(axis=0)
