"""The field whose values follow one another: what its channel tells, what the model says, and what follows what."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
import segment_world
from audit_memory import START_MS, Kept
from audit_world import Run, model_of, run
from chains import first_order
from estimate_help import asked_with
from scipy import stats

from beliefs.alphabet import Alphabet, Categories, IntegerRange
from beliefs.chain import Chain
from beliefs.learning.hidden import Heard, learn_hidden, occupancy, spread_of, without_each
from beliefs.model_file import Model, parse, serialise
from stream.attack.posterior import forth_and_back, moves_by_event
from stream.estimation.chain import Kept as KeptColumns
from stream.estimation.chain import learn_chain
from stream.estimation.gathering import Gathering
from stream.estimation.jackknife import GROUPS, group_of, reach_of, spread_without
from stream.estimation.results import FieldResult, WindowResult
from stream.estimation.task import task_of
from stream.estimation.told import finished

STAYS = np.array([[0.8, 0.15, 0.05], [0.1, 0.85, 0.05], [0.3, 0.1, 0.6]])
USERS, LENGTH = 120, 25


def model_with(alphabet: Alphabet) -> Model:
    """Another chain than the one that users follow."""
    return parse(serialise(alphabet, Chain.from_dense([1 / 3] * 3, [[0.6, 0.2, 0.2]] * 3), {}))


def finished_run(alphabet: Alphabet | None = None, seed: int = 3, **settings: Any) -> tuple[Run, np.ndarray[Any, Any]]:
    values = first_order(STAYS, USERS, LENGTH, np.random.default_rng(seed))
    known = Categories(["a", "b", "c"]) if alphabet is None else alphabet
    inputs = [
        Kept(
            step * USERS + user,
            b"user-%d" % user,
            orjson.dumps({"activity": known.value_at(int(values[user, step])), "battery": 1}),
            START_MS + 60_000 * step,
        )
        for step in range(LENGTH)
        for user in range(USERS)
    ]
    usual = {"mechanism": "randomised_response", "epsilon": 1.5, "nats": "unlimited"}
    return run(3, model=model_with(known), inputs=inputs, **{**usual, **settings}), values


def told(finished_: Run, models: list[Model] | None = None, parts: int = 1, **asked: Any) -> list[WindowResult]:
    task = task_of(finished_.settings, models or [finished_.model], asked_with(**asked))
    found = Gathering(task)
    for partition in range(parts):
        records = finished_.released(partition)
        for start in range(0, len(records), 700):
            found.take(partition, records[start : start + 700])
    return list(finished(found))


def only(windows: list[WindowResult]) -> FieldResult:
    ((one,),) = [window.fields for window in windows]
    return one


def column(found: FieldResult, table: str, name: str = "estimate") -> np.ndarray[Any, Any]:
    return np.array(found.tables[table].columns[name], dtype=np.float64)


def test_randomised_response_is_turned_back_as_the_textbook_does() -> None:
    finished_, values = finished_run()
    found = only(told(finished_))
    released = np.array([orjson.loads(one.value or b"")["activity"] for one in finished_.released()])
    counts = np.array([(released == name).sum() for name in ("a", "b", "c")])
    n, p = USERS * LENGTH, np.exp(1.5) / (np.exp(1.5) + 2)
    q = (1 - p) / 2
    assert found.reports == n
    assert column(found, "frequency") == pytest.approx((counts / n - q) / (p - q), rel=1e-9)
    wanted = (counts / n * (1 - q) * (1 - p) + (1 - counts / n) * q * p) / (p - q) ** 2 / n
    assert column(found, "frequency", "variance") == pytest.approx(wanted, rel=1e-9)
    assert sum(column(found, "frequency", "projected")) == pytest.approx(1.0)
    assert "where_told" not in found.tables and "mean" not in found.tables
    truth = np.bincount(values.ravel(), minlength=3) / n
    assert (np.abs(column(found, "frequency") - truth) < 4 * np.sqrt(wanted)).all()


def test_windows_add_up_and_forecasts_tell_nothing() -> None:
    finished_, _ = finished_run(nats=8, window="1h")
    whole, windows = only(told(finished_)), told(finished_, window="10m")
    assert whole.facts["forecasts"] == finished_.outcomes["forecast"] > 300
    assert whole.reports == finished_.outcomes["released"]
    parts = [window.fields[0] for window in windows if window.fields[0].reports]
    counts = np.array([part.reports for part in parts])
    assert counts.sum() == whole.reports
    sums = np.array([column(part, "frequency") for part in parts]) * counts[:, None]
    assert sums.sum(axis=0) / whole.reports == pytest.approx(column(whole, "frequency"), rel=1e-9)
    silent = [window.fields[0] for window in windows if not window.fields[0].reports]
    assert all(not one.tables and one.facts["forecasts"] for one in silent)


def test_beliefs_are_those_of_a_reader_who_follows_every_release() -> None:
    finished_, _ = finished_run(mechanism="optimal", epsilon=1.0)
    found, public = only(told(finished_)), finished_.task().public
    expected = np.zeros(3)
    for user in range(USERS):
        columns = columns_of(finished_, b"user-%d" % user)
        expected += forth_and_back(public.law, moves_by_event(LENGTH), columns).after.sum(axis=0)
    assert column(found, "posterior") == pytest.approx(expected / (USERS * LENGTH), rel=1e-5)


def test_where_channels_tell_of_a_value_now_and_then_that_is_said() -> None:
    """With values that last, `optimal` tells of those that are believed: these releases are no sample of all."""
    finished_ = run(4, events=1_500, users=20, nats="unlimited")
    found = only(told(finished_, transitions=True))
    share = column(found, "where_told", "told")
    assert ((share > 0) & (share < 1)).all()
    assert "frequency" not in found.tables and "transitions" not in found.tables
    assert set(found.tables) == {"where_told", "posterior", "chain", "learnt"}


def columns_of(finished_: Run, key: bytes) -> np.ndarray[Any, Any]:
    """By the auditor's own following of this user."""
    from stream.audit.book import new_book, new_desk, new_verdicts
    from stream.audit.exact import write_columns
    from stream.audit.records import Reader
    from stream.audit.windows import rows_of

    public = finished_.task().public
    records = [one for one in finished_.released() if one.key == key]
    events = np.ascontiguousarray(rows_of(Reader(public.form).read(records), np.arange(len(records))).events[:, :5])
    table = np.ones((LENGTH, 3))
    desk, book = new_desk(public.states, 3, public.distance), new_book(1, public.states)
    assert write_columns(public.rules, public.law, desk, book, events, new_verdicts(LENGTH), table)
    return table


