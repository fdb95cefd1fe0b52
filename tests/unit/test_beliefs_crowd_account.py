from __future__ import annotations

import math
from fractions import Fraction

import crowd_account_oracles as oracles
import numpy as np
import numpy.typing as npt
import pytest
from crowd_oracles import some_law

from beliefs.checks import Invalid
from beliefs.crowd.account import ADVERSARIES, CrowdAccount, Present
from beliefs.crowd.noise import LADDER
from beliefs.crowd.smooth import Smooth
from beliefs.crowd.sums import law as law_of
from beliefs.crowd.sums import times, total

ROUNDED = Fraction(1, 10**12)
RELEASES = {"sum": oracles.total_of, "range": oracles.ends_of, "histogram": oracles.counts_of}


class Case:
    """Few people of one or two laws, and what an adversary may know of them."""

    def __init__(self, generator: np.random.Generator, release: str, types: int | None = None) -> None:
        values = int(generator.integers(2, 4))
        kinds = types or int(generator.integers(1, 3))
        self.laws = [some_law(generator, values) for _ in range(kinds)]
        self.counts = tuple(int(each) for each in generator.integers(0 if kinds > 1 else 2, 3, size=kinds))
        self.present = Present(self.counts if sum(self.counts) else (1,) * kinds)
        self.known = Fraction(int(generator.integers(0, 3)), 4)
        self.epsilon = float(generator.choice([0.0, 0.3, 1.0, 2.0]))
        self.account = CrowdAccount(release, self.laws, epsilon=self.epsilon, delta=0.1, known=self.known)
        self.blocks = [
            oracles.single(law) for law, n in zip(self.laws, self.present.types, strict=True) for _ in range(n)
        ]

    @property
    def informed(self) -> int:
        return min(math.ceil(self.known * self.present.users), self.present.users - 1)


@pytest.mark.parametrize(("release", "cases"), [("sum", 800), ("range", 400), ("histogram", 600)])
def test_random_crowds_against_every_combination_and_every_adversary(release: str, cases: int) -> None:
    generator, above = np.random.default_rng(21), []
    for number in range(cases):
        case = Case(generator, release)
        tell = oracles.apart(Fraction(math.exp(case.epsilon)))
        for told in case.account.told(case.present):
            known = case.informed if told.adversary.endswith("informed") else 0
            want = Fraction(oracles.worst(case.blocks, RELEASES[release], known, tell))
            assert want <= Fraction(told.delta) + Fraction(1, 10**15), (number, told)
            if told.method == "exact":
                assert Fraction(told.delta) <= want + ROUNDED, (number, told)
            elif want:
                above.append(float(Fraction(told.delta) / want))
    assert not above or float(np.median(above)) < (1.002 if release == "sum" else 1.5)


def test_households_against_every_combination_and_every_adversary() -> None:
    generator, above = np.random.default_rng(22), []
    for number in range(300):
        joint = symmetric(generator, 2 if generator.random() < 0.7 else 3, 2)
        release = str(generator.choice(["sum", "range"]))
        present = Present((), tuple(int(each) for each in generator.integers(0, 3, size=2)))
        if not 0 < present.users < 5:
            continue
        epsilon = float(generator.choice([0.0, 0.5, 1.5]))
        known = Fraction(int(generator.integers(0, 3)), 4)
        account = CrowdAccount(release, [], epsilon=epsilon, delta=0.1, known=known, household=joint)
        blocks = [oracles.household(joint, 1)] * present.households[0] + [
            oracles.household(joint, 2)
        ] * present.households[1]
        for told in account.told(present):
            informed = told.adversary == "dependent_informed"
            those = min(math.ceil(known * present.users), present.users - 1) if informed else 0
            want = Fraction(oracles.worst(blocks, RELEASES[release], those, oracles.apart(Fraction(math.exp(epsilon)))))
            assert want <= Fraction(told.delta) + Fraction(1, 10**15), (number, told)
            if told.method == "exact":
                assert Fraction(told.delta) <= want + ROUNDED, (number, told)
            elif want:
                above.append(float(Fraction(told.delta) / want))
    assert len(above) > 40


