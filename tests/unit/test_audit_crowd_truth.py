"""What the auditor of crowds works out by itself, against every combination; and never above it."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest

import stream.audit.crowd_ranges as ranges_room
from beliefs.crowd.members import Group, kinds_of
from beliefs.crowd.windows import windows_delta
from beliefs.crowd.worst import largest_delta
from stream.audit.crowd_boxes import Boxed, dealt_out
from stream.audit.crowd_pairs import least_of_histogram
from stream.audit.crowd_ranges import least_of_range, whole_of_range
from stream.audit.crowd_rules import Asked, Believed
from stream.audit.crowd_sums import Places, least_apart
from stream.audit.crowd_total import Shown, Total
from stream.audit.crowd_truth import There, Truth

Law = dict[object, Fraction]
Seen = Callable[[Sequence[int]], object]


def some_law(chance: Random, places: int, *, zeros: bool = False) -> list[float]:
    """In 64ths, so that doubles have it exactly."""
    parts = [chance.randrange(0 if zeros and place else 1, 9) for place in range(places - 1)]
    scale = 64 // (sum(parts) + 8)
    parts = [part * scale for part in parts]
    return [part / 64 for part in [*parts, 64 - sum(parts)]]


def seen_of(people: Iterable[Sequence[float]], own: int, seen: Seen) -> Law:
    """Of everything that may be seen, how likely it is, if somebody has this value beside these people."""
    found: Law = {}
    for values in itertools.product(*[range(len(law)) for law in people]):
        chance = Fraction(1)
        for law, value in zip(people, values, strict=True):
            chance *= Fraction(law[value])
        shown = seen([*values, own])
        found[shown] = found.get(shown, Fraction(0)) + chance
    return found


def apart(one: Law, two: Law, epsilon: float) -> float:
    grown = Fraction(math.exp(epsilon))
    return float(sum(max(Fraction(0), chance - grown * two.get(shown, Fraction(0))) for shown, chance in one.items()))


def worst(mine: Sequence[float], people: Sequence[Sequence[float]], epsilon: float, seen: Seen) -> float:
    laws = [seen_of(people, own, seen) for own, chance in enumerate(mine) if chance]
    return max((apart(one, two, epsilon) for one, two in itertools.permutations(laws, 2)), default=0.0)


def check_least(found: float, exact: float, *, whole: bool = True) -> None:
    assert found <= exact * (1 + 1e-9) + 1e-13
    assert not whole or found >= exact * (1 - 1e-6) - 1e-13


def believed(*laws: Sequence[float], household: object = None, known: str = "0") -> Believed:
    types = {str(place): np.array(law) for place, law in enumerate(laws)}
    joint = None if household is None else np.array(household, dtype=np.float64)
    return Believed(types, joint, None, None, Fraction(known), fresh=False)


@pytest.mark.parametrize("seed", range(20))
def test_sums_counts_and_ranges_are_those_of_every_combination(seed: int) -> None:
    chance = Random(seed)
    places, epsilon = chance.randrange(2, 4), chance.random() * 1.5
    laws = [some_law(chance, places, zeros=True) for _ in range(2)]
    kinds = (chance.randrange(1, 4), chance.randrange(0, 3))
    people = [law for law, count in zip(laws, kinds, strict=True) for _ in range(count)]
    for kind, seen in (
        ("sum", lambda values: sum(values)),
        ("range", lambda values: (min(values), max(values))),
        ("histogram", lambda values: tuple(sorted(Counter(values).items()))),
    ):
        exact = 0.0
        for place, law in enumerate(laws):
            if kinds[place]:
                others = list(people)
                others.remove(law)
                exact = max(exact, worst(law, others, epsilon, seen))
        truth = Truth(Asked(kind, "last"), believed(*laws))
        found = truth.delta(There(kinds), epsilon, False)
        check_least(found, exact, whole=truth.whole(There(kinds), informed=False, noisy=False))


@pytest.mark.parametrize("seed", range(12))
def test_whoever_knows_some_of_the_others_is_told_what_is_left(seed: int) -> None:
    chance = Random(seed)
    law, users, epsilon = some_law(chance, 3), chance.randrange(3, 7), chance.random()
    truth = Truth(Asked("sum", "last"), believed(law, known="0.4"))
    hidden = users - 1 - min(math.ceil(users * 0.4), users - 1)
    exact = worst(law, [law] * hidden, epsilon, sum)
    check_least(truth.delta(There((users,)), epsilon, True), exact)
    check_least(truth.delta(There((users,)), epsilon, False), worst(law, [law] * (users - 1), epsilon, sum))
    mixed = Truth(Asked("sum", "last"), believed(law, some_law(chance, 3), known="0.4"))
    told = [mixed.delta(There((3, 2)), epsilon, informed) for informed in (False, True)]
    assert told[0] <= told[1]


@pytest.mark.parametrize("seed", range(8))
def test_members_of_households_are_told_by_each_other(seed: int) -> None:
    chance, epsilon = Random(seed), 0.5
    parts = [[chance.randrange(1, 9) for _ in range(3)] for _ in range(3)]
    joint = [[(parts[one][two] + parts[two][one]) for two in range(3)] for one in range(3)]
    total = sum(map(sum, joint))
    law = {(one, two): Fraction(joint[one][two], total) for one in range(3) for two in range(3)}

    def told(mine: int) -> Law:
        """A couple, a second couple, and somebody alone."""
        found: Law = {}
        own = sum(law[mine, two] for two in range(3))
        for two in range(3):
            for others, their in law.items():
                for alone in range(3):
                    shown = mine + two + sum(others) + alone
                    single = sum(law[alone, each] for each in range(3))
                    found[shown] = found.get(shown, Fraction(0)) + law[mine, two] / own * their * single
        return found

    exact = max(apart(told(one), told(two), epsilon) for one, two in itertools.permutations(range(3), 2))
    shares = [[float(each) / total for each in row] for row in joint]
    truth = Truth(Asked("sum", "last"), believed(household=shares))
    found = truth.delta(There((), (1, 2)), epsilon, False)
    assert found >= exact * (1 - 1e-6)
    assert Truth(Asked("range", "last"), believed(household=shares)).delta(There((), (1, 2)), epsilon, False) == 0.0
    informed = Truth(Asked("sum", "last"), believed(household=shares, known="0.5"))
    assert informed.delta(There((), (1, 2)), epsilon, True) >= found


def test_large_crowds_agree_with_the_account_to_the_ninth_digit() -> None:
    chance = Random(3)
    for places, users, epsilon in ((2, 2000, 0.3), (40, 100, 1.0), (11, 3000, 0.2), (40, 1000, 0.3)):
        law = [chance.random() + 0.05 for _ in range(places)]
        law = [each / sum(law) for each in law]
        wanted = largest_delta(kinds_of([Group(np.array(law), users)]), epsilon)
        found = Truth(Asked("sum", "last"), believed(law)).delta(There((users,)), epsilon, False)
        assert wanted * (1 - 1e-7) < found <= wanted


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(1189, 100)])
def test_noise_is_one_more_number(scale: Fraction) -> None:
    law, others, reach = Places.of([0.25, 0.5, 0.25]), 5, 60 * math.ceil(scale)
    kept = math.exp(-1 / scale)
    noise = (1 - kept) / (1 + kept) * kept ** np.abs(np.arange(-reach, reach + 1))
    whole = noise
    for _ in range(others):
        whole = np.convolve(whole, law.chances)
    one, two = np.append([0.0, 0.0], whole), np.append(whole, [0.0, 0.0])
    for epsilon in (0.05, 0.3, 1.0):
        exact = float(np.maximum(0.0, one - math.exp(epsilon) * two).sum())
        found = least_apart(Places.certain(2), Places.certain(0), [(law, others)], epsilon, scale)
        assert exact * (1 - 1e-6) - 1e-12 <= found <= exact * (1 + 1e-9) + 1e-15
    assert least_apart(Places.certain(1), Places.certain(0), [], float(1 / scale) + 0.1, scale) < 1e-12


def test_a_lattice_that_others_never_leave_gives_one_away() -> None:
    even = Places.of([0.5, 0.0, 0.5])
    assert least_apart(Places.certain(1), Places.certain(0), [(even, 99)], 3.0) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(10))
def test_histograms_of_one_law_are_exact_and_of_more_never_above(seed: int) -> None:
    chance = Random(seed)
    mine, other, epsilon = some_law(chance, 3), some_law(chance, 3), chance.random()

    def seen(values: Sequence[int]) -> object:
        return tuple(sorted(Counter(values).items()))

    check_least(
        least_of_histogram(np.array(mine), [np.array(mine)], [4], epsilon, None),
        worst(mine, [mine] * 4, epsilon, seen),
    )
    laws = [np.array(mine), np.array(other)]
    exact = worst(mine, [mine, mine, other], epsilon, seen)
    check_least(least_of_histogram(np.array(mine), laws, [2, 1], epsilon, None), exact, whole=False)
    noisy = least_of_histogram(np.array(mine), laws[:1], [3], epsilon, Fraction(1))
    assert noisy <= worst(mine, [mine] * 3, epsilon, seen)
    assert least_of_histogram(np.array([0.5, 0.5]), [np.array([0.5, 0.5])], [20_000], 0.5, None) < 1e-100


def test_ranges_of_many_values_are_looked_at_from_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    law = np.array([0.5, 0.3, 0.15, 0.049, 0.001])
    both = least_of_range(law, [law], [30], 0.5)
    monkeypatch.setattr(ranges_room, "_WHOLE", 0)
    ends = least_of_range(law, [law], [30], 0.5)
    assert 0.5 * both < ends <= both
    assert not whole_of_range(5)
    assert least_of_range(law[:1], [law], [3], 0.5) == 0.0


def test_windows_together_tell_what_their_losses_add_up_to() -> None:
    law, users, epsilon = [0.5, 0.5], 200, 1.0
    total = Total(Truth(Asked("count", "last"), believed(law)), epsilon)
    shown = Shown(There((users,)), None)
    for windows in (1, 2, 10):
        wanted = windows_delta(np.array(law), users, windows, epsilon)
        found = total.least([shown] * windows)
        assert found <= wanted * (1 + 1e-6)
        assert found > 0.9 * wanted - 1e-11
    assert total.least([]) == 0.0
    boxes = Total(Truth(Asked("range", "last"), believed(law)), epsilon)
    alone = boxes.least([Shown(There((5,)), None)])
    assert boxes.least([Shown(There((5,)), None)] * 3) == alone > 0.0


def test_people_are_dealt_out_where_that_can_be_done_at_all() -> None:
    chance, yes = Random(1), 0
    for _ in range(600):
        people: dict[tuple[tuple[int, ...], int], int] = {
            ((place,), chance.randrange(2)): chance.randint(1, 3) for place in chance.sample(range(6), 3)
        }
        boxes = []
        for _ in range(chance.randint(1, 4)):
            first, last = sorted((chance.randrange(6), chance.randrange(6)))
            values = None if chance.random() < 0.2 else {chance.randrange(2): chance.randint(1, 3)}
            held = chance.randint(1, 3) if values is None else sum(values.values())
            boxes.append(Boxed(((first, last),), held, values))
        wanted = deals(list(Counter(people).elements()), [dict(wants(boxed)) for boxed in boxes], boxes)
        told_apart = all(boxed.values is not None for boxed in boxes)
        yes += wanted
        assert dealt_out(people, boxes) >= wanted
        assert not told_apart or dealt_out(people, boxes) == wanted
    assert 100 < yes < 500


def wants(boxed: Boxed) -> Iterable[tuple[int | None, int]]:
    return [(None, boxed.held)] if boxed.values is None else list(boxed.values.items())


def deals(people: list[tuple[tuple[int, ...], int]], left: list[dict[int | None, int]], boxes: list[Boxed]) -> bool:
    if not people:
        return not any(any(each.values()) for each in left)
    ((place,), value), *rest = people
    if deals(rest, left, boxes):
        return True
    for its, boxed in zip(left, boxes, strict=True):
        wanted = None if boxed.values is None else value
        ((first, last),) = boxed.box
        if first <= place <= last and its.get(wanted, 0):
            its[wanted] -= 1
            found = deals(rest, left, boxes)
            its[wanted] += 1
            if found:
                return True
    return False
