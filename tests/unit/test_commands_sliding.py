"""What the commands say of a budget over any N events in a row, and what a change of it does to stored beliefs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pipeline_help import ACTIVITIES, walk
from settings_text import GOOD
from step_help import sticky_chain
from typer.testing import CliRunner

from beliefs.alphabet import Categories
from beliefs.model_file import serialise
from stream.clock_rows import rows_of, words_of
from stream.commands.app import app
from stream.commands.worker import bytes_of_a_row, control_of, pipelines_of
from stream.engine.topic_ids import TopicFacts
from stream.keys import new_ring
from stream.names import EXIT_DONE
from stream.opening import Opened, open_pipeline
from stream.protocol.control import differences, may_change
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import UserStore
from stream.state import Word
from stream.stores.disk import DiskStore
from stream.stores.memory import MemoryStore

FACTS = TopicFacts("phones.raw", UUID(int=1), 1, led=True)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    (tmp_path / "model.json").write_bytes(serialise(Categories(list(ACTIVITIES)), sticky_chain(4), {}))
    new_ring(tmp_path / "keys.json")
    return tmp_path


def settings_in(house: Path, window: str, more: str = "") -> Path:
    text = (
        GOOD.replace("nats: 10", "nats: 4")
        .replace("window: 1d", f"window: {window}")
        .replace("budget:", f"{more}budget:")
    )
    (house / "c.yaml").write_text(text, encoding="utf-8")
    return house / "c.yaml"


def explained(file: Path, *options: str) -> str:
    done = CliRunner().invoke(app, ["explain", str(file), *options])
    assert done.exit_code == EXIT_DONE, done.output
    return " ".join(done.output.split())


@pytest.mark.parametrize("more", ["", "window: {events: 3}\n"])
def test_explain_says_what_is_bounded_and_what_is_not(house: Path, more: str) -> None:
    text = explained(settings_in(house, "{events: 20}", more))
    assert "in any 20 of his events in a row tell at most 4 nats together" in text
    assert "leakage about these events from outputs outside is not bounded by it" in text
    assert "may meet two of them" not in text
    facts: dict[str, Any] = json.loads(explained(settings_in(house, "{events: 20}", more), "--json"))
    assert (facts["window_ms"], facts["window_events"]) == (None, 20)


def prepared(opened: Opened, store: UserStore, first: int) -> None:
    pipeline = pipelines_of(opened, FACTS)(0)
    effects = pipeline.prepare(InputBlock.of(walk(60, users=5, first=first)), store)
    store.apply(effects.keys, effects.heads, effects.codes, effects.next_offset, {}, effects.held)


@pytest.mark.parametrize("more", ["", "window: {events: 3}\n"])
@pytest.mark.parametrize("stored", ["memory", "disk"])
def test_rows_are_as_long_as_they_are_said_to_be_in_every_store(house: Path, stored: str, more: str) -> None:
    opened = open_pipeline(settings_in(house, "{events: 20}", more), {})
    codec = rows_of(opened.settings, 4, opened.model.tag)
    store: UserStore = MemoryStore(codec) if stored == "memory" else DiskStore(house / "store", codec, b"phones-0")
    prepared(opened, store, 0)
    (heads,) = store.all_heads()
    assert heads.shape == (5, words_of(opened.settings)) == (5, 48)
    assert bytes_of_a_row(opened) == 64 + 16 * 20 + 4 * 4
    store.close()


def test_the_budget_may_change_when_no_record_waits_and_nothing_told_is_forgotten(house: Path) -> None:
    """A store on disk is opened again under the other settings, there and back."""
    before, opened = None, open_pipeline(settings_in(house, "forever"), {})
    for first, window in ((0, "forever"), (60, "{events: 6}"), (120, "{events: 30}"), (180, "1d")):
        previous, opened = opened, open_pipeline(settings_in(house, window), {})
        found = differences(control_of(previous, FACTS), control_of(opened, FACTS))
        assert [difference.field for difference in found] == (["policy"] if first else []) and may_change(found)
        store = DiskStore(house / "store", rows_of(opened.settings, 4, opened.model.tag), b"phones-0")
        assert not store.unreadable
        keys = [b"user-%d" % user for user in range(5)]
        heads = store.load(keys).heads
        if before is not None:
            assert (heads[:, Word.UPPER] == before[:, Word.UPPER]).all()
            assert (heads[:, Word.STEPS] == before[:, Word.STEPS]).all()
        prepared(opened, store, first)
        before = store.load(keys).heads
        store.close()