def test_transitions_by_pairs_and_by_a_learnt_chain() -> None:
    """Both about the chain that users follow, not the model's; every number is within its interval or near it."""
    finished_, values = finished_run(epsilon=2.5)
    found = only(told(finished_, transitions=True))
    pairs = np.zeros((3, 3))
    np.add.at(pairs, (values[:, :-1].ravel(), values[:, 1:].ravel()), 1)
    truth = pairs / pairs.sum(axis=1, keepdims=True)
    for table in ("transitions", "chain"):
        rows, errors = column(found, table), np.sqrt(column(found, table, "variance"))
        assert (np.abs(rows - truth.ravel()) < 4.5 * errors + 0.01).all()
        assert (errors < 0.2).all()
        assert rows.reshape(3, 3).sum(axis=1) == pytest.approx(1.0)
    assert found.tables["transitions"].reports == USERS * (LENGTH - 1)
    assert found.tables["chain"].columns["other"][:3] == ["a", "b", "c"]
    shares = np.bincount(values.ravel(), minlength=3) / values.size
    assert (np.abs(column(found, "learnt") - shares) < 4.5 * np.sqrt(column(found, "learnt", "variance"))).all()
    assert found.facts["chain"] == f"learnt from {USERS} users"
    assert column(found, "learnt").sum() == pytest.approx(1.0)


def test_numbers_have_means_by_the_channel_and_by_the_model() -> None:
    finished_, values = finished_run(IntegerRange(10, 12))
    found = only(told(finished_))
    assert found.tables["frequency"].columns["value"] == [10, 11, 12]
    by_shares = (column(found, "frequency") * np.array([10, 11, 12])).sum()
    assert column(found, "mean")[0] == pytest.approx(by_shares, rel=1e-9)
    error = np.sqrt(column(found, "mean", "variance")[0])
    assert abs(column(found, "mean")[0] - 10 - values.mean()) < 4 * error < 0.3
    assert 10 < column(found, "posterior_mean")[0] < 12


def test_each_user_is_read_by_the_model_of_his_segment() -> None:
    finished_ = segment_world.run(mechanism="randomised_response", nats="unlimited")
    models = segment_world_models(finished_)
    task = task_of(finished_.settings, models, asked_with())
    assert len(task.publics) == len(task.models) > 1
    found = only(told(finished_, models, parts=2))
    assert found.reports == finished_.outcomes["released"]
    assert found.facts["not_followed"] == 0
    assert column(found, "frequency").sum() == pytest.approx(1.0)
    first_alone = task_of(finished_.settings, models, asked_with())
    assert first_alone.policy == task.policy


