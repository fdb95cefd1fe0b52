from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import prior_oracles as oracles
import pytest

from beliefs.laws.table import TableLaw
from beliefs.prior import atoms as room
from beliefs.prior import scaled as numbers
from beliefs.prior.adversary import Query, Seen
from beliefs.prior.atoms import atoms_of, pairs_of_laws, spread_of_laws, spread_of_table
from beliefs.prior.scaled import EMPTY, Scaled, convolved, logarithms, plain, scaled, scaled_exponentials
from beliefs.prior.transport import exact_transport, transport

BITS = np.array([0.0, 1.0])


def test_two_thousand_laws_against_every_output_of_a_grid() -> None:
    generator = np.random.default_rng(1)
    for number in range(2_000):
        law = oracles.some_table(generator)
        weights = oracles.some_weights(generator, law.size)
        attacked = int(generator.integers(law.size))
        known = tuple(each for each in range(law.size) if each != attacked and generator.random() < 0.4)
        scale = float(generator.choice([0.02, 0.3, 1.0, 4.0]))
        found = Seen.by(law, Query.of(law, weights), attacked, known).leak(scale)
        at_sums, elsewhere = oracles.leak_on_a_grid(law, weights, scale, attacked, known)
        assert at_sums - 1e-11 * max(1.0, at_sums) <= found <= at_sums + 1e-9 * max(1.0, at_sums), number
        assert elsewhere <= found + 1e-11 * max(1.0, found), number


def decimal_leak(law: TableLaw, attacked: int, scale: float) -> Decimal:
    """The same question in 60 digits, from the doubles as they are."""
    points, cells = set(), []
    for place, chance in np.ndenumerate(law.joint):
        values = [Decimal(float(domain[each])) for domain, each in zip(law.domains, place, strict=True)]
        cells.append((place[attacked], sum(values), Decimal(float(chance))))
        points.add(sum(values))
    largest = Decimal(0)
    for point in points:
        rows = []
        for value in range(law.joint.shape[attacked]):
            mine = [(total, chance) for own, total, chance in cells if own == value and chance > 0]
            if mine:
                shown = sum(chance * (-abs(point - total) / Decimal(scale)).exp() for total, chance in mine)
                rows.append((shown / sum(chance for _, chance in mine)).ln())
        largest = max(largest, max(rows) - min(rows))
    return largest


def test_no_leak_is_rounded_down() -> None:
    generator = np.random.default_rng(9)
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 60, -999_999, 999_999
        for _ in range(120):
            law = oracles.some_table(generator, int(generator.integers(1, 4)))
            attacked = int(generator.integers(law.size))
            for scale in (0.003, 0.7, 11.0):
                want = decimal_leak(law, attacked, scale)
                seen = Seen.by(law, Query.of(law), attacked, ())
                found = Decimal(seen.leak(scale))
                assert want - Decimal(10) ** -50 <= found <= want + max(want, Decimal(1)) * Decimal("1e-10")
                assert Decimal(seen.tails(scale)) <= want


def test_no_interval_of_outputs_tells_more_and_small_ones_tell_as_much() -> None:
    generator, looked_at = np.random.default_rng(2), 0
    for _ in range(150):
        law = oracles.some_table(generator, size=2)
        scale = float(generator.choice([0.3, 1.0, 4.0]))
        seen = Seen.by(law, Query.of(law), 0, ())
        best = seen.spread(scale)
        weights = seen.weights[0]
        rows = [row / row.sum() for row in weights if row.any()]
        places = [seen.atoms.points[place] for row, place in zip(weights, seen.atoms.place, strict=True) if row.any()]
        peak = float(seen.atoms.points[best.atom])
        ends = np.sort(generator.normal(peak, 5.0, (6, 2)), axis=1).tolist()
        for low, high in [*ends, [peak - 1e-4, peak + 1e-4]]:
            chances = [
                oracles.chance_of_interval(sums, masses, scale, low, high)
                for sums, masses in zip(places, rows, strict=True)
            ]
            if min(chances) > 1e-9:  # below, the distribution function's own roundings show
                told = math.log(max(chances) / min(chances))
                assert told <= best.nats + 1e-6
                assert high - low > 2.1e-4 or told >= best.nats - 2e-3 / scale
                looked_at += 1
    assert looked_at > 500


