"""What the commands say of a pipeline that learns its model, and which of them refuse it, in clear words."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest
from broker import free_port
from learning_help import Learner, learning_settings, walks
from typer.testing import CliRunner, Result

from beliefs.model_file import parse
from stream.clock_rows import rows_of_promise
from stream.commands.app import app
from stream.commands.init import template
from stream.commands.learning_words import switch_of
from stream.commands.learnt import _text, _write, partition_of
from stream.commands.worker import bytes_of_a_row, control_of, pipelines_of, plan_of, warm_up
from stream.engine.connection import Connection
from stream.engine.topic_ids import TopicFacts
from stream.errors import CannotFit
from stream.keys import new_ring
from stream.learning.learners import Learners, in_words
from stream.learning.pipeline import OnlinePipeline
from stream.learning.record import mark_bytes_max
from stream.metrics.learning import learning_card, learning_samples
from stream.opening import open_pipeline
from stream.settings.load import parse_settings

TEXT = """\
version: 1
policy_version: 1
pipeline: {name: phones}
kafka: {brokers: ["127.0.0.1:9092"], raw_topic: a, released_topic: b, dead_letter_topic: c}
record: {protect: {path: $.activity}, public: [$.battery]}
model: {learn: {values: [still, walking], doubt: 0.01, withheld: 0.3}}
mechanism: {name: optimal, epsilon: 3.0}
budget: {nats: 60, window: 1d, when_spent: forecast}
keys: {file: keys.json}
admin: {port: 0}
"""
SWITCH = 32_768


@pytest.fixture
def house(tmp_path: Path) -> Path:
    (tmp_path / "c.yaml").write_text(TEXT)
    new_ring(tmp_path / "keys.json")
    return tmp_path


@pytest.fixture(scope="module")
def learner() -> Learner:
    found = Learner(learning_settings(more=", doubt: 0.01, withheld: 0.3"))
    found.take(walks(SWITCH + 100, stay=0.7))
    return found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_validate_says_that_the_model_is_learnt(house: Path) -> None:
    found = run("validate", str(house / "c.yaml"))
    assert (found.exit_code, "a model that is learnt (learn@" in found.stdout) == (0, True)
    assert json.loads(run("validate", str(house / "c.yaml"), "--json").stdout)["learnt"] is True


def test_explain_says_what_is_promised_before_and_after_and_when(house: Path) -> None:
    found = run("explain", str(house / "c.yaml"))
    assert found.exit_code == 0, found.output
    for words in (
        "no model yet; each partition learns its own",
        "pays for 20 releases",
        "kept with probability 0.953",
        "e^3 = 20.1 times",
        "30% of epsilon is withheld at most",
        "probability of 0.01 at most",
        "at most 6 nats",
        "1,024, 2,048, 4,096",
        f"0.7  after about {SWITCH:,} events",
        "odds of 1,000 to 1",
        "users follow one chain",
    ):
        assert words in " ".join(found.stdout.split()).replace("0.7 after", "0.7  after"), words
    facts = json.loads(run("explain", str(house / "c.yaml"), "--json").stdout)
    assert facts["worst_per_event"] == 3.0
    assert [each["stay"] for each in facts["learning"]["switch"]] == [0.6, 0.7, 0.8, 0.9]


def test_what_explain_foretells_is_what_happens(learner: Learner) -> None:
    foretold = switch_of(learner.promise.learning.setup, 0.7)  # type: ignore[union-attr]
    epoch = learner.epochs[-1]
    assert (foretold["events"], epoch.first) == (SWITCH, SWITCH)
    assert foretold["kept"] == pytest.approx(epoch.informed_agreement, abs=0.01)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("audit", "--accounts", "10"), "cannot be audited in this way"),
        (("audit", "--no-changelog"), "its models are in the belief topic"),
        (("adversary",), "releases of a pipeline that learns its model"),
        (("plan", "--agreement", "0.8"), "learn it while they run"),
        (("compare", "--sample", "x.jsonl"), "learn it while they run"),
        (("fit", "--released", "--out", "m.json"), "learns its model from its releases itself"),
    ],
)
def test_commands_that_need_one_model_refuse_and_say_what_to_do(
    house: Path, command: tuple[str, ...], says: str
) -> None:
    name, *options = command
    found = run(name, str(house / "c.yaml"), *options)
    assert found.exit_code == 2, found.output
    assert says in found.stderr
    assert "sottovoce learnt" in found.stderr or name == "audit"


def test_a_pipeline_with_a_model_has_learnt_nothing(house: Path) -> None:
    text = TEXT.replace("model: {learn: {values: [still, walking], doubt: 0.01, withheld: 0.3}}", "model: model.json")
    (house / "c.yaml").write_text(text)
    found = run("learnt", str(house / "c.yaml"))
    assert (found.exit_code, "nothing is learnt" in found.stderr) == (2, True)


def test_brokers_that_do_not_answer_are_told_of_to_whoever_asked_and_not_as_to_a_worker(house: Path) -> None:
    (house / "c.yaml").write_text(TEXT.replace("127.0.0.1:9092", f"127.0.0.1:{free_port()}"))
    found = run("learnt", str(house / "c.yaml"))
    assert found.exit_code == 2
    assert "The belief topic cannot be read." in found.stderr and "see whether the brokers are up" in found.stderr
    assert "fresh worker" not in found.stderr


def test_the_template_shows_how_it_is_written() -> None:
    lines = [line.replace("#", "", 1) if line.lstrip().startswith("#") else line for line in template().splitlines()]
    there = [line.strip() for line in lines]
    assert {"learn:", "values: [still, walking]", "withheld: 0.1"} <= set(there)
    (doubt,) = [line for line in there if line.startswith("doubt: ")]
    text = TEXT.replace("doubt: 0.01", doubt)
    learn = parse_settings(text.encode(), Path("c.yaml")).model.learn
    assert learn is not None and learn.doubt == 1e-6


def test_the_model_that_was_learnt_is_written_as_a_model_file(learner: Learner, tmp_path: Path) -> None:
    found = partition_of(3, learner.store.marks(), learner.settings)
    assert found.standing is not None
    assert (found.standing.epoch, found.standing.reached, found.standing.next_look) == (
        2, SWITCH + 100, SWITCH + 4096,
    )  # fmt: skip
    _write(tmp_path / "m.json", [found], tmp_path / "c.yaml")
    written = parse((tmp_path / "m.json").read_bytes())
    assert written.digest == learner.epochs[-1].model.digest
    text = _text(found)
    assert f"epoch 2, informed, from offset {SWITCH:,} on: a model was learnt" in text
    with pytest.raises(CannotFit, match="a file that does not exist yet"):
        _write(tmp_path / "m.json", [found], tmp_path / "c.yaml")


def test_no_model_is_written_of_a_partition_that_has_none(learner: Learner, tmp_path: Path) -> None:
    nothing = partition_of(0, {}, learner.settings)
    assert _text(nothing) == "Partition 0: no record has come yet."
    with pytest.raises(CannotFit, match="wait until one has learnt a model"):
        _write(tmp_path / "m.json", [nothing], tmp_path / "c.yaml")
    two = [partition_of(number, learner.store.marks(), learner.settings) for number in (1, 2)]
    with pytest.raises(CannotFit, match="there: 1, 2"):
        _write(tmp_path / "m.json", two, tmp_path / "c.yaml")


def test_a_worker_tells_of_each_checkpoint_and_each_epoch(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    learners, found = (
        Learners(logging.getLogger("told")),
        Learner(learning_settings(more=", doubt: 0.01, withheld: 0.3")),
    )
    records = walks(SWITCH + 8_192, stay=0.7) + walks(14_000, stay=0.2, seed=1, first=SWITCH + 8_192)
    for effects in found.take(records):
        learners.committed(0, effects.learning)  # type: ignore[arg-type]
    told = [record.getMessage() for record in caplog.records]
    assert "has no model and learns one: epoch 1 from offset 0 on" in told[0]
    assert sum("goes on learning" in line for line in told) >= 5
    assert any("has learnt a model: epoch 2 from offset 32768" in line for line in told)
    assert any("learns anew" in line for line in told)
    assert learners.changes == {"informed": 1, "learning": 1}
    assert not any("user-" in line for line in told)
    learners.lost([0])
    assert learners.standings == {} and learning_card(learners) == ""


def test_figures_and_the_page_show_where_a_partition_stands(learner: Learner) -> None:
    standing = partition_of(0, learner.store.marks(), learner.settings).standing
    assert standing is not None
    learners = Learners(logging.getLogger("told"))
    learners.stands(0, standing)
    shown = {metric.name: values for metric, values in learning_samples(learners)}
    assert shown["sottovoce_learning_informed"] == {("0",): 1.0}
    assert shown["sottovoce_learning_next_look_records"] == {("0",): 4096 - 100}
    assert 0 < shown["sottovoce_learning_withheld_ratio"][("0",)] <= 0.3
    assert shown["sottovoce_learning_predicted_agreement_ratio"].keys() == {("0", "blind"), ("0", "informed")}
    assert f"epoch 2: informed by {standing.model}" in learning_card(learners)
    assert "of epsilon is withheld" in in_words(standing)
    assert all(not values for _, values in learning_samples(None))


def test_a_worker_is_made_of_it_and_warms_up(house: Path) -> None:
    opened, facts = open_pipeline(house / "c.yaml", {}), TopicFacts("a", UUID(int=1), 1, led=True)
    plan = plan_of(opened, Connection(("127.0.0.1:9092",)))
    assert plan.mark_bytes == mark_bytes_max(opened.model.alphabet) > bytes_of_a_row(opened)
    assert control_of(opened, facts).model == f"learn@{opened.model.short}"
    made: list[OnlinePipeline] = []

    def pipelines(found: TopicFacts) -> object:
        def of_partition(number: int) -> object:
            pipeline = pipelines_of(opened, found)(number)
            assert isinstance(pipeline, OnlinePipeline)
            made.append(pipeline)
            return pipeline

        return of_partition

    codec = rows_of_promise(opened.settings, opened.promise)
    warm_up(SimpleNamespace(plan=plan, pipelines=pipelines, codec=codec))  # type: ignore[arg-type]
    assert len(made) == 1
