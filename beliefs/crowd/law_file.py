"""The file of what an adversary believes of the values of a crowd, before anything is released. Note: law_file.md.

Bytes in, bytes out; no file is touched here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from beliefs import json_text
from beliefs.checks import Invalid, Problems, finite_number, read_object
from beliefs.correlation.nested_lists import nested_entries
from beliefs.crowd.members import CELLS_MAX
from beliefs.document import digest_that_fits, header_fits, with_hash
from beliefs.model_file import InvalidModel
from beliefs.simplex import Vector, probabilities

FORMAT, VERSION = "sottovoce-crowd-law", 1
KEYS = ("format", "version", "types", "household", "learnt_from", "hash")

TYPES_MAX: Final = 1_024
PLACES_MAX: Final = 1 << 16


class InvalidCrowdLaw(InvalidModel):
    """Everything that is wrong with such a file; each problem names its place in it."""


@dataclass(frozen=True, eq=False)
class CrowdLaw:
    """A law of the values of each type of people, who are independent of each other; or the joint law of a household
    of as many members as it has axes, none of whom is told from another. One of the two.
    """

    types: Mapping[str, Vector] = field(default_factory=dict)
    household: Vector | None = None
    learnt_from: Mapping[str, object] = field(default_factory=dict)
    digest: str = ""

    def __post_init__(self) -> None:
        if bool(self.types) == (self.household is not None):
            raise Invalid("types", "and household are two things that such a file may hold: give one of them")
        if self.household is not None:
            _require_household(self.household)
        elif len(sizes := {law.size for law in self.types.values()}) > 1:
            raise Invalid("types", f"have laws of {', '.join(map(str, sorted(sizes)))} chances; one value, one chance")

    @property
    def places(self) -> int:
        """How many values a person may have."""
        if self.household is not None:
            return int(self.household.shape[0])
        return next(iter(self.types.values())).size

    @property
    def members(self) -> int:
        """The most people that depend on each other."""
        return 1 if self.household is None else int(self.household.ndim)


def parse(data: bytes) -> CrowdLaw:
    """What these bytes say, or `InvalidCrowdLaw` with all problems that can be found at once."""
    problems = Problems()
    document = problems.run(lambda: read_object(json_text.read(data), "text"))
    if document is None or not header_fits(document, problems, FORMAT, VERSION, KEYS, "a crowd's law"):
        raise InvalidCrowdLaw(problems.found)
    types: Mapping[str, Vector] = {}
    household = None
    if "types" in document:
        types = _types(document["types"], problems)
    if "household" in document:
        household = problems.run(lambda: _household(document["household"]))
    learnt_from = problems.run(lambda: read_object(document.get("learnt_from", {}), "learnt_from"))
    digest = problems.run(lambda: digest_that_fits(document))
    if problems.found or learnt_from is None or digest is None:
        raise InvalidCrowdLaw(problems.found)
    found = problems.run(lambda: CrowdLaw(types, household, learnt_from, digest))
    if found is None:
        raise InvalidCrowdLaw(problems.found)
    return found


def serialise(law: CrowdLaw) -> bytes:
    """A file that `parse` reads back; the same law, the same bytes."""
    document: dict[str, object] = {"format": FORMAT, "version": VERSION}
    if law.household is not None:
        document["household"] = law.household.tolist()
    else:
        document["types"] = {name: each.tolist() for name, each in law.types.items()}
    document["learnt_from"] = dict(law.learnt_from)
    return with_hash(document)


def _types(value: object, problems: Problems) -> Mapping[str, Vector]:
    document = problems.run(lambda: read_object(value, "types"))
    if document is None:
        return {}
    if not 1 <= len(document) <= TYPES_MAX:
        problems.add("types", f"must name 1 to {TYPES_MAX:,} types of people, each with its law; found {len(document)}")
    found = {}
    for name, chances in document.items():
        law = problems.run(lambda chances=chances, name=name: _law(chances, f"types.{name}"))  # type: ignore[misc]
        if law is not None:
            found[name] = law
    return found


def _law(value: object, path: str) -> Vector:
    law = probabilities(value, path)
    if not 2 <= law.size <= PLACES_MAX:
        raise Invalid(path, f"must be 2 to {PLACES_MAX:,} chances, one for each value; found {law.size}")
    return law


def _household(value: object) -> Vector:
    joint = nested_entries(value, "household", finite_number, CELLS_MAX)
    probabilities(np.ravel(joint), "household")
    return joint + 0.0


def _require_household(joint: Vector) -> None:
    """Who of a household somebody is, is not known; so nothing may depend on it."""
    if joint.ndim < 2 or joint.shape[0] < 2:
        raise Invalid("household", "must be lists within lists, a level for each of two members or more, of two values")
    if len(set(joint.shape)) > 1:
        raise Invalid("household", f"has {' and '.join(map(str, joint.shape))} values; its members have the same ones")
    for member in range(1, joint.ndim):
        if not np.array_equal(joint, np.swapaxes(joint, member - 1, member)):
            raise Invalid("household", f"is another law when members {member - 1} and {member} change places")