def test_both_ways_of_computing_densities_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    for _ in range(300):
        contexts, values, rest = (int(each) for each in generator.integers(1, 5, 3))
        table = generator.gamma(0.3, size=(contexts, values, 2, rest))
        table[generator.random(table.shape) < 0.3] = 0.0
        sums = generator.integers(0, 7, (values, rest)).astype(float)
        atoms = atoms_of(sums, 8.0)
        monkeypatch.setattr(room, "NEAR", 600.0)
        near = spread_of_table(table, atoms, 0.5)
        monkeypatch.setattr(room, "NEAR", -1.0)
        far = spread_of_table(table, atoms, 0.5)
        assert near.nats == pytest.approx(far.nats, abs=1e-12)


def test_pairs_of_laws_agree_with_the_largest_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(4)
    for near in (600.0, -1.0):
        monkeypatch.setattr(room, "NEAR", near)
        for _ in range(60):
            laws = scaled(np.where(generator.random((3, 6)) < 0.4, 0.0, generator.random((3, 6))))
            gaps = np.concatenate([[0.0], generator.random(5) * 3])
            pairs = pairs_of_laws(laws, gaps, 8)
            assert pairs.max() == pytest.approx(spread_of_laws(laws, gaps, 8).nats, abs=1e-12)
            alone = Scaled(laws.part[:2], laws.power[:2])
            assert max(pairs[0, 1], pairs[1, 0]) == pytest.approx(spread_of_laws(alone, gaps, 8).nats, abs=1e-12)


def test_ranges_of_twenty_thousand_scales_and_masses_below_the_doubles() -> None:
    law = TableLaw(np.array([[0.5, 0.0], [0.25, 0.25]]), (np.array([0.0, 1.0]), np.array([0.0, 20_000.0])))
    # x = 1 may add 20,000, x = 0 may not: at 20,001 the densities are 1/2 and e^-20001.
    want = 20_001.0 - math.log(2.0)
    assert Seen.by(law, Query.of(law), 0, ()).leak(1.0) == pytest.approx(want, rel=1e-12)
    assert Seen.by(law, Query.of(law), 0, ()).leak(1.0) >= want
    tiny = TableLaw(np.array([[1.0 - 1e-9, 0.0], [1e-9 - 1e-300, 1e-300]]), law.domains)
    want = 20_001.0 + math.log(1e-300 / 1e-9)
    assert Seen.by(tiny, Query.of(tiny), 0, ()).leak(1.0) == pytest.approx(want, rel=1e-12)
    assert Seen.by(law, Query.of(law), 0, ()).leak(1e-12) == pytest.approx(2.0001e16, rel=1e-12)
    assert Seen.by(law, Query.of(law), 0, ()).leak(1e-300) == pytest.approx(2.0001e304, rel=1e-12)
    assert Seen.by(law, Query.of(law), 0, ()).leak(1e-308) == math.inf


def test_geometric_noise_on_whole_numbers_leaks_exactly_as_much() -> None:
    generator = np.random.default_rng(5)
    outputs = np.arange(-60, 80)
    for _ in range(100):
        law = oracles.some_table(generator, size=2)
        ratio = float(generator.uniform(0.2, 0.8))
        rows = oracles.densities(law, [1.0, 1.0], -1.0 / math.log(ratio), 0, {}, outputs.astype(float))
        largest = float((rows.max(axis=0) - rows.min(axis=0)).max())
        assert Seen.by(law, Query.of(law), 0, ()).leak(-1.0 / math.log(ratio)) == pytest.approx(largest, abs=1e-11)


