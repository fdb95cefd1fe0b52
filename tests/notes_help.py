"""Notes as their readers use them: commands to run, outputs to compare, links to follow.

In a tutorial a block marked `sh` holds commands, and a block marked `text` right behind it what they print. There a
line `...` stands for any lines, `...` within a line for anything, and a number behind `≈` for any within a tenth of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
NEAR = 0.1
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_NUMBER = r"([0-9][0-9,]*(?:\.[0-9]+)?)"


class Block(NamedTuple):
    language: str
    text: str
    line: int


def blocks(note: str) -> list[Block]:
    return [Block(found[1], found[2], note.count("\n", 0, found.start()) + 2) for found in _FENCE.finditer(note)]


def outside_of_blocks(note: str) -> str:
    return _FENCE.sub("", note)


def links(note: str) -> list[str]:
    """Targets below the note's own folder or beside it, without what follows a #."""
    found = [target.partition("#")[0] for target in _LINK.findall(outside_of_blocks(note))]
    return [target for target in found if target and "://" not in target]


class Step(NamedTuple):
    """Commands, and what a reader is shown of their output, if anything."""

    commands: str
    shown: str | None
    line: int


def steps(note: str) -> Iterator[Step]:
    found = blocks(note)
    for block, following in zip(found, [*found[1:], Block("", "", 0)], strict=True):
        if block.language == "sh":
            yield Step(block.text, following.text if following.language == "text" else None, block.line)


def differs(shown: str, real: str) -> str:
    """The first shown line that the real output does not have where it should; nothing where all agree."""
    wanted = [line for line in map(_plain, shown.splitlines()) if line]
    there = [line for line in map(_plain, real.splitlines()) if line]
    at, may_skip = 0, False
    for line in wanted:
        if line == "...":
            may_skip = True
            continue
        end = len(there) if may_skip else at + 1
        place = next((place for place in range(at, min(end, len(there))) if _agrees(line, there[place])), None)
        if place is None:
            return f"{line}\n    the output has there: {there[at] if at < len(there) else 'nothing more'}"
        at, may_skip = place + 1, False
    return "" if may_skip or at == len(there) else f"nothing more\n    the output has there: {there[at]}"


def _plain(line: str) -> str:
    return " ".join(line.split())


def _agrees(shown: str, real: str) -> bool:
    parts = re.split(rf"(\.\.\.|≈{_NUMBER})", shown)
    # Each split gives text, the mark, and the mark's number if it has one.
    pattern = "".join(
        re.escape(text) + ("" if mark is None else ".*" if mark == "..." else _NUMBER)
        for text, mark in zip(parts[::3], [*parts[1::3], None], strict=True)
    )
    found = re.fullmatch(pattern, real)
    numbers = [number for number in parts[2::3] if number is not None]
    return found is not None and all(
        abs(_number(one) - _number(other)) <= NEAR * _number(one)
        for one, other in zip(numbers, found.groups(), strict=True)
    )


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def tables(note: str) -> list[list[list[str]]]:
    """The cells of each table, without its head."""
    found = re.findall(r"(?:^\|.*\n)+", outside_of_blocks(note), re.MULTILINE)
    return [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]] for table in found
    ]
