"""Changes single settings in a settings text and leaves every other character as its writer left it.

Places are found by the marks of the parser, so comments, order, quotes, blanks and line ends are never printed anew. A
setting that is taken away from a line of its own becomes a comment: what its writer said of it stays, and it can be
taken up again. The text has been read by `yaml_lines` before, so there are no anchors, merges and repeated names in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from stream.settings.model import Settings

REMOVED: Final = object()
Names = tuple[str, ...]
Pair = tuple[Node, Node]


class CannotRewrite(Exception):
    """The text is written in a way that this place of it cannot be changed in; the message says why."""


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


def rewritten(text: str, changes: Mapping[Names, Any]) -> str:
    """The text with another value at each of these places, a new setting, or without one where it is `REMOVED`.
    A section itself must be there before a setting of it can be added.
    """
    root = YAML(typ="safe", pure=True).compose(text)
    sections: dict[Names, dict[str, Any]] = {}
    for place, value in changes.items():
        sections.setdefault(place[:-1], {})[place[-1]] = value
    edits = [edit for place, values in sections.items() for edit in _edits(text, _section(root, place), values)]
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _section(root: Node, place: Names) -> MappingNode:
    node: Node | None = root
    for name in place:
        node = next((value for key, value in _pairs(node) if key.value == name), None)
    if not isinstance(node, MappingNode) or not node.value:
        raise CannotRewrite(f"{'.'.join(place)} is not written as a section")
    return node


def _pairs(node: Node | None) -> list[Pair]:
    return list(node.value) if isinstance(node, MappingNode) else []


def _edits(text: str, section: MappingNode, values: Mapping[str, Any]) -> Iterator[_Edit]:
    present = {key.value for key, _ in section.value}
    gone = {name for name, value in values.items() if value is REMOVED}
    for key, node in section.value:
        if key.value in values and key.value not in gone:
            yield _replaced(text, key, node, values[key.value])
    new = {name: value for name, value in values.items() if name not in present and name not in gone}
    if section.flow_style:
        yield from _cut(text, section.value, gone)
    else:
        yield from (_commented_out(text, *pair) for pair in section.value if pair[0].value in gone)
    kept = [pair for pair in section.value if pair[0].value not in gone]
    if new:
        yield _added(text, section, kept, new)


def _replaced(text: str, key: Node, node: Node, value: Any) -> _Edit:
    start, end = node.start_mark.index, _end(text, key, node)
    new = _written(value, text[start:end], quoted=_is_quoted(key))
    # Where nothing is written behind the colon, the parser's mark is that of whatever comes next.
    return _Edit(end, end, f" {new}") if start >= end else _Edit(start, end, new)


def _commented_out(text: str, key: Node, node: Node) -> _Edit:
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    column = key.start_mark.index - start
    if text[start : start + column].strip():
        raise CannotRewrite(f"{key.value} does not begin a line of its own")
    end = _line_end(text, _end(text, key, node))
    return _Edit(start, end, "\n".join(_as_comment(line, column) for line in text[start:end].split("\n")))


def _as_comment(line: str, column: int) -> str:
    indent = min(column, len(line) - len(line.lstrip()))
    return line if not line.strip() or line.lstrip().startswith("#") else f"{line[:indent]}#{line[indent:]}"


def _cut(text: str, pairs: list[Pair], gone: Iterable[str]) -> Iterator[_Edit]:
    """From braces: with the comma before it, or the one behind it where comments may stand between."""
    inside = text[pairs[0][0].start_mark.index : _end(text, *pairs[-1])]
    kept_before = False
    for number, (key, node) in enumerate(pairs):
        if key.value not in gone:
            kept_before = True
            continue
        start, end = key.start_mark.index, _end(text, key, node)
        if "#" in inside:
            comma = re.compile(r"\s*,").match(text, end)
            yield _Edit(start, end if comma is None else comma.end(), "")
        elif kept_before:
            yield _Edit(_end(text, *pairs[number - 1]), end, "")
        else:
            yield _Edit(start, pairs[number + 1][0].start_mark.index, "")


def _added(text: str, section: MappingNode, kept: list[Pair], new: Mapping[str, Any]) -> _Edit:
    """Behind the last setting of the section; on the top level before the section that usually follows."""
    quoted = _is_quoted(kept[0][0])
    lines = [f"{_written(name, quoted=quoted)}: {_written(value, quoted=quoted)}" for name, value in new.items()]
    if section.flow_style:
        end = _end(text, *kept[-1])
        return _Edit(end, end, "".join(f", {line}" for line in lines))
    newline = "\r\n" if "\r\n" in text else "\n"
    if section.start_mark.column == 0:
        usual = min(map(_usual_place, new))
        before = [number for number, (key, _) in enumerate(kept) if _usual_place(key.value) < usual]
        after = 1 + max(before, key=lambda number: _usual_place(kept[number][0].value), default=len(kept))
        if after < len(kept):
            return _before(text, kept[after][0].start_mark.index, newline.join(lines) + newline, newline)
    end = _line_end(text, _end(text, *section.value[-1]))
    indent = " " * kept[0][0].start_mark.column
    return _Edit(end, end, "".join(f"{newline}{indent}{line}" for line in lines))


def _is_quoted(key: Node) -> bool:
    """As all names are in JSON, which has texts in such quotes only."""
    return isinstance(key, ScalarNode) and key.style == '"'


def _usual_place(name: str) -> int:
    fields = list(Settings.model_fields)
    return fields.index(name) if name in fields else len(fields)


def _before(text: str, index: int, lines: str, newline: str) -> _Edit:
    """Above the comments that stand right over what begins here."""
    start = text.rfind("\n", 0, index) + 1
    while start and text[text.rfind("\n", 0, start - 1) + 1] == "#":
        start = text.rfind("\n", 0, start - 1) + 1
    above = text[text.rfind("\n", 0, start - 1) + 1 : start] if start else ""
    return _Edit(start, start, lines + ("" if above.strip() else newline))


def _end(text: str, key: Node, node: Node) -> int:
    """Where a value ends; the parser ends a section in lines only where the next thing begins."""
    if isinstance(node, ScalarNode) and node.start_mark.index == node.end_mark.index:
        colon = re.compile(r"\s*:").match(text, key.end_mark.index)
        return key.end_mark.index if colon is None else colon.end()
    if isinstance(node, MappingNode) and not node.flow_style and node.value:
        return _end(text, *node.value[-1])
    if isinstance(node, SequenceNode) and not node.flow_style and node.value:
        return _end(text, node.value[-1], node.value[-1])
    return len(text[: node.end_mark.index].rstrip())


def _line_end(text: str, index: int) -> int:
    end = text.find("\n", index)
    end = len(text) if end < 0 else end
    return end - 1 if text[end - 1 : end] == "\r" else end


def _written(value: Any, old: str = "", *, quoted: bool = False) -> str:
    """As plain as the old text and the value allow."""
    if isinstance(value, Mapping):
        inside = (f"{_written(name, quoted=quoted)}: {_written(inner, quoted=quoted)}" for name, inner in value.items())
        return "{" + ", ".join(inside) + "}"
    if isinstance(value, str):
        if old.startswith("'") and value.isprintable():
            return "'" + value.replace("'", "''") + "'"
        plain = not quoted and not old.startswith('"') and _is_plain(value)
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and value.is_integer() and old.isdigit():
        return str(int(value))
    return json.dumps(value)


def _is_plain(text: str) -> bool:
    """Whether it reads as this text without quotes, in braces, too."""
    try:
        return bool(YAML(typ="safe", pure=True).load(f"[{text}]") == [text])
    except (YAMLError, ValueError):
        return False
