from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import prior_oracles as oracles
import pytest

from beliefs.checks import Invalid
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query, Seen, context_of, require_adversary
from beliefs.prior.releases import joint_leak, posterior

BITS = np.array([0.0, 1.0])
PAIR = (BITS, BITS)


def law_of(joint: object, *domains: object) -> TableLaw:
    return TableLaw(np.array(joint, dtype=float), tuple(np.array(each, dtype=float) for each in domains) or PAIR)


def leak(law: TableLaw, attacked: int = 0, known: tuple[int, ...] = (), scale: float = 1.0) -> float:
    return Seen.by(law, Query.of(law), attacked, known).leak(scale)


@pytest.mark.parametrize(
    ("joint", "domains", "printed", "digits"),
    [
        ([[0.3, 0.2], [0.2, 0.3]], PAIR, 1.19, 2),
        ([[0.2, 0.3], [0.3, 0.2]], PAIR, 0.81, 2),  # printed as 0.82
        ([[0.49, 0.01], [0.01, 0.49]], PAIR, 1.95, 2),
        ([[0.01, 0.49], [0.49, 0.01]], PAIR, 0.05, 2),
        ([[0.5, 0.0], [0.0, 0.5]], PAIR, 2.0, 12),
        ([[0.5, 0.0], [0.0, 0.5]], (BITS, [0.0, 5.0]), 6.0, 12),
    ],
)
def test_the_papers_examples(joint: object, domains: tuple[object, ...], printed: float, digits: int) -> None:
    law = law_of(joint, *domains)
    assert round(leak(law), digits) == printed


def test_who_knows_the_other_loses_the_own_range() -> None:
    for joint in ([[0.3, 0.2], [0.2, 0.3]], [[0.2, 0.3], [0.3, 0.2]]):
        assert leak(law_of(joint), 0, (1,)) == 1.0
    assert leak(law_of([[0.3, 0.2], [0.2, 0.3]], [0.0, 0.1], BITS), 0, (1,)) == 0.1
    assert leak(law_of([[0.3, 0.2], [0.2, 0.3]], [-3.0, 4.0], BITS), 0, (1,), 7.0) == 1.0


def test_the_first_example_five_laws() -> None:
    """Two bits, the sum 2 is released; the adversary knows the second bit, or nothing."""
    strong, weak = [], []
    for together in (0.5, 0.3, 0.25, 0.2, 0.0):
        law = law_of([[together, 0.5 - together], [0.5 - together, together]])
        query = Query.of(law)
        strong.append(posterior(law, query, 1.0, 0, 2.0, (1,), (1,))[1])
        weak.append(posterior(law, query, 1.0, 0, 2.0)[1])
    assert strong[0] == 1.0
    assert strong[4] == 0.0
    assert strong[2] == pytest.approx(math.e / (1.0 + math.e))
    assert weak[0] == pytest.approx(1.0 / (1.0 + math.exp(-2.0)))
    assert weak[4] == pytest.approx(0.5)
    assert weak == sorted(weak, reverse=True)


def test_the_leak_stands_between_its_brackets() -> None:
    generator = np.random.default_rng(1)
    interior = 0
    for _ in range(600):
        law = oracles.some_table(generator)
        attacked = int(generator.integers(law.size))
        known = tuple(each for each in range(law.size) if each != attacked and generator.random() < 0.4)
        query = Query.of(law, oracles.some_weights(generator, law.size))
        for scale in (0.004, 0.5, 3.0):
            found = Seen.by(law, query, attacked, known).brackets(scale)
            assert 0.0 <= found.tails <= found.epsilon <= found.wasserstein <= found.group or found.group == 0.0
            interior += found.tails < found.epsilon - 1e-6
    assert interior > 50, "the tails alone would often be too low"


def test_limits_of_little_and_of_much_noise() -> None:
    generator = np.random.default_rng(2)
    for _ in range(100):
        law = oracles.some_table(generator, size=3)
        seen = Seen.by(law, Query.of(law), 0, ())
        rows = [row / row.sum() for row in seen.weights[0] if row.any()]
        places = [
            seen.atoms.points[each] for row, each in zip(seen.weights[0], seen.atoms.place, strict=True) if row.any()
        ]
        supports = [np.unique(sums[row > 0]) for row, sums in zip(rows, places, strict=True)]
        apart = max(float(np.abs(point - other).min()) for one in supports for point in one for other in supports)
        assert 1e-7 * seen.leak(1e-7) == pytest.approx(apart, abs=1e-4)
        outputs = seen.atoms.points
        means = np.array(
            [(row * np.abs(outputs[:, None] - sums)).sum(axis=1) for row, sums in zip(rows, places, strict=True)]
        )
        assert 1e7 * seen.leak(1e7) == pytest.approx(float((means.max(axis=0) - means.min(axis=0)).max()), abs=1e-4)


def test_a_leak_never_rises_with_the_scale() -> None:
    generator = np.random.default_rng(3)
    for _ in range(150):
        law = oracles.some_table(generator)
        seen = Seen.by(law, Query.of(law), 0, ())
        leaks = [seen.leak(scale) for scale in (0.01, 0.1, 0.5, 0.6, 1.0, 2.0, 9.0, 100.0)]
        assert all(more >= less - 1e-10 for more, less in itertools.pairwise(leaks))


