"""A private fit: no user moves the table by more than is promised, and nothing but noisy counts leaves."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_house import run
from fitting_help import NAMES, RECORD, Event, as_json, events_of, write
from numpy.typing import NDArray

from beliefs.alphabet import Categories, IntegerRange
from beliefs.model_file import parse, written_alphabet
from stream.errors import CannotFit
from stream.fitting.lines import JsonLines
from stream.fitting.private import Bits, FirstEvents, Privacy, _count, fit_private, privacy_of
from stream.fitting.progress import Progress
from stream.fitting.reading import Events
from stream.fitting.task import Task
from stream.names import EXIT_DONE, EXIT_REFUSED

SEED = bytes(range(32))
QUIET = Progress(None)


def task_of(folder: Path, events: list[Event], **changes: Any) -> Task:
    source = JsonLines(write(folder, "a.jsonl", as_json(events)), 65_536)
    return replace(Task(source, RECORD, Categories(NAMES)), **changes)


def table_of(folder: Path, events: list[Event], most: int, **changes: Any) -> NDArray[np.int64]:
    return _count(task_of(folder, events, **changes), Categories(NAMES), Privacy(Fraction(1), most), QUIET)[0]


@pytest.mark.parametrize("most", [2, 5, 100])
@pytest.mark.parametrize("step", [None, 60_000, 120_000])
def test_no_user_moves_the_counts_by_more_than_the_events_that_count(
    tmp_path: Path, most: int, step: int | None
) -> None:
    events = events_of(500, users=9)
    rng = np.random.default_rng(1)
    rng.shuffle(events)
    whole = table_of(tmp_path, events, most, step=step)
    moved = []
    for user in {event[0] for event in events}:
        rest = table_of(tmp_path, [event for event in events if event[0] != user], most, step=step)
        moved.append(int(np.abs(whole - rest).sum()))
    assert max(moved) <= most
    if step is None:
        assert min(moved) == min(most, 500 // 9)  # the bound is met, so a smaller one would be broken


def test_the_first_events_of_each_user_count_however_they_are_cut() -> None:
    rng = np.random.default_rng(2)
    users, values = rng.integers(0, 5, 200), np.arange(200)
    first, kept = FirstEvents(7), []
    for begin, end in ((0, 3), (3, 90), (90, 90), (90, 200)):
        part = slice(begin, end)
        events, apart = first.of(Events(users[part], values[part], values[part]), values[part])
        assert apart is not None and apart.tolist() == events.values.tolist()
        kept += list(zip(events.users.tolist(), events.values.tolist(), strict=True))
    for user in range(5):
        expected = [value for whose, value in zip(users.tolist(), values.tolist(), strict=True) if whose == user][:7]
        assert [value for whose, value in kept if whose == user] == expected


def test_the_noise_is_that_of_the_seed_and_every_cell_has_its_own(tmp_path: Path) -> None:
    task = task_of(tmp_path, events_of(8000, users=800))
    privacy = privacy_of("1.5", 10)
    assert privacy == Privacy(Fraction(3, 2), 10) and privacy.rate == Fraction(3, 20)
    one, again = (fit_private(task, privacy, QUIET, SEED).data for _ in range(2))
    assert one == again
    drawn = [fit_private(task, privacy, QUIET) for _ in range(2)]
    assert len({one, drawn[0].data, drawn[1].data}) == 3
    for fitted in drawn:
        off = np.abs(fitted.model.chain.dense - (0.1 + 0.7 * np.eye(3))).sum(axis=1) / 2
        assert (off <= fitted.laws.radii[1:]).all() and off.max() < 0.15
        assert fitted.laws.radii[1:].max() < 1.0


def test_bits_are_the_keystream_and_even() -> None:
    whole, pieces = Bits(SEED), Bits(SEED)
    at_once = whole(4000)
    assert at_once == sum(pieces(40) << (40 * place) for place in range(100))
    many = Bits(SEED)
    ones = sum(many(64).bit_count() for _ in range(20_000))
    assert abs(ones - 640_000) < 5 * (64 * 20_000 / 4) ** 0.5


def test_the_file_the_page_and_the_report_hold_no_count_without_noise(tmp_path: Path) -> None:
    write(tmp_path, "a.jsonl", as_json(events_of(7919, users=613)) + b"broken\n")
    write(tmp_path, "v.json", json.dumps(written_alphabet(Categories(NAMES))))
    out, page = tmp_path / "m.json", tmp_path / "m.html"
    arguments = ("fit", "--from", tmp_path / "a.jsonl", "--user", "user", "--value", "activity", "--out", out)
    declared = (*arguments, "--alphabet", tmp_path / "v.json", "--html", page)
    told = run(*declared, "--private-epsilon", "0.8", "--contribution", "5")
    assert told.exit_code == EXIT_DONE, told.stderr
    model = parse(out.read_bytes())
    assert set(model.learnt_from) == {
        "sample", "private_epsilon", "events_of_a_user", "step", "order", "noisy_users", "noisy_transitions", "radius",
    }  # fmt: skip
    assert model.learnt_from["private_epsilon"] == "4/5"
    released, own = told.stdout.split("For you, and not for others")
    assert "at most 0.8 nats" in released and "by 1.6" in released
    assert "7,920 rows, 7,919 events of 613 users; the first 5 of each count, 3,065 in all" in own
    assert "not_json: 1, at line 7920" in own
    for text in (released, page.read_text(encoding="utf-8"), out.read_text(encoding="utf-8")):
        # Whole numbers only: four digits of a hash or of a probability may well be these.
        assert not re.search(r"\b(7,919|7919|613 users|3,065|not_json|For you)\b", text)
    facts = json.loads(run(*declared, "--private-epsilon", "0.8", "--replace", "--json").stdout)
    assert facts["own"]["users"] == 613 and facts["events_of_a_user"] == 32
    undeclared = run(*arguments, "--private-epsilon", "1", "--replace")
    assert undeclared.exit_code == EXIT_REFUSED and "which values there are tells" in undeclared.stderr


def test_what_cannot_be_private_is_refused(tmp_path: Path) -> None:
    for wrong in ("0", "-1", "nan", "inf", "x", "1/0", "33", "0.0001"):
        with pytest.raises(CannotFit, match="--private-epsilon"):
            privacy_of(wrong, 10)
    task = task_of(tmp_path, events_of(100))
    for changes, words in (
        ({"alphabet": None}, "which values there are"),
        ({"alphabet": IntegerRange(0, 999)}, "drowns the counts"),
        ({"order": 2}, "only order 1"),
    ):
        with pytest.raises(CannotFit, match=words):
            fit_private(replace(task, **changes), privacy_of("1", 10), QUIET, SEED)
