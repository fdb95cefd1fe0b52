"""Notes lead where they say, and what compares a shown output with a real one notices what differs."""

from __future__ import annotations

import pytest
from notes_help import ROOT, blocks, differs, links, steps

SHOWN = """\
three lines
...
right in ≈79.2 % of ... users
verdict: AGREE
"""
REAL = """\
three   lines
that nobody shows
right in 78.1 % of 200 users
verdict: AGREE

"""


def test_every_link_of_a_note_leads_to_a_file() -> None:
    notes = [
        ROOT / "README.md",
        *(
            note
            for room in ("beliefs", "mechanisms", "stream", "deploy", "tests")
            for note in (ROOT / room).rglob("*.md")
        ),
    ]
    found = [(note, target) for note in notes for target in links(note.read_text(encoding="utf-8"))]
    assert len(found) > 40
    assert [
        f"{note.relative_to(ROOT)}: {target}" for note, target in found if not (note.parent / target).exists()
    ] == []


def test_an_output_as_shown_agrees() -> None:
    assert differs(SHOWN, REAL) == ""
    assert differs("...\n", REAL) == ""
    assert differs("...\nverdict: AGREE\n", REAL) == ""
    assert differs("three lines\n...\n", REAL) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("78.1", "62.0"),
        ("78.1", "many"),
        ("AGREE", "DISAGREE"),
        ("three   lines\n", ""),
        ("verdict: AGREE\n", ""),
        ("AGREE\n", "AGREE\none line more\n"),
        ("users\n", "users\nnot shown\n"),
    ],
)
def test_another_output_is_noticed(old: str, new: str) -> None:
    assert old in REAL
    assert differs(SHOWN, REAL.replace(old, new)) != ""


def test_steps_are_commands_with_what_they_print() -> None:
    note = "Text\n\n```sh\none\ntwo\n```\n\n```text\nout\n```\n\n```sh\nthree\n```\n\n```json\n{}\n```\n"
    assert [(step.commands, step.shown, step.line) for step in steps(note)] == [
        ("one\ntwo\n", "out\n", 4),
        ("three\n", None, 13),
    ]
    assert [block.language for block in blocks(note)] == ["sh", "text", "sh", "json"]
