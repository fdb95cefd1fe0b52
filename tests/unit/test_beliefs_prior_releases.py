from __future__ import annotations

import itertools
import math

import numpy as np
import prior_oracles as oracles
import pytest

from beliefs.checks import Invalid
from beliefs.laws.table import TableLaw
from beliefs.prior import releases as room
from beliefs.prior.adversary import Query, Seen, context_of
from beliefs.prior.releases import joint_leak, ledger, posterior

BITS = np.array([0.0, 1.0])
XOR = TableLaw(np.array([[[0.25, 0.0], [0.0, 0.25]], [[0.0, 0.25], [0.25, 0.0]]]), (BITS,) * 3)
PARTS = [Query.of(XOR, np.array([0.0, 1.0, 0.0])), Query.of(XOR, np.array([0.0, 0.0, 1.0]))]


def log_chances(
    law: TableLaw, weights: np.ndarray, scales: np.ndarray, attacked: int, known: dict[int, int], outputs: np.ndarray
) -> np.ndarray:
    """Log densities of vectors of outputs, one row for each possible value of the attacked attribute."""
    places, _, logs = oracles.cells_of(law, weights[0])
    values = np.stack([domain[places[:, axis]] for axis, domain in enumerate(law.domains)], axis=1)
    sums = values @ weights.T
    here = np.all([places[:, axis] == value for axis, value in known.items()] or [np.ones(len(sums))], axis=0)
    rows = []
    for value in range(law.joint.shape[attacked]):
        met = here & (places[:, attacked] == value) & np.isfinite(logs)
        if met.any():
            away = (np.abs(outputs[None] - sums[met][:, None]) / scales).sum(axis=-1)
            rows.append(np.logaddexp.reduce((logs[met] - np.logaddexp.reduce(logs[met]))[:, None] - away, axis=0))
    return np.array(rows)


def test_several_sums_at_once_against_every_corner_and_outputs_between() -> None:
    generator = np.random.default_rng(1)
    for _ in range(150):
        law = oracles.some_table(generator, int(generator.integers(1, 4)))
        count = int(generator.integers(1, 4))
        weights = np.array([oracles.some_weights(generator, law.size) for _ in range(count)])
        scales = generator.choice([0.02, 0.5, 2.0, 7.0], count)
        attacked = int(generator.integers(law.size))
        known = tuple(each for each in range(law.size) if each != attacked and generator.random() < 0.3)
        queries = [Query.of(law, row) for row in weights]
        found = joint_leak(law, queries, scales.tolist(), attacked, known)
        atoms = [np.unique(oracles.cells_of(law, row)[1]) for row in weights]
        corners = np.array(list(itertools.product(*atoms)))
        inside = corners[generator.integers(len(corners), size=80)] + generator.normal(size=(80, count))
        largest = [0.0, 0.0]
        for fixed in oracles.contexts_of(law, known):
            for place, outputs in enumerate((corners, inside)):
                rows = log_chances(law, weights, scales, attacked, fixed, outputs)
                largest[place] = max(largest[place], float((rows.max(axis=0) - rows.min(axis=0)).max()))
        assert largest[0] - 1e-11 * max(1.0, found) <= found <= largest[0] + 1e-9 * max(1.0, found)
        assert largest[1] <= found + 1e-11 * max(1.0, found)
        named = [
            joint_leak(law, queries, scales.tolist(), attacked, known, context_of(law, known, tuple(fixed.values())))
            for fixed in oracles.contexts_of(law, known)
        ]
        assert max(named) == pytest.approx(found, abs=1e-10)


def test_the_parts_of_an_exclusive_or_tell_nothing_one_by_one() -> None:
    for scale in (0.5, 1.0, 3.0):
        assert [Seen.by(XOR, part, 0, ()).leak(scale) < 1e-12 for part in PARTS] == [True, True]
        want = math.log(math.cosh(1.0 / scale))
        assert joint_leak(XOR, PARTS, [scale, scale], 0) == pytest.approx(want, abs=1e-12)
    assert joint_leak(XOR, PARTS, [1e-3, 1e-3], 0) == pytest.approx(1_000.0 - math.log(2.0), rel=1e-12)


