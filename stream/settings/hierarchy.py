"""Groups of values in groups, as settings declare them: the names that a value may be released as."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, NamedTuple

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from stream.settings.kinds import wrong

MOST_LEAVES: Final = 4_096
DEEPEST: Final = 16

TREE: Final = (
    "one name, and under it groups in groups down to lists of texts: {any: {medical: [doctor, nurse], office: [clerk]}}"
)


class TreeNode(NamedTuple):
    """A group of values and what it is divided into; a value itself has nothing below it."""

    name: str
    below: tuple["TreeNode", ...] = ()

    def leaves(self) -> tuple[str, ...]:
        """The values, in the order of the tree, so that every group is an interval of them."""
        return tuple(leaf for node in self.below for leaf in node.leaves()) if self.below else (self.name,)

    def names(self) -> tuple[str, ...]:
        return (self.name, *(name for node in self.below for name in node.names()))

    @property
    def depth(self) -> int:
        return 1 + max((node.depth for node in self.below), default=0)


def read_tree(value: Any) -> TreeNode:
    """A hierarchy of texts, each of which stands in it once."""
    if isinstance(value, TreeNode):
        return value
    if not isinstance(value, Mapping) or len(value) != 1:
        raise wrong(TREE, "write one name above all groups, such as any")
    ((name, below),) = value.items()
    root = _node(name, below, 1)
    names = root.names()
    if len(set(names)) < len(names):
        raise wrong(TREE, "give every group and every value a name of its own: one stands there twice")
    if not 2 <= len(root.leaves()) <= MOST_LEAVES:
        raise wrong(f"{TREE}; 2 to {MOST_LEAVES:,} values", "declare as many values as that")
    return root


def _node(name: Any, below: Any, depth: int) -> TreeNode:
    if not isinstance(name, str) or not name:
        raise wrong(TREE, "put names and values in quotes, so that YAML takes them as text")
    if depth > DEEPEST:
        raise wrong(f"{TREE}; at most {DEEPEST} levels", "leave levels out")
    if isinstance(below, Mapping) and below:
        return TreeNode(name, tuple(_node(inner, rest, depth + 1) for inner, rest in below.items()))
    if isinstance(below, list | tuple) and below:
        return TreeNode(name, tuple(_leaf(each) for each in below))
    raise wrong(TREE, "write a list of values below the innermost groups")


def _leaf(value: Any) -> TreeNode:
    if not isinstance(value, str) or not value:
        raise wrong(TREE, "put values in quotes, so that YAML takes them as text")
    return TreeNode(value)


def write_tree(root: TreeNode) -> dict[str, Any]:
    return {root.name: _below(root)}


def _below(node: TreeNode) -> Any:
    """Groups stand beside groups, and values beside values."""
    if node.below[0].below:
        return {inner.name: _below(inner) for inner in node.below}
    return [inner.name for inner in node.below]


Tree = Annotated[
    TreeNode,
    PlainValidator(read_tree),
    PlainSerializer(write_tree),
    WithJsonSchema({"type": "object", "minProperties": 1, "maxProperties": 1}),
]
