"""Channels of `near` that are kept for beliefs that come again: the same bits, whether or not any is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np
import pytest
from channels import DISTANCES, Channel, Subject, design, epsilon_units, registered
from grid_walks import grid_of, walk_on
from planted import planted
from step_help import Run, events_of, policy_of

from beliefs.distance import Distance, euclidean, haversine
from beliefs.simplex import normalised
from mechanisms import registry
from mechanisms.contract import Floats, Integers, NearWorkspace, Workspace, new_near_workspace
from mechanisms.sequence.near import searches_cut_short
from mechanisms.sequence.repeats import is_kept, mark_of
from mechanisms.sequence.sites import CUT_SHORT
from mechanisms.sequence.transport import EFFORT

NEAR, FORECAST = registry.MECHANISMS["near"].code, registry.MECHANISMS["forecast"].code
SIZES = (1, 2, 7, 40, 150)
EPSILONS = (1e-9, 0.4, 1.0, 3.0, 12.0)


def beliefs(symbols: int, count: int = 5) -> list[Floats]:
    source = np.random.default_rng(symbols)
    sparse = source.dirichlet(np.ones(symbols)) * (source.random(symbols) < 0.2)
    sparse[-1] += 1e-12
    return [normalised(sparse), *(normalised(source.dirichlet(np.full(symbols, 0.3))) for _ in range(count - 1))]


def asked(symbols: int, questions: int) -> Iterator[tuple[Floats, int]]:
    """Few beliefs and epsilons, in any order, so that most come again, some of them at once."""
    source = np.random.default_rng(questions)
    known = beliefs(symbols)
    for _ in range(questions):
        yield known[source.integers(len(known))].copy(), epsilon_units(EPSILONS[source.integers(len(EPSILONS))])


def rooms(symbols: int, distance: Distance, places: int | None = None) -> tuple[NearWorkspace, NearWorkspace]:
    """One that keeps channels, in so many places, and one that keeps none."""
    keeping = new_near_workspace(symbols, distance)
    return keeping._replace(kept=keeping.kept[:places].copy()), new_near_workspace(symbols, distance, keeps=False)


def told(subject: Subject, belief: Floats, units: int, work: NearWorkspace) -> tuple[Channel, int, int]:
    channel = subject.describe(belief, design(units), cast("Workspace", work))
    return channel, int(work.size[CUT_SHORT]), int(work.size[EFFORT])


def differing(subject: Subject, symbols: int, questions: int, places: int | None = None) -> int:
    """How many answers are not those of a search; between two of them comes a forecast, which writes to both."""
    keeping, searching = rooms(symbols, subject.distance_of(symbols), places)
    near, wrong = registered("near"), 0
    for belief, units in asked(symbols, questions):
        wrong += told(subject, belief, units, keeping) != told(near, belief, units, searching)
        for work in (keeping, searching):
            registry.prepare(FORECAST, belief, design(units), cast("Workspace", work))
    return wrong


@pytest.mark.parametrize("places", [1, 3, None])
@pytest.mark.parametrize("distance", DISTANCES)
def test_a_channel_that_was_kept_is_the_one_that_would_be_found(distance: str, places: int | None) -> None:
    subject = registered("near", distance=distance)
    assert [differing(subject, symbols, 60, places) for symbols in SIZES] == [0] * len(SIZES)


def test_most_of_what_comes_again_is_not_looked_for_again() -> None:
    keeping, searching = rooms(40, DISTANCES["plane"](40))
    hits, effort = 0, {True: set[int](), False: set[int]()}
    for belief, units in asked(40, 300):
        mark = mark_of(belief, design(units))
        hit = is_kept(mark, belief, design(units), keeping)
        hits += hit
        told(registered("near"), belief, units, keeping)
        effort[hit].add(int(keeping.size[EFFORT]))
        assert not is_kept(mark, belief, design(units), searching)
    assert hits > 200
    assert effort[True] <= effort[False]


ALIKE = ("mark = mark_of(belief, constants)", "mark = 7")
"""All beliefs are sent to one place under one mark: all that tells them apart are their numbers."""


def test_marks_that_coincide_never_give_another_beliefs_channel() -> None:
    subject = planted("near", ALIKE, distance="plane")
    assert [differing(subject, symbols, 60) for symbols in (2, 7, 40)] == [0, 0, 0]


def test_a_channel_taken_by_its_mark_alone_is_caught() -> None:
    trusting = ("if is_kept(mark, belief, constants, work):", "if work.kept[7 % len(work.kept), 0] == mark:")
    subject = planted("near", ALIKE, trusting, distance="plane")
    assert differing(subject, 7, 60) > 0


@pytest.mark.parametrize("word", ["constants", "belief"])
def test_one_bit_of_difference_is_another_question(word: str) -> None:
    work, belief, constants = new_near_workspace(7, DISTANCES["line"](7)), beliefs(7)[1], design(epsilon_units(1.0))
    for _ in range(2):
        registry.prepare(NEAR, belief, constants, cast("Workspace", work))
    mark = mark_of(belief, constants)
    assert is_kept(mark, belief, constants, work)
    changed = {"constants": constants.copy(), "belief": belief.copy()}
    for place in range(len(changed[word])):
        changed[word][place] = np.nextafter(changed[word][place], 2.0)
        assert not is_kept(mark, changed["belief"], changed["constants"], work)
        changed[word][place] = {"constants": constants, "belief": belief}[word][place]


@pytest.mark.parametrize("budget", [4.0, 1e6])
def test_a_walk_releases_the_same_with_and_without(budget: float) -> None:
    """Users begin alike, and where a budget is spent they go on alike."""
    grid = grid_of(13, 13)
    chain, distance = walk_on(13, 13), haversine([grid.middle_at(cell) for cell in range(grid.size)])
    policy = policy_of("near", 1.0, budget=int(budget * 2**40))
    outcomes = []
    for keeps in (True, False):
        run = Run(policy, chain, 60, distance)
        work = new_near_workspace(chain.size, distance, keeps=keeps)
        run.bench = run.bench._replace(work=cast("Workspace", work))
        releases = run.block(events_of(900, 60, chain.size))
        cut_short = searches_cut_short(run.bench.work)
        assert (np.count_nonzero(work.kept[:, 0]) > 10) if keeps else work.kept.size == 0
        assert searches_cut_short(run.bench.work) == 0  # counted once
        columns: list[Integers] = [np.asarray(column) for column in releases]
        outcomes.append((columns, run.heads, run.codes, cut_short))
    (first, *rows), (second, *others) = outcomes
    assert all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))
    assert all(np.array_equal(one, other) for one, other in zip(rows, others, strict=True))


def test_cut_short_searches_are_counted_where_their_channels_come_again_too() -> None:
    work = new_near_workspace(120, euclidean([(x % 12, x // 12) for x in range(120)]))
    belief, constants = beliefs(120)[2], design(epsilon_units(3.0))
    for _ in range(5):
        registry.prepare(NEAR, belief, constants, cast("Workspace", work))
    assert is_kept(mark_of(belief, constants), belief, constants, work)
    assert work.size[CUT_SHORT] == 1
    assert searches_cut_short(cast("Workspace", work)) == 5
