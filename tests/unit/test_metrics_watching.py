"""From settings to what is shown: the monitor of the model and exact accounts in a worker, and what is refused."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from context_models import law_of
from metering import heads_of, meter_settings
from pipeline_help import ACTIVITIES, walk
from settings_text import GOOD
from step_help import sticky_chain
from tail_models import zipf_chain
from watching import watched_users

from beliefs.alphabet import Categories
from beliefs.chain import Chain
from beliefs.model_file import serialise, serialise_contexts
from beliefs.rounding import INFINITE, UNITS_PER_NAT, nats, units_up
from stream.accounts import MOST_EVENTS, events_kept
from stream.clock_rows import rows_of
from stream.commands.witnessing import following_of, witness_of
from stream.commands.worker import pipelines_of
from stream.engine.topic_ids import TopicFacts
from stream.errors import ConfigurationRefused
from stream.keys import new_ring
from stream.metrics import Meter
from stream.metrics.observer import MeterObserver
from stream.metrics.page import status_page
from stream.metrics.standing import standing
from stream.opening import open_pipeline
from stream.protocol.effects import BlockReport
from stream.protocol.inputs import InputBlock
from stream.stores.memory import MemoryStore

FACTS = TopicFacts("phones.raw", UUID(int=1), 1, led=True)
ACCOUNTS = "policy_version: 1\nmetrics: {accounts: %d}\n"
ALPHABET = Categories(list(ACTIVITIES))


@pytest.fixture
def house(tmp_path: Path) -> Path:
    (tmp_path / "model.json").write_bytes(serialise(ALPHABET, sticky_chain(4), {}))
    new_ring(tmp_path / "keys.json")
    return tmp_path


def settings_in(house: Path, accounts: int, old: str = "", new: str = "") -> Path:
    text = GOOD.replace("policy_version: 1\n", ACCOUNTS % accounts)
    (house / "c.yaml").write_text(text.replace(old, new) if old else text, encoding="utf-8")
    return house / "c.yaml"


def test_a_worker_watches_what_it_has_committed_and_shows_it(house: Path) -> None:
    opened = open_pipeline(settings_in(house, 12, "nats: 10", "nats: unlimited"), {})
    following = following_of(opened)
    witness = witness_of(opened, following)
    assert witness is not None
    witness.warm_up()
    meter = Meter(meter_settings(), witness=witness)
    observer = MeterObserver(meter, lambda _: [], lambda: 0)
    pipeline = pipelines_of(opened, FACTS, following)(0)
    store = MemoryStore(rows_of(opened.settings, 4, opened.model.tag))
    told = {}
    for first in range(0, 2_000, 100):
        records = InputBlock.of(walk(100, users=30, first=first, seed=first))
        effects = pipeline.prepare(records, store)
        if first == 700:
            pipeline.prepare(records, store)  # what is prepared once more, and not committed, is not looked at
        store.apply(effects.keys, effects.heads, effects.codes, effects.next_offset, {})
        told.update({key: head[[2, 3]].copy() for key, head in zip(effects.keys, effects.heads, strict=True)})
        observer.block_committed(BlockReport(0, records, effects, 30, 0, 0, 0.0, 0.0, 0.0))
    witness.renew_all()
    now = standing(meter)
    assert now.monitor is not None and 10 < now.monitor.releases <= 30 * 4
    assert now.accounts is not None and now.accounts.users == 12
    shown = now.accounts.quantiles
    assert set(shown["exact"]) == {"0.5", "0.9", "0.99", "1"}
    for label, exact in shown["exact"].items():
        assert shown["single_value"][label] <= exact <= shown["counters"][label] <= shown["sum"][label]
    assert max(account.counters for account in witness.accounts()) <= shown["counters"]["1"]
    followed = [key for key in told if following.place_of(0, key) is not None]
    steps = {key: int(head[6]) for key, head in zip(followed, store.load(followed).heads, strict=True)}
    of_all = sorted(nats(int(told[key].max())) for key in followed if steps[key] <= MOST_EVENTS)
    assert set(of_all) <= {account.counters for account in witness.accounts()}
    page = status_page(meter)
    assert "evidence against it, at most" in page and "about the worst single value" in page
    observer.revoked([0])
    assert standing(meter).accounts is None


def test_fewer_users_than_the_floor_are_not_shown() -> None:
    few, enough = watched_users(9, 20), watched_users(10, 20)
    for watched, shown in ((few, False), (enough, True)):
        meter = Meter(meter_settings(), witness=watched.witness)
        meter.loaded(0, heads_of([(0, 0)] * (10 if shown else 9)))
        now = standing(meter)
        assert (now.accounts is not None, now.monitor is not None) == (shown, shown)
        page = status_page(meter)
        for words in ("evidence against it, at most", "about the worst single value", "drift, at most"):
            assert (words in page) == shown


def test_without_accounts_the_model_is_tested_all_the_same(house: Path) -> None:
    opened = open_pipeline(settings_in(house, 0), {})
    witness = witness_of(opened, following_of(opened))
    assert witness is not None and witness.accounts() == [] and witness.monitor() is None


def test_windows_are_not_watched(house: Path) -> None:
    opened = open_pipeline(settings_in(house, 0, "budget:", "window: {events: 3}\nbudget:"), {})
    assert witness_of(opened, following_of(opened)) is None
    effects = pipelines_of(opened, FACTS, following_of(opened))(0).prepare(
        InputBlock.of(walk(20)), MemoryStore(rows_of(opened.settings, 4, opened.model.tag))
    )
    assert effects.watched is None


@pytest.mark.parametrize(
    ("accounts", "old", "new", "fragment"),
    [
        (20, "budget:", "window: {events: 3}\nbudget:", "beside windows"),
        (20, "model: model.json", "model: {file: model.json, step: 1h}", "beside a model by the clock"),
        (9, "", "", "never shown"),
        (401, "", "", "at most 400"),
        (-1, "", "", "at least 0"),
    ],
)
def test_what_cannot_be_worked_out_is_refused(house: Path, accounts: int, old: str, new: str, fragment: str) -> None:
    with pytest.raises(ConfigurationRefused) as refused:
        open_pipeline(settings_in(house, accounts, old, new), {})
    (problem,) = refused.value.problems
    assert problem.path == "metrics.accounts" and fragment in str(problem)


def test_models_that_remember_more_or_have_a_tail_are_refused(house: Path) -> None:
    start = np.array([0.5, 0.25, 0.25])
    laws = {(): law_of([0.5, 0.25, 0.25]), (1,): law_of([0.25, 0.5, 0.25]), (0, 2): law_of([0.125, 0.125, 0.75])}
    three = Categories(["still", "walking", "running"])
    tailed = serialise(Categories([f"v{x}" for x in range(30)]), zipf_chain(30), {})
    for model, kind in ((serialise_contexts(three, 2, start, laws, {}), "of order 2"), (tailed, "with a tail")):
        (house / "model.json").write_bytes(model)
        with pytest.raises(ConfigurationRefused, match=kind):
            open_pipeline(settings_in(house, 20), {})


def test_an_account_fits_the_time_and_the_room_that_it_may_take() -> None:
    dense = [Chain.from_dense([1 / n] * n, [[1 / n] * n] * n) for n in (4, 128, 512)]
    assert [events_kept(100, chain) for chain in dense] == [50, 30, 1]
    sparse = Chain.from_sparse([1.0] + [0.0] * 999, [([x], [1.0]) for x in range(1_000)])
    assert [events_kept(users, sparse) for users in (10, 100, 400)] == [50, 40, 10]


def test_an_account_without_enough_events_is_refused(house: Path) -> None:
    values = 600
    chain = Chain.from_dense([1 / values] * values, np.full((values, values), 1 / values).tolist())
    (house / "model.json").write_bytes(serialise(Categories([f"v{x}" for x in range(values)]), chain, {}))
    with pytest.raises(ConfigurationRefused, match="transitions"):
        open_pipeline(settings_in(house, 20), {})


def test_amounts_are_rounded_up_into_units() -> None:
    assert units_up(1.0) == UNITS_PER_NAT and units_up(float("inf")) == INFINITE
    assert units_up(2.0**-41) == 1 and units_up(0.0) == 0
