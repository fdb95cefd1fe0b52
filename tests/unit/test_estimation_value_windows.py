"""What a window of values says of each of them: over everything that it can release, by the definition, for each
sequence of values.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from attack_windows import column_of
from audit_world import settings_of
from context_models import law_of
from estimate_windows import CHAINS, ORDERS, model_of_windows
from window_oracle import Oracle

from beliefs.alphabet import Categories
from beliefs.contexts import Context
from beliefs.model_file import Model, parse, serialise_contexts
from mechanisms.contract import TOTAL
from mechanisms.sequence.window import LEAST_CAP, plan_of
from mechanisms.sequence.window_order import bisected
from stream.audit.amounts import Floats
from stream.audit.public import Public
from stream.audit.records import ID_BYTES
from stream.audit.task import public_of
from stream.audit.windows import Rows
from stream.estimation.functionals import TOLD
from stream.estimation.listening import Listened, listener_to
from stream.estimation.sums import SequenceSums

LENGTH = 3
NUMBERS = {2: np.array([3.0, 7.0]), 3: np.array([1.0, 2.0, 6.0])}
Path = tuple[int, ...]


class Case(NamedTuple):
    """Everything that a user's first window can release: how likely it is for each sequence of values, and what is
    heard of it.
    """

    paths: list[Path]
    chances: Floats
    heard: list[Listened]


class Kind(NamedTuple):
    """What a window is of: its model, the settings beside, when its values come, and the steps before each."""

    model: Model
    settings: dict[str, Any]
    times: list[int]
    steps: list[int]


def kind_of(name: str) -> Kind:
    """By name of a chain; two values that remember the last two of them; or two values by the clock."""
    if name == "memory":
        rows: dict[Context, list[float]] = {
            (): [0.5, 0.5],
            (0,): [0.55, 0.45],
            (1,): [0.4, 0.6],
            (0, 1): [0.5, 0.5],
            (1, 1): [0.35, 0.65],
        }
        laws = {context: law_of(law) for context, law in rows.items()}
        model = parse(serialise_contexts(Categories(["v0", "v1"]), 2, np.array([0.5, 0.5]), laws, {}))
        return Kind(model, {}, [0] * LENGTH, [1] * LENGTH)
    if name == "clock":
        times, steps = [0, 120_000, 180_000], [1, 2, 1]
        return Kind(model_of_windows("two"), {"step": "1m", "most": 5}, times, steps)
    return Kind(model_of_windows(name), {}, [0] * LENGTH, [1] * LENGTH)


def public_with(kind: Kind, order: str, epsilon: float) -> Public:
    settings = settings_of(windows=ORDERS[order], epsilon=epsilon, nats="unlimited", **kind.settings)
    return public_of(settings, kind.model)


def rows_with(drawn: Sequence[int], order: str, times: Sequence[int]) -> Rows:
    """A user's first window; what is shown does not matter for what is heard."""
    length = -1 if order == "natural" else len(drawn)
    events = np.array(
        [[0, at + 1, times[at], max(y, 0), 0, at + 1, length, y] for at, y in enumerate(drawn)], dtype=np.int64
    )
    return Rows(events, np.arange(len(drawn)), np.zeros(len(drawn), f"V{ID_BYTES}"))


def heard_of(public: Public, drawn: Sequence[int], order: str, times: Sequence[int]) -> Listened:
    listener = listener_to(public, NUMBERS[public.symbols])
    listener.make_room(1)
    found = listener.take(rows_with(drawn, order, times), np.zeros(len(drawn), dtype=np.int64))
    assert (found.heard.kind == TOLD).all()
    return found


def outputs_of(kind: Kind, order: str, epsilon: float) -> Iterator[tuple[list[int], Floats]]:
    """All that can be drawn, and how likely each sequence of values makes it."""
    chain = kind.model.chain
    start, paths = chain.start.tolist(), list(itertools.product(range(chain.symbols), repeat=LENGTH))
    if order == "dual":
        for path in paths:
            with suppress(KeyError):  # of a sequence that is never given
                column, _ = column_of(chain, np.array(start), path, epsilon)
                yield list(path), np.array([column[each] for each in paths])
        return
    natural = order == "natural"
    positions = list(range(LENGTH)) if natural else list(bisected(LENGTH))
    plan = plan_of(epsilon, 64 if natural else LENGTH, chain.size, kind.settings.get("most", 1))
    oracle, share = Oracle(chain, start, kind.steps), plan.covered / TOTAL
    for string in oracle.strings(positions, Fraction(plan.cap), LEAST_CAP):
        drawn, cap = [-1] * LENGTH, plan.cap
        for place, each in enumerate(string):
            drawn[each.position] = each.drawn
            belief = oracle.belief_at(each.position, string[:place])
            cap *= float(sum(b * k for b, k in zip(belief, each.chances, strict=True)) / max(each.chances))
        if len(string) < LENGTH and cap >= LEAST_CAP:
            continue
        own = np.array([np.prod([float(each.chances[path[each.position]]) for each in string]) for path in paths])
        whole = float(sum(chance * oracle.chance_of(string, path) for chance, path in oracle.paths))
        yield drawn, share * whole + (1.0 - share) * own


def case_of(name: str, order: str, epsilon: float) -> Case:
    kind = kind_of(name)
    public, found = public_with(kind, order, epsilon), list(outputs_of(kind, order, epsilon))
    paths = list(itertools.product(range(public.symbols), repeat=LENGTH))
    chances = np.array([chances for _, chances in found]).T
    assert chances.sum(axis=1) == pytest.approx(1.0, abs=1e-9)
    return Case(paths, chances, [heard_of(public, drawn, order, kind.times) for drawn, _ in found])


