"""The model of a pipeline that learns one, before its first event: the values, and nothing about them."""

from __future__ import annotations

from beliefs.chain import Chain
from beliefs.model_file import Model, parse, serialise
from stream.settings.model import Settings


def declared_model(settings: Settings) -> Model | None:
    """Its digest says what else decides what is learnt. None where a model is named. The auditor reads it, too, so
    nothing of the engine is imported here.
    """
    learn = settings.model.learn
    if learn is None:
        return None
    size, said = learn.values.size, {"doubt": learn.doubt, "withheld": learn.withheld}
    law = [1.0 / size] * size
    declared = {"source": "declared values", **said, "epsilon": settings.mechanism.epsilon}
    return parse(serialise(learn.values, Chain.from_dense(law, [law] * size), declared))
