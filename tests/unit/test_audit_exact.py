"""What all releases tell a reader together: against every path in fractions, against the other room's arithmetic."""

from __future__ import annotations

import io
import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from audit_world import Run as Audited
from audit_world import run
from rich.console import Console
from step_help import Run, events_of, part, policy_of, sticky_chain

from beliefs.chain import Chain
from beliefs.distance import equal
from beliefs.leakage.whole import follow as followed
from mechanisms.contract import TOTAL
from stream.audit.amounts import UNBOUNDED, constants_by_level
from stream.audit.book import OPTIMAL, PUBLISHED, Rules, new_book, new_desk, new_verdicts
from stream.audit.book import events_of as table_of
from stream.audit.exact import MOST_NUMBERS, Told, told_about, write_columns
from stream.audit.law import law_of
from stream.audit.public import Public
from stream.audit.report import tell
from stream.audit.sample import Sample, quantiles
from stream.errors import CannotAudit
from stream.policy import LOWER, RELEASED, UPPER

ROOM = 1e-9


def ring(size: int) -> Chain:
    """Each value is followed by itself or its neighbour; the first one begins."""
    rows = [([x, x + 1], [0.6, 0.4]) if x + 1 < size else ([0, x], [0.4, 0.6]) for x in range(size)]
    return Chain.from_sparse([1.0] + [0.0] * (size - 1), rows)


def public_of(chain: Chain, *, published: bool = False, when_spent: int = 0, budget: int = UNBOUNDED) -> Public:
    """For releases at epsilon 1, with nothing but what the kernels read."""
    epsilon = 2**40
    name = PUBLISHED if published else OPTIMAL
    rules = Rules(name, not published, constants_by_level(epsilon), epsilon, budget, 0, when_spent, 0, 1)
    task = run(2, events=1).task()
    return Public(task.public.form, rules, law_of(chain), 0, b"", "released", "changelog")


def released(
    chain: Chain, count: int, mechanism: str = "optimal", seed: int = 0, **settings: int
) -> tuple[Run, np.ndarray, list[np.ndarray]]:
    """One user's events, carried out one by one: the table that the auditor reads, and the engine's own columns."""
    engine = Run(policy_of(mechanism, 1.0, **settings), chain, users=1)
    events, rows, columns = events_of(count, 1, chain.size, seed), [], []
    for place in range(count):
        one = part(events, place, place + 1)
        answer = engine.block(one)
        told = answer.outcome[0] == RELEASED
        columns.append(engine.bench.work.likelihood / TOTAL if told else np.ones(chain.size))
        if answer.symbol[0] >= 0:
            outcome = 0 if told else 1
            rows.append([0, int(answer.step[0]), int(one.time[0]), int(answer.symbol[0]), outcome])
    return engine, table_of(*np.array(rows, dtype=np.int64).T), columns


CHAINS = [sticky_chain(3, 0.7), ring(4), Chain.from_dense([0.5, 0.5, 0], [[0.5, 0.5, 0], [0.2, 0, 0.8], [0, 0.3, 0.7]])]


@pytest.mark.parametrize("chain", CHAINS, ids=["full", "ring", "holes"])
@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_definition(chain: Chain, seed: int) -> None:
    engine, events, columns = released(chain, 5, seed=seed)
    told = told_about(public_of(chain), new_desk(chain.size, chain.size, equal()), events)
    assert told is not None
    sequence, single = enumerated(chain, columns)
    assert sequence - 1e-14 <= told.sequence <= sequence + ROOM
    assert single - 1e-14 <= told.single_value <= single + ROOM
    assert told.counters * 2**40 == max(int(engine.heads[0, UPPER]), int(engine.heads[0, LOWER]))
    assert_in_order(told)


