"""How far a partition's learning has come, for whoever shows it: public figures only, about no user."""

from __future__ import annotations

from typing import NamedTuple


class Standing(NamedTuple):
    """`reached` is the offset behind the last block; `looked` says that the block came behind a checkpoint. `error` is
    how far the model in use, or while learning the one that was tried last, may be off; infinite where nothing bounds
    that. `withheld` is the share of epsilon. The agreements are those predicted at the latest checkpoint, 0 before the
    first.
    """

    epoch: int
    informed: bool
    drifted: bool
    first: int
    next_look: int
    reached: int
    looks: int
    pairs: int
    error: float
    withheld: float
    blind_agreement: float
    informed_agreement: float
    evidence: float
    model: str
    looked: bool
