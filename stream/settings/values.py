"""Values that are declared in the settings themselves: a list of texts, or an alphabet as in a model file."""

from typing import Any

from beliefs.alphabet import Alphabet
from beliefs.alphabet_rows import read_alphabet
from beliefs.checks import Invalid
from stream.settings.kinds import wrong


def read_declared(value: Any, most: int, example: str, fewer: str, least: int = 2) -> Alphabet:
    """An alphabet of so many values."""
    if isinstance(value, Alphabet):
        return value
    allowed = (
        f"{least} to {most} values: a list of texts, or kind and what belongs to it as in a model file's alphabet: "
        "categories, integers, bins or grid"
    )
    described = {"kind": "categories", "values": value} if isinstance(value, list) else value
    try:
        alphabet = read_alphabet(described)
    except Invalid as problem:
        field = problem.field.removeprefix("alphabet.")
        raise wrong(allowed, f"write values: {example}, or correct {field}: it {problem.reason}") from None
    if not least <= alphabet.size <= most:
        raise wrong(allowed, "declare two values at least" if alphabet.size < least else f"declare {fewer}")
    return alphabet


def declared_schema(most: int, least: int = 2) -> dict[str, Any]:
    return {
        "anyOf": [
            {"type": "array", "items": {"type": "string"}, "minItems": least, "maxItems": most},
            {
                "type": "object",
                "properties": {"kind": {"enum": ["categories", "integers", "bins", "grid"]}},
                "required": ["kind"],
            },
        ]
    }
