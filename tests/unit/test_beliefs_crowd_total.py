from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.crowd.account import CrowdAccount, Present
from beliefs.crowd.noise import LADDER
from beliefs.crowd.total import Total
from beliefs.crowd.windows import windows_delta

FAIR = np.array([0.5, 0.5])


def products(laws: list[tuple[dict[int, float], dict[int, float]]], epsilon: float) -> float:
    """delta of independent releases, each with its own pair of laws: every combination of what is seen."""
    found = 0.0
    for seen in itertools.product(*({*one, *two} for one, two in laws)):
        above = math.prod(one.get(out, 0.0) for out, (one, _) in zip(seen, laws, strict=True))
        below = math.prod(two.get(out, 0.0) for out, (_, two) in zip(seen, laws, strict=True))
        found += max(above - math.exp(epsilon) * below, 0.0)
    return found


def binomial(users: int, chance: float) -> dict[int, float]:
    return {k: math.comb(users, k) * chance**k * (1 - chance) ** (users - k) for k in range(users + 1)}


def test_a_few_windows_against_every_combination_of_what_is_seen() -> None:
    generator, above = np.random.default_rng(31), []
    for _ in range(30):
        chance, windows = float(generator.uniform(0.2, 0.8)), int(generator.integers(1, 4))
        users = [int(generator.integers(5, 22)) for _ in range(windows)]
        epsilon = float(generator.choice([0.5, 1.0, 2.0]))
        account = CrowdAccount("count", [np.array([1 - chance, chance])], epsilon=epsilon, delta=1e-3)
        total = Total(account, windows)
        items = [total.item(Present((each,))) for each in users]
        found = total.delta_with(items[:-1], items[-1])
        pairs = []
        for each in users:
            others = binomial(each - 1, chance)
            pairs.append((others, {k + 1: c for k, c in others.items()}))
        want = max(
            products([pair[::turn] for pair, turn in zip(pairs, turns, strict=True)], epsilon)  # type: ignore[misc]
            for turns in itertools.product((1, -1), repeat=windows)
        )
        assert want <= found + 1e-13
        above.append(found / want)
    assert max(above) < 1.1
    assert float(np.median(above)) < 1.03


def test_many_equal_windows_are_as_one_after_the_other() -> None:
    for users, windows, epsilon in ((200, 10, 1.0), (240, 60, 3.0), (255, 200, 5.0)):
        total = Total(CrowdAccount("count", [FAIR], epsilon=epsilon, delta=1e-6), windows)
        item = total.item(Present((users,)))
        found, want = total.delta_with([item] * (windows - 1), item), windows_delta(FAIR, users, windows, epsilon)
        assert want / 1.001 <= found <= want * 1.02


def test_windows_that_go_by_leave_the_total() -> None:
    generator = np.random.default_rng(32)
    account = CrowdAccount("sum", [np.array([0.3, 0.4, 0.3])], epsilon=2.0, delta=1e-6, known=Fraction(1, 10))
    total = Total(account, 5)
    items = [total.item(Present((int(generator.integers(20, 300)),))) for _ in range(40)]
    for place in range(1, 40):
        found = total.delta_with(items[:place], items[place])
        fresh = Total(account, 5).delta_with(items[max(0, place - 4) : place], items[place])
        assert found == pytest.approx(fresh, rel=1e-9)
    assert total.delta_with(items[7:11], items[30]) == pytest.approx(
        Total(account, 5).delta_with(items[7:11], items[30])
    )


def test_what_is_kept_of_a_window_is_small_and_never_says_less() -> None:
    """Kinds whose laws hardly differ are nearly one kind, of which the truth is known."""
    law = np.array([0.25, 0.75])
    alone = CrowdAccount("sum", [law], epsilon=1.0, delta=1e-6, known=Fraction(1, 5))
    for kinds, slack in ((1, 1.2), (3, 10.0), (10, 1e16)):
        alike = [law + np.array([1e-12, -1e-12]) * each for each in range(kinds)]
        account = CrowdAccount("sum", alike, epsilon=1.0, delta=1e-6, known=Fraction(1, 5))
        for users in (3, 77, 500):
            total, present = Total(account, 1), Present((users,) * kinds)
            item = total.item(present, LADDER[5])
            assert len(item) <= 16
            found, want = total.delta_with([], item), alone.worst(Present((users * kinds,)), LADDER[5])
            assert want <= found * (1.0 + 1e-9)
            assert found <= want * slack + 1e-10
            assert account.worst(present, LADDER[5]) >= want * (1.0 - 1e-9)


def test_types_with_one_law_are_one_kind() -> None:
    law = np.array([0.25, 0.75])
    one, many = (CrowdAccount("sum", [law] * types, epsilon=1.0, delta=1e-6, known=Fraction(1, 5)) for types in (1, 20))
    assert many.told(Present((7,) * 20)) == one.told(Present((140,)))
    assert Total(many, 2).item(Present((0, 5, 6))) == Total(one, 2).item(Present((11,)))


def test_a_window_that_gives_somebody_away_tells_all() -> None:
    account = CrowdAccount("count", [FAIR], epsilon=1.0, delta=1e-6)
    total = Total(account, 3)
    many, alone = total.item(Present((200,))), total.item(Present((1,)))
    assert total.delta_with([many, alone], many) == 1.0
    assert total.delta_with([alone, many, many], many) < 1e-5
    nothing = Total(CrowdAccount("none", [], epsilon=1.0, delta=0.5), 2)
    assert nothing.delta_with([b"\0\0"], b"\0\0") == 1.0


def test_what_cannot_be_added_up_is_refused() -> None:
    with pytest.raises(Invalid, match="at most 14 types"):
        Total(
            CrowdAccount("count", [np.array([0.5, each]) for each in np.linspace(0.1, 1, 15)], epsilon=1.0, delta=1e-6),
            2,
        )
    with pytest.raises(Invalid, match="from 1 to"):
        Total(CrowdAccount("count", [FAIR], epsilon=1.0, delta=1e-6), 0)
