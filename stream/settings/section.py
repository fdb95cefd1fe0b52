"""What every section of the settings is: frozen, strict, and known in full."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True)

    # One word that may stand instead of the whole section, and what it stands for.
    shorthand: ClassVar[dict[str, dict[str, Any]]] = {}
    # Or the field that any plain text stands for.
    text_is: ClassVar[str | None] = None


def written_fields(section: type[Section]) -> dict[str, FieldInfo]:
    """The fields as a file names them; `from` is a word of Python's own, so a field of that name has another there."""
    return {field.alias or name: field for name, field in section.model_fields.items()}
