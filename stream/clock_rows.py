"""The state rows of a pipeline, as the stores and the loader see them: with a word for the clock where its model goes
by one, with the last events' charges where any so many of them have a budget, and with listed entries where not every
entry of a belief is written out.
"""

from __future__ import annotations

from stream import state
from stream.promise import Promise
from stream.protocol.ports import RowCodec
from stream.settings.model import Settings
from stream.stores.rows import EpochRows, SegmentedRows, StateRows


def rows_of(settings: Settings, states: int, tag: int, listed: int = 0) -> StateRows:
    """The rows of one model."""
    return StateRows(state.codes_of(states, listed), tag, words_of(settings), listed=listed > 0)


def rows_of_promise(settings: Settings, promise: Promise) -> RowCodec:
    """The rows of every model that serves, those that are learnt included."""
    models = {}
    for each in promise.served:
        policy, states = each.policy, each.chain.start.shape[0]
        models[policy.model_tag] = rows_of(settings, states, policy.model_tag, policy.listed)
    if promise.segments is not None:
        return SegmentedRows(models)
    rows = next(iter(models.values()))
    return rows if promise.learning is None else EpochRows(rows)


def words_of(settings: Settings) -> int:
    return state.head_words(settings.model.step is not None, settings.budget.sliding)
