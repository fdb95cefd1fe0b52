"""The settings file's JSON Schema, for editors. What two fields may hold together, `sottovoce validate` knows."""

import math
from typing import Any, Final

from stream.settings.kinds import write_duration
from stream.settings.model import Settings
from stream.settings.section import Section

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """The schema as a JSON document; defaults and shorthands are written as a file would have them."""
    schema = Settings.model_json_schema()
    definitions = schema["$defs"]
    for section in Section.__subclasses__():
        if section.text_is and section.__name__ in definitions:
            text = definitions[section.__name__]["properties"][section.text_is]
            definitions[section.__name__] = {"anyOf": [text, definitions[section.__name__]]}
        if section.shorthand and section.__name__ in definitions:
            words = {"enum": list(section.shorthand), "description": "short for the usual case"}
            definitions[section.__name__] = {"anyOf": [words, definitions[section.__name__]]}
    for definition in (schema, *definitions.values()):
        for branch in (definition, *definition.get("anyOf", ())):
            for field in branch.get("properties", {}).values():
                _default_as_written(field)
    return {"$schema": _DIALECT, **schema, "title": "Sottovoce settings"}


def _default_as_written(field: dict[str, Any]) -> None:
    default = field.get("default")
    words = [branch.get("const") for branch in field.get("anyOf", ())]
    if isinstance(default, dict):
        del field["default"]  # a section: its own fields say what they default to
    elif default is None and ("forever" in words or "event" in words):
        field["default"] = "forever" if "forever" in words else "event"
    elif default == math.inf:
        field["default"] = "unlimited"
    elif isinstance(default, int) and "(ms|s|m|h|d)" in field.get("pattern", ""):
        field["default"] = write_duration(default)
