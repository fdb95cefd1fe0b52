"""`sottovoce fit --law`: the laws that it writes, what it says, and what it refuses."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_house import run
from fitting_help import fit_refused, fit_written, write

from beliefs.laws.dependence import Blocks, OverWindows, People
from beliefs.laws.friends import FriendsLaw, city_blocks
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.law_file import LawFile, parse
from beliefs.laws.learning import block_table, nearness_of, window_chain
from beliefs.laws.tree import TreeLaw
from stream.names import EXIT_REFUSED

HOUR = 3_600_000
BEGIN = 1_700_000_000_000 // HOUR * HOUR
Event = tuple[str, str, int, int]
BLOCKS = ("--law", "blocks", "--user", "who", "--component", "house", "--time", "at", "--window", "1h", "--most", "2")
WINDOWS = ("--law", "windows", "--user", "who", "--time", "at", "--window", "1h", "--most", "2", "--length", "12")


def events(seed: int = 1, homes: int = 40, hours: int = 12) -> list[Event]:
    """Somebody, a home, hours from the beginning, an amount."""
    generator, found = np.random.default_rng(seed), []
    for home in range(homes):
        for hour in range(hours):
            lively = generator.random() < 0.4
            for member in range(1 + home % 2):
                amounts = generator.integers(0, 3, int(generator.poisson(1.5 if lively else 0.2))).tolist()
                found += [(f"p{home}-{member}", f"h{home}", hour, amount) for amount in amounts]
    return found


def as_csv(rows: list[Event]) -> str:
    lines = [f"{who},{home},{BEGIN + hour * HOUR + 17},{amount}\n" for who, home, hour, amount in rows]
    return "who,house,at,amount\n" + "".join(lines)


def as_json(rows: list[Event]) -> str:
    return "".join(
        json.dumps({"who": who, "house": int(home[1:]), "at": (BEGIN + hour * HOUR + 17) / 1000, "amount": amount})
        + "\n"
        for who, home, hour, amount in rows
    )


def fitted(folder: Path, source: str, *arguments: object) -> tuple[LawFile, dict[str, Any]]:
    written, facts = fit_written(folder, source, "law.json", *arguments)
    return parse(written), facts


def amounts_of(rows: list[Event], *, summed: bool) -> dict[str, Counter[int]]:
    found: dict[str, Counter[int]] = {}
    for who, _, hour, amount in rows:
        found.setdefault(who, Counter())[hour] += amount if summed else 1
    return found


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write(tmp_path, "a.csv", as_csv(events()))
    write(tmp_path, "a.jsonl", as_json(events()))
    return tmp_path


@pytest.mark.parametrize("summed", [False, True])
def test_households_are_counted_window_by_window(data: Path, summed: bool) -> None:
    extra = ("--value", "amount") if summed else ()
    file, facts = fitted(data, "a.csv", *BLOCKS, *extra, "--sample", "public")
    assert isinstance(file.dependence, Blocks)
    amounts, homes = amounts_of(events(), summed=summed), {who: home for who, home, _, _ in events()}
    hours = [hour for _, _, hour, _ in events()]
    seen: dict[int, list[Counter[tuple[int, ...]]]] = {}
    for home in sorted(set(homes.values())):
        members = [who for who in sorted(homes) if homes[who] == home]
        windows = Counter(
            tuple(sorted(min(2, amounts[who][hour]) for who in members)) for hour in range(min(hours), max(hours) + 1)
        )
        seen.setdefault(len(members), []).append(windows)
    for size, each in seen.items():
        want = block_table(each, size, 2, 0.025)
        law = file.dependence.law_of(size)
        assert np.array_equal(law.joint, want.law.joint)  # type: ignore[union-attr]
        assert facts["radius"][str(size)] == want.radius
        assert facts["components"][str(size)] == len(each)
    assert file.dependence.members.name == "$.house"
    assert (facts["component_size"], facts["warnings"], facts["users"]) == (2, [], len(homes))
    assert facts["clipped"] == sum(each > 2 for amount in amounts.values() for each in amount.values())
    assert file.learnt_from["sample"] == "public"


def test_json_lines_with_seconds_say_the_same(data: Path) -> None:
    file, _ = fitted(data, "a.csv", *BLOCKS)
    other, _ = fitted(data, "a.jsonl", *BLOCKS, "--time-unit", "s")
    assert isinstance(file.dependence, Blocks)
    assert isinstance(other.dependence, Blocks)
    for size in (1, 2):
        one, two = file.dependence.law_of(size), other.dependence.law_of(size)
        assert np.array_equal(one.joint, two.joint)  # type: ignore[union-attr]


def test_windows_of_a_user_are_a_chain(data: Path) -> None:
    file, facts = fitted(data, "a.csv", *WINDOWS)
    assert isinstance(file.dependence, OverWindows)
    amounts, steps, firsts = amounts_of(events(), summed=False), np.zeros((3, 3)), np.zeros(3)
    for each in amounts.values():
        row = [min(2, each[hour]) for hour in range(12)]
        firsts[row[0]] += 1.0
        for pair in itertools.pairwise(row):
            steps[pair] += 1.0
    want = window_chain(steps, firsts, 12, 0.05)
    assert np.array_equal(file.dependence.law.transition, want.law.transition)
    assert facts["radius"] == {"start": want.start, "rows": want.rows.tolist()}
    assert (facts["windows"], facts["component_size"]) == (12, 12)
    assert any("Never learn a law from windows" in warning for warning in facts["warnings"])


def test_covariances_of_columns(tmp_path: Path) -> None:
    columns = np.random.default_rng(2).normal(size=(30, 3)).round(3)
    lines = "".join(",".join(map(str, row)) + "\n" for row in columns.tolist())
    write(tmp_path, "c.csv", "a,b,c\n" + lines)
    file, facts = fitted(tmp_path, "c.csv", "--law", "gaussian", "--value", "a,c", "--range", "1.5")
    assert isinstance(file.law, GaussianLaw)
    assert file.names == ("a", "c")
    assert file.law.covariance == pytest.approx(np.cov(columns[:, [0, 2]].T), rel=1e-12)
    assert (file.law.range, facts["records"]) == (1.5, 30)


def world(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Forty people on a line, and a forest of friends, most of whom live near each other."""
    generator = np.random.default_rng(7)
    at = generator.integers(0, 8, 40)
    pairs = []
    for one in range(1, 40):
        near = np.exp(-np.abs(at[:one] - at[one]).astype(float))
        pairs.append((int(generator.choice(one, p=near / near.sum())), one))
    write(folder, "people.csv", "who,x\n" + "".join(f"p{number},{place}\n" for number, place in enumerate(at.tolist())))
    rows = [f"p{one},p{other}\n" for one, other in pairs]
    write(folder, "friends.csv", "user,friend\n" + "".join(rows) + "p1,nobody\np2,p2\n" + rows[0])
    return at, np.array(pairs)


