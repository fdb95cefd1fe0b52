"""What all versioned JSON files that people may write have in common: how they begin, their hash, and their lines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from beliefs import json_text
from beliefs.checks import Invalid, Problems, kind_of
from beliefs.model_file import digest_of


def header_fits(
    document: Mapping[str, object], problems: Problems, file_format: str, version: int, keys: Sequence[str], what: str
) -> bool:
    """Whether the rest may be read as what it says; `what` is said of its keys."""
    for path in json_text.repeated_keys(document):
        problems.add(path, "is given more than once; keep one of them")
    if document.get("format") != file_format:
        problems.add("format", f'must be "{file_format}"; this is another kind of file')
        return False
    if type(document.get("version")) is not int or document["version"] != version:
        problems.add("version", f"must be {version}, the only version that this release reads")
        return False
    for key in document:
        if key not in keys:
            problems.add(key, f"is no key of {what}; the keys are {', '.join(keys)}")
    return not problems.found


def digest_that_fits(document: Mapping[str, object]) -> str:
    """The hash may be left out by who writes by hand; if it is there it must fit."""
    if any(True for _ in json_text.unfit_values(document)):
        raise Invalid("hash", "cannot be checked before the values above are put right")
    right = digest_of(document)
    if document.get("hash", f"sha256:{right}") != f"sha256:{right}":
        raise Invalid("hash", f"does not fit the content; leave it out, or write sha256:{right}")
    return right


def with_hash(document: dict[str, object]) -> bytes:
    """The file, one key a line, with its hash as the last; the same document, the same bytes."""
    unfit = [*json_text.unfit_values(document)]
    if unfit:
        raise Invalid(unfit[0], "cannot be written as JSON: it is not finite, or holds half of a surrogate pair")
    whole = {**document, "hash": f"sha256:{digest_of(document)}"}
    lines = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in whole.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def texts(value: object, path: str) -> tuple[str, ...]:
    """A list of texts, at least one."""
    if not isinstance(value, list) or not value:
        raise Invalid(path, f"must be a list of texts, found {'an empty one' if value == [] else kind_of(value)}")
    for place, each in enumerate(value):
        if not isinstance(each, str) or any(True for _ in json_text.unfit_values(each)):
            raise Invalid(f"{path}[{place}]", f"must be a text, found {kind_of(each)}")
    return tuple(value)
