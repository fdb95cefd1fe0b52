"""Small cases for every definition, lemma and algorithm, by enumeration and linear programs."""

from __future__ import annotations

import itertools
import math
from typing import Final, NamedTuple

import numpy as np
from correlation_oracles import bound_by_program, bound_by_sets, leak_by_outputs, response, some_conditionals

from beliefs.correlation.bound import Matrix, bound, excess, profile, saturation, tight_delta
from beliefs.correlation.calibration import PairwiseMeter
from beliefs.correlation.joint import joint_leak
from beliefs.correlation.outputs import channel_leak, repeated_leak, response_leak
from beliefs.correlation.published import algorithm_1, algorithm_3, equation_6, relaxation
from beliefs.correlation.tables import given
from mechanisms.local.grr import grr
from mechanisms.local.hashing import blh, olh
from mechanisms.local.unary import oue, sue

LAWS: Final = np.array([[0.9, 0.1], [0.2, 0.8]])
CHANNEL: Final = np.array([[0.95, 0.05], [0.4, 0.6]])
RARE: Final = np.array([[0.01, 0.99], [0.0, 1.0]])
THREE: Final = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
EXAMPLE: Final = np.array([[0.2, 0, 0, 0], [0, 0.2, 0, 0], [0.1, 0.15, 0.03, 0.02], [0.1, 0.15, 0.03, 0.02]])
"""Equation (28)."""


def halves(values: int) -> Matrix:
    """Two secrets that see one half of the values each."""
    half = values // 2
    even = np.full(half, 1.0 / half)
    return np.stack([np.concatenate([even, np.zeros(half)]), np.concatenate([np.zeros(half), even])])


def exclusive_or(bits: int) -> Matrix:
    """Fair bits, and as the secret, on axis 0, whether an odd number of them is 1."""
    weights = np.zeros((2,) * (bits + 1))
    for each in itertools.product((0, 1), repeat=bits):
        weights[(sum(each) % 2, *each)] = 1.0
    return weights


def rows_and_columns(channel: Matrix = CHANNEL) -> tuple[float, float]:
    """Algorithm 1 as printed, and (7)."""
    return algorithm_1(LAWS, channel), channel_leak(LAWS, channel)


class Optimum(NamedTuple):
    """Largest differences of Algorithm 2 from all sets, from a linear program, and from a mechanism that attains it."""

    sets: float
    program: float
    attained: float
    laws: int


def optimum(count: int) -> Optimum:
    source, sets, program, attained = np.random.default_rng(51), 0.0, 0.0, 0.0
    for laws in some_conditionals(source, count):
        epsilon = float(source.choice([0.2, 1.0, 3.0]))
        found = bound(laws, epsilon)
        sets = max(sets, abs(found.epsilon - bound_by_sets(laws, epsilon)))
        if found.rows is None or found.subset is None:
            continue
        first, second = (laws[row] for row in found.rows)
        program = max(program, abs(found.epsilon - bound_by_program(first, second, epsilon)))
        inside = np.isin(np.arange(laws.shape[1]), found.subset).astype(int)
        attained = max(attained, abs(found.epsilon - leak_by_outputs(laws, response(2, epsilon)[inside])))
    return Optimum(sets, program, attained, count)


class Sums(NamedTuple):
    """Equation (6) beside all outputs together; `broken` of so many random tables exceed it."""

    printed: float
    joint: float
    broken: int
    tables: int
    independent: float
    """The largest excess where neighbours are independent given the secret: none."""


def sums_of_pairs(tables: int = 300) -> Sums:
    source, broken, independent = np.random.default_rng(52), 0, -math.inf
    for _ in range(tables):
        weights = source.dirichlet(np.ones(16)).reshape((2,) * 4)
        broken += joint_leak(given(weights, 0), [1.0] * 3) > equation_6(weights, [1.0] * 3) + 1e-9
        one, two = source.dirichlet(np.ones(3), 3), source.dirichlet(np.ones(3), 3)
        apart = one[:, :, None] * two[:, None, :]
        independent = max(independent, joint_leak(apart, [1.0, 1.0]) - equation_6(apart, [1.0, 1.0]))
    xor = exclusive_or(2)
    return Sums(equation_6(xor, [1.0, 1.0]), joint_leak(given(xor, 0), [1.0, 1.0]), broken, tables, independent)