def test_friends_and_their_distances(tmp_path: Path) -> None:
    at, pairs = world(tmp_path)
    arguments = ("--law", "friends", "--user", "who", "--value", "x", "--friends", tmp_path / "friends.csv")
    file, facts = fitted(tmp_path, "people.csv", *arguments, "--sample", "consenting")
    assert isinstance(file.dependence, People)
    assert isinstance(file.dependence.law, FriendsLaw)
    near = nearness_of(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))], at, city_blocks(np.arange(8.0)[:, None]))
    assert file.dependence.users == tuple(f"p{number}" for number in range(40))
    assert sorted(map(tuple, file.dependence.law.friends.tolist())) == sorted(map(tuple, pairs.tolist()))
    assert (facts["offset"], facts["exponent"]) == (near.offset, near.exponent)
    assert (facts["friends"], facts["strangers"], facts["component_size"]) == (39, 2, 40)
    assert facts["warnings"] == [
        "the file names the users, and says who is whose friend: it is as public as that may be"
    ]


def test_pairs_of_friends_become_a_tree(tmp_path: Path) -> None:
    at, pairs = world(tmp_path)
    arguments = ("--law", "tree", "--user", "who", "--value", "x", "--friends", tmp_path / "friends.csv", "--most", "3")
    file, facts = fitted(tmp_path, "people.csv", *arguments)
    assert isinstance(file.dependence, People)
    law = file.dependence.law
    assert isinstance(law, TreeLaw)
    assert law.components().largest == facts["component_size"] == 40
    counts = np.full((4, 4), 0.5)
    for one, other in np.minimum(at[pairs], 3).tolist():
        counts[one, other] += 1.0
        counts[other, one] += 1.0
    assert law.kernels[0] == pytest.approx(counts / counts.sum(axis=1, keepdims=True))
    assert law.both_ways().up[0] == pytest.approx(law.kernels[0], rel=1e-12)
    assert facts["clipped"] == int((at > 3).sum())


def test_the_report_is_for_people(data: Path) -> None:
    told = run("fit", "--from", data / "a.csv", "--out", data / "law.json", *BLOCKS)
    assert "WARNING: nothing is said about whose events these are. Never learn a law from windows" in told.stdout
    assert "of the kind blocks, written to" in told.stdout
    assert "At most 2 hang together." in told.stdout
    assert "of 2: 0." in told.stdout
    told = run("fit", "--from", data / "a.csv", "--out", data / "chain.json", *WINDOWS, "--sample", "protected")
    assert "WARNING: the law is learnt from the very people whom it is to protect" in told.stdout
    assert "after 0, 1, ...: 0." in told.stdout
    world(data)
    told = run(
        *("fit", "--from", data / "people.csv", "--out", data / "f.json", "--law", "friends", "--user", "who"),
        *("--value", "x", "--friends", data / "friends.csv"),
    )
    assert "Likeliest over 39 friendships: offset" in told.stdout
    assert "2 friendships are with somebody of whom no value was read" in told.stdout


