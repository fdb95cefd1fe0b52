"""The commands in README and in the notes for readers: each is one that the command line knows, and the README's quick
ones do what they say in their order. Those that need a broker, and the plan, are run by the tutorial's own test.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import conftest
import demonstrate
import orjson
import pytest
import typer
from command_house import run
from notes_help import ROOT, blocks, outside_of_blocks

from stream.commands.app import app

README = (ROOT / "README.md").read_text(encoding="utf-8")
NOTES = ("README.md", "deploy/tutorial.md", "beliefs/epsilon.md", "beliefs/symbols.md")
SENTENCES = "\n".join(outside_of_blocks((ROOT / note).read_text(encoding="utf-8")) for note in NOTES)
WHOLE: Any = typer.main.get_command(app)
QUICK = ("fit", "init", "keys", "compare", "validate", "explain", "schema", "compute")
OTHER_PROGRAMS = ("tests/bench", "deploy/demonstration", "tests/papers")
OPTION = re.compile(r"--[a-z][a-z-]*")


def in_blocks() -> Iterator[list[str]]:
    for block in blocks(README):
        for line in block.text.splitlines():
            words = shlex.split(line, comments=True) if block.language == "sh" else []
            if words[:1] == ["sottovoce"]:
                yield words[1:]


def in_sentences() -> Iterator[list[str]]:
    for code in re.findall(r"`(sottovoce [^`]+)`", SENTENCES):
        yield shlex.split(code)[1:]


def check_known(words: list[str]) -> None:
    """Refused by the command line itself if a command, an option or the number of arguments is not right; not run."""
    command, rest = found_in(words)
    command.make_context(words[0], rest)


def check_mentioned(words: list[str]) -> None:
    """A name alone, or a name with options alone, is no whole command."""
    command, rest = found_in(words)
    assert {word for word in rest if OPTION.match(word)} <= options_of(command), words
    if rest and not rest[0].startswith("-"):
        check_known(words)


def found_in(words: list[str]) -> tuple[Any, list[str]]:
    command, rest = WHOLE, words
    while rest and hasattr(command, "commands"):
        command, rest = command.commands[rest[0]], rest[1:]
    return command, rest


def test_every_command_is_one_that_the_command_line_knows() -> None:
    whole, mentioned = list(in_blocks()), list(in_sentences())
    assert {words[0] for words in [*whole, *mentioned]} >= set(WHOLE.commands)
    for words in whole:
        check_known(words)
    for words in mentioned:
        check_mentioned(words)


def test_a_renamed_option_or_command_would_be_seen() -> None:
    wrong = {"No such option": ["audit", "s.yaml", "--acounts", "9"], "unexpected extra": ["audit", "s.yaml", "t.yaml"]}
    for why, words in wrong.items():
        with pytest.raises(Exception, match=why):
            check_known(words)
    with pytest.raises(KeyError):
        check_known(["audits", "s.yaml"])
    with pytest.raises(AssertionError, match="raws"):
        check_mentioned(["adversary", "--raws"])


def options_of(command: Any) -> set[str]:
    own = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    return own.union(*map(options_of, getattr(command, "commands", {}).values()))


def test_every_option_that_is_named_exists() -> None:
    known = options_of(WHOLE) | {f"--{name}" for name in conftest.ONLY_ON_REQUEST}
    for folder in OTHER_PROGRAMS:
        for file in (ROOT / folder).glob("*.py"):
            known |= set(re.findall(r'"(--[a-z][a-z-]*)"', file.read_text(encoding="utf-8")))
    named = {option for code in re.findall(r"`([^`]+)`", SENTENCES) for option in OPTION.findall(code)}
    assert len(named) > 15
    assert named - known == set()


def test_the_demonstration_takes_what_is_shown() -> None:
    lines = [line for block in blocks(README) for line in block.text.splitlines()]
    (words,) = [shlex.split(line, comments=True) for line in lines if line.startswith("./deploy/demo ")]
    assert demonstrate.parse(words[1:]).seconds == 60
    for program in ("deploy/demo", "deploy/environment", "tests/run"):
        assert (ROOT / program).is_file()


def test_the_quick_commands_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    values = [("walking", "still", "still", "still", "walking")[(at + at // 7) % 5] for at in range(400)]
    rows = "".join(f"u{at % 8},{value}\n" for at, value in enumerate(values))
    Path("data.csv").write_text(f"id,activity\n{rows}")
    lines = [orjson.dumps({"user": f"u{at % 8}", "activity": value}) for at, value in enumerate(values)]
    Path("sample.jsonl").write_bytes(b"\n".join(lines))
    Path("FILE").write_bytes(orjson.dumps([]))
    done = [words[0] for words in in_blocks() if words[0] in QUICK and check_runs(words)]
    assert set(done) == set(QUICK)
    assert Path("model.json").is_file()


def check_runs(words: list[str]) -> bool:
    answer = run(*words)
    assert answer.exit_code == 0, f"{words}\n{answer.output}"
    return True
