"""A model that calls one of its own values impossible at any time: said wherever settings are looked at or started."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from beliefs.chain import Chain
from stream.serving import Serving


def values_never_possible(chain: Chain) -> int:
    """How many values no user can begin with and no row leads to."""
    if chain.has_tail:
        return 0
    possible = np.zeros(chain.symbols, dtype=np.bool_)
    possible[chain.symbol_of[np.flatnonzero(chain.start)]] = True
    possible[chain.symbol_of[chain.indices]] = True
    return int(np.count_nonzero(~possible))


def warned_of(servings: Sequence[Serving]) -> Iterator[str]:
    for serving in servings:
        never = values_never_possible(serving.model.chain)
        if never:
            yield (
                f"model {serving.model.short} calls {never} of its {serving.model.alphabet.size} values impossible at "
                "any time. Should they occur, epsilon holds all the same, and they are hardly ever released as they "
                "are: learn a model that allows them, or take them out of its alphabet"
            )
