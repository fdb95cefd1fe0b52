"""Independent blocks of attributes, such as households: each has a law of its own. Note: laws.md."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from beliefs.checks import Invalid
from beliefs.laws.components import Components, side_by_side
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.laws.tree import TreeLaw

Block = TableLaw | MarkovLaw | GaussianLaw | TreeLaw


@dataclass(frozen=True)
class BlocksLaw:
    """Attributes are numbered through, block after block."""

    blocks: tuple[Block, ...]

    def __post_init__(self) -> None:
        if not self.blocks:
            raise Invalid("blocks", "is empty; a law needs at least one block")

    @property
    def size(self) -> int:
        return sum(block.size for block in self.blocks)

    def components(self) -> Components:
        return side_by_side(block.components() for block in self.blocks)

    def starts(self) -> list[int]:
        """The number of each block's first attribute."""
        return [0, *accumulate(block.size for block in self.blocks)][:-1]

    def block_of(self, attribute: int) -> tuple[Block, int]:
        """The block of an attribute, and the number of that block's first one."""
        place = bisect_right(starts := self.starts(), attribute) - 1
        return self.blocks[place], starts[place]
