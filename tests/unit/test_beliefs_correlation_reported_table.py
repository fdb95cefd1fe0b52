"""A labelled table from pairs of reports: its rows lie within its radii, both ways, and its bound covers the truth."""

from __future__ import annotations

import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, bound
from beliefs.correlation.joint_file import JointModel, parse, serialise
from beliefs.correlation.reported import Told, by_channel, told_of
from beliefs.correlation.reported_table import reported_table
from beliefs.correlation.tables import conditional_of
from mechanisms.local.coins import report_coins
from mechanisms.local.registry import drawn, local

NAMES, LABELS = ("work", "sport"), (("none", "part", "full"), ("run", "swim"))
TRUTH = np.array([[0.3, 0.1], [0.1, 0.15], [0.05, 0.3]])
KEY, EPSILON = b"t" * 32, 3.0


def features(values: Matrix, size: int, first: int) -> Matrix:
    found = drawn("grr", size, EPSILON)
    return np.eye(size)[found.draw(values, report_coins(KEY, first, values.size, found.words))]


def learnt(users: int, seed: int) -> JointModel:
    cells = np.random.default_rng(seed).choice(6, users, p=TRUTH.ravel())
    one, other = features(cells // 2, 3, 2 * seed * users), features(cells % 2, 2, (2 * seed + 1) * users)
    readings = tuple(by_channel(local("grr", size, EPSILON).channel()) for size in (3, 2))  # type: ignore[attr-defined]
    return reported_table(NAMES, LABELS, (told_of(one, other), told_of(other, one)), (readings[0], readings[1]), 0.05)


def test_rows_of_both_fields_lie_within_their_radii_and_the_bound_covers_the_truth() -> None:
    truth = {"work": conditional_of(TRUTH).laws, "sport": conditional_of(TRUTH.T).laws}
    for seed in range(12):
        model = learnt(20_000, seed)
        assert model.table.names == NAMES
        assert not model.is_counted
        for name, laws in truth.items():
            found, rows, radii = model.given(name)
            assert rows.tolist() == list(range(len(laws)))
            assert (np.abs(found - laws).sum(axis=1) / 2 <= radii).all()
            assert radii.max() < 0.5
            assert model.bound(name, 1.0) >= bound(laws, 1.0).epsilon
    again = parse(serialise(model))
    assert again.table.labels == LABELS
    assert again.given("sport").radii.tolist() == model.given("sport").radii.tolist()


def test_a_value_that_no_report_shows_is_known_by_nothing() -> None:
    sure = by_channel(np.eye(2))
    pairs = np.array([[700.0, 300.0], [0.0, 0.0]])
    told = Told(1_000, pairs, pairs.sum(axis=1)), Told(1_000, pairs.T, pairs.sum(axis=0))
    model = reported_table(("a", "b"), (("0", "1"), ("0", "1")), told, (sure, sure), 0.05)
    assert model.given("a").radii[1] == 1.0
    assert model.given("a").radii[0] < 0.25


def test_sums_of_different_reports_are_refused() -> None:
    sure = by_channel(np.eye(2))
    one, other = Told(9, np.eye(2), np.ones(2)), Told(8, np.eye(2), np.ones(2))
    with pytest.raises(Invalid, match="told"):
        reported_table(("a", "b"), (("0", "1"), ("0", "1")), (one, other), (sure, sure), 0.05)
    with pytest.raises(Invalid, match="labels"):
        reported_table(("a", "b"), (("0", "0"), ("0", "1")), (one, one), (sure, sure), 0.05)
