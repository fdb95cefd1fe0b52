"""The model file: the public model of a stream, as versioned JSON. Bytes in, bytes out; no file is touched here.

    {"format": "sottovoce-model",
     "version": 1,
     "order": 1,
     "alphabet": {"kind": "categories", "values": ["rest", "walk", "run"]}
              or {"kind": "integers", "low": 0, "high": 23}
              or {"kind": "bins", "low": -10.0, "high": 40.0, "cells": 100, "outside": "clamp"}
              or {"kind": "grid", "rows": {"low": 47.3, "high": 47.5, "cells": 20, "outside": "refuse"},
                  "columns": {"low": 8.4, "high": 8.7, "cells": 30}, "names": ["lat", "lon"]},
     "start": [0.5, 0.3, 0.2],
     "transitions": {"form": "dense", "rows": [[0.9, 0.1, 0.0], ...]}
                 or {"form": "sparse", "rows": [{"to": [0, 1], "p": [0.9, 0.1]}, ...]},
     "learnt_from": {"source": "...", "events": 10000, "users": 200, ...},
     "hash": "sha256:<64 hexadecimal digits>"}

`rows[x]` is the law of the value that follows x. `learnt_from` may be left out, and is free: any JSON object, for
people. So may `outside`, which is then "refuse", and `names`, without which a place is a list of two numbers. The hash
is SHA-256 of the canonical text (`json_text.canonical`) of everything but `hash`, so it names the model in headers and
in state, and a changed digit is noticed. The numbers in use are those of the file divided by their plain sum, row by
row (`chain.py`).

`parse` reports everything that it can find wrong at once, each with its place in the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from beliefs import json_text
from beliefs.alphabet import REFUSE, Alphabet, Bins, Categories, Grid, IntegerRange
from beliefs.chain import Chain, Row, dense_row, sparse_row, start_law
from beliefs.checks import Invalid, kind_of
from beliefs.simplex import Vector

FORMAT = "sottovoce-model"
VERSION = 1
ORDER = 1
_BINS = ("low", "high", "cells", "outside")
KEYS = ("format", "version", "order", "alphabet", "start", "transitions", "learnt_from", "hash")

Result = TypeVar("Result")


class InvalidModel(ValueError):
    """Everything that is wrong with a model file; each problem names its place in the file."""

    def __init__(self, problems: list[Invalid]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, eq=False)
class Model:
    """A public model of a stream. `digest` is the SHA-256 of its file's content in hexadecimal."""

    alphabet: Alphabet
    chain: Chain
    order: int
    learnt_from: Mapping[str, object]
    digest: str

    @property
    def short(self) -> str:
        """Eight digits for people and for headers."""
        return self.digest[:8]

    @property
    def tag(self) -> int:
        """The first four bytes of the digest as an integer: `short` read as a hexadecimal number."""
        return int(self.digest[:8], 16)


class _Problems:
    """Runs one check after the other and keeps what each found wrong."""

    def __init__(self) -> None:
        self.found: list[Invalid] = []

    def add(self, field: str, reason: str) -> None:
        self.found.append(Invalid(field, reason))

    def run(self, check: Callable[[], Result]) -> Result | None:
        try:
            return check()
        except Invalid as problem:
            self.found.append(problem)
            return None


def parse(data: bytes) -> Model:
    """The model in these bytes, or `InvalidModel` with all its problems."""
    problems = _Problems()
    document = problems.run(lambda: _document(data))
    if document is None:
        raise InvalidModel(problems.found)
    if not _header_fits(document, problems):
        raise InvalidModel(problems.found)  # another format or version: nothing further down is known to mean the same
    missing = [key for key in ("alphabet", "start", "transitions") if key not in document]
    for key in missing:
        problems.add(key, "is missing")
    alphabet = problems.run(lambda: _alphabet(document["alphabet"])) if "alphabet" in document else None
    start, rows = (None, []) if missing else _laws(document, alphabet, problems)
    learnt_from = document.get("learnt_from", {})
    if not isinstance(learnt_from, dict):
        problems.add("learnt_from", f"must be an object, found {kind_of(learnt_from)}")
    digest = problems.run(lambda: _checked_digest(document))
    if problems.found or alphabet is None or start is None or digest is None or not isinstance(learnt_from, dict):
        raise InvalidModel(problems.found)
    return Model(alphabet, Chain.from_rows(start, rows), ORDER, learnt_from, digest)