def enumerated(chain: Chain, columns: list[np.ndarray]) -> tuple[float, float]:
    """Over all paths: the larger side for the sequence, and for the worst single value."""
    rows = np.zeros((chain.size, chain.size))
    for x in range(chain.size):
        following, chances = chain.row(x)
        rows[x, following] = chances
    paths = []
    for path in itertools.product(range(chain.size), repeat=len(columns)):
        weight = Fraction(float(chain.start[path[0]]))
        for before, now in itertools.pairwise(path):
            weight *= Fraction(float(rows[before, now]))
        if weight:
            paths.append((path, weight, math.prod(Fraction(float(c[x])) for c, x in zip(columns, path, strict=True))))
    mass = sum((weight for _, weight, _ in paths), Fraction(0))
    chance = sum((weight * told for _, weight, told in paths), Fraction(0)) / mass
    ratios = [told / chance for _, _, told in paths]
    singles: list[Fraction] = []
    for place, value in itertools.product(range(len(columns)), range(chain.size)):
        through = [(weight, told) for path, weight, told in paths if path[place] == value]
        if through:
            reached = sum((w for w, _ in through), Fraction(0))
            singles.append(sum((w * t for w, t in through), Fraction(0)) / reached / chance)
    return larger_side(ratios), larger_side(singles)


def larger_side(ratios: list[Fraction]) -> float:
    return max(math.log(max(ratios)), -math.log(min(ratios)))


def assert_in_order(told: Told) -> None:
    assert told.single_value <= told.sequence + ROOM
    assert told.sequence <= told.counters + ROOM
    assert told.counters <= told.sum_of_releases


@pytest.mark.parametrize("chain", [*CHAINS, sticky_chain(12, 0.6), ring(12)])
@pytest.mark.parametrize("budget", [UNBOUNDED, 30 * 2**40])
@pytest.mark.parametrize("when_spent", [0, 2])
def test_it_is_what_the_other_room_finds_over_hundreds_of_events(chain: Chain, budget: int, when_spent: int) -> None:
    """With a spent budget there are forecasts, or gaps, between and behind the releases."""
    settings: dict[str, Any] = {"budget": budget, "when_spent": when_spent, "window": 2_000}
    _, events, columns = released(chain, 300, **settings)
    public = public_of(chain, budget=budget, when_spent=when_spent)
    public = Public(public.form, public.rules._replace(window=2_000), public.law, 0, b"", "", "")
    desk = new_desk(chain.size, chain.size, equal())
    steps = int(events[:, 1].max())
    mine = np.ones((steps, chain.size))
    book, verdicts = new_book(1, chain.size), new_verdicts(events.shape[0])
    assert write_columns(public.rules, public.law, desk, book, events, verdicts, mine)
    assert np.array_equal(mine, np.array(columns[:steps]))
    told, wanted = told_about(public, desk, events), followed(chain, columns[:steps])
    assert told is not None
    assert told.sequence == pytest.approx(wanted.whole.epsilon, abs=1e-8)
    assert told.single_value == pytest.approx(max(leak.epsilon for leak in wanted.single), abs=1e-8)
    assert_in_order(told)


def test_on_a_ring_much_less_is_told_than_the_counters_say() -> None:
    _, events, _ = released(ring(12), 200)
    told = told_about(public_of(ring(12)), new_desk(12, 12, equal()), events)
    assert told is not None
    assert told.single_value < 0.5 * told.sequence < 0.5 * told.counters


def test_a_release_that_the_model_has_no_room_for_leaves_its_user_out() -> None:
    """The published mechanism releases what the model calls impossible: there is no posterior to speak of."""
    chain = Chain.from_dense([0.5, 0.5, 0], [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]])
    _, events, _ = released(chain, 12, "published_crr")
    assert told_about(public_of(chain, published=True), new_desk(3, 3, equal()), events) is None


def test_a_user_who_cannot_be_followed_or_is_too_long_is_left_out() -> None:
    chain = sticky_chain(3, 0.7)
    public, desk = public_of(chain), new_desk(3, 3, equal())
    _, events, _ = released(chain, 20)
    assert told_about(public, desk, events) is not None
    assert told_about(public, desk, np.delete(events, 7, axis=0)) is None
    long = events.copy()
    long[-1, 1] = MOST_NUMBERS // 3 + 1
    assert told_about(public, desk, long) is None


