"""What validate, explain and init say of crowds, and which commands refuse them by name."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from command_house import run
from crowd_settings_text import (
    BOXES,
    FOUR,
    HOMES,
    LAW,
    NOTHING,
    PAIR,
    RANGE,
    SUM,
    TWO,
    TYPES,
    crowd_house,
    crowd_settings,
    crowd_text,
    flow_text,
    law_text,
    opened_crowds,
)

from beliefs.crowd import sums
from stream import names
from stream.commands.crowd_facts import crowd_facts
from stream.commands.crowd_words import ADVERSARIES, crowd_words, write_crowds
from stream.errors import CannotEstimate, ConfigurationRefused
from stream.estimation.estimate import estimate
from stream.names import EXIT_DONE, EXIT_REFUSED
from stream.opening import open_pipeline
from stream.settings.crowd import MOST_PEOPLE


def test_a_sum_too_wide_to_be_worked_out_is_known_to_be_withheld(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sums, "PRODUCTS_MAX", 500)
    facts = crowd_facts(opened_crowds(tmp_path, crowd_text(SUM), FOUR))
    worked = facts["worked"][-1]
    assert (worked["users"], worked["delta"], worked["released"], worked["adversaries"]) == (1_000, 1.0, False, {})
    told = " ".join(write_crowds(facts).split())
    assert "too many numbers would have to be worked out; withheld" in told


def test_facts_say_what_crowds_of_a_size_tell(tmp_path: Path) -> None:
    opened = opened_crowds(tmp_path, crowd_text(believes="{law: law.json, known: 0.2}"))
    facts = crowd_facts(opened)
    assert [each["users"] for each in facts["worked"]] == [10, 100, 1_000]
    assert [each["released"] for each in facts["worked"]] == [False, True, True]
    deltas = [each["delta"] for each in facts["worked"]]
    assert deltas == sorted(deltas, reverse=True)
    for each in facts["worked"]:
        assert set(each["adversaries"]) == {"independent", "independent_informed"}
        assert each["delta"] == max(one["delta"] for one in each["adversaries"].values())
        assert each["adversaries"]["independent"]["delta"] <= each["adversaries"]["independent_informed"]["delta"]
    (needed,) = facts["needed"].values()
    assert 10 < needed <= 100
    assert facts["target"]["factor"] == pytest.approx(math.e)
    assert json.loads(json.dumps(facts, allow_nan=True))["k"] == 10


def test_households_are_worked_out_in_whole_ones(tmp_path: Path) -> None:
    facts = crowd_facts(opened_crowds(tmp_path, crowd_text(SUM.replace("3", "1"), believes=HOMES), PAIR))
    assert set(facts["worked"][0]["adversaries"]) == {"dependent"}
    (needed,) = facts["needed"].values()
    assert needed % 2 == 0
    assert facts["believes"]["household_most"] == 2


def test_each_type_is_worked_out_alone(tmp_path: Path) -> None:
    facts = crowd_facts(opened_crowds(tmp_path, crowd_text(believes=TYPES), TWO))
    assert list(facts["needed"]) == ["young", "old"]
    assert facts["needed"]["young"] < facts["needed"]["old"]
    assert [each["type"] for each in facts["worked"]] == ["young"] * 3 + ["old"] * 3


def test_the_words_say_who_is_protected_and_who_is_not(tmp_path: Path) -> None:
    facts = crowd_facts(opened_crowds(tmp_path, crowd_text(believes="{law: law.json, known: 0.2}")))
    told = " ".join(write_crowds(facts).split())
    for name in ADVERSARIES:
        assert f"- {name}: " in told
    assert told.count("not declared here") == 2
    assert "20% of the people" in told
    assert f"a window of {facts['needed']['default']:,} users meets the target by itself" in told
    assert "who takes part, and how many there are, is taken as known" in told
    assert "What is not promised" in told
    assert "a bound over several windows" in told
    assert "that a window is withheld tells nothing" in told
    for reason in set(names.CROWD_REASONS) - {names.WITHHELD_HOUSEHOLD}:
        assert f"({reason})" in told, reason
    assert crowd_words(facts)[0].title == "What is released of a crowd"


def test_the_words_change_with_what_is_declared(tmp_path: Path) -> None:
    def told(text: str, law: bytes | None = None) -> str:
        return " ".join(write_crowds(crowd_facts(opened_crowds(tmp_path, text, law))).split())

    homes = told(crowd_text(believes=HOMES), PAIR)
    assert "(household_too_large)" in homes
    fresh = told(crowd_text(believes="{law: law.json, windows: fresh}", target="{epsilon: 1, delta: 0.1, windows: 60}"))
    assert "any 60 of them in a row together" in fresh
    assert "(differencing)" not in fresh
    topped = told(crowd_text(target="{epsilon: 1, delta: 0.0001, beyond: top_up}"))
    assert "without noise where the crowd is enough, otherwise with as much as is lacking" in topped
    assert "with noise of scale" in topped
    flow = told(flow_text("castle"))
    assert "any bound on what castle tells about a person" in flow
    assert "late" not in flow.replace("later", "").replace("latest", "")
    for reason in names.FLOW_REASONS:
        assert f"({reason})" in flow, reason
    alone = told(crowd_text(believes=NOTHING, target=None))
    assert "he is one of at least 10, and no more" in alone
    boxes = told(crowd_text(BOXES, believes=NOTHING, target=None))
    assert "no value has more than 1 in 2 of its users" in boxes
    assert "job: $.job, as one of 3 values or of the 3 groups above them" in boxes
    partition = told(crowd_text(more="over: partition"))
    assert "a user's events must all be in one" in partition
    hopeless = told(crowd_text(RANGE, target="{epsilon: 0, delta: 1e-300}"), law_text({"default": [0.2] * 5}))
    assert "a window of" in hopeless or f"no window of up to {MOST_PEOPLE:,} users" in hopeless


def test_validate_and_explain_speak_of_crowds(tmp_path: Path) -> None:
    file = crowd_house(tmp_path, crowd_text())
    found = run("validate", file)
    assert found.exit_code == EXIT_DONE
    assert "count of crowds of at least 10" in found.stdout
    answer = json.loads(run("validate", file, "--json").stdout)
    assert (answer["ok"], answer["k"], answer["release"]) == (True, 10, "count")
    explained = run("explain", file)
    assert explained.exit_code == EXIT_DONE
    assert "Against whom" in explained.stdout
    assert json.loads(run("explain", file, "--json").stdout)["needed"]["default"] > 10


def test_validate_says_every_problem_with_its_line(tmp_path: Path) -> None:
    file = crowd_house(tmp_path, crowd_text(k="1", target="{epsilon: -1, delta: 2}"))
    found = run("validate", file)
    assert found.exit_code == EXIT_REFUSED
    for place in ("crowd.k", "crowd.target.epsilon", "crowd.target.delta"):
        assert place in found.stderr
    assert f"{file}:8" in found.stderr


def test_commands_about_single_events_refuse_by_name(tmp_path: Path) -> None:
    file = crowd_house(tmp_path, crowd_text())
    with pytest.raises(ConfigurationRefused, match="crowds") as told:
        open_pipeline(file, {})
    assert told.value.problems[0].path == "crowd"
    for command in (["learnt"], ["adversary"], ["compare"], ["estimate"], ["fit", "--released", "--out", "m.json"]):
        found = run(command[0], str(file), *command[1:])
        assert found.exit_code == EXIT_REFUSED, command
        assert "about crowds there are validate, explain, plan, run and audit" in found.stderr, command


def test_nothing_is_estimated_of_what_is_true() -> None:
    with pytest.raises(CannotEstimate, match="crowds are released as they are"):
        estimate(crowd_settings(crowd_text()), [])


def test_init_writes_a_file_for_crowds_that_is_in_order(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    assert run("init", file, "--crowds").exit_code == EXIT_DONE
    assert run("keys", "new", tmp_path / "keys.json").exit_code == EXIT_DONE
    (tmp_path / "law.json").write_bytes(law_text({"default": [1 / 41] * 41}))
    assert run("validate", file).exit_code == EXIT_DONE
    assert LAW in crowd_text()
    both = run("init", tmp_path / "d.yaml", "--crowds", "--aggregates")
    assert both.exit_code == EXIT_REFUSED
    assert not (tmp_path / "d.yaml").exists()
