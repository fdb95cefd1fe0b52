"""The largest probability of releasing a value unchanged under a two-sided bound, and a certificate that it is.

A channel a(y|x) keeps the bound when e p(y) <= a(y|x) <= U p(y) for all x and y, where p is the law of the release,
e = exp(-lower) and U = exp(upper). With c = 1 - e and p* = c/(U - e), `optimal.md` proves what stands here.

Everything works with any kind of number: with fractions the value and the certificate are equal to the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Generic, NamedTuple, TypeVar

from beliefs.simplex import Vector, normalised

Number = TypeVar("Number", float, Fraction)


class Bounds(NamedTuple, Generic[Number]):
    """The two bounds on a(y|x)/p(y), and what follows from them."""

    floor: Number
    """e, the smallest ratio"""
    reveal: Number
    """c = 1 - e"""
    ceiling: Number
    """U, the largest ratio; floats may be infinite"""
    whole: Number
    """p*: a value that is at least this likely may be released whenever it is not covered by the floor"""


class Solution(NamedTuple, Generic[Number]):
    """The optimum: `marginals` holds the law of the release over `order`, the values from the likeliest on."""

    accuracy: Number
    case: str
    order: list[int]
    taken: int
    marginals: list[Number]


def bounds_of(lower: float, upper: float) -> Bounds[float]:
    """From two budgets in nats. Differences are taken before rounding, so budgets of 1e-300 and of 2,000 both work."""
    reveal = -math.expm1(-lower)
    growth = math.expm1(upper) if upper < 709.0 else math.inf
    width = growth + reveal  # U - e
    return Bounds(math.exp(-lower), reveal, growth + 1.0, reveal / width if reveal > 0 else 0.0)


def exact_bounds(floor: Fraction, ceiling: Fraction) -> Bounds[Fraction]:
    """From the two ratios themselves, as fractions."""
    reveal = 1 - floor
    return Bounds(floor, reveal, ceiling, reveal / (ceiling - floor) if reveal else Fraction(0))


def optimal_accuracy(prior: Vector, lower: float, upper: float) -> float:
    """The largest P(release = value) for this prior under these two budgets in nats."""
    law: list[float] = normalised(prior).tolist()
    return min(1.0, solve(law, bounds_of(lower, upper)).accuracy)


def gain(mass: Number, bounds: Bounds[Number]) -> Number:
    """h(b): accuracy per unit of released probability, for a value of belief b, until its marginal is max(b, p*)."""
    if mass >= bounds.whole:
        return bounds.reveal + bounds.floor * mass
    return bounds.ceiling * mass


def solve(prior: Sequence[Number], bounds: Bounds[Number]) -> Solution[Number]:
    """The optimum for a law that sums to 1."""
    order = sorted(range(len(prior)), key=lambda x: -prior[x])
    likeliest = bounds.floor * prior[order[0]]
    nothing = 0 * prior[0]
    if not bounds.reveal:
        return Solution(prior[order[0]], "top", order, 0, [1 + nothing] + [nothing] * (len(prior) - 1))
    marginals: list[Number] = []
    accuracy, room = nothing, 1 + nothing
    for x in order:
        whole = max(prior[x], bounds.whole)
        if room < whole or gain(prior[x], bounds) <= likeliest:
            break
        accuracy += gain(prior[x], bounds) * whole
        room -= whole
        marginals.append(whole)
    taken = len(marginals)
    marginals += [nothing] * (len(prior) - taken)
    if taken == len(prior) or room <= 0:
        return Solution(accuracy, "full", order, taken, marginals)
    case, lent = _last_case(prior, order, taken, room, bounds)
    if case == "top":
        marginals[0] += room
        return Solution(accuracy + likeliest * room, case, order, taken, marginals)
    accuracy += gain(prior[order[taken]], bounds) * room
    marginals[taken] = room + lent
    if case == "donor":
        marginals[taken - 1] -= lent
        accuracy -= lent * _loss(prior, order, taken, bounds)
    return Solution(accuracy, case, order, taken, marginals)


def prices(prior: Sequence[Number], bounds: Bounds[Number]) -> list[Number]:
    """Dual prices: their mean under the prior is the optimum, and no release earns more than the prices it uses."""
    solution = solve(prior, bounds)
    order, taken = solution.order, solution.taken
    level = bounds.floor * prior[order[0]]
    if taken < len(prior):
        level = max(level, _level_of_next(prior, order, taken, bounds) if bounds.reveal else level)
    result = [level] * len(prior)
    for x in order[:taken]:
        result[x] = _price(prior[x], level, bounds)
    return result


def least_slack(prior: Sequence[Number], charged: Sequence[Number], bounds: Bounds[Number]) -> Number:
    """The smallest of (prices used up by a release) - (what it earns), over all releases that the bound allows.

    A release of y is a posterior mu of K with mu <= prior/p*; it earns e prior(y) + c mu(y) and uses the sum of price
    times mu: a fractional knapsack, filled from the cheapest price on. With no slack below zero the prices prove the
    optimum.
    """
    slacks = []
    for y, mass in enumerate(prior):
        used = [price - bounds.reveal if x == y else price for x, price in enumerate(charged)]
        slacks.append(_cheapest(prior, used, bounds.whole) - bounds.floor * mass)
    return min(slacks)


def _last_case(
    prior: Sequence[Number], order: list[int], taken: int, room: Number, bounds: Bounds[Number]
) -> tuple[str, Number]:
    """Who gets the room that is left, and what the last taken value lends the next one for it."""
    following = prior[order[taken]]
    nothing = 0 * room
    if gain(following, bounds) <= bounds.floor * prior[order[0]]:
        return "top", nothing
    rest = _tail_mass(prior, order, taken)
    missing = bounds.whole - rest
    if missing <= 0:
        return "bound", nothing
    donor = min(prior[order[taken - 1]], bounds.whole)
    # In exact numbers donor > missing and room <= donor - missing; rounding may break either by a last place.
    share = min(1 + nothing, room / (donor - missing)) if donor > missing else 1 + nothing
    lent = missing * share
    top = bounds.floor * prior[order[0]] * room
    if gain(following, bounds) * room - lent * _loss(prior, order, taken, bounds) > top:
        return "donor", lent
    return "top", nothing


def _level_of_next(prior: Sequence[Number], order: list[int], taken: int, bounds: Bounds[Number]) -> Number:
    """The price of the tail at which releasing the next value is worth exactly what it uses up."""
    following = gain(prior[order[taken]], bounds)
    rest = _tail_mass(prior, order, taken)
    missing = bounds.whole - rest
    room_left = sum((max(prior[x], bounds.whole) for x in order[:taken]), 0 * rest) < 1
    if missing <= 0 or not room_left or following <= bounds.floor * prior[order[0]]:
        return following
    donor = prior[order[taken - 1]]
    if donor >= bounds.whole:
        return (bounds.whole * following - missing * gain(donor, bounds)) / rest
    return bounds.ceiling * donor * (prior[order[taken]] - missing) / (donor - missing)


def _price(mass: Number, level: Number, bounds: Bounds[Number]) -> Number:
    if mass >= bounds.whole:
        return bounds.reveal + bounds.floor * mass
    return level + bounds.whole * (bounds.ceiling - level / mass)


def _loss(prior: Sequence[Number], order: list[int], taken: int, bounds: Bounds[Number]) -> Number:
    return gain(prior[order[taken - 1]], bounds) - gain(prior[order[taken]], bounds)


def _tail_mass(prior: Sequence[Number], order: list[int], taken: int) -> Number:
    """The mass of what is not taken, added from the smallest on: one minus the rest would lose a tail of 1e-12."""
    total = 0 * prior[0]
    for x in reversed(order[taken:]):
        total += prior[x]
    return total


def _cheapest(prior: Sequence[Number], used: Sequence[Number], whole: Number) -> Number:
    cost, need = 0 * prior[0], 1 + 0 * prior[0]
    for x in sorted(range(len(prior)), key=lambda x: used[x]):
        part = min(need, prior[x] / whole) if whole else need * (prior[x] > 0)
        cost += part * used[x]
        need -= part
    return cost
