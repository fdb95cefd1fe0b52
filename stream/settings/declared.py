"""The model of a pipeline that names none: the declared values and nothing about them, or no value worth the name."""

from __future__ import annotations

from typing import Final

from beliefs.alphabet import Categories
from beliefs.chain import Chain
from beliefs.model_file import Model, parse, serialise
from stream.settings.model import Settings

NOTHING: Final = "nothing"


def declared_model(settings: Settings) -> Model | None:
    """Of values that are learnt, its digest says what else decides what is learnt; of a pipeline in which no field's
    values follow one another, it has a single value, which tells nothing. None where a model is named. The auditor
    reads it, too, so nothing of the engine is imported here.
    """
    if not settings.follows:
        return parse(serialise(Categories([NOTHING]), Chain.from_dense([1.0], [[1.0]]), {"source": "no field"}))
    learn = settings.model.learn
    if learn is None:
        return None
    size, said = learn.values.size, {"doubt": learn.doubt, "withheld": learn.withheld}
    law = [1.0 / size] * size
    declared = {"source": "declared values", **said, "epsilon": settings.mechanism.epsilon}
    return parse(serialise(learn.values, Chain.from_dense(law, [law] * size), declared))
