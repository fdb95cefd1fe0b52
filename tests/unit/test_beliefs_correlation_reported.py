"""Joint laws from pairs of reports: readings against every report, radii against every outcome and seeded runs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from mechanism_outputs import channel, support

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, bound
from beliefs.correlation.reported import (
    Learnt,
    Reading,
    Told,
    by_cells,
    by_channel,
    by_support,
    learn,
    table_radius,
    told_of,
)
from beliefs.correlation.robust_rows import robust_bound
from mechanisms.local.coins import report_coins
from mechanisms.local.histogram import DrawnHistogram
from mechanisms.local.registry import drawn, local

FAILURE = 0.05
KEY = b"r" * 32


def supported(name: str, values: int, epsilon: float) -> Reading:
    chosen = local(name, values, epsilon)
    assert chosen.p is not None and chosen.q is not None
    return by_support(values, chosen.p, chosen.q, independent=name in ("oue", "sue"))


@pytest.mark.parametrize("name", ["grr", "exp", "oue", "sue", "blh", "olh", "ss"])
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_readings_are_right_on_average_and_scatter_within_what_they_say(name: str, epsilon: float) -> None:
    for values in (2, 3, 4):
        rows, features = channel(name, values, epsilon), support(name, values, epsilon).T.astype(float)
        ways = [(features, supported(name, values, epsilon))]
        if rows.shape[1] <= 1 << 6:
            ways.append((np.eye(rows.shape[1]), by_channel(rows)))
        for told, reading in ways:
            read = told @ reading.weights
            assert rows @ read == pytest.approx(np.eye(values), abs=1e-9)
            assert np.sqrt((read**2).sum(axis=1)).max() <= reading.reach + 1e-9
            assert (np.abs(read).max(axis=0) <= reading.reaches + 1e-9).all()
            for value, law in enumerate(rows):
                off = read - np.eye(values)[value]
                scatter = (off * law[:, None]).T @ off
                assert np.trace(scatter) <= reading.whole + 1e-9
                assert np.linalg.eigvalsh(scatter).max() <= reading.along + 1e-9
                allowed = np.where(np.arange(values) == value, reading.own, reading.others)
                assert (np.diag(scatter) <= allowed + 1e-9).all()


@pytest.mark.parametrize("name", ["grr", "oue"])
def test_readings_of_known_scatter_are_not_larger_than_needed(name: str) -> None:
    rows, features = channel(name, 3, 1.0), support(name, 3, 1.0).T.astype(float)
    reading = supported(name, 3, 1.0) if name == "oue" else by_channel(rows)
    off = features @ reading.weights - np.eye(3)[0]
    scatter = (off * rows[0][:, None]).T @ off
    assert reading.whole == pytest.approx(np.trace(scatter), rel=1e-6)
    assert reading.along == pytest.approx(np.linalg.eigvalsh(scatter).max(), rel=5e-3)


@pytest.mark.parametrize(("epsilon", "users"), [(3.0, 44), (8.0, 36)])
def test_all_that_two_binary_reports_may_tell(epsilon: float, users: int) -> None:
    """Every table of counts with its chance: the mean is the truth, and radii break less often than they may."""
    rows = channel("grr", 2, epsilon)
    reading = by_channel(rows)
    joint = np.array([[0.55, 0.15], [0.05, 0.25]])
    cells = (rows.T @ joint @ rows).ravel()
    logs = [math.lgamma(count + 1.0) for count in range(users + 1)]
    truth = joint / joint.sum(axis=1, keepdims=True)
    mean, broken, broken_rows, a_third, told = np.zeros((2, 2)), 0.0, 0.0, 0.0, 0.0
    inverse = np.linalg.inv(rows)
    for one, two, three in itertools.product(range(users + 1), repeat=3):
        if one + two + three > users:
            continue
        counts = (one, two, three, users - one - two - three)
        chance = math.exp(
            logs[users] + sum(n * math.log(p) - logs[n] for n, p in zip(counts, cells.tolist(), strict=True))
        )
        table = np.array(counts, dtype=float).reshape(2, 2)
        told += chance
        mean += chance * (inverse.T @ table @ inverse) / users
        if chance < 1e-9:
            broken, broken_rows = broken + chance, broken_rows + chance
            continue
        found = learn(Told(users, table, table.sum(axis=1)), reading, reading, FAILURE)
        apart, rows_apart = np.abs(found.table - joint).sum() / 2, np.abs(found.rows - truth).sum(axis=1) / 2
        assert found.table_radius < 1.0
        broken += chance * (apart > found.table_radius)
        a_third += chance * (apart > found.table_radius / 3)
        broken_rows += chance * bool((rows_apart > found.radii).any())
    assert told == pytest.approx(1.0) and mean == pytest.approx(joint)
    assert broken <= FAILURE / 4 and broken_rows <= 3 * FAILURE / 4
    assert a_third > FAILURE / 100


def reports_of(name: str, values: Matrix, size: int, epsilon: float, start: int) -> tuple[Matrix, Reading]:
    """Features as the drawn mechanisms make them, and the reading for the chances that they are drawn with."""
    found = drawn(name, size, epsilon)
    told = found.draw(values, report_coins(KEY, start, values.size, found.words))
    if isinstance(found, DrawnHistogram):
        steps = (found.first + np.arange(len(found.other))) / found.per_unit
        chances = np.array([float(units) for units in found.other]) / sum(found.other)
        scale = 1.0 - 2.0 * found.cut
        variance = float((chances * (steps - found.cut) ** 2).sum()) / scale**2 * (1.0 + 1e-9)
        reach = float(np.abs((steps - found.cut) / scale).max()) * (1.0 + 1e-9)
        return (told / found.per_unit - found.cut) / scale, by_cells(size, variance, reach)
    if name in ("grr", "exp"):
        return np.eye(size)[told], by_channel(channel(name, size, epsilon))
    if name in ("blh", "olh"):
        counted = [found.counts(type(told)(*(part[i : i + 1] for part in told))) for i in range(values.size)]
        return np.array(counted, dtype=float), supported(name, size, epsilon)
    return told.astype(float), supported(name, size, epsilon)


def truth_of(size: int) -> Matrix:
    joint = np.full((size, size), 1.0) + 4.0 * size * np.diag(1.0 + np.arange(size))
    return joint / joint.sum()


def learnt_from(names: tuple[str, str], users: int, epsilon: float, seed: int) -> Learnt:
    size, generator = 3, np.random.default_rng(seed)
    pairs = generator.choice(size * size, users, p=truth_of(size).ravel())
    readings, told = [], []
    for side, (name, values) in enumerate(zip(names, (pairs // size, pairs % size), strict=True)):
        features, reading = reports_of(name, values, size, epsilon, (2 * seed + side) * users)
        told.append(features)
        readings.append(reading)
    return learn(told_of(told[0], told[1]), readings[0], readings[1], FAILURE)


@pytest.mark.parametrize(
    ("names", "users"),
    [
        (("grr", "oue"), 40_000),
        (("sue", "ss"), 40_000),
        (("exp", "grr"), 40_000),
        (("she", "grr"), 40_000),
        (("olh", "blh"), 4_000),
    ],
)
def test_radii_hold_for_the_drawn_mechanisms(names: tuple[str, str], users: int) -> None:
    joint = truth_of(3)
    laws = joint / joint.sum(axis=1, keepdims=True)
    leak, told, nearest = bound(laws, 1.0).epsilon, [], 0.0
    for seed in range(6):
        found = learnt_from(names, users, 3.0, seed)
        apart = np.abs(found.rows - laws).sum(axis=1) / 2
        off = float(np.abs(found.table - joint).sum() / 2)
        assert off <= found.table_radius and (apart <= found.radii).all()
        assert robust_bound(found.rows, 1.0, found.radii) >= leak
        nearest = max(nearest, off / found.table_radius)
        told.append(found.shares)
    assert found.table_radius < 0.4 and found.radii.min() < 0.6
    assert nearest > 0.03
    assert np.mean(told, axis=0) == pytest.approx(joint.sum(axis=1), abs=0.05)


def test_a_radius_falls_with_the_root_of_users_and_rises_with_doubt() -> None:
    reading = by_channel(channel("grr", 4, 1.0))
    radii = [table_radius(users, reading, reading, FAILURE) for users in (10**6, 4 * 10**6, 4 * 10**8)]
    assert 1.9 < radii[0] / radii[1] < 2.1 and 9.9 < radii[1] / radii[2] < 10.2
    assert table_radius(10**6, reading, reading, 1e-9) > radii[0]
    assert table_radius(10, reading, reading, FAILURE) == 1.0


def test_a_row_that_nobody_has_is_known_by_nothing() -> None:
    sure = by_channel(np.eye(2))
    found = learn(Told(1_000, np.array([[700.0, 300.0], [0.0, 0.0]]), np.array([1_000.0, 0.0])), sure, sure, FAILURE)
    assert found.rows[0] == pytest.approx([0.7, 0.3]) and found.rows[1].tolist() == [0.5, 0.5]
    assert found.radii[0] < 0.2 and found.radii[1] == 1.0


def test_what_cannot_be_inverted_is_refused() -> None:
    with pytest.raises(Invalid, match="channel: cannot be inverted"):
        by_channel(np.array([[0.5, 0.5], [0.5, 0.5]]))
    with pytest.raises(Invalid, match="channel: cannot be inverted"):
        by_support(3, 0.25, 0.25)
    with pytest.raises(Invalid, match="channel: has 2 values and 2048 outputs"):
        by_channel(np.full((2, 2048), 2.0**-11))
    with pytest.raises(Invalid, match="channel: has 129 values"):
        by_channel(np.eye(129))
    with pytest.raises(Invalid, match="channel: sums to"):
        by_channel(np.array([[0.5, 0.4], [0.4, 0.6]]))
    reading = by_channel(np.eye(2))
    with pytest.raises(Invalid, match="failure"):
        learn(Told(1, np.eye(2), np.ones(2)), reading, reading, 0.0)
    with pytest.raises(Invalid, match="users"):
        learn(Told(0, np.zeros((2, 2)), np.zeros(2)), reading, reading, FAILURE)
    three = by_channel(np.eye(3))
    for pairs, firsts in ((np.eye(2), 2), (np.ones((3, 2)), 3), (np.ones((2, 3)), 1)):
        with pytest.raises(Invalid, match="pairs: are sums of"):
            learn(Told(2, pairs, np.ones(firsts)), reading, three, FAILURE)
