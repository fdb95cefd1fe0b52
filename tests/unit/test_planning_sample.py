"""Samples of a comparison: the same events from every form of file, and how many of them the model calls impossible."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from command_house import make_house, run
from fitting_help import NAMES, RECORD, as_csv, as_json, events_of, write

from beliefs import model_file
from beliefs.alphabet import Bins, Categories, Grid
from beliefs.chain import Chain
from stream.errors import CannotPlan
from stream.names import EXIT_DONE, EXIT_REFUSED
from stream.planning.sample import Sample, impossible_in, read_file
from stream.policy import Events
from stream.settings.model import EventTimeSettings

EVENTS = events_of(120)


def sampled(file: Path) -> Sample:
    return read_file(file, RECORD, Categories(NAMES), 60_000)


def test_every_form_of_file_gives_the_same_sample(tmp_path: Path) -> None:
    files = [
        write(tmp_path, "a.jsonl", as_json(EVENTS)),
        write(tmp_path, "sample", as_json(EVENTS)),
        write(tmp_path, "a.csv", as_csv(EVENTS)),
        write(tmp_path, "a.tsv", as_csv(EVENTS, "\t")),
    ]
    if importlib.util.find_spec("pyarrow") is not None:
        import pyarrow as pa
        from pyarrow import parquet

        users, activities, times = (list(column) for column in zip(*EVENTS, strict=True))
        parquet.write_table(pa.table({"user": users, "activity": activities, "at": times}), tmp_path / "a.parquet")
        files.append(tmp_path / "a.parquet")
    first, *others = map(sampled, files)
    assert (first.users, first.events.slot.size, first.refused, first.warnings) == (24, 120, {}, [])
    for other in others:
        assert other.users == first.users
        assert all(np.array_equal(one, two) for one, two in zip(first.events, other.events, strict=True))


def test_a_sample_that_is_refused_in_part_or_whole(tmp_path: Path) -> None:
    part = sampled(write(tmp_path, "a.csv", as_csv(EVENTS).replace(",rest", ",secret")))
    assert part.refused["outside_alphabet"] + part.events.slot.size == 120
    assert len(part.warnings) == 1 and "outside_alphabet" in part.warnings[0] and "secret" not in part.warnings[0]
    assert "nothing here is about them" in part.warnings[0] and "--value" not in part.warnings[0]
    for name, content, words in (
        ("none.csv", as_csv(EVENTS).replace("activity", "secret"), "no column is called activity"),
        ("none.jsonl", as_json(EVENTS).replace(b"activity", b"secret"), "field_missing"),
        ("empty.csv", "", "it is empty"),
        ("wide.csv", as_csv(EVENTS).encode("utf-16"), "UTF-16"),
    ):
        with pytest.raises(CannotPlan, match=words) as refusal:
            sampled(write(tmp_path, name, content))
        assert "secret" not in str(refusal.value) and refusal.value.fix
    side = Bins(0.0, 2.0, 2)
    with pytest.raises(CannotPlan, match="one cell for a value"):
        read_file(tmp_path / "a.csv", RECORD, Grid(side, side, ("lat", "lon")), 60_000)


def test_a_sample_that_is_not_sorted_by_time_is_warned_of(tmp_path: Path) -> None:
    upside_down = write(tmp_path, "a.jsonl", as_json(EVENTS[::-1]))
    (warning,) = sampled(upside_down).warnings
    assert warning.startswith("96 events lie before the user's event in front of them")
    untimed = RECORD.model_copy(update={"event_time": EventTimeSettings()})
    assert read_file(upside_down, untimed, Categories(NAMES), 60_000).warnings == []


def test_a_sample_of_two_users_has_no_interval_and_says_so(tmp_path: Path) -> None:
    (warning,) = sampled(write(tmp_path, "a.jsonl", as_json(EVENTS[:2]))).warnings
    assert "2 users are too few" in warning
    assert sampled(write(tmp_path, "b.jsonl", as_json(EVENTS[:3]))).warnings == []


def events(users: list[int], values: list[int]) -> Events:
    slots = np.array(users, dtype=np.int64)
    return Events(slots, np.arange(slots.size), np.zeros(slots.size, dtype=np.int64), np.array(values, dtype=np.int64))


def test_events_that_the_model_calls_impossible_are_counted() -> None:
    chain = Chain.from_dense([0.5, 0.5, 0.0], [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]])
    # User 0: 0 1 2 0, all possible. User 1: begins with 2, which nobody does; then 0, 2: the last does not follow.
    assert impossible_in(chain, events([0, 1, 0, 1, 0, 1, 0], [0, 2, 1, 0, 2, 2, 0])) == 2
    assert impossible_in(chain, events([0, 0, 0], [1, 0, 0])) == 1
    assert impossible_in(Chain.in_phases([chain, chain]), events([0], [2])) is None


def test_options_of_a_comparison_that_contradict_each_other(tmp_path: Path) -> None:
    house = make_house(tmp_path)
    write(house, "a.csv", as_csv(EVENTS))
    for more, words in (
        (("--user", "user"), "--sample"),
        (("--sample", house / "a.csv", "--users", 7, "--user", "user"), "leave --sample away"),
        (("--sample", house / "a.csv", "--events", 7, "--user", "user"), "leave --sample away"),
        (("--sample", house, "--user", "user"), "it is a folder"),
        (("--sample", house / "a.csv", "--user", "who"), "no column is called who"),
        (("--sample", house / "a.csv", "--user", "user"), "outside_alphabet"),
    ):
        told = run("compare", house / "c.yaml", *more)
        assert told.exit_code == EXIT_REFUSED and words in told.stderr and "to put it right" in told.stderr
        assert "user-1" not in told.stderr


def test_a_table_is_compared_and_impossible_events_are_warned_of(tmp_path: Path) -> None:
    house = make_house(tmp_path)
    values = ["still", "walking", "running"]
    rows = [[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.15, 0.05, 0.8]]
    data = model_file.serialise(Categories(values), Chain.from_dense([0.4, 0.3, 0.3], rows), {"source": "a test"})
    (house / "model.json").write_bytes(data)
    content = "user,activity\n" + "".join(f"u{user},{value}\n" for value in ("still", "running") for user in range(9))
    told = run("compare", house / "c.yaml", "--sample", write(house, "a.csv", content), "--user", "user")
    assert told.exit_code == EXIT_DONE, told.stderr
    assert "18 events of 9 users (a.csv)" in told.stdout
    assert "WARNING: 9 of 18 events have a value that the model calls impossible" in told.stdout


def test_a_model_that_calls_one_of_its_values_impossible_is_warned_of(tmp_path: Path) -> None:
    house = make_house(tmp_path)
    assert "impossible" not in run("validate", house / "c.yaml").stdout
    chain = Chain.from_dense([0.5, 0.5, 0.0], [[0.5, 0.5, 0.0], [0.2, 0.8, 0.0], [1.0, 0.0, 0.0]])
    data = model_file.serialise(Categories(["still", "walking", "running"]), chain, {"source": "a test"})
    (house / "model.json").write_bytes(data)
    told = run("validate", house / "c.yaml")
    assert told.exit_code == EXIT_DONE
    assert "calls 1 of its 3 values impossible at any time" in told.stdout
    assert "impossible" in run("explain", house / "c.yaml").stdout
