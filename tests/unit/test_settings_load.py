"""Right settings files: what they become, what they default to, and when the policy's fingerprint changes."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

import pydantic
import pytest
from settings_text import GOOD

from stream.commands.init import template
from stream.records.paths import parse_path
from stream.settings.kinds import read_duration, write_duration
from stream.settings.load import load_settings, parse_settings, policy_fingerprint
from stream.settings.model import Settings
from stream.settings.schema import json_schema

DIGEST = "0" * 64


def read(*changes: tuple[str, str]) -> Settings:
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return parse_settings(text.encode(), Path("c.yaml"))


def test_a_right_file_gives_its_values_and_the_defaults_of_the_rest() -> None:
    settings = read()
    assert settings.pipeline.name == "phones"
    assert settings.changelog_topic == "phones-beliefs-changelog"
    assert settings.kafka.brokers == ("127.0.0.1:9092",)
    assert settings.kafka.session_timeout == 10_000
    assert settings.record.user.from_key
    assert settings.record.user.path is None
    assert settings.record.event_time.path is None
    assert settings.record.protect.path == parse_path("$.activity")
    assert settings.record.public == (parse_path("$.battery"),)
    assert settings.budget.nats == 10.0
    assert settings.budget.window == 86_400_000
    assert settings.budget.when_spent == "forecast"
    assert settings.limits.max_block_records == 4000
    assert (settings.admin.host, settings.admin.port) == ("127.0.0.1", 8998)


def test_what_stands_apart_from_the_usual_case() -> None:
    settings = read(
        (
            "user: key",
            "user: {path: $.id, and_key: true}\n  event_time: {path: '$.t[0]', unit: iso8601}\n  headers: [trace]",
        ),
        ("nats: 10", "nats: unlimited"),
        ("window: 1d", "window: forever"),
        ("127.0.0.1:9092", "kafka.example:9093, '[::1]:9092'"),
        ("phones.dead\n", "phones.dead\n  tls: {}\n  group_instance: null\n"),
    )
    assert settings.record.user.from_key
    assert settings.record.user.path == parse_path("$.id")
    assert settings.record.event_time.unit == "iso8601"
    assert settings.record.headers == ("trace",)
    assert math.isinf(settings.budget.nats)
    assert settings.budget.window is None
    assert settings.kafka.tls is not None
    assert settings.kafka.sasl is None


@pytest.mark.parametrize("broker", ["localhost:9092", "127.0.0.1:9092", "127.8.8.8:1", "'[::1]:9092'", "a.localhost:9"])
def test_plaintext_to_this_machine_needs_no_word(broker: str) -> None:
    assert read(("127.0.0.1:9092", broker)).kafka.tls is None


def test_plaintext_to_another_machine_is_allowed_when_said_aloud() -> None:
    settings = read(("[127.0.0.1:9092]", "[kafka.example:9092]\n  allow_plaintext: true"))
    assert settings.kafka.allow_plaintext


def test_settings_cannot_be_changed() -> None:
    settings = read()
    with pytest.raises(pydantic.ValidationError):
        settings.mechanism.epsilon = 2.0


def test_files_are_meant_beside_the_settings_file(tmp_path: Path) -> None:
    folder = tmp_path / "settings"
    folder.mkdir()
    (folder / "c.yaml").write_text(GOOD.replace("keys.json", "/elsewhere/keys.json"), encoding="utf-8")
    settings = load_settings(folder / "c.yaml")
    assert settings.model.file == str(folder / "model.json")
    assert settings.keys.file == "/elsewhere/keys.json"


RELEASE_CHANGES = [
    ("epsilon: 1.0", "epsilon: 1.5"),
    ("epsilon: 1.0", "epsilon: 1.0\n  radius: 0.05"),
    ("epsilon: 1.0", "epsilon: 1.0\n  chain_error: 0.05"),
    ("name: optimal", "name: marginal_preserving"),
    ("nats: 10", "nats: 11"),
    ("nats: 10", "nats: unlimited"),
    ("window: 1d", "window: 1h"),
    ("window: 1d", "window: 1d\n  when_spent: suppress"),
    ("$.activity", "$.motion"),
    ("[$.battery]", "[]"),
    ("user: key", "user: key\n  headers: [trace]"),
    ("user: key", "user: key\n  release_key: pseudonym"),
    ("user: key", "user: key\n  max_bytes: 1024"),
    ("user: key", "user: {path: $.id, and_key: true}"),
    ("policy_version: 1", "policy_version: 2"),
    ("name: phones", "name: tablets"),
    ("model: model.json", "model: {file: model.json, step: 10s}"),
]
HOUSE_CHANGES = [
    ("127.0.0.1:9092", "127.0.0.1:9093"),
    ("phones.released", "elsewhere"),
    ("file: keys.json", "environment: KEYS"),
    ("model: model.json", "model: {file: model.json, step: event, most: 7}"),
    ("epsilon: 1.0", "epsilon: 1.0\n  radius: 0"),
    ("epsilon: 1.0", "epsilon: 1.0\n  chain_error: 0"),
    ("policy_version: 1\n", "policy_version: 1\nlimits: {max_block_records: 7}\nstore: {kind: disk, folder: a}\n"),
    ("policy_version: 1\n", "policy_version: 1 # a comment\nmetrics: {near_budget: 0.5}\n"),
]


@pytest.mark.parametrize("change", RELEASE_CHANGES, ids=lambda change: change[1].strip())
def test_the_fingerprint_changes_with_whatever_changes_a_release(change: tuple[str, str]) -> None:
    assert policy_fingerprint(read(change), DIGEST) != policy_fingerprint(read(), DIGEST)


@pytest.mark.parametrize("change", HOUSE_CHANGES, ids=lambda change: change[1].strip())
def test_the_fingerprint_stays_when_only_the_house_changes(change: tuple[str, str]) -> None:
    assert policy_fingerprint(read(change), DIGEST) == policy_fingerprint(read(), DIGEST)


def test_a_distance_counts_by_its_content_in_the_fingerprint() -> None:
    by_table = ("$.activity\n", "$.activity\n    distance: {table: a.json}\n")
    elsewhere = ("$.activity\n", "$.activity\n    distance: {table: b.json}\n")
    near = ("name: optimal", "name: near")
    assert read(near, by_table).record.protect.distance.table == str(Path("a.json").absolute())
    one = policy_fingerprint(read(near, by_table), DIGEST, "table:1")
    assert one == policy_fingerprint(read(near, elsewhere), DIGEST, "table:1")
    assert one != policy_fingerprint(read(near, by_table), DIGEST, "table:2")
    assert one != policy_fingerprint(read(near), DIGEST)


def test_the_fingerprint_is_pinned() -> None:
    """A fingerprint that changes with a new version of the code would make every pipeline refuse its own beliefs."""
    assert policy_fingerprint(read(), DIGEST).hex() == PINNED
    assert policy_fingerprint(read(), "1" * 64).hex() != PINNED


PINNED = "ae8337ad93e8b2ad"


@pytest.mark.parametrize("text", ["250ms", "10s", "5m", "3h", "7d", "1001ms", "90s"])
def test_durations_are_written_as_they_are_read(text: str) -> None:
    assert write_duration(read_duration(text)) == text


def test_another_bound_on_the_steps_of_a_clock_is_another_policy() -> None:
    bounds = ("", ", most: 9", ", most: 1000")
    clocks = [read(("model: model.json", f"model: {{file: m, step: 10s{bound}}}")) for bound in bounds]
    one, other, same = (policy_fingerprint(settings, DIGEST) for settings in clocks)
    assert one == same != other


def test_a_model_is_a_file_or_a_section() -> None:
    one, other = read(), read(("model: model.json", "model: {file: model.json, step: 2m, most: 30}"))
    assert (one.model.step, one.model.most) == (None, 1000)
    assert (other.model.step, other.model.most) == (120_000, 30)
    assert one.model.file == other.model.file


def plain(text: str) -> Any:
    return importlib.import_module("ruamel.yaml").YAML(typ="safe", pure=True).load(text)


def test_the_schema_accepts_what_the_reader_accepts() -> None:
    validator = importlib.import_module("jsonschema").Draft202012Validator(json_schema())
    texts = [GOOD, template(), GOOD.replace("user: key", "user: {path: $.id, and_key: true}").replace("1d", "forever")]
    texts += [GOOD.replace("model.json", f"{{file: model.json, step: {step}}}") for step in ("10s", "event")]
    for text in texts:
        assert [error.message for error in validator.iter_errors(plain(text))] == []
        assert parse_settings(text.encode(), Path("c.yaml")).version == 1


@pytest.mark.parametrize(
    "change",
    [
        ("user: key", "user: keys"),
        ("epsilon: 1.0", "epsilon: 0"),
        ("window: 1d", "window: 1"),
        ("version: 1\npi", "version: 2\npi"),
        ("nats: 10", "natts: 10"),
        ("[$.battery]", "[battery]"),
        ("model: model.json", "model: {file: model.json, step: 10}"),
        ("model: model.json", "model: {step: 10s}"),
        ("model: model.json", "model: 7"),
    ],
    ids=lambda change: change[1],
)
def test_the_schema_refuses_plain_mistakes(change: tuple[str, str]) -> None:
    validator = importlib.import_module("jsonschema").Draft202012Validator(json_schema())
    assert list(validator.iter_errors(plain(GOOD.replace(*change))))


def test_every_default_in_the_schema_is_one_that_a_file_may_hold() -> None:
    checker = importlib.import_module("jsonschema")
    schema = json_schema()
    for definition in schema["$defs"].values():
        for branch in (definition, *definition.get("anyOf", ())):
            for name, field in branch.get("properties", {}).items():
                if "default" in field:
                    resolved = {**field, "$defs": schema["$defs"]}
                    checker.validate(field["default"], resolved)
                    assert field["description"], name
