"""The settings that a plan writes: the user's own file with what was chosen, which makes what was tried."""

from __future__ import annotations

import json
import re
from difflib import ndiff
from pathlib import Path
from typing import Final

import pytest
from command_house import make_house, run
from settings_text import GOOD

from stream.commands.init import template
from stream.errors import CannotPlan, ConfigurationRefused
from stream.names import EXIT_DONE, EXIT_REFUSED
from stream.planning.grid import Document, Grid, base_document, candidates, document_of
from stream.planning.points import Candidate
from stream.planning.target import Target
from stream.planning.written import Given, settings_text
from stream.settings.load import load_settings, parse_settings, written_out

PER_DAY = 96
COMMENTED: Final = """\
# Phones of the city.
---
policy_version: 7   # raise it
pipeline: {name: 'phones'}

version: 1
kafka:
    brokers:
    - 127.0.0.1:9092        # the first
    - "127.0.0.1:9093"
    raw_topic: phones.raw
    released_topic: phones.released
    dead_letter_topic: >-
        phones.dead
    tls: {ca_file: certificates/ca.pem, certificate_file: /etc/phones.pem,
          private_key_file: 'certificates/own key.pem'}
    sasl:
        mechanism: PLAIN
        username: phones
        password: {file: ../secrets/password}
model: "model.json"   # learnt in May
record:
    protect:
        path: $.activity
        distance:
            table: far.json   # km
# --- how a value is hidden ---
mechanism:   # asked for by the board
    radius: 0.1  # against other readers
    name: near
    # the board said half
    epsilon: 5e-1
    chain_error: 0.01

# five at a time
window:
    events: 5      # five
    # not longer than
    deadline: 24h
    stretch: 1h

# --- money ---
budget:
    nats: 100

    when_spent: suppress
keys:
    file: ./keys.json
store: {kind: disk, folder: beliefs}
# the end
"""
ENDED: Final = """\
version: 1
pipeline: {name: phones}
kafka: {brokers: [127.0.0.1:9092], raw_topic: a, released_topic: b, dead_letter_topic: c}
record: {protect: {path: $.activity, distance: {table: far.json, },}}
keys: {environment: KEYS}
budget: {nats: unlimited, window: forever}
policy_version: 1
model: {file: model.json}
window:
mechanism: {
  chain_error: 0.01,  # little
  radius: 0.1,
  name: near, # not equal
  epsilon: 1
}"""
AS_JSON: Final = json.dumps(
    {
        "version": 1,
        "pipeline": {"name": "phones"},
        "kafka": {"brokers": ["h:1"], "allow_plaintext": True, "raw_topic": "a", "released_topic": "b"}
        | {"dead_letter_topic": "c"},
        "record": {"protect": {"path": "$.x"}},
        "model": "model.json",
        "mechanism": {"name": "optimal", "radius": 0.1, "chain_error": 0.1, "epsilon": 0.25},
        "window": {"order": "natural", "stretch": "10m", "events": 2},
        "budget": {"nats": 10},
        "keys": {"file": "keys.json"},
        "policy_version": 1,
    }
)
RISING: Final = GOOD.replace("  epsilon: 1.0", "  upper: 2.0\n  epsilon: 1.0").replace("optimal", "two_budget")
TEXTS: Final = {
    "plain": GOOD,
    "init": template(),
    "windows line ends": GOOD.replace("policy_version: 1\n", "").replace("\n", "\r\n") + "policy_version: 1",
    "commented": COMMENTED,
    "sections in braces": ENDED,
    "JSON": AS_JSON,
    "JSON in lines": json.dumps(json.loads(AS_JSON), indent=2),
    "null window": GOOD + "window: ~\n",
    "byte order mark": "\ufeff" + GOOD,
    "rising": RISING,
}


def given(folder: Path, text: str) -> Given:
    file = folder / "c.yaml"
    file.write_bytes(text.encode())
    return Given(file, file.read_bytes())


def chosen(source: Given, candidate: Candidate) -> Document:
    base = base_document(written_out(source.data, source.file), source.model)
    return {**document_of(base, candidate, PER_DAY), "policy_version": base["policy_version"] + 1}


def write(source: Given, candidate: Candidate, out: Path) -> str:
    return settings_text(source, chosen(source, candidate), out, "a title")


