"""The models that the settings name, for whoever reads what was released."""

from __future__ import annotations

from pathlib import Path

from beliefs.model_file import InvalidModel, Model, parse
from stream.errors import ModelRefused
from stream.settings.declared import declared_model
from stream.settings.model import Settings


def pipeline_models(settings: Settings) -> list[Model]:
    """The models that serve, in the order of the settings; what is declared of one that is learnt, or of none."""
    declared = declared_model(settings)
    if declared is not None:
        return [declared]
    fix = "name the model that the pipeline ran with in the settings"
    return [model_in(Path(named.file), fix) for named in settings.model.named]


def model_in(where: Path, fix: str) -> Model:
    try:
        return parse(where.read_bytes())
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ModelRefused("The model cannot be read.", str(where), why, fix) from None
    except InvalidModel as error:
        raise ModelRefused("The model cannot be used.", str(where), str(error.problems[0]), fix) from None