def symmetric(generator: np.random.Generator, values: int, members: int) -> npt.NDArray[np.float64]:
    table = generator.dirichlet(np.ones(values**members)).reshape((values,) * members)
    found: npt.NDArray[np.float64] = (table + table.T) / 2.0
    return found


def test_noise_beside_the_crowd_against_every_combination() -> None:
    generator = np.random.default_rng(23)
    for number in range(200):
        case = Case(generator, "sum")
        scale = LADDER[int(generator.integers(4, 30))]
        tell = oracles.apart_with_noise(math.exp(case.epsilon), scale)
        want = float(oracles.worst(case.blocks, oracles.total_of, case.informed, tell))
        found = case.account.worst(case.present, scale)
        assert want <= found + 1e-13, number
        assert found <= want * 1.002 + 1e-11, number


def test_noise_in_every_cell_of_a_histogram() -> None:
    generator = np.random.default_rng(24)
    for number in range(60):
        law = generator.dirichlet(np.ones(2) * 2.0)
        users, epsilon = int(generator.integers(1, 5)), float(generator.choice([0.2, 0.5, 1.0]))
        account = CrowdAccount("histogram", [law], epsilon=epsilon, delta=0.1)
        scale = LADDER[int(generator.integers(12, 20))]
        tell = oracles.apart_with_noise_in_cells(math.exp(epsilon), scale, 60)
        want = float(oracles.worst([oracles.single(law)] * users, oracles.counts_of, 0, tell))
        found = account.worst(Present((users,)), scale)
        assert want <= found + 1e-12, number
        assert found <= want + 1e-9, number


@pytest.mark.parametrize("release", ["sum", "histogram"])
def test_the_least_noise_is_chosen_and_never_more_than_noise_alone_needs(release: str) -> None:
    generator = np.random.default_rng(25)
    chosen = []
    for _ in range(40):
        law = generator.dirichlet(np.ones(3) * 3.0)
        account = CrowdAccount(release, [law], epsilon=0.8, delta=1e-4)
        present = Present((int(generator.integers(1, 400)),))
        scale = account.noise_for(present)
        assert scale is not None
        assert account.worst(present, scale) <= account.delta
        if scale != LADDER[0]:
            assert account.worst(present, LADDER[LADDER.index(scale) - 1]) > account.delta
        alone = account.noise_for(Present((1,)))
        assert alone is not None
        assert scale <= alone
        chosen.append(scale)
    assert len(set(chosen)) > 3
    assert CrowdAccount("range", [np.array([0.5, 0.5])], epsilon=0.8, delta=1e-4).noise_for(Present((5,))) is None


def test_more_people_hide_better_and_epsilon_belongs_to_delta() -> None:
    law = np.array([0.3, 0.1, 0.4, 0.2])
    for release in ("sum", "range", "histogram", "records"):
        account = CrowdAccount(release, [law, law[::-1]], epsilon=0.7, delta=0.05, known=Fraction(1, 5))
        falling = [account.worst(Present((users, users))) for users in (4, 8, 16, 32)]
        assert falling == sorted(falling, reverse=True)
        for told in account.told(Present((30, 20))):
            if told.epsilon == math.inf:
                continue
            at = CrowdAccount(release, [law, law[::-1]], epsilon=told.epsilon, delta=0.05, known=Fraction(1, 5))
            again = next(each for each in at.told(Present((30, 20))) if each.adversary == told.adversary)
            assert again.delta <= 0.05
            if not told.epsilon:
                continue
            below = CrowdAccount(
                release, [law, law[::-1]], epsilon=told.epsilon * 0.98, delta=0.05, known=Fraction(1, 5)
            )
            worse = next(each for each in below.told(Present((30, 20))) if each.adversary == told.adversary)
            assert worse.delta > 0.05