def test_a_ledger_charges_the_worst_and_reports_what_happened() -> None:
    generator = np.random.default_rng(2)
    for _ in range(150):
        law = oracles.some_table(generator, int(generator.integers(1, 4)))
        count = int(generator.integers(1, 5))
        weights = np.array([oracles.some_weights(generator, law.size) for _ in range(count)])
        scales = generator.choice([0.3, 1.0, 4.0], count)
        attacked = int(generator.integers(law.size))
        outputs = generator.normal(size=count) * 4.0
        queries = [Query.of(law, row) for row in weights]
        found = ledger(law, queries, scales.tolist(), attacked, outputs.tolist())
        rows = log_chances(law, weights, scales, attacked, {}, outputs[None])
        assert found.realised == pytest.approx(float(rows.max() - rows.min()), abs=1e-9)
        assert found.realised <= found.total
        assert found.total == pytest.approx(sum(found.steps))
        assert found.steps[0] == pytest.approx(Seen.by(law, queries[0], attacked, ()).leak(float(scales[0])), abs=1e-9)
        # A step is what one release more may tell under the beliefs so far: by Bayes' rule, cell by cell.
        prior = law.joint.ravel().copy()
        for row, scale, output, step in zip(weights, scales, outputs, found.steps, strict=True):
            believed = TableLaw((prior / prior.sum()).reshape(law.joint.shape), law.domains)
            assert step == pytest.approx(
                Seen.by(believed, Query.of(law, row), attacked, ()).leak(float(scale)), abs=1e-8
            )
            prior = prior * np.exp(-np.abs(output - oracles.cells_of(law, row)[1]) / scale)


def test_the_ledger_of_an_exclusive_or() -> None:
    found = ledger(XOR, PARTS, [1.0, 1.0], 0, [40.0, 3.0])
    assert found.steps == [pytest.approx(0.0, abs=1e-12), pytest.approx(math.log(math.cosh(1.0)), abs=1e-12)]
    assert found.total == pytest.approx(found.realised, abs=1e-12)
    near = ledger(XOR, PARTS, [1.0, 1.0], 0, [0.5, 0.5])
    assert near.realised == pytest.approx(0.0, abs=1e-12)
    assert near.total == pytest.approx(0.0, abs=1e-12), "an output that says nothing leaves nothing to learn"


def test_twenty_thousand_scales_and_far_outputs() -> None:
    law = TableLaw(np.array([[0.4, 0.1], [0.2, 0.3]]), (BITS, np.array([0.0, 20_000.0])))
    query = Query.of(law)
    found = ledger(law, [query, query], [1.0, 1.0], 0, [1e12, -1e12])
    assert found.steps[0] == pytest.approx(Seen.by(law, query, 0, ()).leak(1.0), rel=1e-12)
    assert math.isfinite(found.total)
    assert found.realised <= found.total
    for released in (1e12, 1e300):
        assert posterior(law, query, 1.0, 0, released).tolist() == posterior(law, query, 1.0, 0, 20_001.0).tolist()
    sure = posterior(law, query, 1.0, 1, 20_000.5)
    assert sure.tolist() == [0.0, 1.0]


def test_posteriors_are_bayes_rule() -> None:
    generator = np.random.default_rng(3)
    for _ in range(100):
        law = oracles.some_table(generator, 3)
        weights, released = oracles.some_weights(generator, 3), float(generator.normal() * 3)
        fixed = next(iter(oracles.contexts_of(law, (0,))))
        found = posterior(law, Query.of(law, weights), 0.8, 2, released, (0,), tuple(fixed.values()))
        places, sums, logs = oracles.cells_of(law, weights)
        chances = np.where(places[:, 0] == fixed[0], np.exp(logs - np.abs(released - sums) / 0.8), 0.0)
        want = [chances[places[:, 2] == value].sum() for value in range(law.joint.shape[2])]
        assert np.allclose(found, np.array(want) / sum(want), atol=1e-12)
        assert found.sum() == pytest.approx(1.0)


def test_too_many_corners_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "GRID_MAX", 7)
    assert joint_leak(XOR, PARTS[:1], [1.0], 0) < 1e-12
    with pytest.raises(Invalid, match="queries"):
        joint_leak(XOR, PARTS, [1.0, 1.0], 0)


def test_one_possible_value_has_nothing_to_lose() -> None:
    law = TableLaw(np.array([[0.4, 0.6]]), (np.array([3.0]), BITS))
    query = Query.of(law)
    assert joint_leak(law, [query, query], [1.0, 2.0], 0) == 0.0
    assert ledger(law, [query, query], [1.0, 2.0], 0, [1.0, 2.0]) == ([0.0, 0.0], 0.0, 0.0)
    assert posterior(law, query, 1.0, 0, 5.0).tolist() == [1.0]
