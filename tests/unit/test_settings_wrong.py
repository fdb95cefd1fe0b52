"""Wrong settings files: each must be refused at the right line, under the right path, with a reason and a way out."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from settings_text import GOOD

from stream.errors import ConfigurationRefused
from stream.names import EXIT_REFUSED
from stream.settings.load import load_settings, parse_settings


class Wrong(NamedTuple):
    """One change to the good file, and what must be said about it."""

    old: str
    new: str
    line: int
    path: str
    fragment: str


_TO_BUDGET = "model: model.json\nmechanism:\n  name: optimal\n  epsilon: 1.0\nbudget:\n"
_BY_CLOCK = _TO_BUDGET.replace("model.json", "{file: model.json, step: 1h}")
_HIDDEN = ("budget.when_spent", "past a hidden time")

WRONG = [
    Wrong("version: 1\np", "version: 2\np", 1, "version", "allowed: 1"),
    Wrong("version: 1\np", 'version: "1"\np', 1, "version", 'found: "1"'),
    Wrong("version: 1\np", "version: true\np", 1, "version", "found: true"),
    Wrong("version: 1\np", "version: 1.0\np", 1, "version", "found: 1.0"),
    Wrong("version: 1\npipeline", "pipeline", 1, "version", "which is required"),
    Wrong("version: 1\np", "versoin: 1\nversion: 1\np", 1, "versoin", "did you mean version?"),
    Wrong("name: phones", "name: Phones", 3, "pipeline.name", "a text of the form"),
    Wrong("name: phones", "name: phones_1", 3, "pipeline.name", "a-z, 0-9 and -"),
    Wrong("name: phones", "name: -phones", 3, "pipeline.name", "a text of the form"),
    Wrong("name: phones", f"name: {'p' * 65}", 3, "pipeline.name", "at most 64"),
    Wrong("name: phones", "name: 12", 3, "pipeline.name", "put the value in quotes"),
    Wrong("name: phones", "name:", 3, "pipeline.name", "found: null"),
    Wrong("name: phones", "nmae: phones", 2, "pipeline.name", "add name"),
    Wrong("name: phones", "name: phones\n  name: tablets", 4, "pipeline.name", "already given in line 3"),
    Wrong("pipeline:\n  name: phones", "pipeline: phones", 2, "pipeline", "a section with name"),
    Wrong("pipeline:\n  name: phones", "pipeline: [phones]", 2, "pipeline", "a section with name"),
    Wrong("[127.0.0.1:9092]", "127.0.0.1:9092", 5, "kafka.brokers", "write a list"),
    Wrong("[127.0.0.1:9092]", "[]", 5, "kafka.brokers", "at least 1"),
    Wrong("[127.0.0.1:9092]", "[127.0.0.1]", 5, "kafka.brokers[0]", "host:port"),
    Wrong("[127.0.0.1:9092]", "[127.0.0.1:99999]", 5, "kafka.brokers[0]", "from 1 to 65535"),
    Wrong("[127.0.0.1:9092]", '["kafka://127.0.0.1:9092"]', 5, "kafka.brokers[0]", "without a scheme"),
    Wrong("[127.0.0.1:9092]", "[127.0.0.1:9092, 9093]", 5, "kafka.brokers[1]", "host:port"),
    Wrong("[127.0.0.1:9092]", "\n    - 127.0.0.1:9092\n    - kafka.example:9092", 7, "kafka.brokers[1]", "plaintext"),
    Wrong("[127.0.0.1:9092]", "[127.0.0.1.example:9092]", 5, "kafka.brokers[0]", "allow_plaintext: true"),
    Wrong("[127.0.0.1:9092]", "[x.example:9092]\n  allow_plaintext: yes", 6, "kafka.allow_plaintext", "YAML 1.2"),
    Wrong("[127.0.0.1:9092]", "[x.example:9092]\n  allow_plaintext: False", 5, "kafka.brokers[0]", "add kafka.tls"),
    Wrong("brokers", "borkers", 4, "kafka.brokers", "required"),
    Wrong("brokers", "borkers", 5, "kafka.borkers", "did you mean brokers?"),
    Wrong("  raw_topic: phones.raw\n", "", 4, "kafka.raw_topic", "add raw_topic"),
    Wrong("phones.raw\n", "phones/raw\n", 6, "kafka.raw_topic", "249"),
    Wrong("phones.raw\n", '".."\n', 6, "kafka.raw_topic", "topic"),
    Wrong("phones.raw\n", "17\n", 6, "kafka.raw_topic", "quotes"),
    Wrong("phones.released", "phones.raw", 7, "kafka.released_topic", "also kafka.raw_topic"),
    Wrong("phones.dead", "phones.released", 8, "kafka.dead_letter_topic", "also kafka.released_topic"),
    Wrong("phones.dead", "phones-beliefs-changelog", 8, "kafka.dead_letter_topic", "belief topic"),
    Wrong("phones.dead\n", "phones.dead\n  session_timeout: 10\n", 9, "kafka.session_timeout", "for example 10s"),
    Wrong("phones.dead\n", "phones.dead\n  session_timeout: 10 sec\n", 9, "kafka.session_timeout", "10s, 5m"),
    Wrong("phones.dead\n", "phones.dead\n  session_timeout: 1h\n", 9, "kafka.session_timeout", "from 1s to 5m"),
    Wrong("phones.dead\n", "phones.dead\n  session_timeout: 5ms\n", 9, "kafka.session_timeout", "from 1s to 5m"),
    Wrong("phones.dead\n", "phones.dead\n  replication_factor: 0\n", 9, "kafka.replication_factor", "at least 1"),
    Wrong("phones.dead\n", "phones.dead\n  replication_factor: 1.5\n", 9, "kafka.replication_factor", "whole number"),
    Wrong("phones.dead\n", "phones.dead\n  group_instance: a b\n", 9, "kafka.group_instance", "fixed name"),
    Wrong("phones.dead\n", "phones.dead\n  tls: {certificate_file: a.pem}\n", 9, "kafka.tls.certificate_file", "both"),
    Wrong(
        "phones.dead\n",
        "phones.dead\n  sasl: {mechanism: PLAIN, username: u, password: {file: p}}\n",
        9,
        "kafka.sasl",
        "login without encryption",
    ),
    Wrong(
        "phones.dead\n",
        "phones.dead\n  tls: {}\n  sasl: {mechanism: MD5, username: u, password: {file: p}}\n",
        10,
        "kafka.sasl.mechanism",
        "SCRAM-SHA-512",
    ),
    Wrong(
        "phones.dead\n",
        "phones.dead\n  tls: {}\n  sasl: {mechanism: PLAIN, username: u, password: hunter2}\n",
        10,
        "kafka.sasl.password",
        "not shown",
    ),
    Wrong(
        "phones.dead\n",
        "phones.dead\n  tls: {}\n  sasl: {mechanism: PLAIN, username: u, password: {}}\n",
        10,
        "kafka.sasl.password",
        "exactly one",
    ),
    Wrong("user: key", "user: keys", 10, "record.user", "key or a section"),
    Wrong("user: key", "user: {path: $.user}", 10, "record.user", "and_key: true"),
    Wrong("user: key", "user: {and_key: true}", 10, "record.user", "no path"),
    Wrong("user: key", "user: {path: user, and_key: true}", 10, "record.user.path", "starts with $"),
    Wrong("user: key", "user: {path: $.u, and_key: true, partitioned_by_user: true}", 10, "record.user", "one of them"),
    Wrong("user: key", "user: {path: $.activity, and_key: true}", 10, "record.user.path", "protected"),
    Wrong("user: key", "user: key\n  event_time: {path: $.t}", 11, "record.event_time", "no unit"),
    Wrong("user: key", "user: key\n  event_time: {unit: ms}", 11, "record.event_time", "no path"),
    Wrong("user: key", "user: key\n  event_time: {path: $.t, unit: us}", 11, "record.event_time.unit", "'ms', 's'"),
    Wrong("user: key", "user: key\n  event_time: now", 11, "record.event_time", "record or a section"),
    Wrong("user: key", "user: key\n  release_key: hash", 11, "record.release_key", "'keep' or 'pseudonym'"),
    Wrong("user: key", "user: key\n  max_bytes: 10", 11, "record.max_bytes", "at least 64"),
    Wrong("user: key", "user: key\n  max_bytes: 10 MB", 11, "record.max_bytes", "whole number"),
    Wrong("user: key", "user: key\n  headers: [trace, step]", 11, "record.headers[1]", "of its own"),
    Wrong("user: key", "user: key\n  headers: [trace, trace]", 11, "record.headers[1]", "again"),
    Wrong("user: key", "user: key\n  headers: ['']", 11, "record.headers[0]", "at least 1"),
    Wrong("path: $.activity", "path: activity", 12, "record.protect.path", "starts with $"),
    Wrong("path: $.activity", "path: $", 12, "record.protect.path", "whole record"),
    Wrong("path: $.activity", "path: $.a[*]", 12, "record.protect.path", "expected at character 4"),
    Wrong("path: $.activity", "path: $[0]", 12, "record.protect.path", "first step is a name"),
    Wrong("path: $.activity", "path: $.a[5000]", 12, "record.protect.path", "beyond 1023"),
    Wrong("path: $.activity", "path: $.a..b", 12, "record.protect.path", "a name is expected"),
    Wrong("  protect:\n    path: $.activity\n", "", 9, "record.protect", "required"),
    Wrong("[$.battery]", "[$.activity]", 13, "record.public[0]", "is the protected"),
    Wrong("[$.battery]", "[$.battery, $.activity.name]", 13, "record.public[1]", "lies inside the protected"),
    Wrong("[$.battery]", "[$.b, $.b]", 13, "record.public[1]", "is the public $.b"),
    Wrong("[$.battery]", "[$.b.c, $.b]", 13, "record.public[1]", "holds the public $.b.c"),
    Wrong("[$.battery]", "['$.b[0]', $.b.c]", 13, "record.public[1]", "names or positions"),
    Wrong("[$.battery]", "$.battery", 13, "record.public", "a list"),
    Wrong("[$.battery]", "[battery]", 13, "record.public[0]", "starts with $"),
    Wrong("model: model.json\n", "", 1, "model", "required"),
    Wrong("model: model.json", "model: 7", 14, "model", "a text, its file or a section with file, by, files"),
    Wrong("model: model.json", "model: {step: 10s}", 14, "model", "exactly one of file, files and learn"),
    Wrong("model: model.json", "model: {file: m.json, steps: 10s}", 14, "model.steps", "did you mean step?"),
    Wrong("model: model.json", "model: {file: m.json, step: 10}", 14, "model.step", "for example 10s"),
    Wrong("model: model.json", "model: {file: m.json, step: often}", 14, "model.step", "or event"),
    Wrong("model: model.json", "model: {file: m.json, step: 500ms}", 14, "model.step", "from 1s to 3660d"),
    Wrong("model: model.json", "model: {file: m.json, step: 10s, most: 0}", 14, "model.most", "at least 1"),
    Wrong("model: model.json", "model: {file: m.json, step: 10s, most: 10001}", 14, "model.most", "at most 10000"),
    Wrong(_TO_BUDGET, _BY_CLOCK + "  when_spent: stop\n", 19, *_HIDDEN),
    Wrong(_TO_BUDGET, _BY_CLOCK + "  when_spent: suppress\n", 19, *_HIDDEN),
    Wrong("model: model.json", "model: ''", 14, "model.file", "at least 1"),
    Wrong("name: optimal", "name: optimum", 16, "mechanism.name", "'optimal'"),
    Wrong("epsilon: 1.0", "epsilon: 0", 17, "mechanism.epsilon", "at least 1e-06"),
    Wrong("epsilon: 1.0", "epsilon: -1", 17, "mechanism.epsilon", "at least 1e-06"),
    Wrong("epsilon: 1.0", "epsilon: 33", 17, "mechanism.epsilon", "at most 32"),
    Wrong("epsilon: 1.0", "epsilon: .nan", 17, "mechanism.epsilon", "finite"),
    Wrong("epsilon: 1.0", "epsilon: .inf", 17, "mechanism.epsilon", "finite"),
    Wrong("epsilon: 1.0", 'epsilon: "1.0"', 17, "mechanism.epsilon", "without quotes"),
    Wrong("epsilon: 1.0", "epsilon: true", 17, "mechanism.epsilon", "a number"),
    Wrong("epsilon: 1.0", "epsilon: 1,0", 17, "mechanism.epsilon", "a number"),
    Wrong("epsilon: 1.0", "epsilon: 1.0\n  accept_unbounded: 1", 18, "mechanism.accept_unbounded", "true or false"),
    Wrong("epsilon: 1.0", "epsilon: 1.0\n  radius: -0.1", 18, "mechanism.radius", "at least 0"),
    Wrong("epsilon: 1.0", "epsilon: 1.0\n  radius: 1", 18, "mechanism.radius", "below 1"),
    Wrong("epsilon: 1.0", "epsilon: 1.0\n  radius: .nan", 18, "mechanism.radius", "finite"),
    Wrong("epsilon: 1.0", "epsilon: 1.0\n  chain_error: -1", 18, "mechanism.chain_error", "at least 0"),
    Wrong("nats: 10", "nats: 0.5", 19, "budget.nats", "below mechanism.epsilon"),
    Wrong("nats: 10", "nats: 0", 19, "budget.nats", "unlimited"),
    Wrong("nats: 10", "nats: .inf", 19, "budget.nats", "write unlimited"),
    Wrong("nats: 10", "nats: lots", 19, "budget.nats", "unlimited"),
    Wrong("window: 1d", "window: 1", 20, "budget.window", "for example 1s"),
    Wrong("window: 1d", "window: 1w", 20, "budget.window", "forever"),
    Wrong("window: 1d", "window: 10ms", 20, "budget.window", "from 1s"),
    Wrong("window: 1d", "window: -1d", 20, "budget.window", "1h or 1d"),
    Wrong("window: 1d", "window: 1d\n  when_spent: drop", 21, "budget.when_spent", "'suppress'"),
    Wrong("  file: keys.json", "  {}", 21, "keys", "neither"),
    Wrong("file: keys.json", "file: keys.json\n  environment: KEYS", 21, "keys", "both"),
    Wrong("file: keys.json", "environment: 2KEYS", 22, "keys.environment", "not shown"),
    Wrong("policy_version: 1", "policy_version: 0", 23, "policy_version", "at least 1"),
    Wrong("policy_version: 1", "policy_version: 1.5", 23, "policy_version", "whole number"),
    Wrong("policy_version: 1\n", "policy_version: 1\nstore: {kind: disk}\n", 24, "store", "folder"),
    Wrong("policy_version: 1\n", "policy_version: 1\nstore: {folder: a}\n", 24, "store.folder", "kind: disk"),
    Wrong("policy_version: 1\n", "policy_version: 1\nadmin: {port: 70000}\n", 24, "admin.port", "at most 65535"),
    Wrong("policy_version: 1\n", "policy_version: 1\nadmin: {prot: 1}\n", 24, "admin.prot", "did you mean port?"),
    Wrong("policy_version: 1\n", "policy_version: 1\nlimits: {drain: 10}\n", 24, "limits.drain", "10s"),
    Wrong("policy_version: 1\n", "policy_version: 1\nmetrics: {near_budget: 2}\n", 24, "metrics.near_budget", "most 1"),
    Wrong("policy_version: 1\n", "policy_version: 1\nsurprise: 1\n", 24, "surprise", "remove surprise"),
    Wrong("policy_version: 1\n", "policy_version: 1\n<<: {a: 1}\n", 24, "", "merge"),
    Wrong("nats: 10", "nats: &ten 10", 19, "budget.nats", "anchor"),
    Wrong("nats: 10", "nats: !!python/name:os.system 10", 19, "budget.nats", "tag"),
    Wrong("nats: 10", "nats:\t10\n\tx: 1", 19, "", "cannot start any token"),
    Wrong("nats: 10", "nats: [10", 20, "", "YAML 1.2"),
    Wrong("budget:\n", "window: {events: 0}\nbudget:\n", 18, "window.events", "at least 1"),
    Wrong("budget:\n", "window: {events: 65}\nbudget:\n", 18, "window.events", "at most 64"),
    Wrong("budget:\n", "window: {}\nbudget:\n", 18, "window.events", "which is required"),
    Wrong("budget:\n", "window: {events: 5, stretch: 10}\nbudget:\n", 18, "window.stretch", "for example 10s"),
    Wrong("budget:\n", "window: {events: 5, stretch: 8d}\nbudget:\n", 18, "window.stretch", "from 1s to 7d"),
    Wrong("budget:\n", "window: {events: 5, order: random}\nbudget:\n", 18, "window.order", "bisect"),
    Wrong("budget:\n", "window: {events: 5, deadline: 0s}\nbudget:\n", 18, "window.deadline", "from 1s to 7d"),
    Wrong(
        "budget:\n",
        "window: {events: 5, order: natural, deadline: 9s}\nbudget:\n",
        18,
        "window.deadline",
        "no value ever waits",
    ),
    Wrong(
        "name: optimal\n  epsilon: 1.0\n",
        "name: published_crr\n  epsilon: 1.0\nwindow: {events: 5}\n",
        16,
        "mechanism.name",
        "keeps no bound at all",
    ),
    Wrong("$.activity\n", "$.activity\n    distance: nearby\n", 13, "record.protect.distance", "hamming or absolute"),
    Wrong("$.activity\n", "$.activity\n    distance: {table: ''}\n", 13, "record.protect.distance.table", "at least 1"),
    Wrong("$.activity\n", "$.activity\n    distance: {tabel: a}\n", 13, "record.protect.distance.tabel", "mean table"),
    Wrong("$.activity\n", "$.activity\n    distance: absolute\n", 13, "record.protect.distance", "looks at none"),
    Wrong(
        "$.activity\n",
        "$.activity\n    distance: {table: a, cost_table: b}\n",
        13,
        "record.protect.distance",
        "table and cost_table",
    ),
]


@pytest.mark.parametrize("wrong", WRONG, ids=[f"{index:03d}-{wrong.path}" for index, wrong in enumerate(WRONG)])
def test_each_wrong_file_is_refused_where_it_is_wrong(wrong: Wrong) -> None:
    assert GOOD.count(wrong.old) == 1, "the change must hit one place"
    with pytest.raises(ConfigurationRefused) as refusal:
        parse_settings(GOOD.replace(wrong.old, wrong.new).encode(), Path("c.yaml"))
    assert refusal.value.exit_status == EXIT_REFUSED
    fitting = [
        problem for problem in refusal.value.problems if (problem.line, problem.path) == (wrong.line, wrong.path)
    ]
    assert fitting, str(refusal.value)
    assert any(wrong.fragment in str(problem) for problem in fitting), str(refusal.value)
    for problem in refusal.value.problems:
        assert all((problem.file, problem.found, problem.allowed, problem.fix)), "every problem says everything"
        assert "\n" not in problem.found + problem.allowed + problem.fix


def test_the_catalogue_is_large_enough() -> None:
    assert len({(wrong.old, wrong.new) for wrong in WRONG}) >= 100


def test_all_problems_are_told_at_once_in_the_order_of_their_lines() -> None:
    text = GOOD
    for wrong in (WRONG[1], WRONG[6], WRONG[32], WRONG[70]):
        text = text.replace(wrong.old, wrong.new)
    text = text.replace("nats: 10", "nats: 0.5").replace("policy_version: 1", "policy_vresion: 1")
    with pytest.raises(ConfigurationRefused) as refusal:
        parse_settings(text.encode(), Path("c.yaml"))
    lines = [problem.line for problem in refusal.value.problems]
    assert lines == sorted(lines)
    assert {problem.path for problem in refusal.value.problems} == {
        "version",
        "pipeline.name",
        "kafka.released_topic",
        "record.public[0]",
        "budget.nats",
        "policy_version",
        "policy_vresion",
    }
    assert "7 problems" in str(refusal.value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"- 1",
        b"plain",
        b"\xff\xfe",
        b"a: \x00",
        b"[" * 5000,
        b"{a: 1}\n---\n{b: 2}",
        b"? [1]\n: 2",
        b"#" * (1 << 21),
    ],
)
def test_what_is_no_settings_text_at_all_is_refused_and_never_crashes(data: bytes) -> None:
    with pytest.raises(ConfigurationRefused) as refusal:
        parse_settings(data, Path("c.yaml"))
    assert refusal.value.problems


def test_anchors_that_hold_one_another_are_not_followed() -> None:
    levels = [f"k{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 40)]
    with pytest.raises(ConfigurationRefused):
        parse_settings("\n".join(["k0: &a0 1", *levels]).encode(), Path("c.yaml"))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationRefused, match="No such file") as refusal:
        load_settings(tmp_path / "none.yaml")
    assert "sottovoce init" in str(refusal.value)


def test_a_secret_in_the_wrong_place_is_not_repeated() -> None:
    secret = "0123456789abcdef" * 4
    for text in (
        GOOD.replace("  file: keys.json", f"  environment: {secret}"),
        GOOD.replace("\n  file: keys.json", f" {secret}"),
    ):
        with pytest.raises(ConfigurationRefused) as refusal:
            parse_settings(text.encode(), Path("c.yaml"))
        assert secret not in str(refusal.value) + repr(refusal.value) + str(refusal.value.as_json())
