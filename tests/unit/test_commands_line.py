"""The command line: exit statuses, where answers and errors go, JSON for programs, nothing heavy behind `--help`."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from command_house import change, make_house, run

from stream.commands.init import template
from stream.errors import ModelRefused
from stream.names import EXIT_DONE, EXIT_REFUSED
from stream.serving import load_model
from stream.settings.load import parse_settings

HOUR_MS, DAY_MS = 3_600_000, 86_400_000


@pytest.fixture
def house(tmp_path: Path) -> Path:
    return make_house(tmp_path)


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
    assert not any(line.endswith((": None", ": PydanticUndefined")) for line in lines)
    window = text.replace("\n#window:", "\nwindow:")
    for line in ("  #events: 10", "  #stretch: 10m", "  #deadline: 60s"):
        assert line in lines
        window = window.replace(line, line.replace("#", "", 1))
    assert parse_settings(window.encode(), Path("c.yaml")).window is not None
    fields = text.replace("\n#fields:", "\nfields:")
    for line in ("  #each:", "    #occupation:", "      #path: $.occupation", "      #values: [clerk, nurse, pilot]"):
        assert line in lines
        fields = fields.replace(line, line.replace("#", "", 1))
    fields = fields.replace("      #mechanism:\n", "      mechanism: grr\n").replace(
        "      #epsilon: 0.5", "      epsilon: 0.5"
    )
    declared = parse_settings(fields.encode(), Path("c.yaml")).fields
    assert declared is not None
    assert list(declared.each) == ["occupation"]
    store = text.replace("#store:", "store:").replace("#kind: memory", "kind: disk").replace("#folder:", "folder:")
    assert parse_settings(store.encode(), Path("c.yaml")).store.kind == "disk"


def test_init_writes_a_file_for_aggregates_too(tmp_path: Path) -> None:
    path = tmp_path / "hours.yaml"
    written = run("init", path, "--aggregates", "--pipeline", "hours")
    assert written.exit_code == EXIT_DONE
    assert f"say in {path} since when" in written.stdout
    text = path.read_text()
    settings = parse_settings(text.encode(), path)
    assert settings.aggregate is not None
    assert list(settings.aggregate.each) == ["people", "speed", "activity"]
    assert settings.kafka.released_topic == "hours.aggregates"
    lines = text.splitlines()
    assert all("# " in lines[number - 1] for number, line in enumerate(lines) if line.strip() and "# " not in line)
    assert "\n#mechanism:" not in text
    assert "protect:" not in text
    for line in ("  #grace: 10s", "  #ahead: 1h", "  #adversary: any"):
        assert line in lines
        in_force = text.replace(line, line.replace("#", "", 1))
        assert parse_settings(in_force.encode(), path).aggregate == settings.aggregate
    assert "aggregate:" not in template()


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


def test_accounts_are_refused_before_any_broker_is_asked_where_they_are_not_known(house: Path) -> None:
    path = change(house, "budget:\n", "window: {events: 5}\nbudget:\n")
    told = run("audit", path, "--accounts", 5)
    assert told.exit_code == EXIT_REFUSED
    assert "accounts of users cannot be worked out" in told.stderr and "released in windows" in told.stderr
    assert run("audit", path, "--accounts", -1).exit_code == EXIT_REFUSED


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