def segment_world_models(finished_: Any) -> list[Model]:
    return [finished_.model, *finished_.others]


def test_users_whose_beginning_is_gone_are_counted() -> None:
    finished_, _ = finished_run()
    log = finished_.topics.logs["phones.released"][0]
    del log[: 2 * USERS]
    found = only(told(finished_))
    assert (found.reports, found.facts["not_followed"]) == (0, USERS * (LENGTH - 2))
    assert not found.tables


def test_too_few_users_are_not_told_of() -> None:
    finished_ = run(3, events=300, users=4, model=model_of(3), nats="unlimited")
    assert only(told(finished_)).too_few


def test_the_chain_is_learnt_over_gaps_and_needs_users() -> None:
    """An event of which nothing was told has a column of ones between its user's others."""
    source = np.random.default_rng(4)
    values = first_order(STAYS, 40, 30, source)
    columns = np.where(np.arange(3) == values.reshape(-1)[:, None], 0.9, 0.05)
    users, steps = np.repeat(np.arange(40), 30), np.tile(np.arange(1, 31), 40)
    keep = source.random(1200) < 0.8
    count = int(keep.sum())
    alone = np.zeros(count, dtype=np.int64), np.zeros(count), np.ones(count, dtype=np.int64)
    kept = KeptColumns(users[keep], users[keep] % 8, steps[keep], columns[keep], *alone)
    order = source.permutation(count)
    shuffled = KeptColumns(*(part[order] for part in kept))
    found, again = learn_chain([kept], 3), learn_chain([shuffled], 3)
    assert found is not None and again is not None
    assert np.array_equal(found.rows, again.rows)
    assert found.row_variances is not None and found.share_variances is not None
    assert (np.abs(found.rows - STAYS) < 4.5 * np.sqrt(found.row_variances) + 0.02).all()
    assert learn_chain([KeptColumns(*(part[users[keep] < 10] for part in kept))], 3) is None
    assert learn_chain([], 3) is None
    few_groups = learn_chain([kept._replace(groups=users[keep] % 3)], 3)
    assert few_groups is not None and few_groups.row_variances is None


def test_occupancy_is_what_is_expected_of_each_value() -> None:
    """One value that is known, and one of which nothing is told: the chain says what it may be."""
    heard = Heard(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([0, 1]), np.array([0, 2]))
    chain = learn_hidden(heard, np.array([0.5, 0.5]), np.array([[0.75, 0.25], [0.5, 0.5]]))
    chain = type(chain)(np.array([0.5, 0.5]), np.array([[0.75, 0.25], [0.5, 0.5]]), 0.0, 0)
    assert occupancy(heard, chain) == pytest.approx([(1 + 0.75) / 2, 0.25 / 2])


def test_the_spread_of_a_fit_is_that_of_the_chains_without_each_group() -> None:
    source = np.random.default_rng(2)
    columns = np.where(np.arange(3) == source.integers(3, size=240)[:, None], 0.8, 0.1)
    heard = Heard(columns, np.arange(240), np.arange(0, 241, 20))
    whole = learn_hidden(heard, np.full(3, 1 / 3), np.full((3, 3), 1 / 3))
    rest = without_each(heard, np.arange(12) % 6, whole)
    found = spread_without([one.matrix for one in rest])
    assert found is not None
    assert np.sqrt(found) == pytest.approx(spread_of(heard, np.arange(12) % 6, whole)[1:])


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_intervals_over_groups_reach_as_far_as_student_says(confidence: float) -> None:
    for groups in (6, 7, 8, 20, GROUPS):
        assert reach_of(confidence, groups) == pytest.approx(stats.t.ppf(0.5 + confidence / 2, groups - 1), rel=0.002)


def test_groups_of_users_are_hashes_and_the_jackknife_of_a_mean_is_its_variance() -> None:
    numbers = [group_of(b"user-%d" % user) for user in range(6_400)]
    assert numbers[:4] == [group_of(b"user-%d" % user) for user in range(4)]
    counts = np.bincount(numbers, minlength=GROUPS)
    assert counts.shape == (GROUPS,) and stats.chisquare(counts).pvalue > 1e-4
    sample = np.random.default_rng(1).normal(size=50)
    left_out = [np.array([(sample.sum() - one) / 49]) for one in sample]
    found = spread_without(left_out)
    assert found is not None
    assert found[0] == pytest.approx(sample.var(ddof=1) / 50)
    assert spread_without(left_out[:5]) is None