def twice() -> tuple[float, float]:
    """The same neighbour reported twice: exactly, and twice the single loss."""
    return repeated_leak(RARE, 1.0, 2), 2 * response_leak(RARE, 1.0)


class Relaxed(NamedTuple):
    """f* beside the smallest delta' that is right; how loose at most; and what is lost where f* stays unset."""

    printed: float
    tight: float
    loosest: float
    below: int
    unset: float | None
    lost: float


def relaxed(count: int = 120) -> Relaxed:
    source, loosest, below = np.random.default_rng(53), 0.0, 0
    for laws in some_conditionals(source, count):
        leak = bound(laws, 1.0).epsilon
        if (loose := relaxation(laws, 1.0, 0.05)) is not None:
            right = tight_delta(laws, 1.0, 0.05, leak)
            loosest, below = max(loosest, loose / right), below + (loose < right * (1 - 1e-9))
    shown = relaxation(THREE, 1.0, 0.05)
    assert shown is not None
    tight = tight_delta(THREE, 1.0, 0.05, bound(THREE, 1.0).epsilon)
    return Relaxed(shown, tight, loosest, below, relaxation(THREE, 0.0, 0.05), profile(THREE, 0.0, 0.05, 0.0))


def leaky(delta: float) -> tuple[float, float]:
    """A (0, delta)-LDP mechanism that says whether the value is the telling one with chance delta, and (13)."""
    channel = np.array([[delta, 1 - delta], [0.0, 1.0], [0.0, 1.0]])
    return leak_by_outputs(THREE, channel), saturation(THREE)


def pointwise(delta: float, outputs: int) -> tuple[float, float]:
    """Every single output keeps (16) at epsilon 0; the smallest delta over sets of outputs is so many times larger."""
    shown = np.concatenate([np.full(outputs, delta), [0.0], [1 - outputs * delta]])
    other = np.concatenate([np.zeros(outputs), [outputs * delta], [1 - outputs * delta]])
    rows = np.stack([shown, other])
    return float((rows[0] - rows[1])[:outputs].max()), excess(rows, 0.0)


class Budgets(NamedTuple):
    """Algorithm 3: how many of so many tables it leaves beyond the limit, and by how much; one field alone."""

    beyond: int
    tables: int
    most: float
    alone: float


def budgets(tables: int = 40) -> Budgets:
    source, beyond, most = np.random.default_rng(54), 0, 0.0
    for _ in range(tables):
        weights = source.gamma(0.5, size=(3, 2, 4))
        printed = algorithm_3(weights, lambda laws, epsilon: bound(laws, epsilon).epsilon, 2.0, 0.01)
        total = float(PairwiseMeter(weights).totals(np.full(3, printed)).max())
        beyond, most = beyond + (total > 2.0), max(most, total - 2.0)
    return Budgets(beyond, tables, most, algorithm_3(np.array([3.0, 1.0]), response_leak, 1.0, 0.01))


class Outputs(NamedTuple):
    """What two halves lose at epsilon 1: every output enumerated, the guess of Appendix B, and GRR."""

    name: str
    values: int
    real: float
    guessed: float
    response: float


def every_output() -> list[Outputs]:
    found = []
    for name, values, made in (("OUE", 8, oue), ("RAPPOR (SUE)", 8, sue), ("BLH", 4, blh), ("OLH", 4, olh)):
        laws, mechanism = halves(values), made(values, 1.0)
        guessed = response_leak(laws, mechanism.guess().effective)
        found.append(
            Outputs(name, values, leak_by_outputs(laws, mechanism.channel()), guessed, response_leak(laws, 1.0))
        )
    return found


def cells(values: int, epsilon: float, low: float, high: float) -> float:
    """SHE: what one output tells whose first half of cells stands at `high`, the others at `low`; by its density."""
    laws, place = halves(values), np.where(np.arange(values) < values // 2, high, low)
    logs = -(epsilon / 2) * np.abs(place[None, :] - np.eye(values)).sum(axis=1)
    seen = laws @ np.exp(logs - logs.max())
    return float(math.log(seen[0] / seen[1]))


def largest_loss(values: int, epsilon: float) -> tuple[float, float]:
    """Corollary H.1 on two halves: the bound, and what randomised response loses."""
    laws = halves(values)
    return bound(laws, epsilon).epsilon, leak_by_outputs(laws, grr(values, epsilon).channel())