@pytest.mark.parametrize(
    ("arguments", "where", "says"),
    [
        (("--law", "love"), "--law", "blocks, windows, gaussian, friends, tree"),
        (("--law", "blocks", "--user", "who"), "--component", "needs it: the field that names the household"),
        ((*BLOCKS, "--length", "3"), "--length", "--law blocks has no such thing"),
        ((*BLOCKS, "--order", "2"), "--order", "--law blocks has no such thing"),
        ((*BLOCKS, "--joint", "a,b"), "--joint", "has no such thing"),
        ((*BLOCKS, "--released"), "--released", "has no such thing"),
        ((*BLOCKS[:-1], "0"), "--most", "not from 1 to 255"),
        ((*BLOCKS[:-3], "1", *BLOCKS[-2:]), "--window", "for example 1h"),
        ((*BLOCKS[:-3], "0s", *BLOCKS[-2:]), "--window", "no length"),
        ((*BLOCKS, "--time-unit", "days"), "--time-unit", "none of ms"),
        ((*BLOCKS, "--failure", "1"), "--failure", "no probability"),
        ((*BLOCKS, "--value", "amount,at"), "--value", "adds up one field"),
        ((*BLOCKS, "--value", "who"), "--law", "two of its fields are one field"),
        ((*BLOCKS, "--sample", "mine"), "--sample", "public"),
        ((*BLOCKS, "--format", "xml"), "--format", "not known"),
        ((*BLOCKS, "--value", "color"), "a.csv", "color"),
        (("--joint", "who,house", "--most", "2"), "--most", "belongs to --law"),
        (("--user", "who", "--value", "amount", "--window", "1h"), "--window", "belongs to --law"),
        (("--law", "gaussian", "--value", "amount", "--range", "1"), "--value", "two fields or more"),
        (("--law", "gaussian", "--value", "amount,at", "--range", "0"), "--range", "above 0"),
        ((*WINDOWS[:7], "30d", *WINDOWS[8:]), "a.csv", "in one window"),
        ((*WINDOWS[:7], "1ms", *WINDOWS[8:]), "a.csv", "windows, more than"),
    ],
)
def test_what_cannot_be_meant_is_refused(data: Path, arguments: tuple[str, ...], where: str, says: str) -> None:
    told = fit_refused(data, "a.csv", *arguments)
    assert where in told.stderr
    assert says in told.stderr


def test_a_topic_is_no_source_of_a_law(tmp_path: Path) -> None:
    told = run("fit", "--from", "topic", "--out", tmp_path / "l.json", *BLOCKS)
    assert told.exit_code == EXIT_REFUSED
    assert "the very events that it is to protect" in told.stderr


def test_records_that_do_not_fit_are_counted_and_nobody_is_shown(data: Path) -> None:
    broken = "p1,h1,yesterday,1\n,h1,5,1\np9,,5,1\np8,h8,5,-3\np7,h7,5,0.5\n"
    write(data, "b.csv", as_csv(events()) + broken)
    _, facts = fitted(data, "b.csv", *BLOCKS, "--value", "amount")
    assert sum(one["count"] for one in facts["refused"].values()) == 5
    write(data, "moved.csv", as_csv([*events(), ("p3-0", "h77", 3, 1)]))
    told = fit_refused(data, "moved.csv", *BLOCKS)
    assert "belongs to two components" in told.stderr
    assert "p3-0" not in told.stderr
    write(data, "none.csv", "who,house,at,amount\n" + broken)
    assert "none of 5 records could be used" in fit_refused(data, "none.csv", *BLOCKS, "--value", "amount").stderr


def test_a_circle_of_friends_is_no_tree(tmp_path: Path) -> None:
    world(tmp_path)
    write(tmp_path, "circle.csv", "user,friend\np1,p2\np2,p3\np3,p1\n")
    arguments = ("--law", "tree", "--user", "who", "--value", "x", "--most", "3")
    told = fit_refused(tmp_path, "people.csv", *arguments, "--friends", tmp_path / "circle.csv")
    assert "form a circle" in told.stderr
    told = fit_refused(tmp_path, "people.csv", *arguments, "--friends", tmp_path / "people.csv")
    assert "user" in told.stderr
    own = run(
        "fit",
        "--from",
        tmp_path / "people.csv",
        "--out",
        tmp_path / "circle.csv",
        "--replace",
        *arguments,
        "--friends",
        tmp_path / "circle.csv",
    )
    assert own.exit_code == EXIT_REFUSED
    assert "one would be written over the other" in own.stderr
