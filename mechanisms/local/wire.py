"""Reports as JSON, one for each event, for readers in any language. The format, and what is refused: wire.md."""

from __future__ import annotations

import itertools
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from beliefs.checks import Invalid, kind_of, read_object
from beliefs.json_text import JsonObject
from mechanisms.contract import Integers
from mechanisms.local.contract import Drawn
from mechanisms.local.grr import DrawnResponse
from mechanisms.local.hashing import DrawnHashing, HashReports
from mechanisms.local.histogram import DrawnHistogram
from mechanisms.local.labels import Labels, TopLabels, require_array
from mechanisms.local.rappor import DrawnRappor
from mechanisms.local.slots import Values
from mechanisms.local.subset import DrawnSubset
from mechanisms.local.top_k import DrawnTop
from mechanisms.local.unary import DrawnBits

VERSION = 1
_SEED = re.compile(r"[0-9a-f]{32}")


class Shape(Protocol):
    """The JSON of one kind of reports; `write` and `read` below go through these four."""

    def check(self, reports: Any) -> None:
        """Refuse arrays that are no reports of this kind."""
        ...

    def documents(self, reports: Any) -> list[object]: ...

    def row(self, document: object) -> Any:
        """One report, or `Invalid` on the member that is wrong; the message shows no value."""
        ...

    def stack(self, rows: Sequence[Any]) -> Any:
        """Rows in the mechanism's own form."""
        ...