def serialise(alphabet: Alphabet, chain: Chain, learnt_from: Mapping[str, object]) -> bytes:
    """A model file, one row of transitions a line, dense or sparse as the chain is. The same input, the same bytes."""
    if alphabet.size != chain.size:
        raise Invalid("chain", f"has {chain.size} states, but the alphabet has {alphabet.size} values")
    dense = chain.dense.size > 0
    rows: list[object] = [
        chain.dense[x].tolist() if dense else {"to": chain.row(x)[0].tolist(), "p": chain.row(x)[1].tolist()}
        for x in range(chain.size)
    ]
    document: dict[str, object] = {
        "format": FORMAT,
        "version": VERSION,
        "order": ORDER,
        "alphabet": _alphabet_document(alphabet),
        "start": chain.start.tolist(),
        "transitions": {"form": "dense" if dense else "sparse", "rows": rows},
        "learnt_from": dict(learnt_from),
    }
    unfit = [*json_text.unfit_values(document["learnt_from"], "learnt_from")]
    if unfit:
        raise Invalid(unfit[0], "cannot be written as JSON: it is not finite, or holds half of a surrogate pair")
    # The digest is taken of what a reader will see: keys that are no texts, tuples and the like become JSON first.
    document = json.loads(_text(document))
    return _pretty(document, rows)


def digest_of(document: Mapping[str, object]) -> str:
    """SHA-256 of the canonical text of everything but `hash`."""
    content = {key: value for key, value in document.items() if key != "hash"}
    return hashlib.sha256(json_text.canonical(content)).hexdigest()


def _pretty(document: Mapping[str, object], rows: list[object]) -> bytes:
    lines = [f" {json.dumps(key)}: {_text(document[key])}" for key in KEYS[:5]]
    form = "dense" if isinstance(rows[0], list) else "sparse"
    table = ",\n".join(f"  {_text(row)}" for row in rows)
    lines.append(f' "transitions": {{"form": "{form}", "rows": [\n{table}]}}')
    lines.append(f' "learnt_from": {_text(document["learnt_from"])}')
    lines.append(f' "hash": "sha256:{digest_of(document)}"')
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("utf-8")


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _document(data: bytes) -> Mapping[str, object]:
    value = json_text.read(data)
    if not isinstance(value, dict):
        raise Invalid("text", f"must hold one JSON object, found {kind_of(value)}")
    return value


def _header_fits(document: Mapping[str, object], problems: _Problems) -> bool:
    for path in json_text.repeated_keys(document):
        problems.add(path, "is given more than once; keep one of them")
    for path in json_text.unfit_values(document):
        problems.add(path or "text", "holds NaN, an infinity or half of a surrogate pair")
    if document.get("format") != FORMAT:
        problems.add("format", f'must be "{FORMAT}"; this is another kind of file')
        return False
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        problems.add("version", f"must be {VERSION}, the only version that this release reads")
        return False
    order = document.get("order")
    if type(order) is not int or order != ORDER:
        problems.add("order", f"must be {ORDER}: a belief over single values cannot follow a chain of another order")
    for key in document:
        if key not in KEYS:
            problems.add(key, f"is no key of a model; the keys are {', '.join(KEYS)}")
    return True


def _alphabet(value: object) -> Alphabet:
    if not isinstance(value, dict):
        raise Invalid("alphabet", f"must be an object, found {kind_of(value)}")
    makers: dict[object, tuple[tuple[str, ...], Callable[..., Alphabet]]] = {
        "categories": (("values",), Categories),
        "integers": (("low", "high"), IntegerRange),
        "bins": (_BINS, _bins),
        "grid": (("rows", "columns", "names"), _grid),
    }
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in makers:
        raise Invalid("alphabet.kind", 'must be "categories", "integers", "bins" or "grid"')
    names, make = makers[kind]
    for name in value:
        if name not in ("kind", *names):
            raise Invalid(f"alphabet.{name}", f"does not belong to an alphabet of {kind}; it has {', '.join(names)}")
    try:
        return make(*(value.get(name) for name in names))
    except Invalid as problem:
        raise Invalid(f"alphabet.{problem.field}", problem.reason) from None


