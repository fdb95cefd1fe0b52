"""Pipelines whose model has a tail: what the commands say, what they refuse, and the rows that a worker keeps."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from settings_text import GOOD
from tail_models import zipf_chain
from test_commands_memory import _Record, run

from beliefs.alphabet import Categories
from beliefs.model_file import serialise
from stream.clock_rows import rows_of
from stream.commands.worker import bytes_of_a_row, control_of, pipelines_of
from stream.engine.topic_ids import TopicFacts
from stream.keys import new_ring
from stream.names import EXIT_DONE, EXIT_REFUSED
from stream.opening import open_pipeline
from stream.protocol.control import differences, may_change
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import UserStore
from stream.stores.disk import DiskStore
from stream.stores.memory import MemoryStore

VALUES = [f"v{x}" for x in range(60)]
FACTS = TopicFacts("phones.raw", UUID(int=1), 1, led=True)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    chain = zipf_chain(60, left=0.8)
    (tmp_path / "model.json").write_bytes(serialise(Categories(VALUES), chain, {}))
    new_ring(tmp_path / "keys.json")
    return settings(tmp_path, ", listed: 7")


def settings(house: Path, model: str = "", more: str = "") -> Path:
    text = GOOD.replace("model: model.json", f"model: {{file: model.json{model}}}") + more
    (house / "c.yaml").write_text(text, encoding="utf-8")
    return house


def test_it_is_found_right_and_explained(house: Path) -> None:
    assert run("validate", house / "c.yaml").exit_code == EXIT_DONE
    explained = run("explain", house / "c.yaml", "--events-per-day", 24)
    assert explained.exit_code == EXIT_DONE
    assert "at most 7 entries of a belief are kept" in " ".join(explained.stdout.split())


@pytest.mark.parametrize("order", ["bisect", "natural"])
def test_windows_beside_a_tail_are_explained(house: Path, order: str) -> None:
    settings(house, ", listed: 7", f"window: {{events: 5, order: {order}}}\n")
    assert run("validate", house / "c.yaml").exit_code == EXIT_DONE
    explained = run("explain", house / "c.yaml", "--events-per-day", 24)
    assert explained.exit_code == EXIT_DONE
    assert "one window makes no sequence of its values" in " ".join(explained.stdout.split())


def test_dual_windows_beside_a_tail_are_refused(house: Path) -> None:
    settings(house, "", "window: {events: 1, order: dual}\n")
    refused = run("validate", house / "c.yaml")
    assert refused.exit_code == EXIT_REFUSED
    assert "dual beside a model with a tail" in " ".join(refused.stderr.split())


def test_a_list_without_a_tail_is_refused(house: Path) -> None:
    from beliefs.chain import Chain

    even = Chain.from_dense([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    (house / "model.json").write_bytes(serialise(Categories(["a", "b"]), even, {}))
    refused = run("validate", house / "c.yaml")
    assert refused.exit_code == EXIT_REFUSED
    assert "7 beside a model without a tail" in " ".join(refused.stderr.split())


@pytest.mark.parametrize("wrong", ["0", "2001", "many"])
def test_a_list_of_another_length_is_refused(house: Path, wrong: str) -> None:
    settings(house, f", listed: {wrong}")
    assert run("validate", house / "c.yaml").exit_code == EXIT_REFUSED


@pytest.mark.parametrize("folder", [None, "beliefs"], ids=["memory", "disk"])
@pytest.mark.parametrize("clock", ["", ", step: 10m"])
def test_a_worker_keeps_listed_rows(house: Path, folder: str | None, clock: str) -> None:
    opened = open_pipeline(settings(house, f", listed: 7{clock}") / "c.yaml", {})
    codec = rows_of(opened.settings, 60, opened.model.tag, opened.promise.policy.listed)
    store: UserStore = MemoryStore(codec) if folder is None else DiskStore(house / folder, codec, b"owner")
    inputs = [_Record(i, 600_000 * i, b"u%d" % (i % 3), b'{"activity":"v%d"}' % i) for i in range(30)]
    effects = pipelines_of(opened, FACTS)(0).prepare(InputBlock.of(inputs), store)
    store.apply(effects.keys, effects.heads, effects.codes, 30, {})
    heads, codes, known = store.load([b"u0", b"u1", b"u2"])
    assert known.all() and len(effects.releases) == 30
    assert codes.shape == (3, 2 + 2 * 7)
    assert (codes[:, 1] <= 7).all()
    rows = codec.to_rows(heads, codes)
    assert {len(row) for row in rows} == {bytes_of_a_row(opened)} == {(72 if clock else 64) + 8 + 8 * 7}
    back_heads, back_codes, readable = codec.from_rows([*rows, b"\x01" + rows[0][1:]])
    assert readable.tolist() == [True, True, True, False]
    assert np.array_equal(back_heads[:3], heads) and np.array_equal(back_codes[:3], codes)
    store.close()


def test_rows_of_another_list_are_refused_at_the_start(house: Path) -> None:
    seven = open_pipeline(house / "c.yaml", {})
    whole = open_pipeline(settings(house) / "c.yaml", {})
    assert seven.promise.model_name == f"3:{seven.model.short}/7-listed"
    assert whole.promise.model_name == f"3:{whole.model.short}"
    assert seven.promise.policy_name != whole.promise.policy_name
    found = differences(control_of(seven, FACTS), control_of(whole, FACTS))
    assert {difference.field for difference in found} == {"model", "policy"}
    assert not may_change(found)
