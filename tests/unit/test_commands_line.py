"""The command line: exit statuses, where answers and errors go, JSON for programs, nothing heavy behind `--help`."""

from __future__ import annotations

import json
import math
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from settings_text import GOOD
from typer.testing import CliRunner, Result

from beliefs import model_file
from beliefs.alphabet import Categories
from beliefs.chain import Chain
from stream.commands.app import app
from stream.commands.expectation import one_day, without_budget
from stream.commands.explain import worst_per_day, worst_per_event
from stream.commands.init import template
from stream.errors import ModelRefused
from stream.keys import new_ring
from stream.names import EXIT_DONE, EXIT_REFUSED
from stream.opening import belief_floor, least_belief, load_model, open_pipeline
from stream.settings.load import parse_settings

STICKY = Chain.from_dense([0.4, 0.3, 0.3], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.15, 0.05, 0.8]])
HOUR_MS, DAY_MS = 3_600_000, 86_400_000


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A folder with a right settings file, its model and its keys."""
    (tmp_path / "c.yaml").write_text(GOOD, encoding="utf-8")
    model = model_file.serialise(Categories(["still", "walking", "running"]), STICKY, {"source": "made for a test"})
    (tmp_path / "model.json").write_bytes(model)
    new_ring(tmp_path / "keys.json")
    return tmp_path


def change(house: Path, old: str, new: str) -> Path:
    path = house / "c.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def test_init_writes_a_file_that_is_right_and_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "new.yaml"
    written = run("init", path, "--pipeline", "tablets")
    assert written.exit_code == EXIT_DONE
    assert "sottovoce validate" in written.stdout
    settings = parse_settings(path.read_bytes(), path)
    assert settings.pipeline.name == "tablets"
    assert settings.kafka.raw_topic == "tablets.raw"
    before = path.read_bytes()
    again = run("init", path)
    assert again.exit_code == EXIT_REFUSED
    assert "a name that is free" in again.stderr
    assert path.read_bytes() == before
    assert run("init", tmp_path / "none" / "new.yaml").exit_code == EXIT_REFUSED


def test_init_explains_every_setting_and_each_line_may_be_put_in_force() -> None:
    text = template()
    lines = text.splitlines()
    for number, line in enumerate(lines):
        bare = line.strip()
        if bare and not bare.startswith("# "):
            assert lines[number - 1].strip().startswith("# "), f"{line} stands without a word"
    for line in ("  #session_timeout: 10s", "  #max_bytes: 65536", "  #replication_factor: 3", "  #headers: []"):
        assert line in lines
        in_force = text.replace(line, line.replace("#", "", 1))
        assert parse_settings(in_force.encode(), Path("c.yaml")).version == 1
    store = text.replace("#store:", "store:").replace("#kind: memory", "kind: disk").replace("#folder:", "folder:")
    assert parse_settings(store.encode(), Path("c.yaml")).store.kind == "disk"


def test_validate_says_that_all_is_in_order(house: Path) -> None:
    told = run("validate", house / "c.yaml")
    assert (told.exit_code, told.stderr) == (EXIT_DONE, "")
    assert "is in order" in told.stdout
    facts = json.loads(run("validate", house / "c.yaml", "--json").stdout)
    assert facts["ok"] is True
    assert (facts["pipeline"], facts["values"], facts["warnings"]) == ("phones", 3, [])
    key = json.loads((house / "keys.json").read_text(encoding="utf-8"))["epochs"][0]["key"]
    assert key not in told.stdout


def test_validate_reports_settings_model_and_keys_at_once(house: Path) -> None:
    (house / "model.json").write_text('{"format": "sottovoce-model"}', encoding="utf-8")
    (house / "keys.json").chmod(0o644)
    told = run("validate", house / "c.yaml")
    assert (told.exit_code, told.stdout) == (EXIT_REFUSED, "")
    assert "c.yaml:14: model" in told.stderr
    assert "c.yaml:22: keys.file" in told.stderr
    assert "chmod 600" in told.stderr
    answer = run("validate", house / "c.yaml", "--json")
    assert answer.exit_code == EXIT_REFUSED
    problems = json.loads(answer.stdout)["problems"]
    assert [(problem["line"], problem["path"]) for problem in problems] == [(14, "model"), (22, "keys.file")]


@pytest.mark.parametrize("command", ["validate", "explain"])
def test_wrong_settings_end_a_command_with_status_2(house: Path, command: str) -> None:
    change(house, "epsilon: 1.0", "epsilon: 100")
    told = run(command, house / "c.yaml")
    assert (told.exit_code, told.stdout) == (EXIT_REFUSED, "")
    assert "c.yaml:17: mechanism.epsilon" in told.stderr
    answer = run(command, house / "c.yaml", "--json")
    assert answer.exit_code == EXIT_REFUSED
    assert json.loads(answer.stdout)["problems"][0]["line"] == 17


def test_the_published_mechanism_is_refused_where_it_breaks_its_promise(house: Path) -> None:
    path = change(house, "name: optimal", "name: published_crr")
    told = run("validate", path)
    assert told.exit_code == EXIT_REFUSED
    assert "c.yaml:16: mechanism.name" in told.stderr
    assert "0.05" in told.stderr
    assert "accept_unbounded: true" in told.stderr
    change(house, "epsilon: 1.0", "epsilon: 1.0\n  accept_unbounded: true")
    accepted = run("validate", path)
    assert accepted.exit_code == EXIT_DONE
    assert "WARNING: published_crr tells more than epsilon" in accepted.stdout
    explained = run("explain", path, "--events-per-day", 5)
    assert "WARNING" in explained.stdout
    assert "promises no bound" in explained.stdout
    assert json.loads(run("explain", path, "--json").stdout)["worst_per_event"] == pytest.approx(2.5657, abs=1e-4)


def test_the_published_mechanism_passes_where_it_keeps_its_promise(house: Path) -> None:
    change(house, "name: optimal", "name: published_crr")
    path = change(house, "epsilon: 1.0", "epsilon: 3.0")
    assert belief_floor(3.0) < 0.05
    assert run("validate", path).exit_code == EXIT_DONE


def test_twice_epsilon_is_refused_under_every_model(house: Path) -> None:
    path = change(house, "name: optimal", "name: randomised_response_double")
    assert "up to 2 epsilon" in " ".join(run("validate", path).stderr.split())
    change(house, "epsilon: 1.0", "epsilon: 1.0\n  accept_unbounded: true")
    assert "tells more than epsilon = 1 and up to 2" in run("validate", path).stdout
    facts = json.loads(run("explain", path, "--events-per-day", 5, "--json").stdout)
    assert (facts["worst_per_event"], facts["worst_under_any_model"], facts["holds_epsilon"]) == (2.0, 2.0, False)
    assert 1.0 < facts["single"]["largest"] <= 2.0
    assert "under this model and any other" in " ".join(run("explain", path, "--events-per-day", 5).stdout.split())


@pytest.mark.parametrize("name", ["top_k_grr", "randomised_response", "temporal_ldp"])
def test_local_privacy_is_promised_against_everybody(house: Path, name: str) -> None:
    path = change(house, "name: optimal", f"name: {name}")
    told = " ".join(run("explain", path, "--events-per-day", 5).stdout.split())
    assert "local privacy" in told and f"released in its place by {name}: " in told
    facts = json.loads(run("explain", path, "--events-per-day", 5, "--json").stdout)
    assert facts["worst_under_any_model"] == facts["worst_per_event"] == 1.0 >= facts["single"]["largest"]


@pytest.mark.parametrize(
    ("start", "rows", "least"),
    [
        ([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], 0.1),
        ([0.5, 0.5], [[1.0, 0.0], [0.2, 0.8]], 0.0),
        ([0.05, 0.95], [[0.9, 0.1], [0.2, 0.8]], 0.05),
        ([1.0, 0.0], [[0.9, 0.1], [0.2, 0.8]], 0.1),
        ([1.0, 0.0], [[1.0, 0.0], [1.0, 0.0]], 1.0),
        ([0.3, 0.7], [[1.0, 0.0], [1.0, 0.0]], 0.3),
    ],
)
def test_the_least_belief(start: list[float], rows: list[list[float]], least: float) -> None:
    assert least_belief(Chain.from_dense(start, rows)) == pytest.approx(least)
    sparse = [([y for y, p in enumerate(row) if p], [p for p in row if p]) for row in rows]
    assert least_belief(Chain.from_sparse(start, sparse)) == pytest.approx(least)


def test_explain_says_what_is_promised_and_what_is_not(house: Path) -> None:
    told = run("explain", house / "c.yaml", "--events-per-day", 24)
    assert told.exit_code == EXIT_DONE
    for title in ("What leaves", "What is promised for one event", "What is not promised", "What to expect"):
        assert f"\n{title}\n" in told.stdout
    assert "2.72 times" in told.stdout
    assert "WARNING" not in told.stdout
    assert max(len(line) for line in told.stdout.splitlines()) <= 100


def test_the_figures_of_explain_fit_together(house: Path) -> None:
    facts: dict[str, Any] = json.loads(run("explain", house / "c.yaml", "--events-per-day", 24, "--json").stdout)
    single, day = facts["single"], facts["day"]
    assert facts["full_releases_per_window"] == 10
    assert facts["worst_per_day"] == pytest.approx(20.0)
    assert facts["worst_under_any_model"] == 2.0
    assert max(single["upper_per_event"], single["lower_per_event"], single["largest"]) <= 1.0
    assert single["released"] == 1.0
    assert max(day["upper_per_user"], day["lower_per_user"]) <= 10.0
    assert day["released"] + day["forecast"] == pytest.approx(1.0)
    assert day["suppressed"] == 0.0
    assert 1 / 3 < single["agreement"] < 1.0
    assert facts["references"]["randomised_response"] == pytest.approx(math.e / (math.e + 2))


def test_the_same_settings_give_the_same_figures(house: Path) -> None:
    policy = open_pipeline(house / "c.yaml", {}).promise.policy
    assert without_budget(policy, STICKY) == without_budget(policy, STICKY)
    assert one_day(policy, STICKY, 50) == one_day(policy, STICKY, 50)


def test_a_chain_that_never_moves_is_told_without_leakage(house: Path) -> None:
    policy = open_pipeline(house / "c.yaml", {}).promise.policy
    constant = Chain.from_dense([1.0, 0.0, 0.0], [[1.0, 0.0, 0.0]] * 3)
    found = without_budget(policy, constant)
    assert found.agreement == 1.0
    assert found.largest < 1e-6


def test_the_worst_of_an_event_and_of_a_day() -> None:
    assert worst_per_event(True, 1.5, 0.0) == 1.5
    assert math.isinf(worst_per_event(False, 1.0, 0.0))
    assert worst_per_event(False, 1.0, 0.1) == pytest.approx(np.log(np.exp(-1) + (1 - np.exp(-1)) / 0.1))
    assert worst_per_event(False, 1.5, 0.0, 2.0) == 3.0
    assert worst_per_day(10.0, None, 1e9) == 10.0
    assert worst_per_day(10.0, DAY_MS, 1e9) == 20.0
    assert worst_per_day(10.0, HOUR_MS, 1e9) == 250.0
    assert worst_per_day(10.0, 7 * DAY_MS, 1e9) == 20.0
    assert worst_per_day(10.0, DAY_MS, 3.0) == 3.0
    assert math.isinf(worst_per_day(math.inf, DAY_MS, math.inf))


def test_keys_new_makes_a_private_ring_and_prints_no_key(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    made = run("keys", "new", path)
    assert made.exit_code == EXIT_DONE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = run("keys", "new", path)
    assert again.exit_code == EXIT_REFUSED
    assert "never overwritten" in again.stderr
    added = json.loads(run("keys", "new", path, "--add-epoch", "--json").stdout)
    assert added["epoch"] == 2
    for epoch in json.loads(path.read_text(encoding="utf-8"))["epochs"]:
        assert epoch["key"] not in made.stdout + again.stderr + str(added)


def test_schema_prints_a_schema() -> None:
    told = run("schema")
    assert told.exit_code == EXIT_DONE
    assert json.loads(told.stdout)["title"] == "Sottovoce settings"


def test_compute_answers_a_file(tmp_path: Path) -> None:
    file = tmp_path / "question.json"
    file.write_text('{"what": "sip.optimal", "inputs": {"prior": [0.5, 0.5], "epsilon": 0.0}}', encoding="utf-8")
    told = run("compute", file)
    assert told.exit_code == EXIT_DONE
    assert json.loads(told.stdout)["result"]["accuracy"] == pytest.approx(0.5)
    assert run("compute", tmp_path / "none.json").exit_code == EXIT_REFUSED


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["validate"], ["explain", "c.yaml", "--events-per-day", "0"], ["keys"]]
)
def test_a_call_that_is_no_call_ends_with_status_2(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == EXIT_REFUSED


def test_a_model_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for content in (None, b"", b"{}", b"\xff"):
        path = tmp_path / "model.json"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(ModelRefused) as refusal:
            load_model(path)
        assert refusal.value.exit_status == EXIT_REFUSED


def imported_by(*arguments: str) -> set[str]:
    """The top-level modules that a call of the command line imports."""
    code = (
        "import sys\nfrom stream.commands.app import app\n"
        "try:\n    app()\nexcept SystemExit:\n    pass\n"
        "print('\\n', *sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    heavy = {"numpy", "numba", "faust", "aiokafka", "cryptography", "ruamel", "orjson"}
    assert imported_by("--help") & (heavy | {"pydantic"}) == set()
    assert imported_by("run", "--help") & heavy == set()
    file = tmp_path / "question.json"
    file.write_text("[]", encoding="utf-8")
    assert imported_by("compute", str(file)) & {"faust", "aiokafka", "ruamel"} == set()