def test_equal_sums_are_one_atom_however_they_are_rounded() -> None:
    tenths = np.array([0.1 + 0.2, 0.3, 0.2 + 0.1, 0.4, 0.1 + 0.3])
    atoms = atoms_of(tenths, 0.5)
    assert atoms.points.size == 2
    assert atoms.place.tolist() == [0, 0, 0, 1, 1]
    close = np.array([0.0, 1e-16, 2e-16, 1.0]) * 1e-3
    assert atoms_of(close, 1.0).points.size == 2
    ladder = np.arange(50) * 2.0**-47
    assert atoms_of(ladder, 1.0).points.size == 50, "a run of near sums must not become one atom"
    large = TableLaw(np.array([[0.3, 0.2], [0.2, 0.3]]), (1e9 + BITS, 1e9 + BITS))
    small = TableLaw(large.joint, (BITS, BITS))
    assert Seen.by(large, Query.of(large), 0, ()).leak(1.0) == Seen.by(small, Query.of(small), 0, ()).leak(1.0)


def test_laws_of_sums_in_parts_and_powers() -> None:
    generator = np.random.default_rng(6)
    for sizes, steep in (((30, 45), 0.0), ((200, 130), 3.0), ((90, 300), 25.0), ((1, 1), 0.0), ((70, 70), 0.5)):
        logs = [-steep * np.arange(size) + generator.normal(size=size) for size in sizes]
        logs[0][sizes[0] // 2] = -math.inf if sizes[0] > 2 else 0.0
        one, two = (scaled_exponentials(each) for each in logs)
        want = [
            np.logaddexp.reduce(
                [logs[0][k] + logs[1][t - k] for k in range(max(0, t - sizes[1] + 1), min(t, sizes[0] - 1) + 1)]
            )
            for t in range(sum(sizes) - 1)
        ]
        found = logarithms(convolved(one, two))
        assert np.allclose(found, want, rtol=1e-13, atol=1e-12)
    assert plain(scaled(np.array([0.0, 3.0, 5e-324]))).tolist() == [0.0, 3.0, 5e-324]
    assert scaled(np.zeros(2)).power.tolist() == [EMPTY, EMPTY]


def test_blocks_and_single_terms_make_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(7)
    one, two = (scaled_exponentials(-4.0 * np.arange(150) + generator.normal(size=150)) for _ in range(2))
    blocks = convolved(one, two)
    monkeypatch.setattr(numbers, "_blocks", lambda values: None)
    terms = convolved(one, two)
    assert np.allclose(logarithms(blocks), logarithms(terms), rtol=1e-14, atol=1e-13)


def test_moving_one_law_into_another() -> None:
    atoms = atoms_of(np.array([[0.0, 1.0, 5.0], [0.0, 1.0, 5.0]]), 6.0)
    half = np.array([[[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]])
    assert transport(half, atoms) == exact_transport(half, atoms) == 4.0
    same = np.array([[[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]]])
    assert transport(same, atoms) == exact_transport(same, atoms) == 0.0
    printed = np.array([[[0.1 + 0.2, 0.0, 0.7], [0.3, 0.0, 0.7]]])
    assert transport(printed, atoms) == 0.0
    assert exact_transport(printed, atoms) == 5.0, "every digit at its word"
    rare = np.array([[[1.0 - 1e-14, 0.0, 1e-14], [1.0, 0.0, 0.0]]])
    assert transport(rare, atoms) == 5.0, "a small mass at an end is no rounding"
    assert transport(np.array([[[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]), atoms) == 0.0


def test_exact_and_printed_transport_agree_on_random_laws() -> None:
    generator = np.random.default_rng(8)
    for _ in range(200):
        weights = np.where(generator.random((2, 3, 5)) < 0.4, 0.0, generator.random((2, 3, 5)))
        atoms = atoms_of(generator.integers(0, 9, (3, 5)).astype(float), 9.0)
        assert transport(weights, atoms) == pytest.approx(exact_transport(weights, atoms), abs=1e-12)
