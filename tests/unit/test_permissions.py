"""What `sottovoce acls` prints: one line for each thing, nothing that is not needed, in three forms."""

from __future__ import annotations

import json
from pathlib import Path

from kafka_acls import parsed
from ruamel.yaml import YAML
from settings_text import GOOD
from typer.testing import CliRunner

from stream.commands.app import app
from stream.permissions import permissions
from stream.settings.load import parse_settings

SETTINGS = parse_settings(GOOD.encode(), Path("phones.yaml"))


def shown(file: Path, *options: str) -> str:
    file.write_text(GOOD)
    answer = CliRunner().invoke(app, ["acls", str(file), *options])
    assert answer.exit_code == 0, answer.output
    return answer.output


def test_a_worker_reads_raw_events_and_writes_what_is_its_own() -> None:
    found = {(one.kind, one.name): one.operations for one in permissions(SETTINGS, "run", make_topics=False)}
    assert found == {
        ("topic", "phones.raw"): ("Read",),
        ("topic", "phones.released"): ("Write", "DescribeConfigs"),
        ("topic", "phones.dead"): ("Write", "DescribeConfigs"),
        ("topic", "phones-beliefs-changelog"): ("Read", "Write", "DescribeConfigs"),
        ("group", "phones"): ("Read",),
        ("transactional-id", "sottovoce-phones-"): ("Write",),
    }


def test_topics_are_made_only_where_that_is_asked_for_and_never_the_raw_one() -> None:
    making = permissions(SETTINGS, "run", make_topics=True)
    made = {one.name for one in making if "Create" in one.operations}
    assert made == {"phones.released", "phones.dead", "phones-beliefs-changelog"}


def test_who_audits_writes_nowhere() -> None:
    found = permissions(SETTINGS, "audit", make_topics=True)
    assert {one.operations for one in found} == {("Read",)} and {one.kind for one in found} == {"topic"}


def test_every_printed_command_is_one_that_the_tool_reads(tmp_path: Path) -> None:
    lines = shown(tmp_path / "s.yaml", "--principal", "User:phones").splitlines()
    read = [parsed(line.split()[1:]) for line in lines]
    assert [one.allow_principal for one in read] == ["User:phones"] * 6
    assert {one.bootstrap_server for one in read} == {"127.0.0.1:9092"}
    assert [one.resource_pattern_type for one in read if one.transactional_id] == ["prefixed"]


def test_the_same_for_strimzi_and_in_json(tmp_path: Path) -> None:
    user = YAML(typ="safe").load(shown(tmp_path / "s.yaml", "--as", "strimzi", "--cluster", "house"))
    facts = json.loads(shown(tmp_path / "s.yaml", "--as", "json"))
    assert (user["kind"], user["metadata"]["labels"]["strimzi.io/cluster"]) == ("KafkaUser", "house")
    acls = [(acl["resource"]["name"], acl["operations"]) for acl in user["spec"]["authorization"]["acls"]]
    assert acls == [(one["name"], one["operations"]) for one in facts["permissions"]]
    assert {acl["resource"]["type"] for acl in user["spec"]["authorization"]["acls"]} == {
        "topic",
        "group",
        "transactionalId",
    }


def test_pipelines_of_two_stages_have_the_topics_between_them(tmp_path: Path) -> None:
    for option, between in (("--aggregates", "phones-partials"), ("--crowds", "phones-crowds")):
        file = tmp_path / f"{option}.yaml"
        made = CliRunner().invoke(app, ["init", str(file), option])
        assert made.exit_code == 0, made.output
        told = CliRunner().invoke(app, ["acls", str(file), "--as", "json"])
        found = {(one["kind"], one["name"]): one["operations"] for one in json.loads(told.output)["permissions"]}
        assert found["topic", between] == ["Read", "Write", "DescribeConfigs"]
        assert found["topic", "phones-total-beliefs-changelog"] == ["Read", "Write", "DescribeConfigs"]
        assert found["group", "phones-total"] == ["Read"]