def some(source: Given) -> list[Candidate]:
    """Of each mechanism and kind of window some candidates that the settings allow."""
    base = written_out(source.data, source.file)
    every = list(candidates(base, Grid(), Target(leakage=24.0)))
    found = []
    for candidate in every[:: max(1, len(every) // 16)]:
        try:
            parse_settings(json.dumps(chosen(source, candidate)).encode(), source.file)
        except ConfigurationRefused:
            continue
        found.append(candidate)
    return found


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_written_makes_the_settings_that_were_tried(tmp_path: Path, name: str) -> None:
    source = given(tmp_path, TEXTS[name])
    found = some(source)
    assert len(found) >= 6
    lines = TEXTS[name].splitlines()
    for candidate in found:
        text = write(source, candidate, tmp_path / "planned.yaml")
        wanted = parse_settings(json.dumps(chosen(source, candidate)).encode(), source.file)
        made = parse_settings(text.encode(), tmp_path / "planned.yaml")
        assert made.model_dump() == wanted.model_dump(), text
        head, *rest = text.splitlines()
        changed = re.fullmatch(r"# Written by .*: a title\. Changed: (.*); the rest is as in c\.yaml\.", head)
        assert changed is not None and "policy_version" in changed[1].split(", ")
        for comment in re.findall("#.*", TEXTS[name]):
            assert comment in text
        if name not in ("JSON", "commented", "sections in braces"):
            gone = [line for line in ndiff(lines, rest) if line.startswith("- ")]
            assert len(gone) <= len(changed[1].split(", ")) + 4, "only what changed, and the lines of a window"


def test_a_file_keeps_its_comments_order_quotes_and_paths(tmp_path: Path) -> None:
    source = given(tmp_path, COMMENTED)
    text = write(source, Candidate("top_k_grr", 2.0, nats=24.0, length=86_400_000), tmp_path / "planned.yaml")
    wanted = COMMENTED
    for old, new in (
        ("policy_version: 7", "policy_version: 8"),
        ("        distance:\n            table: far", "        #distance:\n            #table: far"),
        ("    radius", "    #radius"),
        ("name: near", "name: top_k_grr"),
        ("5e-1", "2.0"),
        ("    chain_error", "    #chain_error"),
        ("window:\n    events", "#window:\n    #events"),
        ("    deadline", "    #deadline"),
        ("    stretch", "    #stretch"),
        ("nats: 100\n", "nats: 24\n"),
        ("when_spent: suppress", "when_spent: suppress\n    window: 1d"),
    ):
        assert old in wanted
        wanted = wanted.replace(old, new)
    wanted = wanted.replace("#distance:\n            #table", "#distance:\n        #    table")
    wanted = wanted.replace("#window:\n    #events", "#window:\n#    events")
    wanted = wanted.replace("    #deadline", "#    deadline").replace("    #stretch", "#    stretch")
    assert text.partition("\n")[2] == wanted


def test_a_window_is_put_where_windows_usually_stand(tmp_path: Path) -> None:
    candidate = Candidate("optimal", 2.0, "bisect", 5)
    text = write(given(tmp_path, template()), candidate, tmp_path / "planned.yaml")
    assert "\n\nwindow: {events: 5, order: bisect, deadline: 30m}\n\n# how much may be told about one user alto" in text
    assert "#window:\n" in text and "  nats: unlimited\n" in text and "  window: forever\n" in text
    text = write(given(tmp_path, GOOD), candidate, tmp_path / "planned.yaml")
    assert "  epsilon: 2.0\nwindow: {events: 5, order: bisect, deadline: 30m}\nbudget:\n" in text
    text = write(given(tmp_path, ENDED), candidate, tmp_path / "planned.yaml")
    assert "\nwindow: {events: 5, order: bisect, deadline: 30m}\nmechanism: {\n" in text


def test_what_means_the_same_stays_as_it_is_written(tmp_path: Path) -> None:
    source = given(tmp_path, GOOD.replace("window: 1d", "window: 24h").replace("nats: 10", "nats: 1.0e+1"))
    text = write(source, Candidate("optimal", 1.0, nats=10.0, length=86_400_000), tmp_path / "planned.yaml")
    assert text.partition("\n")[2] == source.data.decode().replace("policy_version: 1", "policy_version: 2")


def test_in_another_folder_the_same_files_are_named(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other" / "deep"
    for folder in (home, other):
        folder.mkdir(parents=True)
    (tmp_path / "linked").symlink_to(other)
    source = given(home, COMMENTED)
    candidate = Candidate("near", 1.0)
    for out in (other / "p.yaml", tmp_path / "linked" / "p.yaml"):
        text = write(source, candidate, out)
        for name in ("ca_file: ../../home/certificates/ca.pem", "certificate_file: /etc/phones.pem"):
            assert name in text
        assert "'../../home/certificates/own key.pem'" in text and '"../../home/model.json"' in text
        assert "{file: ../../secrets/password}" in text and "folder: ../../home/beliefs" in text
        assert "table: ../../home/far.json   # km" in text and "file: ../../home/keys.json" in text
        out.write_text(text)
        made, own = load_settings(out), load_settings(source.file)
        for one, two in (
            (made.model.file, own.model.file),
            (made.keys.file, own.keys.file),
            (made.kafka.tls and made.kafka.tls.ca_file, own.kafka.tls and own.kafka.tls.ca_file),
        ):
            assert one and two and Path(one).resolve() == Path(two).resolve()


@pytest.mark.parametrize("model", [Path("may/model.json"), Path("may/model.json").absolute()])
def test_another_model_is_named_as_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "may").mkdir()
    plain = given(tmp_path, GOOD)
    text = write(Given(plain.file, plain.data, model=model), Candidate("optimal", 2.0), tmp_path / "may" / "p.yaml")
    assert f"\nmodel: {model if model.is_absolute() else 'model.json'}\n" in text
    assert "file: ../keys.json" in text and "model.file" in text.splitlines()[0]


def test_a_file_that_cannot_be_changed_in_place_is_refused_with_what_to_change(tmp_path: Path) -> None:
    hard = GOOD.replace("mechanism:\n  name", "mechanism:\n  ? radius\n  : 0.1\n  name")
    with pytest.raises(CannotPlan) as refused:
        write(given(tmp_path, hard), Candidate("top_k_grr", 2.0), tmp_path / "p.yaml")
    assert "radius does not begin a line of its own" in str(refused.value)
    assert "mechanism.epsilon to 2.0; mechanism.radius away" in str(refused.value)


def test_what_would_not_be_read_as_it_is_meant_is_not_handed_out(tmp_path: Path) -> None:
    plain = given(tmp_path, GOOD)
    source = Given(plain.file, plain.data, model=tmp_path / "a\x7fb.json")
    with pytest.raises(CannotPlan, match="read again, it is refused"):
        write(source, Candidate("optimal", 2.0), tmp_path / "p.yaml")


def test_anchors_are_refused_where_they_stand(tmp_path: Path) -> None:
    house = make_house(tmp_path)
    text = GOOD.replace("epsilon: 1.0", "epsilon: &most 1.0").replace("nats: 10", "nats: *most")
    (house / "c.yaml").write_text(text)
    out = house / "p.yaml"
    answer = run("plan", house / "c.yaml", "--epsilon", 1, "--agreement", 0.5, "--write", out)
    assert answer.exit_code == EXIT_REFUSED and not out.exists()
    assert re.search(r"c\.yaml:\d+: mechanism.epsilon\n    found: an anchor\n", answer.stderr), answer.stderr


def test_no_key_is_written_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    house = make_house(tmp_path)
    (house / "c.yaml").chmod(0o600)
    out = house / "p.yaml"
    options = ("--epsilon", 2, "--order", "none", "--mechanism", "optimal", "--agreement", 0.5, "--write", out)
    answer = run("plan", house / "c.yaml", *options)
    assert answer.exit_code == EXIT_DONE, answer.stdout + answer.stderr
    assert out.stat().st_mode & 0o777 == 0o600
    text = out.read_text()
    assert "\nkeys:\n  file: keys.json\n" in text and str(tmp_path) not in text
    secrets = re.findall(r"[A-Za-z0-9+/=_-]{20,}", (house / "keys.json").read_text())
    assert secrets and not any(secret in text for secret in secrets)
    again = run("plan", out, *options, "--replace")
    assert again.exit_code == EXIT_DONE, again.stderr
    assert out.read_text().count("Written by") == 1 and load_settings(out).policy_version == 3