def _bins(low: Any, high: Any, cells: Any, outside: Any) -> Bins:
    return Bins(low, high, cells, REFUSE if outside is None else outside)


def _grid(rows: object, columns: object, names: tuple[str, str] | None) -> Grid:
    return Grid(_side(rows, "rows"), _side(columns, "columns"), names)


def _side(value: object, field: str) -> Bins:
    if not isinstance(value, dict):
        raise Invalid(field, f"must be an object with low, high and cells, found {kind_of(value)}")
    for name in value:
        if name not in _BINS:
            raise Invalid(f"{field}.{name}", f"does not belong to a side of a grid; it has {', '.join(_BINS)}")
    try:
        return _bins(value.get("low"), value.get("high"), value.get("cells"), value.get("outside"))
    except Invalid as problem:
        raise Invalid(f"{field}.{problem.field}", problem.reason) from None


def _bins_document(bins: Bins) -> dict[str, object]:
    return {"low": bins.low, "high": bins.high, "cells": bins.cells, "outside": bins.outside}


def _alphabet_document(alphabet: Alphabet) -> dict[str, object]:
    if isinstance(alphabet, Categories):
        return {"kind": "categories", "values": list(alphabet.values)}
    if isinstance(alphabet, Bins):
        return {"kind": "bins", **_bins_document(alphabet)}
    if isinstance(alphabet, Grid):
        sides = {"rows": _bins_document(alphabet.rows), "columns": _bins_document(alphabet.columns)}
        return {"kind": "grid", **sides, **({} if alphabet.names is None else {"names": list(alphabet.names)})}
    return {"kind": "integers", "low": alphabet.low, "high": alphabet.high}


def _laws(
    document: Mapping[str, object], alphabet: Alphabet | None, problems: _Problems
) -> tuple[Vector | None, list[Row]]:
    """Start and rows. Without a valid alphabet the number of rows stands in for its size."""
    transitions = document["transitions"]
    if not isinstance(transitions, dict):
        problems.add("transitions", f"must be an object, found {kind_of(transitions)}")
        return None, []
    for key in transitions:
        if key not in ("form", "rows"):
            problems.add(f"transitions.{key}", "is no key of transitions; the keys are form, rows")
    rows = transitions.get("rows")
    readers: dict[object, Callable[[object, str, int], Row]] = {"dense": dense_row, "sparse": _sparse_object}
    form = transitions.get("form")
    if not isinstance(form, str) or form not in readers:
        problems.add("transitions.form", 'must be "dense" or "sparse"')
    if not isinstance(rows, list):
        problems.add("transitions.rows", f"must be a list of rows, found {kind_of(rows)}")
        return None, []
    size = alphabet.size if alphabet is not None else len(rows)
    if len(rows) != size:
        problems.add("transitions.rows", f"has {len(rows)} rows, but the alphabet has {size} values")
    start = problems.run(lambda: start_law(document["start"], "start", size))
    if not isinstance(form, str) or form not in readers:
        return start, []
    checked = [_row(readers[form], row, index, size, problems) for index, row in enumerate(rows)]
    return start, [row for row in checked if row is not None]


def _row(
    reader: Callable[[object, str, int], Row], row: object, index: int, size: int, problems: _Problems
) -> Row | None:
    return problems.run(lambda: reader(row, f"transitions.rows[{index}]", size))


def _sparse_object(row: object, field: str, size: int) -> Row:
    if not isinstance(row, dict) or set(row) != {"to", "p"}:
        raise Invalid(field, 'must be an object with the two lists "to" and "p"')
    return sparse_row(row["to"], row["p"], field, size)


def _checked_digest(document: Mapping[str, object]) -> str:
    if any(True for _ in json_text.unfit_values(document)):
        raise Invalid("hash", "cannot be checked before the values above are put right")
    right = f"sha256:{digest_of(document)}"
    if "hash" not in document:
        raise Invalid("hash", f"is missing; for this content it is {right}")
    if document["hash"] != right:
        raise Invalid("hash", f"does not fit the content; if the content was changed on purpose, it is {right}")
    return right.removeprefix("sha256:")