@dataclass(frozen=True)
class Bits:
    """One bit for each value, packed."""

    length: int

    def check(self, reports: Integers) -> None:
        require_array(reports, "bits", self.length, 0, 1)

    def documents(self, reports: Integers) -> list[object]:
        packed = np.packbits(reports.astype(np.uint8), axis=1)
        return [_document(length=self.length, bits=b64encode(row.tobytes()).decode()) for row in packed]

    def row(self, document: object) -> Integers:
        length, bits = _members(document, "length", "bits")
        _whole(length, "length", self.length, self.length)
        packed = _unpacked(bits)
        if len(packed) != -(-self.length // 8):
            raise Invalid("bits", f"must be {-(-self.length // 8)} bytes, found {len(packed)}")
        found = np.unpackbits(np.frombuffer(packed, dtype=np.uint8))
        if found[self.length :].any():
            raise Invalid("bits", "has a bit set behind that of the last value")
        return found[: self.length].astype(np.int64)

    def stack(self, rows: Sequence[Integers]) -> Integers:
        return np.array(rows, dtype=np.int64).reshape(len(rows), self.length)


@dataclass(frozen=True)
class Hashes:
    """A hash function by its seed, and the cell that was reported."""

    span: int

    def check(self, reports: HashReports) -> None:
        if not isinstance(reports, HashReports):
            raise Invalid("reports", f"must be HashReports, found {kind_of(reports)}")
        words = (reports.factors, reports.shifts)
        if any(each.dtype != np.uint64 or each.shape != reports.hashes.shape for each in words):
            raise Invalid("reports", "must have two unsigned words of 64 bits for each hash")
        require_array(reports.hashes, "hashes", None, 0, self.span - 1)

    def documents(self, reports: HashReports) -> list[object]:
        columns = (reports.factors.tolist(), reports.shifts.tolist(), reports.hashes.tolist())
        return [_document(seed=f"{a:016x}{b:016x}", range=self.span, cell=y) for a, b, y in zip(*columns, strict=True)]

    def row(self, document: object) -> tuple[int, int, int]:
        seed, span, cell = _members(document, "seed", "range", "cell")
        _whole(span, "range", self.span, self.span)
        if not isinstance(seed, str) or not _SEED.fullmatch(seed):
            raise Invalid("seed", "must be a text of 32 hexadecimal digits in lower case")
        return int(seed[:16], 16), int(seed[16:], 16), _whole(cell, "cell", 0, self.span - 1)

    def stack(self, rows: Sequence[tuple[int, int, int]]) -> HashReports:
        factors, shifts = (np.array([row[place] for row in rows], dtype=np.uint64) for place in (0, 1))
        return HashReports(factors, shifts, np.array([row[2] for row in rows], dtype=np.int64))


@dataclass(frozen=True)
class Subsets:
    """The numbers of the values in the set, ascending."""

    values: int
    size: int

    def check(self, reports: Integers) -> None:
        require_array(reports, "sets", self.values, 0, 1)
        if (reports.sum(axis=1) != self.size).any():
            raise Invalid("reports", f"must hold {self.size} values in each set")

    def documents(self, reports: Integers) -> list[object]:
        return [_document(of=self.values, subset=np.flatnonzero(row).tolist()) for row in reports]

    def row(self, document: object) -> Integers:
        of, subset = _members(document, "of", "subset")
        _whole(of, "of", self.values, self.values)
        places = _whole_numbers(subset, "subset", self.size, 0, self.values - 1)
        if any(one >= other for one, other in itertools.pairwise(places)):
            raise Invalid("subset", "must be ascending, no number twice")
        held = np.zeros(self.values, dtype=np.int64)
        held[places] = 1
        return held

    def stack(self, rows: Sequence[Integers]) -> Integers:
        return np.array(rows, dtype=np.int64).reshape(len(rows), self.values)


@dataclass(frozen=True)
class Cells:
    """One noisy cell for each value, in steps of which `per_unit` make 1."""

    values: int
    per_unit: int
    first: int
    last: int

    def check(self, reports: Integers) -> None:
        require_array(reports, "cells", self.values, self.first, self.last)

    def documents(self, reports: Integers) -> list[object]:
        return [_document(per_unit=self.per_unit, cells=row) for row in reports.tolist()]

    def row(self, document: object) -> list[int]:
        per_unit, cells = _members(document, "per_unit", "cells")
        _whole(per_unit, "per_unit", self.per_unit, self.per_unit)
        return _whole_numbers(cells, "cells", self.values, self.first, self.last)

    def stack(self, rows: Sequence[list[int]]) -> Integers:
        return np.array(rows, dtype=np.int64).reshape(len(rows), self.values)


def shape_of(found: Drawn, alphabet: Values) -> Shape:
    """The shape of a mechanism's reports about a field, or one slot of a field of lists, with these values."""
    if alphabet.size != found.values:
        raise Invalid("values", f"are {alphabet.size}, but the mechanism was made for {found.values}")
    if isinstance(found, DrawnResponse):
        return Labels(alphabet)
    if isinstance(found, DrawnTop):
        return TopLabels(alphabet, found.top)
    if isinstance(found, DrawnBits | DrawnRappor):
        return Bits(found.values)
    if isinstance(found, DrawnHashing):
        return Hashes(found.response.values)
    if isinstance(found, DrawnSubset):
        return Subsets(found.values, found.size)
    if isinstance(found, DrawnHistogram):
        return Cells(found.values, found.per_unit, found.first, found.first + len(found.other) - 1)
    raise Invalid("mechanism", "has no shape on the wire")


def write(shape: Shape, reports: Any) -> list[object]:
    """One JSON value for each report; equal reports are equal values, so that nothing else is told."""
    shape.check(reports)
    return shape.documents(reports)


def read(shape: Shape, documents: Iterable[object], first: int = 0) -> Any:
    """The reports in the mechanism's own form, or `Invalid` with the place of one that is none, from `first` on."""
    rows = []
    for place, document in enumerate(documents, first):
        try:
            rows.append(shape.row(document))
        except Invalid as problem:
            inside = "" if problem.field == "report" else f".{problem.field}"
            raise Invalid(f"reports[{place}]{inside}", problem.reason) from None
    return shape.stack(rows)


def _document(**members: object) -> dict[str, object]:
    return {"version": VERSION, **members}


def _members(document: object, *names: str) -> list[object]:
    found = read_object(document, "report")
    if isinstance(found, JsonObject) and found.repeated:
        raise Invalid("report", "has a member twice")
    version = found.get("version")
    if type(version) is not int or version != VERSION:
        raise Invalid("version", f"must be {VERSION}, the only one that is known here")
    if found.keys() != {"version", *names}:
        raise Invalid("report", f"must have the members version, {', '.join(names)} and no others")
    return [found[name] for name in names]


def _whole(value: object, field: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        wanted = str(low) if low == high else f"a whole number of {low} to {high}"
        raise Invalid(field, f"must be {wanted}")
    return value


def _whole_numbers(value: object, field: str, length: int, low: int, high: int) -> list[int]:
    if not isinstance(value, list):
        raise Invalid(field, f"must be a list, found {kind_of(value)}")
    if len(value) != length:
        raise Invalid(field, f"must have {length} entries, found {len(value)}")
    return [_whole(each, f"{field}[{place}]", low, high) for place, each in enumerate(value)]


def _unpacked(text: object) -> bytes:
    if not isinstance(text, str):
        raise Invalid("bits", f"must be a text, found {kind_of(text)}")
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        raise Invalid("bits", "must be base64") from None
    # One report has one text: what decodes alike and is written otherwise could carry more than the report.
    if b64encode(data).decode() != text:
        raise Invalid("bits", "must be base64 with all padding, and zeros in what the last sign does not need")
    return data