def test_independent_attributes_need_no_more_noise_and_a_weight_of_nothing_does_not_hide() -> None:
    generator = np.random.default_rng(4)
    for _ in range(40):
        parts = [generator.dirichlet(np.ones(3)) for _ in range(3)]
        law = law_of(np.einsum("i,j,k->ijk", *parts), [0, 1, 5], [0, 2, 3], [1, 2, 3])
        for known in ((), (1,), (2,), (1, 2)):
            assert leak(law, 0, known, 2.0) == pytest.approx(2.5, abs=1e-12)
    tied = law_of([[0.3, 0.2], [0.2, 0.3]])
    assert Seen.by(tied, Query.of(tied, np.array([0.0, 1.0])), 0, ()).leak(1.0) == pytest.approx(
        0.18537590325, abs=1e-9
    )
    assert Seen.by(tied, Query.of(tied, np.array([0.0, 1.0])), 0, (1,)).leak(1.0) == 0.0


def test_for_other_releases_than_sums_with_laplace_noise_knowing_independent_ones_matters() -> None:
    # Randomised response at 1 on x_0 xor x_1, both fair: who knows x_1 learns 1, who does not learns nothing.
    keep = math.e / (1.0 + math.e)
    weak = [0.5 * (keep + (1.0 - keep))] * 2
    assert math.log(weak[0] / weak[1]) == 0.0
    assert math.log(keep / (1.0 - keep)) == pytest.approx(1.0)
    # The noisy sum of two fair bits, clamped to [0.5, 1.5]: P(output = 0.5) under x_0 = 0 and 1.
    at_most = 0.5 * (1.0 - 0.5 * math.exp(-0.5)) + 0.5 * (0.5 * math.exp(-0.5))
    at_least = 0.5 * (0.5 * math.exp(-0.5)) + 0.5 * (0.5 * math.exp(-1.5))
    assert math.log(at_most / at_least) == pytest.approx(0.879885, abs=1e-6)


def test_values_that_cannot_occur_tell_nothing() -> None:
    copies = law_of([[0.5, 0.0], [0.0, 0.5]])
    assert leak(copies, 0, (1,)) == 0.0
    assert leak(copies, 0) == pytest.approx(2.0, abs=1e-12)
    one = law_of([[0.5, 0.5]], [3.0], BITS)
    assert leak(one, 0) == 0.0
    assert leak(one, 1) == 1.0
    assert leak(law_of([1.0], [3.0])) == 0.0


def test_a_histogram_tells_more_than_one_of_its_bins() -> None:
    law = law_of([[0.3, 0.2], [0.2, 0.3]])
    bins = [Query.of(law, np.array([-1.0, -1.0])), Query.of(law, np.array([1.0, 1.0]))]
    assert joint_leak(law, bins, [1.0, 1.0], 0) == pytest.approx(2.307026981, abs=1e-8)
    assert Seen.by(law, bins[0], 0, ()).leak(1.0) == pytest.approx(1.185375903, abs=1e-8)


def test_weighted_sums_are_plain_sums_of_weighted_values() -> None:
    generator = np.random.default_rng(5)
    for _ in range(60):
        law = oracles.some_table(generator, size=3)
        weights = generator.choice([2.0, 0.5, -1.0, -0.25], 3)
        turned, domains = law.joint, []
        for axis, weight in enumerate(weights.tolist()):
            domains.append(np.sort(weight * law.domains[axis]))
            turned = np.flip(turned, axis) if weight < 0 else turned
        plain = TableLaw(turned, tuple(domains))
        assert Seen.by(law, Query.of(law, weights), 1, (0,)).leak(0.7) == pytest.approx(
            leak(plain, 1, (0,), 0.7), abs=1e-11
        )


def test_a_named_context_is_one_of_all() -> None:
    generator = np.random.default_rng(6)
    for _ in range(60):
        law = oracles.some_table(generator, size=3)
        query, known = Query.of(law), (0, 2)
        leaks = []
        for fixed in oracles.contexts_of(law, known):
            context = context_of(law, known, tuple(fixed.values()))
            leaks.append(Seen.by(law, query, 1, known, context).leak(1.0))
        assert max(leaks) == pytest.approx(Seen.by(law, query, 1, known).leak(1.0), abs=1e-12)


def test_sums_are_known_exactly() -> None:
    law = law_of([[0.25, 0.25], [0.25, 0.25]], [0.1, 0.3], [1e15, 1e15 + 1.0])
    query = Query.of(law, np.array([3.0, -1.0]))
    assert query.ranges == (3 * (Fraction(0.3) - Fraction(0.1)), Fraction(1))
    assert query.offset(law) == 3 * Fraction(0.1) - Fraction(10**15 + 1)
    assert query.offset(law, (0,), (1,)) == 3 * Fraction(0.3) - Fraction(10**15 + 1)


def test_who_is_no_adversary_is_refused() -> None:
    law = law_of([[0.3, 0.2], [0.0, 0.5]])
    for attacked, known, field in ((2, (), "attacked"), (0, (0,), "known"), (0, (1, 2), "known")):
        with pytest.raises(Invalid, match=field):
            require_adversary(2, attacked, known)
    for known, values, says in (
        ((1,), (), "0 entries"),
        ((1,), (2,), "has 2 values"),
        ((0, 1), (1, 0), "cannot happen"),
    ):
        with pytest.raises(Invalid, match=says) as refused:
            context_of(law, known, values)
        assert refused.value.field == "known_values"
    with pytest.raises(Invalid, match="weights"):
        Query.of(law, np.ones(3))
    with pytest.raises(Invalid, match="weights: make sums beyond"):
        Query.of(law, np.array([1e308, 1e308]))
    with pytest.raises(Invalid, match="domains: make sums beyond"):
        Query.of(law_of([[0.3, 0.2], [0.0, 0.5]], [-1e308, 1e308], BITS))
