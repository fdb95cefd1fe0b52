"""What the commands say of pipelines with several fields, with and without one whose values follow one another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_house import run
from fields_world import BESIDE, HEAD, JOB, LOCAL, SEX, model_of, settings_of, table

from beliefs.correlation.joint_file import JointModel, serialise
from stream.keys import new_ring
from stream.names import EXIT_DONE, EXIT_REFUSED

FIELDS = f"fields:\n  joint: joint.json\n  each:\n    {SEX}\n    {JOB}\n"
HIGH = FIELDS.replace("cap: 3", "cap: 5").replace("cap: 4", "cap: 6")


def house_of(folder: Path, before: str, fields: str) -> Path:
    (folder / "c.yaml").write_text(HEAD + before + fields, encoding="utf-8")
    document = json.loads(serialise(JointModel(table())))
    del document["hash"]  # of a file that a person has written
    (folder / "joint.json").write_text(json.dumps(document), encoding="utf-8")
    new_ring(folder / "keys.json")
    return folder


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    return house_of(tmp_path, LOCAL, FIELDS)


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    from fields_world import ACTIVITIES
    from step_help import sticky_chain

    from beliefs.alphabet import Categories
    from beliefs.model_file import serialise as written

    (tmp_path / "model.json").write_bytes(written(Categories(ACTIVITIES), sticky_chain(len(ACTIVITIES)), {}))
    return house_of(tmp_path, BESIDE, HIGH)


def test_validate_names_the_fields(alone: Path) -> None:
    told = run("validate", alone / "c.yaml")
    assert (told.exit_code, told.stderr) == (EXIT_DONE, "")
    assert "fields sex, job" in told.stdout
    assert "nothing" not in told.stdout
    assert json.loads(run("validate", alone / "c.yaml", "--json").stdout)["fields"] == ["sex", "job"]


def test_explain_says_what_is_promised_of_each_field_and_what_becomes_of_events(alone: Path) -> None:
    told = run("explain", alone / "c.yaml")
    assert told.exit_code == EXIT_DONE
    text = " ".join(told.stdout.split())
    for words in (
        "perturbed: $.sex, $.job",
        "sex ($.sex, 2 values) by grr: one report tells at most 0.5 nats",
        "about sex of a user at most 3 nats are told in total for ever",
        "computed exactly from the joint table",
        "event 1 to",
        "withheld",
        "who a user is",
    ):
        assert words in text, words
    assert "budget" not in text.replace("a budget is one user's", "")
    facts = json.loads(run("explain", alone / "c.yaml", "--json").stdout)["fields"]
    assert [each["name"] for each in facts["each"]] == ["sex", "job"]
    last = facts["events"][-1]
    assert last["last"] is None
    assert set(last["choices"].values()) == {"withheld"}
    assert last["totals"]["sex"] <= 3
    assert last["totals"]["job"] <= 4
    assert all(one["last"] + 1 == two["first"] for one, two in zip(facts["events"], facts["events"][1:], strict=False))


@pytest.mark.parametrize(
    ("known", "said", "assumed", "never"),
    [
        ({}, "taken as the truth itself", "joint table is right: what", "worst of all tables"),
        ({"radius": 0.0}, "taken as the truth itself", "joint table is right: what", "worst of all tables"),
        ({"radius": 0.01}, "a radius, 0.01 at most", "right within the radii that it states", "chance of"),
        ({"failure": 0.01}, "with a chance of 0.01 at most", "people who were counted", "truth itself"),
    ],
)
def test_explain_says_what_is_taken_for_true_of_the_table(
    alone: Path, known: dict[str, float], said: str, assumed: str, never: str
) -> None:
    exact = json.loads(run("explain", alone / "c.yaml", "--json").stdout)["fields"]
    document = json.loads((alone / "joint.json").read_text(encoding="utf-8"))
    if "failure" in known:
        document["counts"] = [[500 * int(cell) for cell in row] for row in document.pop("weights")]
    (alone / "joint.json").write_text(json.dumps({**document, **known}), encoding="utf-8")
    text = " ".join(run("explain", alone / "c.yaml").stdout.split())
    assert said in text
    assert assumed in text
    assert never not in text
    facts = json.loads(run("explain", alone / "c.yaml", "--json").stdout)["fields"]
    rough = any(known.values())
    assert (facts["joint"]["known"] != "exact") == rough
    assert (facts["events"] != exact["events"]) == rough
    assert facts["events"][-1]["first"] <= exact["events"][-1]["first"]


def test_explain_speaks_of_both_kinds_where_both_are(beside: Path) -> None:
    told = run("explain", beside / "c.yaml", "--events-per-day", 5)
    assert told.exit_code == EXIT_DONE
    text = " ".join(told.stdout.split())
    assert "perturbed: $.activity, $.sex, $.job" in text
    assert "What is promised for one event" in text
    assert "about sex of a user at most 5 nats" in text
    assert "record.protect" in text


@pytest.mark.parametrize(
    "command", [("compare", "--sample", "s.csv", "--user", "u"), ("adversary",), ("fit", "--released")]
)
def test_commands_about_the_followed_field_refuse_where_there_is_none(alone: Path, command: tuple[str, ...]) -> None:
    name, *options = command
    told = run(name, alone / "c.yaml", *options, *(("--out", alone / "m.json") if name == "fit" else ()))
    assert told.exit_code == EXIT_REFUSED, told.stdout
    assert "record.protect" in told.stderr
    assert "Traceback" not in told.stderr


def test_plan_says_what_other_levels_would_make_of_the_fields(alone: Path) -> None:
    told = run("plan", alone / "c.yaml", "--events-per-day", 20)
    assert told.exit_code == EXIT_DONE
    assert "People" in told.stdout
    found = json.loads(run("plan", alone / "c.yaml", "--events-per-day", 20, "--json").stdout)
    assert [level["factor"] for level in found["levels"]] == [0.25, 0.5, 1, 2, 4]
    for level in found["levels"]:
        for name, cap in (("sex", 3), ("job", 4)):
            one = level["fields"][name]
            assert sum(one["reports"].values()) == 20
            assert one["total_nats"] <= cap
            assert one["people_for_a_point"] > 0
    declared = found["levels"][2]["fields"]["sex"]
    facts = json.loads(run("explain", alone / "c.yaml", "--json").stdout)["fields"]["events"]
    told_of = sum(min(each["last"] or 20, 20) - each["first"] + 1 for each in facts if each["choices"]["sex"] == "full")
    assert declared["reports"]["full"] == told_of
    refused = run("plan", alone / "c.yaml", "--agreement", 0.8)
    assert refused.exit_code == EXIT_REFUSED
    assert "sottovoce calibrate" in refused.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace('"nurse"', '"nurses"'), "labels"),
        (lambda text: text.replace('"job"', '"shoe"'), "shoe"),
        (lambda text: text[:-10], "JSON"),
        (
            lambda text: text.replace("[3.0, 6.0, 1.0]", "[0, 0, 0]"),
            "no weight",
        ),
        (lambda text: text.replace("6.0", "1e-70"), "2^-200"),
        (lambda text: text.replace('"sottovoce-joint"', '"sottovoce-model"'), "another kind of file"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_at_its_setting(alone: Path, change: object, said: str) -> None:
    file = alone / "joint.json"
    file.write_text(change(file.read_text()), encoding="utf-8")  # type: ignore[operator]
    told = run("validate", alone / "c.yaml")
    assert told.exit_code == EXIT_REFUSED
    assert "fields.joint" in told.stderr
    assert said in told.stderr
    file.unlink()
    assert "fields.joint" in run("validate", alone / "c.yaml").stderr


def test_a_level_that_cannot_be_drawn_is_refused_at_its_field(alone: Path) -> None:
    text = (alone / "c.yaml").read_text(encoding="utf-8")
    wrong = text.replace("mechanism: grr, epsilon: 0.25", "mechanism: she, epsilon: 32, beyond: lower").replace(
        "cap: 4", "cap: 40"
    )
    (alone / "c.yaml").write_text(wrong, encoding="utf-8")
    told = run("validate", alone / "c.yaml")
    assert told.exit_code == EXIT_REFUSED
    assert "fields.each.job.epsilon" in told.stderr
    assert "Traceback" not in told.stderr


def test_a_field_without_a_cap_is_warned_of(alone: Path) -> None:
    text = (alone / "c.yaml").read_text(encoding="utf-8").replace(", cap: 3", "")
    (alone / "c.yaml").write_text(text, encoding="utf-8")
    assert "no cap for sex" in run("validate", alone / "c.yaml").stdout


def test_settings_and_world_agree() -> None:
    assert model_of(settings_of(SEX)).alphabet.size == 1