def test_methods_and_adversaries_are_named() -> None:
    law = np.array([0.5, 0.5])
    joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    independent = CrowdAccount("records", [law], epsilon=1.0, delta=0.1, known=Fraction(1, 10))
    dependent = CrowdAccount("sum", [], epsilon=1.0, delta=0.1, known=Fraction(1, 10), household=joint)
    names = [
        each.adversary
        for account, present in ((independent, Present((9,))), (dependent, Present((), (1, 3))))
        for each in account.told(present)
    ]
    assert sorted(names) == sorted(ADVERSARIES)
    assert {each.method for each in independent.told(Present((9,)))} == {"lattice"}
    for nothing in (
        CrowdAccount("none", [], epsilon=1.0, delta=0.1),
        CrowdAccount("histogram", [], epsilon=1.0, delta=0.1, household=joint),
    ):
        present = Present((), (2, 2)) if nothing.kinds else Present(())
        told = nothing.told(present)[0]
        assert (told.delta, told.epsilon, told.method) == (1.0, math.inf, "none")


def test_what_no_law_is_given_of_is_refused() -> None:
    law = np.array([0.5, 0.5])
    with pytest.raises(Invalid, match="household of a size"):
        CrowdAccount("sum", [law], epsilon=1.0, delta=0.1).worst(Present((1,), (2,)))
    with pytest.raises(Invalid, match="must not matter who is who"):
        CrowdAccount("sum", [], epsilon=1.0, delta=0.1, household=np.array([[0.4, 0.2], [0.1, 0.3]]))
    with pytest.raises(Invalid, match="different lengths"):
        CrowdAccount("sum", [], epsilon=1.0, delta=0.1, household=np.full((2, 3), 1 / 6))
    with pytest.raises(Invalid, match="release"):
        CrowdAccount("median", [law], epsilon=1.0, delta=0.1)
    with pytest.raises(Invalid, match="known"):
        CrowdAccount("sum", [law], epsilon=1.0, delta=0.1, known=Fraction(1))


def test_wide_sums_are_those_of_every_place() -> None:
    """The same crowd by its frequencies, and by adding one law after the other."""
    generator = np.random.default_rng(26)
    for places, counts in ((40, (30, 21)), (7, (300, 1)), (3, (900, 700))):
        laws = [law_of(generator.dirichlet(np.ones(places))) for _ in counts]
        exact = total([times(each, count) for each, count in zip(laws, counts, strict=True)])
        found = Smooth(laws).summed(counts)
        assert found is not None
        start = exact.low - found.low
        beside = np.zeros(found.mass.size)
        first, last = max(start, 0), min(start + exact.mass.size, found.mass.size)
        beside[first:last] = exact.mass[first - start : last - start]
        assert float(np.abs(beside - found.mass).sum()) <= found.blur + 2.0 * exact.error + 1e-14
        assert found.blur < 1e-10


@pytest.mark.parametrize(("release", "span", "cells"), [("sum", 4, 1), ("histogram", 2, 2)])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 2.0**-12])
def test_the_largest_noise_is_accounted_for_without_a_place_for_each_of_its_values(
    release: str, span: int, cells: int, epsilon: float
) -> None:
    """Falling along the ladder, and never below what noise that points away from the other value tells."""
    account = CrowdAccount(release, [np.full(5, 0.2)], epsilon=epsilon, delta=1e-12, known=Fraction(9, 10))
    found = [account.delta_at(epsilon, Present((20,)), scale) for scale in LADDER[60:]]
    assert found == sorted(found, reverse=True)
    assert {each.method for each in account.told(Present((20,)), LADDER[90])} == {"sound"}
    for scale, delta in zip(LADDER[60:], found, strict=True):
        kept = math.exp(-float(1 / scale))
        least = (1 / (1 + kept)) ** cells * -math.expm1(epsilon - span / float(scale))
        by_itself = account.delta_at(epsilon, Present((1,)), scale)
        assert least <= by_itself <= max(0.0, 0.51 * (span / float(scale) - epsilon))
        assert delta <= by_itself
