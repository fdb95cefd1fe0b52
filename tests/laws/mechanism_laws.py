"""What every mechanism promises, as questions that can be put to any of them, also to one with a planted fault.

No mechanism is exempt from any law. Where a promise depends on a declared property (`holds_epsilon`), the law for a
mechanism without it is that the promise is really broken somewhere: a declaration may not say less than the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from channels import Channel, Extent, Subject, channel_of, exponential_floor, extents
from random_beliefs import EPSILONS, cases

from beliefs.rounding import INFINITE, log_units_up
from mechanisms.contract import TOTAL, Floats

CLOSE = Fraction(1, 10**9)


class Case(NamedTuple):
    belief: Floats
    units: int
    channel: Channel

    def __str__(self) -> str:
        return f"belief {self.belief.tolist()}, epsilon {self.units} units"


Law = Callable[[Subject, Sequence[Case]], None]


def taken_down(
    subject: Subject, count: int, seed: int, symbols_max: int = 8, epsilons: Sequence[float] = EPSILONS
) -> list[Case]:
    return [
        Case(belief, units, channel_of(subject, belief, units))
        for belief, units in cases(count, seed, symbols_max, epsilons)
    ]


def columns(case: Case) -> Iterator[tuple[Extent, tuple[float, float, float]]]:
    for extent, (_, reported) in zip(extents(case.channel, case.belief), case.channel.columns, strict=True):
        yield extent, reported


def assert_rows_are_whole(subject: Subject, described: Sequence[Case]) -> None:
    """Every row, an impossible value's as well, is made of nonnegative integers with the sum 2^62."""
    for case in described:
        assert len(case.channel.rows) == case.belief.shape[0]
        assert len(set(case.channel.released)) == len(case.channel.released), str(case)
        for row in case.channel.rows:
            assert sum(row) == TOTAL, str(case)
            assert min(row) >= 0, str(case)


def assert_columns_are_the_rows(subject: Subject, described: Sequence[Case]) -> None:
    """What the adversary multiplies by is what was sampled: the doubles nearest to the same integers."""
    for case in described:
        for i, (likelihood, _) in enumerate(case.channel.columns):
            assert likelihood == [float(row[i]) for row in case.channel.rows], str(case)


def assert_both_sides_keep_epsilon(subject: Subject, described: Sequence[Case]) -> None:
    """a/p and p/a are at most exp(epsilon), for every release and every x, in integers, without a tolerance."""
    broken = [case for case in described if not keeps_epsilon(case)]
    assert bool(broken) != subject.holds_epsilon, str(broken[0]) if broken else "it keeps what it does not promise"


def keeps_epsilon(case: Case) -> bool:
    bound = exponential_floor(case.units)
    return all(all(extent.within(*bound)) for extent in extents(case.channel, case.belief))


def assert_reported_ratios_are_outward(subject: Subject, described: Sequence[Case]) -> None:
    """What is charged is never below the truth, and at most 1e-9 above it."""
    for case in described:
        for extent, reported in columns(case):
            for said, true in zip(reported, extent.ratios(), strict=True):
                if true is None:
                    assert said == math.inf, str(case)
                elif said != math.inf:
                    assert true <= Fraction(said) <= true * (1 + CLOSE), str(case)
                else:  # an impossible release: infinite on one side at least
                    assert None in extent.ratios(), str(case)


def assert_the_reserve_covers_every_release(subject: Subject, described: Sequence[Case]) -> None:
    """What is reserved before the coin is at least what any outcome of the coin is charged."""
    for case in described:
        for _, reported in columns(case):
            assert all(high >= low for high, low in zip(case.channel.worst, reported, strict=True)), str(case)


def assert_the_reserve_fits_epsilon(subject: Subject, described: Sequence[Case]) -> None:
    """A budget of epsilon is always enough for one release, one of twice epsilon for its widest ratio of two rows."""
    over = []
    for case in described:
        upper, lower, spread = (log_units_up(ratio) for ratio in case.channel.worst)
        if max(upper, lower) > case.units or spread > 2 * case.units:
            over.append(case)
    assert bool(over) != subject.holds_epsilon, str(over[0]) if over else "it fits what it does not promise"


def assert_rows_are_within_what_is_declared(subject: Subject, described: Sequence[Case]) -> None:
    """Any two rows differ by at most exp(m epsilon), so an adversary with any other belief gains no more than that.

    m is declared: 2 for what keeps epsilon for the declared belief only, 1 for what is locally private. The next
    smaller one must really be broken: the declaration is neither less nor more than the truth.
    """
    if subject.row_epsilons < math.inf:
        broken = rows_beyond(int(subject.row_epsilons), described)
        assert not broken, str(broken[0])
    if subject.row_epsilons > 0:
        assert rows_beyond(int(min(subject.row_epsilons, 3.0)) - 1, described), "it keeps more than it declares"


def rows_beyond(times: int, described: Sequence[Case]) -> list[Case]:
    broken = []
    for case in described:
        above, below = exponential_floor(times * case.units) if times else (1, 1)
        for extent, reported in columns(case):
            # Where an output cannot happen at all, there is nothing to tell apart.
            if extent.largest * below > above * extent.smallest or log_units_up(reported[2]) > times * case.units:
                broken.append(case)
    return broken


def assert_an_infinite_leak_is_called_infinite(subject: Subject, described: Sequence[Case]) -> None:
    """A release that is impossible for some x and possible for another has no finite charge; every other one has."""
    for case in described:
        for extent, reported in columns(case):
            endless = extent.smallest == 0 < extent.largest
            assert (log_units_up(reported[2]) == INFINITE) == endless, str(case)


LAWS: dict[str, Law] = {
    law.__name__.removeprefix("assert_"): law
    for law in (
        assert_rows_are_whole,
        assert_columns_are_the_rows,
        assert_both_sides_keep_epsilon,
        assert_reported_ratios_are_outward,
        assert_the_reserve_covers_every_release,
        assert_the_reserve_fits_epsilon,
        assert_rows_are_within_what_is_declared,
        assert_an_infinite_leak_is_called_infinite,
    )
}