def test_masses_that_can_no_longer_be_held_are_not_guessed() -> None:
    """A ring of 1,200 values: after as many events the last one is a thousand powers of ten away."""
    size = 1_200
    chain = ring(size)
    table = [np.zeros(size, dtype=np.int64), np.arange(1, size + 1), np.arange(size), np.zeros(size), np.ones(size)]
    events = table_of(*(column.astype(np.int64) for column in table))
    public = public_of(chain, budget=0)
    assert told_about(public, new_desk(size, size, equal()), events[:300]) is not None
    assert told_about(public, new_desk(size, size, equal()), events) is None


SMALL: dict[str, Any] = {"symbols": 3, "events": 900, "users": 15, "nats": "unlimited"}


@pytest.fixture(scope="module")
def finished() -> Audited:
    return run(**SMALL, partitions=2)


def test_the_audit_reports_quantiles_over_all_users(finished: Audited) -> None:
    report = finished.report(accounts=100)
    assert report.agrees
    accounts = json.loads(json.dumps(report.as_json()))["accounts"]
    assert (accounts["users"], accounts["left_out"], accounts["of"]) == (30, 0, 30)
    for share in ("p50", "p90", "p99", "max"):
        amounts = [accounts[name][share] for name in ("single_value", "sequence", "counters", "sum_of_releases")]
        assert amounts[0] > 0
        assert all(less <= more + ROOM for less, more in itertools.pairwise(amounts))
    counted = [int.from_bytes(one.value[at : at + 8], "little") for one, at in rows_of(finished)]
    assert accounts["counters"]["max"] == max(counted) / 2**40


def rows_of(finished: Audited) -> list[tuple[Any, int]]:
    """Every state that was written, with the places of its two counters."""
    states = [one for partition in range(2) for one in finished.states(partition) if (one.key or b"")[:1] == b"u"]
    return [(one, at) for one in states for at in (8 * UPPER, 8 * LOWER)]


def test_a_sample_is_the_same_users_however_the_records_come(finished: Audited) -> None:
    few = finished.report(accounts=4).accounts
    assert few is not None
    assert (few["users"], few["of"]) == (4, 30)
    assert few == finished.report(accounts=4, with_changelog=False).accounts
    everybody = finished.report(accounts=100).accounts
    assert everybody is not None
    assert few["counters"]["max"] <= everybody["counters"]["max"]


def test_the_accounts_name_nobody(finished: Audited) -> None:
    report, out = finished.report(accounts=5), io.StringIO()
    tell(report, Console(file=out, width=120))
    text = out.getvalue()
    assert "accounts of users" in text and "5 of 30" in text and "the worst single value" in text
    assert "user-" not in text + json.dumps(report.as_json())


def test_without_the_option_there_are_no_accounts(finished: Audited) -> None:
    assert finished.report().as_json()["accounts"] is None


def test_a_lost_record_leaves_its_user_out() -> None:
    finished = run(**SMALL)
    del finished.released()[3]
    accounts = finished.report(accounts=100).accounts
    assert accounts is not None
    assert (accounts["users"], accounts["left_out"]) == (14, 1)


@pytest.mark.parametrize(
    ("settings", "why"),
    [({"windows": "{events: 5}"}, "windows"), ({"step": "10s"}, "clock")],
    ids=["windows", "clock"],
)
def test_what_it_is_not_known_for_is_refused(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(CannotAudit, match=r"accounts of users") as refusal:
        Sample(run(3, events=1, **settings).task().public, 5)
    assert why in str(refusal.value)


def test_a_longer_memory_is_refused() -> None:
    states = Chain.from_dense([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    public = public_of(states)
    assert Sample(public, 5).users == 0
    with pytest.raises(CannotAudit, match=r"accounts of users"):
        Sample(Public(public.form, public.rules, public.law._replace(span=2), 0, b"", "", ""), 5)


def test_quantiles_are_the_least_amounts_that_hold() -> None:
    assert quantiles([3.0, 1.0, 2.0, math.inf]) == {"p50": 2.0, "p90": math.inf, "p99": math.inf, "max": math.inf}
    assert quantiles([float(x) for x in range(1, 101)]) == {"p50": 50.0, "p90": 90.0, "p99": 99.0, "max": 100.0}
