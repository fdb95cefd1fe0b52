"""Opening a pipeline of crowds: what is promised, what is refused and warned of, and what validate and explain say."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from command_house import run
from crowd_settings_text import (
    BOXES,
    COUNT,
    HISTOGRAM,
    LAW,
    MEAN,
    NOTHING,
    RANGE,
    SUM,
    crowd_house,
    crowd_settings,
    crowd_text,
    flow_text,
    law_text,
    opened_crowds,
)

from beliefs.crowd import sums
from mechanisms.crowds.attributes import Numeric, Tree
from stream import names
from stream.commands.crowd_facts import crowd_facts
from stream.commands.crowd_words import ADVERSARIES, crowd_words, write_crowds
from stream.crowds.opening import open_crowds
from stream.errors import CannotEstimate, ConfigurationRefused
from stream.estimation.estimate import estimate
from stream.names import EXIT_DONE, EXIT_REFUSED
from stream.opening import open_pipeline
from stream.records.fields import fields_reader
from stream.settings.crowd import MOST_PEOPLE

FOUR = law_text({"default": (0.25, 0.25, 0.25, 0.25)})
PAIR = law_text(household=[[0.4, 0.1], [0.1, 0.4]])
HOMES = "{law: law.json, household: $.home}"
TYPES = "{law: law.json, by: $.kind}"
TWO = law_text({"young": (0.5, 0.5), "old": (0.9, 0.1)})


def refused(file: Path) -> list[tuple[int, str, str]]:
    with pytest.raises(ConfigurationRefused) as told:
        open_crowds(file, {})
    for problem in told.value.problems:
        assert problem.allowed
        assert problem.fix
    return [(problem.line, problem.path, problem.found) for problem in told.value.problems]


def test_what_is_declared_is_promised(tmp_path: Path) -> None:
    promise = opened_crowds(tmp_path, crowd_text(believes="{law: law.json, known: 0.1}")).promise
    assert (promise.pipeline, promise.k, promise.over) == ("walkers", 10, "all")
    timing = promise.windowed
    assert (timing.length, timing.lateness, timing.grace, timing.ahead) == (60_000, 10_000, 10_000, 3_600_000)
    assert (promise.flow, promise.types, promise.type_form) == (None, ("default",), None)
    assert (promise.household_path, promise.household_most, promise.known) == (None, None, Fraction(1, 10))
    assert (promise.fresh, promise.horizon, promise.tops_up) == (False, 1, False)
    assert promise.account is not None
    assert promise.policy_name == f"1:{promise.policy_fingerprint.hex()[:8]}"
    assert str(promise.ring.current.secret) not in repr(promise)
    with pytest.raises(ValueError, match="have no delay"):
        assert promise.flowing


@pytest.mark.parametrize(
    ("release", "event", "places", "sizes"),
    [
        (COUNT, {"activity": "running"}, (1,), (2,)),
        (COUNT, {"activity": "still"}, (0,), (2,)),
        (SUM, {"speed": 2.4}, (2,), (4,)),
        (SUM, {"speed": 9}, (3,), (4,)),
        (MEAN, {"speed": -0.5}, (1,), (5,)),
        (RANGE, {"speed": 0}, (0,), (5,)),
        (HISTOGRAM, {"job": "pilot"}, (2,), (3,)),
        (BOXES, {"age": 41, "job": "clerk", "disease": "none"}, (2, 2, 1), (5, 3, 2)),
    ],
)
def test_an_event_has_a_place_on_the_lattice_of_the_law(
    tmp_path: Path, release: str, event: dict[str, object], places: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    found = opened_crowds(tmp_path, crowd_text(release, believes=NOTHING, target=None)).promise.release
    symbols = fields_reader(found.forms)(event)
    assert isinstance(symbols, tuple)
    assert tuple(one - offset for one, offset in zip(symbols, found.offsets, strict=True)) == places
    assert found.sizes == sizes


def test_boxes_are_of_the_declared_attributes(tmp_path: Path) -> None:
    found = opened_crowds(tmp_path, crowd_text(BOXES, believes=NOTHING, target=None)).promise.release
    assert found.attributes is not None
    ages, jobs = found.attributes.each
    assert isinstance(ages, Numeric)
    assert isinstance(jobs, Tree)
    assert (ages.cells, jobs.values, jobs.name_of(0, 1)) == (5, ("doctor", "nurse", "clerk"), "medical")
    assert [form.name for form in found.forms] == ["age", "job", "sensitive"]
    assert found.sensitive is found.forms[-1]
    assert found.rule is not None
    assert (found.rule.k, found.rule.values, found.rule.diverse, found.rule.close) == (10, 2, 2, 250_000)
    assert (found.rule.loss_most, found.labels, found.grouper) == (0.5, ("flu", "none"), "mondrian")


def test_amounts_keep_their_grid(tmp_path: Path) -> None:
    found = opened_crowds(tmp_path, crowd_text(MEAN), law_text({"default": [0.2] * 5})).promise.release
    assert (found.grid, found.least, found.most, found.take) == (Decimal("0.5"), -2, 2, "largest")
    assert found.sensitive is None


def test_single_events_wait_for_a_crowd_and_have_no_account(tmp_path: Path) -> None:
    opened = opened_crowds(tmp_path, flow_text("castle"))
    promise = opened.promise
    assert (promise.flowing.events, promise.flowing.time, promise.timing) == (100, 60_000, None)
    assert (promise.account, promise.target, opened.law) == (None, None, None)
    assert promise.release.rule is not None
    assert promise.release.rule.loss_most == 1.0
    with pytest.raises(ValueError, match="have no windows"):
        assert promise.windowed
    assert any("delta is 1" in warning for warning in opened.warnings)


def test_types_and_households_are_read_of_public_fields(tmp_path: Path) -> None:
    typed = opened_crowds(tmp_path, crowd_text(believes=TYPES), TWO).promise
    assert typed.types == ("young", "old")
    assert typed.type_form is not None
    assert fields_reader([typed.type_form])({"kind": "old"}) == (1,)
    homes = opened_crowds(tmp_path, crowd_text(believes=HOMES), PAIR).promise
    assert (str(homes.household_path), homes.household_most, homes.types) == ("$.home", 2, ("default",))


@pytest.mark.parametrize(
    ("text", "law", "path", "found"),
    [
        (crowd_text(SUM), None, "law", "a law of 2 values, where a person may have 4"),
        (crowd_text(BOXES), FOUR, "law", "a law of 4 values, where a person may have 30"),
        (crowd_text(), PAIR, "law", "a law of households, and nothing that says who is of which"),
        (crowd_text(), TWO, "law", "2 types of people, and nothing that says who is which"),
        (crowd_text(believes=HOMES), None, "household", "households beside a law of types"),
        (crowd_text(), b"{", "law", "law.json"),
        (crowd_text(), law_text({"default": (0.5, 0.6)}), "law", "types.default sums to 1.1"),
        (crowd_text(), law_text(household=[[0.5, 0.3], [0.1, 0.1]]), "law", "another law when members"),
    ],
)
def test_a_law_that_does_not_fit_is_refused_at_its_line(
    tmp_path: Path, text: str, law: bytes | None, path: str, found: str
) -> None:
    ((line, where, what),) = refused(crowd_house(tmp_path, text, law))
    assert where == f"crowd.believes.{path}"
    assert found in what
    assert line == 12


def test_a_law_and_keys_that_are_not_there_are_told_together(tmp_path: Path) -> None:
    file = crowd_house(tmp_path, crowd_text())
    (tmp_path / "law.json").unlink()
    (tmp_path / "keys.json").unlink()
    assert sorted(where for _, where, _ in refused(file)) == ["crowd.believes.law", "keys.file"]


def test_a_law_that_rules_values_out_is_warned_of(tmp_path: Path) -> None:
    sure = opened_crowds(tmp_path, crowd_text(SUM), law_text({"default": (0.5, 0.5, 0, 0)}))
    assert any("gives 2 of 4 values no chance" in warning for warning in sure.warnings)
    homes = law_text(household=[[1, 0], [0, 0]])
    assert any("1 of 2 values" in each for each in opened_crowds(tmp_path, crowd_text(believes=HOMES), homes).warnings)
    fair = opened_crowds(tmp_path, crowd_text())
    assert not any("no chance" in warning for warning in fair.warnings)
    assert any("each window's guarantee stands alone" in warning for warning in fair.warnings)
    fresh = opened_crowds(tmp_path, crowd_text(believes="{law: law.json, windows: fresh}"))
    assert not any("stands alone" in warning for warning in fresh.warnings)


def test_a_range_beyond_what_can_be_worked_out_is_refused_at_the_law(tmp_path: Path) -> None:
    wide = RANGE.replace("high: 4", "high: 9999")
    file = crowd_house(tmp_path, crowd_text(wide), law_text({"default": [1e-4] * 10_000}))
    ((_, where, what),) = refused(file)
    assert where == "crowd.believes.law"
    assert "10000 possible values" in what.replace(",", "")


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


def test_a_pipeline_of_events_is_none_of_crowds(tmp_path: Path) -> None:
    file = crowd_house(tmp_path, crowd_text())
    text = file.read_text(encoding="utf-8")
    aggregate = "aggregate:\n  window: 1m\n  from: 2026-01-01T00:00:00Z\n  each: {p: {count: users, epsilon: 0.1}}\n"
    aggregate += "  dependence: {users: independent}\n  target: {nats: 1, windows: 1}\n"
    file.write_text(text[: text.index("crowd:")] + aggregate, encoding="utf-8")
    assert [(where, what) for _, where, what in refused(file)] == [("crowd", "no crowd")]


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
