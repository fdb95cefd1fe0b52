"""The file of a law, or of who depends on whom in a stream, as versioned JSON that people can write.

`law_file.md` states the format. Bytes in, bytes out; no file is touched here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from beliefs import json_text
from beliefs.checks import Invalid, Problems, read_object
from beliefs.document import digest_that_fits, header_fits, texts, with_hash
from beliefs.laws.chosen import Theta
from beliefs.laws.dependence import Dependence, require_names
from beliefs.laws.dependence_rows import read_dependence, written_dependence
from beliefs.laws.law_rows import read_law, written_law
from beliefs.model_file import InvalidModel

FORMAT, VERSION = "sottovoce-law", 1
KEYS = ("format", "version", "names", "law", "dependence", "learnt_from", "hash")


class InvalidLaw(InvalidModel):
    """Everything that is wrong with a law's file; each problem names its place in the file."""


@dataclass(frozen=True, eq=False)
class LawFile:
    """A law of attributes, which may have names, or how users of a stream depend on each other: one of the two."""

    law: Theta | None = None
    names: tuple[str, ...] | None = None
    dependence: Dependence | None = None
    learnt_from: Mapping[str, object] = field(default_factory=dict)
    digest: str = ""

    def __post_init__(self) -> None:
        if (self.law is None) == (self.dependence is None):
            raise Invalid("law", "and dependence are two things that such a file may hold: give one of them")
        if self.names is None:
            return
        if self.law is None:
            raise Invalid("names", "belong to a law; users of a dependence are named in it")
        require_names(self.names, self.law.size, "names")


def parse(data: bytes) -> LawFile:
    """What these bytes say, or `InvalidLaw` with all problems that can be found at once."""
    problems = Problems()
    document = problems.run(lambda: read_object(json_text.read(data), "text"))
    if document is None or not header_fits(document, problems, FORMAT, VERSION, KEYS, "a law's file"):
        raise InvalidLaw(problems.found)
    law = names = dependence = None
    if "law" in document:
        law = problems.run(lambda: read_law(document["law"], "law"))
    if "dependence" in document:
        dependence = problems.run(lambda: read_dependence(document["dependence"], "dependence"))
    if "names" in document:
        names = problems.run(lambda: texts(document["names"], "names"))
    learnt_from = problems.run(lambda: read_object(document.get("learnt_from", {}), "learnt_from"))
    digest = problems.run(lambda: digest_that_fits(document))
    if problems.found or learnt_from is None or digest is None:
        raise InvalidLaw(problems.found)
    found = problems.run(lambda: LawFile(law, names, dependence, learnt_from, digest))
    if found is None:
        raise InvalidLaw(problems.found)
    return found


def serialise(found: LawFile) -> bytes:
    """A file that `parse` reads back; the same law, the same bytes."""
    document: dict[str, object] = {"format": FORMAT, "version": VERSION}
    if found.names is not None:
        document["names"] = list(found.names)
    if found.law is not None:
        document["law"] = written_law(found.law)
    if found.dependence is not None:
        document["dependence"] = written_dependence(found.dependence)
    document["learnt_from"] = dict(found.learnt_from)
    return with_hash(document)
