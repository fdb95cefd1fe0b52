"""Laws in files: what they let windows claim, what is refused at its line, and what `explain` says of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from aggregate_world import PEOPLE, aggregate_house, aggregate_text, refused
from command_house import run

from beliefs.laws.dependence import OverWindows
from beliefs.laws.law_file import LawFile, serialise
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.rounding import UNITS_PER_NAT
from stream.aggregates.opening import open_aggregates
from stream.commands.aggregate_facts import aggregate_facts

NAT = UNITS_PER_NAT
BITS = np.array([0.0, 1.0])
PAIR = TableLaw(np.array([[0.45, 0.05], [0.05, 0.45]]), (BITS, BITS))
STAYS = MarkovLaw(np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]), BITS, 10)
HOMES = "dependence: {users: {law: law.json}, windows: fresh}"
CHAIN = "dependence: {users: independent, windows: {law: law.json}}\nprotects: one_window"
AMPLE = "target: {nats: 40, windows: 10}"


def with_law(folder: Path, more: str, law: LawFile, *queries: str, target: str = AMPLE) -> Path:
    (folder / "law.json").write_bytes(serialise(law))
    return aggregate_house(folder, aggregate_text(*queries, more=more, target=target))


def test_a_law_of_households_tells_less_than_groups_of_their_size(tmp_path: Path) -> None:
    file = with_law(tmp_path, HOMES, LawFile(PAIR))
    facts = aggregate_facts(open_aggregates(file, {}))
    base = facts["group_baseline"]
    assert facts["window_loss"] < facts["window_leak"] < base["leak"] == pytest.approx(2 * facts["window_loss"])
    assert base["noise"] == pytest.approx(base["leak"] / facts["window_leak"])
    assert (facts["method"], facts["users"], facts["windows"]) == ("sound", "law", "fresh")
    plain = " ".join(run("explain", str(file)).stdout.split())
    assert f"by the law in {tmp_path / 'law.json'}" in plain
    assert "without the law, as groups of 2, the same noise would tell up to 3.2 nats" in plain


def test_one_count_or_sum_alone_is_told_exactly(tmp_path: Path) -> None:
    alone = "walkers: {sum: $.walks, low: 0, high: 1, grid: 1, epsilon: 0.5}"
    facts = {}
    for adversary in ("any", "weakest"):
        more = f"{HOMES}\nadversary: {adversary}"
        facts[adversary] = aggregate_facts(open_aggregates(with_law(tmp_path, more, LawFile(PAIR), alone), {}))
        assert (facts[adversary]["method"], facts[adversary]["adversary"]) == ("exact", adversary)
    assert 0.5 <= facts["weakest"]["window_leak"] <= facts["any"]["window_leak"] < 1.0


def test_a_chain_of_windows_tells_less_than_their_sum(tmp_path: Path) -> None:
    file = with_law(tmp_path, CHAIN, LawFile(dependence=OverWindows(STAYS)), PEOPLE)
    facts = aggregate_facts(open_aggregates(file, {}))
    assert facts["windows_baseline"]["told"] == pytest.approx(2.0)
    assert 0.2 < facts["window_leak"] + 0.1 < facts["horizon_told"] < 2.0
    assert "a user's windows depend on one another by the chain in" in " ".join(
        run("explain", str(file)).stdout.split()
    )
    bare = with_law(tmp_path, CHAIN, LawFile(STAYS), PEOPLE)
    assert aggregate_facts(open_aggregates(bare, {}))["horizon_told"] == facts["horizon_told"]


@pytest.mark.parametrize(
    ("more", "law", "path", "words"),
    [
        (HOMES, LawFile(dependence=OverWindows(STAYS)), "users.law", "law of windows"),
        (HOMES, LawFile(STAYS), "users.law", "a law of windows"),
        (CHAIN, LawFile(PAIR), "windows.law", "must have the law of a chain"),
        (
            CHAIN,
            LawFile(MarkovLaw(STAYS.transition, np.array([1.0, 0.0]), BITS, 10)),
            "windows.law",
            "another start than the one that it keeps",
        ),
    ],
)
def test_a_law_that_carries_no_claim_is_refused_at_its_line(
    tmp_path: Path, more: str, law: LawFile, path: str, words: str
) -> None:
    found = refused(with_law(tmp_path, more, law))
    assert [(line, place) for line, place, _ in found] == [(16, f"aggregate.dependence.{path}")]
    assert words in found[0][2]


def test_files_that_hold_no_law_are_refused_with_every_mistake(tmp_path: Path) -> None:
    file = with_law(tmp_path, HOMES, LawFile(PAIR))
    text = (tmp_path / "law.json").read_text()
    (tmp_path / "law.json").write_text(text.replace("0.45", "0.46"))
    assert {place for _, place, _ in refused(file)} == {"aggregate.dependence.users.law"}
    (tmp_path / "law.json").unlink()
    (_, place, what) = refused(file)[0]
    assert (place, "No such file" in what) == ("aggregate.dependence.users.law", True)


def test_a_law_decides_what_is_released_and_its_name_does_not(tmp_path: Path) -> None:
    one = open_aggregates(with_law(tmp_path, HOMES, LawFile(PAIR)), {}).promise.policy_fingerprint
    (tmp_path / "other.json").write_bytes((tmp_path / "law.json").read_bytes())
    moved = aggregate_text(more=HOMES.replace("law.json", "other.json"), target=AMPLE)
    assert open_aggregates(aggregate_house(tmp_path, moved), {}).promise.policy_fingerprint == one
    apart = TableLaw(np.full((2, 2), 0.25), (BITS, BITS))
    other = open_aggregates(with_law(tmp_path, HOMES, LawFile(apart)), {}).promise
    assert other.policy_fingerprint != one
    assert other.claim.leak([NAT]) == NAT