def sums_of(found: Listened) -> SequenceSums:
    symbols = found.heard.known.shape[1]
    sums = SequenceSums(symbols, NUMBERS[symbols])
    sums.add(found, np.arange(LENGTH), np.zeros(LENGTH, dtype=np.int64))
    return sums


def indicators(path: Path, symbols: int) -> Floats:
    return np.eye(symbols)[list(path)]


@pytest.mark.parametrize(
    ("name", "epsilon"), [("two", 2.5), ("two", 6.0), ("three", 4.0), ("memory", 2.5), ("clock", 2.5)]
)
@pytest.mark.parametrize("order", ["bisect", "natural"])
def test_sums_over_windows_have_no_bias_and_their_noise_is_what_is_said(name: str, order: str, epsilon: float) -> None:
    case = case_of(name, order, epsilon)
    sums = [sums_of(found) for found in case.heard]
    symbols = sums[0].symbols
    assert all((one.everywhere.known == LENGTH).all() for one in sums), "all positions tell of every value here"
    found, noise = (np.array([getattr(one.everywhere, each) for one in sums]) for each in ("sums", "noise"))
    numbers, scatter = (np.array([getattr(one, each) for one in sums]) for each in ("full_sum", "full_noise"))
    for chances, path in zip(case.chances, case.paths, strict=True):
        counts = indicators(path, symbols).sum(axis=0)
        assert chances @ found == pytest.approx(counts, abs=1e-6)
        assert chances @ noise == pytest.approx(chances @ found**2 - counts**2, rel=1e-5, abs=1e-6)
        total = float(counts @ NUMBERS[symbols])
        assert chances @ numbers == pytest.approx(total, abs=1e-5)
        assert chances @ scatter == pytest.approx(chances @ numbers**2 - total**2, rel=1e-5)


@pytest.mark.parametrize("order", ["bisect", "natural"])
def test_where_some_positions_tell_nothing_the_one_that_is_asked_first_has_no_bias(order: str) -> None:
    case = case_of("sticky", order, 4.0)
    first = 1 if order == "bisect" else 0
    sums = [sums_of(found) for found in case.heard]
    assert any((one.everywhere.known < LENGTH).any() for one in sums), "with these values some channels are singular"
    told, noise = (np.array([getattr(one.told, each) for one in sums]) for each in ("sums", "noise"))
    known = sums[0].told.known
    assert known.any() and all((one.told.known == known).all() for one in sums)
    for chances, path in zip(case.chances, case.paths, strict=True):
        wanted = indicators(path, 3)[first] * known
        assert chances @ told == pytest.approx(wanted, abs=1e-6)
        assert chances @ noise == pytest.approx(chances @ told**2 - wanted, abs=1e-5)


@pytest.mark.parametrize(("name", "epsilon"), [("two", 1.0), ("three", 4.0), ("sticky", 2.5)])
def test_windows_with_one_channel_tell_of_what_their_outputs_tell_apart(name: str, epsilon: float) -> None:
    case = case_of(name, "dual", epsilon)
    sums = [sums_of(found) for found in case.heard]
    symbols, known = sums[0].symbols, case.heard[0].heard.known
    for at, value in itertools.product(range(LENGTH), range(symbols)):
        wanted = np.array([float(path[at] == value) for path in case.paths])
        solution = np.linalg.lstsq(case.chances, wanted, rcond=1e-12)[0]
        assert known[at, value] == (np.abs(case.chances @ solution - wanted).max() < 1e-7)
    found, noise = (np.array([getattr(one.told, each) for one in sums]) for each in ("sums", "noise"))
    for chances, path in zip(case.chances, case.paths, strict=True):
        counts = (indicators(path, symbols) * known).sum(axis=0)
        assert chances @ found == pytest.approx(counts, abs=1e-6)
        exact = chances @ found**2 - counts**2
        assert (chances @ noise >= exact - 1e-6).all()
        assert (chances @ noise <= exact + counts * (counts - 1) + 1e-6).all()


@pytest.mark.parametrize("order", ORDERS)
def test_beliefs_are_those_of_bayes_and_columns_are_likelihoods(order: str) -> None:
    case = case_of("sticky", order, 1.0)
    start, rows = CHAINS["sticky"]
    law = np.array([start[p[0]] * np.prod([rows[a][b] for a, b in itertools.pairwise(p)]) for p in case.paths])
    for chances, found in zip(case.chances.T, case.heard, strict=True):
        after = law * chances / (law @ chances)
        if order != "natural":
            wanted = [sum(a * indicators(p, 3)[at] for a, p in zip(after, case.paths, strict=True)) for at in range(3)]
            assert found.heard.believed == pytest.approx(np.array(wanted), rel=1e-6)
        assert likelihood(found, case.paths) / (law @ likelihood(found, case.paths)) == pytest.approx(
            chances / (law @ chances), rel=1e-6
        )


def likelihood(found: Listened, paths: Sequence[Path]) -> Floats:
    """How likely each sequence makes what was drawn, up to a factor, from what the chain is learnt from."""
    if found.tables is not None:
        return np.asarray(found.tables[0])
    assert found.ties is not None
    share, columns = found.ties.share[0], found.heard.column
    own: Any = [np.prod([columns[at, value] for at, value in enumerate(path)]) for path in paths]
    return np.asarray(share + (1.0 - share) * np.array(own))
