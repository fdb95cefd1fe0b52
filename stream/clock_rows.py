"""The state rows of a pipeline, as the stores and the loader see them: with a word for the clock where its model goes
by one, with the last events' charges where any so many of them have a budget, and with listed entries where not every
entry of a belief is written out.
"""

from __future__ import annotations

from stream import state
from stream.protocol.ports import RowCodec
from stream.settings.model import Settings
from stream.stores.rows import StateRows


def rows_of(settings: Settings, states: int, tag: int, listed: int = 0) -> RowCodec:
    """The rows of this pipeline."""
    return StateRows(state.codes_of(states, listed), tag, words_of(settings), listed=listed > 0)


def words_of(settings: Settings) -> int:
    return state.head_words(settings.model.step is not None, settings.budget.sliding)
