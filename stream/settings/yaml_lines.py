"""YAML 1.2 as plain values, with the line of every key; what reads differently than it looks is refused.

The text is composed into nodes and the values are made here, so that one pass sees every repeated key, anchor and tag
and each can be reported with its line.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

Place = tuple[str | int, ...]

LARGEST_FILE_BYTES: Final = 1 << 20
_DEEPEST: Final = 32
_PLAIN_TAGS: Final = frozenset({"null", "bool", "int", "float", "str", "map", "seq", "timestamp"})
_TAG_PREFIX: Final = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with the text itself."""

    line: int
    place: Place
    found: str
    allowed: str
    fix: str


@dataclass(slots=True)
class Tree:
    """The values of a text, the line of each place, and what was wrong with it."""

    value: Any = None
    lines: dict[Place, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def line_of(self, place: Place) -> int:
        """The line of a place, or of the nearest one around it that the text has."""
        for length in range(len(place), 0, -1):
            if place[:length] in self.lines:
                return self.lines[place[:length]]
        return 1


def read_tree(data: bytes) -> Tree:
    """Read a settings text; whatever is wrong with it is in the tree's faults."""
    tree = Tree()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        tree.faults.append(Fault(line, (), "bytes that are not UTF-8", "a text in UTF-8", "save the file as UTF-8"))
        return tree
    if len(data) > LARGEST_FILE_BYTES:
        tree.faults.append(Fault(1, (), f"{len(data)} bytes", f"at most {LARGEST_FILE_BYTES}", "shorten the file"))
        return tree
    try:
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "broken YAML"
        tree.faults.append(_syntax(mark.line + 1 if mark is not None else 1, str(what)))
    except RecursionError:
        tree.faults.append(_syntax(1, "nesting without end"))
    except YAMLError as error:
        tree.faults.append(_syntax(1, str(error).splitlines()[0]))
    else:
        _Builder(tree).build(root)
    return tree


def _syntax(line: int, what: str) -> Fault:
    fix = "correct the text at or just before this line: indentation with blanks, a colon and a blank after each name"
    return Fault(line, (), what, "YAML 1.2", fix)


class _Builder:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._scalars = YAML(typ="safe", pure=True).constructor

    def build(self, root: Node | None) -> None:
        if not isinstance(root, MappingNode):
            found = "nothing" if root is None else "no mapping at the top"
            fix = "run `sottovoce init` for a file to start from"
            self._tree.faults.append(Fault(1, (), found, "settings as `name: value`", fix))
            return
        self._tree.value = self._value(root, ())

    def _fault(self, node: Node, place: Place, found: str, allowed: str, fix: str) -> None:
        self._tree.faults.append(Fault(node.start_mark.line + 1, place, found, allowed, fix))

    def _value(self, node: Node, place: Place) -> Any:
        if getattr(node, "anchor", None):
            self._fault(node, place, "an anchor", "plain values", "write the value out where it is needed")
            return None  # not followed: a dozen anchors that hold one another are a million values
        if len(place) > _DEEPEST:
            self._fault(node, place, "nesting without need", f"at most {_DEEPEST} levels", "flatten this part")
            return None
        tag = str(node.tag)
        if not tag.startswith(_TAG_PREFIX) or tag.removeprefix(_TAG_PREFIX) not in _PLAIN_TAGS:
            self._fault(node, place, f"the tag {tag}", "plain values without tags", "remove the tag")
            return None
        if isinstance(node, MappingNode):
            return self._mapping(node, place)
        if isinstance(node, SequenceNode):
            return self._sequence(node, place)
        return self._scalar(node, place)

    def _mapping(self, node: MappingNode, place: Place) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node, place)
            if key is None:
                continue
            inner = (*place, key)
            line = key_node.start_mark.line + 1
            if key in members:
                first = self._tree.lines[inner]
                found = f"{key} again; it is already given in line {first}"
                self._fault(key_node, inner, found, "each name once", f"keep the one in line {first} or this one")
                continue
            self._tree.lines[inner] = line
            members[key] = self._value(value_node, inner)
        return members

    def _key(self, node: Node, place: Place) -> str | None:
        if not isinstance(node, ScalarNode) or not str(node.tag).startswith(_TAG_PREFIX):
            self._fault(node, place, "a name that is no text", "names as plain text", "write `name: value`")
            return None
        if node.value == "<<" and not node.style:
            self._fault(node, place, "a merge (<<)", "plain names", "write the merged values out")
            return None
        return str(node.value)

    def _sequence(self, node: SequenceNode, place: Place) -> list[Any]:
        items = []
        for index, item in enumerate(node.value):
            self._tree.lines[(*place, index)] = item.start_mark.line + 1
            items.append(self._value(item, (*place, index)))
        return items

    def _scalar(self, node: Node, place: Place) -> Any:
        if str(node.tag).endswith(":timestamp"):
            return str(node.value)
        try:
            return self._scalars.construct_object(node)
        except (ValueError, YAMLError):
            self._fault(node, place, "a value that cannot be read", "a plain value", "put the value in quotes")
            return None
