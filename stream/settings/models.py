"""Which model serves whom: one file for everybody, one for each value of a public field, or one that is learnt."""

from typing import Annotated, Any, ClassVar, Final, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Field

from stream.settings.kinds import FieldPath, FileName, Step, wrong
from stream.settings.learning import LearnSettings
from stream.settings.section import Section

MOST_FILES: Final = 64
_LONGEST_NAME: Final = 255
_LONGEST_FILE: Final = 4096


def read_files(value: Any) -> dict[str, str]:
    allowed = f"a file for each value of the field, at most {MOST_FILES}: {{sensor: a.json, phone: b.json}}"
    if not isinstance(value, dict) or not value:
        raise wrong(allowed, "write the values of the field, each with its model file")
    if len(value) > MOST_FILES:
        raise wrong(allowed, "let values with the same model fall under otherwise")
    for name, file in value.items():
        if len(name) > _LONGEST_NAME:
            raise wrong(allowed, f"shorten the value to {_LONGEST_NAME} characters, or let it fall under otherwise")
        if not isinstance(file, str) or not 1 <= len(file) <= _LONGEST_FILE:
            raise wrong(allowed, f"name a model file for {name}")
    return value


ModelFiles = Annotated[dict[str, FileName], BeforeValidator(read_files)]


class NamedFile(NamedTuple):
    """A model file, where the settings name it, and whose model it is, in words; no words where it is everybody's."""

    file: str
    place: tuple[str, ...]
    words: str = ""


class ModelSettings(Section):
    """What everybody may know about how the values of the protected field follow one another."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": [name]} for name in ("file", "files", "learn")]}
    )
    text_is: ClassVar[str | None] = "file"

    file: FileName | None = Field(default=None, description="the model file, if one model serves all users")
    by: FieldPath | None = Field(
        default=None,
        description="or, instead of file, several models: the public field that says which one serves a user; his "
        "first event decides, and later ones with another model are refused",
    )
    files: ModelFiles | None = Field(
        default=None,
        description="beside by: the model file for each value of that field, {sensor: a.json, phone: b.json}; all "
        "models have the same values",
    )
    otherwise: FileName | None = Field(
        default=None, description="beside by: the model file for all other values; without it they are refused"
    )
    learn: LearnSettings | None = Field(
        default=None,
        description="or, instead of file: start without a model, and let each partition learn one from its releases",
    )
    step: Step = Field(
        default=None,
        description=(
            "event: the model takes one step for each event; or a duration: one for each such interval of event time, "
            "so that silence moves the belief on"
        ),
    )
    most: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=1_000,
        description="where step is a duration, the most steps between two events, however long the silence",
    )
    listed: Annotated[int, Field(ge=1, le=2_000)] | None = Field(
        default=None,
        description=(
            "of a model with a tail: how many entries of a belief are kept by themselves, 8 bytes each; the others are "
            "one multiple of the tail. Without it 2,000 where there are more than 4,096 values, and otherwise all"
        ),
    )

    @property
    def named(self) -> tuple[NamedFile, ...]:
        """Every model file; those of `files` in the order of their values, then `otherwise`."""
        if self.learn is not None:
            return ()
        if self.file is not None:
            return (NamedFile(self.file, ("model",)),)
        files = sorted((self.files or {}).items())
        found = [NamedFile(file, ("model", "files", name), f"the model of {self.by} {name}") for name, file in files]
        if self.otherwise is not None:
            found.append(NamedFile(self.otherwise, ("model", "otherwise"), f"the model of every other {self.by}"))
        return tuple(found)
