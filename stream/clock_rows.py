"""The state rows of a pipeline, as the stores and the loader see them: with a word for the clock where its model goes
by one, with the last events' charges where any so many of them have a budget, and with listed entries where not every
entry of a belief is written out.
"""

from __future__ import annotations

from collections.abc import Mapping

from stream import state
from stream.fields.rows import FieldRows, words_of_fields
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
    fields = promise.fields
    followed = _followed(promise, models)
    return followed if fields is None else FieldRows(followed, len(fields.forms), fields.tag, fields.budget)


def _followed(promise: Promise, models: Mapping[int, StateRows]) -> RowCodec:
    if promise.segments is not None:
        return SegmentedRows(models)
    rows = next(iter(models.values()))
    return rows if promise.learning is None else EpochRows(rows)


def words_beside(settings: Settings) -> int:
    """How many words of a row are about the fields that are protected each by itself."""
    return 0 if settings.fields is None else words_of_fields(len(settings.fields.each))


def words_of(settings: Settings) -> int:
    return state.head_words(settings.model.step is not None, settings.budget.sliding)
