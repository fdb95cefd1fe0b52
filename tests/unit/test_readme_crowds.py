"""The numbers that README says of crowds come from its own settings and its own law."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from aggregate_world import HEAD
from command_house import run
from crowd_settings_text import crowd_house
from notes_help import ROOT, blocks

from stream.commands.crowd_facts import crowd_facts
from stream.crowds.opening import open_crowds
from stream.names import EXIT_DONE, EXIT_FAILED

README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTION = README[README.index("### Crowds: true numbers") : README.index("### What refuses to start")]
BLOCKS = {block.language: block.text for block in blocks(SECTION)}


def house(folder: Path, known: str = "0.2") -> Path:
    return crowd_house(folder, HEAD + BLOCKS["yaml"].replace("known: 0.2", f"known: {known}"), BLOCKS["json"].encode())


def facts(folder: Path, known: str = "0.2") -> dict[str, Any]:
    return crowd_facts(open_crowds(house(folder, known), {}))


def test_what_windows_of_a_size_tell_is_what_is_said(tmp_path: Path) -> None:
    ten, hundred, _ = facts(tmp_path)["worked"]
    said = f"10 users would be told about with a delta of {ten['delta']:.3g} and 100 with {hundred['delta']:.3g}"
    assert said in SECTION
    assert not ten["released"]
    assert not hundred["released"]


def test_so_many_users_are_enough_as_is_said(tmp_path: Path) -> None:
    needed = facts(tmp_path)["needed"]["default"]
    half = facts(tmp_path, "0.5")["needed"]["default"]
    assert f"{needed} are enough, and if half of all values were known, {half}." in SECTION


def test_the_plan_is_one_that_can_be_made(tmp_path: Path) -> None:
    (command,) = re.findall(r"`sottovoce (plan sottovoce.yaml [^`]*)`", SECTION)
    file = house(tmp_path)
    assert run(*command.replace("sottovoce.yaml", str(file)).split()).exit_code == EXIT_DONE
    assert run("plan", file, "--users", 100).exit_code == EXIT_FAILED
    assert run("validate", file).exit_code == EXIT_DONE
