"""The circle of arcs: its marginal, its shape against exact fractions, its monotone sums."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs.rounding import UNITS_PER_NAT
from mechanisms.contract import SHAVE_UNITS, TOTAL, Constant, Floats, Workspace, constants_of, new_workspace
from mechanisms.sequence import marginal_preserving as circle
from mechanisms.sequence.optimal_value import optimal_accuracy

Rows = list[list[int]]


def constants(epsilon: float) -> Floats:
    return np.array(constants_of(int(epsilon * UNITS_PER_NAT) - SHAVE_UNITS))


def described(belief: Floats, epsilon: float) -> tuple[Rows, Workspace]:
    """Full rows over all symbols, those that are never released with zeros."""
    work = new_workspace(belief.shape[0])
    circle.prepare(belief, constants(epsilon), work)
    rows = []
    for x in range(belief.shape[0]):
        circle.row(x, belief, work)
        full = [0] * belief.shape[0]
        for i in range(work.size[circle.COUNT]):
            full[int(work.head[i])] = int(work.row[i])
        rows.append(full)
    return rows, work


def law_of(belief: Floats) -> list[Fraction]:
    total = sum(Fraction(mass) for mass in belief.tolist())
    return [Fraction(mass) / total for mass in belief.tolist()]


def random_belief(rng: np.random.Generator, symbols: int) -> Floats:
    belief = rng.dirichlet(np.full(symbols, rng.choice([0.2, 1.0, 5.0])))
    belief[rng.random(symbols) < 0.2] = 0.0
    belief[0] += belief.sum() == 0.0
    return np.asarray(belief / belief.sum())


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 16.0])
def test_the_marginal_is_the_belief(epsilon: float) -> None:
    """Within the distance that the proof note states: the pads, the roundings, and the doubles of the belief."""
    rng = np.random.default_rng(8)
    for _ in range(300):
        belief = random_belief(rng, int(rng.integers(1, 30)))
        symbols = belief.shape[0]
        rows, _ = described(belief, epsilon)
        law = law_of(belief)
        slack = circle.ROUNDINGS + circle.UNITS_PER_ARC * symbols
        pad = int(constants(epsilon)[Constant.PAD] * slack)
        limit = Fraction(2 * symbols * (pad + slack) + 2 * circle.REST_STEP, TOTAL) + Fraction(symbols, 2**52)
        marginal = [sum((law[x] * rows[x][y] for x in range(symbols)), Fraction(0)) / TOTAL for y in range(symbols)]
        distances = [abs(p - b) for p, b in zip(marginal, law, strict=True)]
        assert sum(distances, Fraction(0)) <= limit


def exact_share(start: int, length: int, first: int, last: int, window: int) -> Fraction:
    """How likely a uniform point of an arc, moved uniformly within a window, falls between two points of the line."""

    def below(s: Fraction) -> Fraction:
        """Area of the square [0, length] x [0, window] where u + v <= s."""
        corners = [s, s - length, s - window, s - length - window]
        signs = [1, -1, -1, 1]
        return sum((sign * max(c, Fraction(0)) ** 2 for sign, c in zip(signs, corners, strict=True)), Fraction(0)) / 2

    origin = start - Fraction(window, 2)
    if length == 0:
        reach = [min(max(end - origin, Fraction(0)), Fraction(window)) for end in (first, last)]
        return (reach[1] - reach[0]) / window
    return (below(last - origin) - below(first - origin)) / (length * window)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 8.0])
def test_every_entry_is_the_trapezoid_within_its_roundings(epsilon: float) -> None:
    rng = np.random.default_rng(9)
    for _ in range(60):
        belief = random_belief(rng, int(rng.integers(2, 9)))
        rows, work = described(belief, epsilon)
        around, window, rest = (int(work.size[i]) for i in (circle.AROUND, circle.WINDOW, circle.REST))
        members = [x for x in range(belief.shape[0]) if work.order[x] != circle.KEPT]
        for x in members:
            for y in members:
                place = work.position[y]
                if place < 0:
                    continue
                first, length = int(work.order[y]), int(work.tail[y])
                ends = [(first + turn * around, first + length + turn * around) for turn in range(-2, 3)]
                shares = [exact_share(int(work.order[x]), int(work.tail[x]), a, b, window) for a, b in ends]
                ideal = sum(shares, Fraction(0))
                found = rows[x][y] - int(work.base[place])
                assert abs(found - ideal * rest) <= circle.ROUNDINGS
                assert ideal * window <= length  # the cap, before any rounding


sizes = st.integers(0, circle.CIRCLE)


@given(sizes, sizes, st.integers(1, TOTAL >> 10), st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_sums_never_fall(length: int, half: int, rest: int, places: list[float]) -> None:
    work = new_workspace(1)
    work.size[circle.WINDOW], work.size[circle.REST] = window, rest = 2 * (half // 4 + 1), rest << 10
    span = length + window
    near = [s + step for s in (0, length, window, span) for step in (-1, 0, 1)]
    points = sorted({int(place * span) for place in places} | {s for s in near if 0 <= s <= span})
    sums = [circle._below(s, length, work) for s in points]
    assert sums == sorted(sums)
    assert (sums[0], sums[-1]) == (0, rest)


def test_values_of_at_least_p_star_keep_themselves() -> None:
    """Then nothing is on the circle, and the channel is the published one."""
    belief = np.array([0.4, 0.3, 0.3])
    rows, work = described(belief, 1.0)
    assert work.size[circle.AROUND] == 0
    assert [rows[x][x] - rows[(x + 1) % 3][x] for x in range(3)] == [int(work.size[circle.REST])] * 3


def test_a_short_circle_takes_in_the_least_likely_big_value() -> None:
    belief = np.array([0.5, 0.3, 0.15, 0.05])
    _, work = described(belief, 1.0)
    assert [int(start) for start in work.order[:4]] == [
        circle.KEPT,
        0,
        int(work.tail[1]),
        int(work.tail[1] + work.tail[2]),
    ]
    around, window = work.size[[circle.AROUND, circle.WINDOW]].tolist()
    assert around >= window


def test_an_impossible_value_is_released_like_its_neighbours() -> None:
    """It is never released itself, and its row is that of a point of the circle."""
    belief = np.array([0.2, 0.2, 0.0, 0.2, 0.2, 0.2])
    rows, work = described(belief, 1.0)
    assert 2 not in work.head[: work.size[circle.COUNT]]
    assert rows[2][1] == pytest.approx(rows[2][3], rel=1e-12)
    assert rows[2][1] > rows[2][4]
    assert sum(rows[2]) == TOTAL


def test_a_certain_belief_is_released_for_nothing() -> None:
    belief = np.array([0.0, 1.0, 0.0])
    rows, work = described(belief, 1.0)
    assert rows == [[0, TOTAL, 0]] * 3
    assert circle.column(0, belief, work) == (1.0, 1.0, 1.0)


def test_a_belief_that_is_no_law_is_not_trusted_with_a_circle() -> None:
    """Half of the mass is missing: the circle would be shorter than the window, so everybody gets the same row."""
    rows, _ = described(np.array([0.1, 0.1, 0.1]), 0.1)
    assert rows[0] == rows[1] == rows[2]


def test_accuracy_stays_near_the_optimum() -> None:
    rng = np.random.default_rng(10)
    shares = []
    for _ in range(200):
        belief = rng.dirichlet(np.ones(int(rng.integers(2, 9))))
        rows, _ = described(belief, 1.0)
        kept = sum(mass * rows[x][x] / TOTAL for x, mass in enumerate(belief.tolist()))
        shares.append(kept / optimal_accuracy(belief, 1.0, 1.0))
    assert 0.9 < sum(shares) / len(shares) < 0.96
    assert min(shares) > 0.7
    assert max(shares) <= 1.0 + 1e-12
