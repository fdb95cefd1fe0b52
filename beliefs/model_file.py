"""The model file: the public model of a stream, as versioned JSON. Bytes in, bytes out; no file is touched here.

`model_file.md` states the format. `parse` reports everything that it can find wrong at once, each with its place in the
file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from beliefs import json_text
from beliefs.alphabet import Alphabet
from beliefs.alphabet_rows import read_alphabet, written_alphabet
from beliefs.chain import Chain, Row, start_law
from beliefs.checks import Invalid, Problems, kind_of, read_object
from beliefs.context_rows import Laws, read_contexts, written_contexts
from beliefs.contexts import ORDER_MAX, Context, chain_of
from beliefs.phase_rows import read_phases, written_phases
from beliefs.simplex import Vector
from beliefs.transition_rows import read_transitions, written_transitions

FORMAT = "sottovoce-model"
FIRST_ORDER, WITH_CONTEXTS, WITH_TAIL, WITH_PHASES = 1, 2, 3, 4
"""The versions."""
KEYS = {
    FIRST_ORDER: ("format", "version", "order", "alphabet", "start", "transitions", "learnt_from", "hash"),
    WITH_CONTEXTS: ("format", "version", "order", "alphabet", "start", "contexts", "learnt_from", "hash"),
}
KEYS[WITH_TAIL] = KEYS[FIRST_ORDER]
KEYS[WITH_PHASES] = ("format", "version", "order", "alphabet", "start", "phases", "learnt_from", "hash")
_OF_FIRST_ORDER = ("alphabet", "start", "transitions")
_NEEDED = {
    FIRST_ORDER: _OF_FIRST_ORDER,
    WITH_CONTEXTS: ("alphabet", "contexts"),
    WITH_TAIL: _OF_FIRST_ORDER,
    WITH_PHASES: ("alphabet", "start", "phases"),
}


class InvalidModel(ValueError):
    """Everything that is wrong with a model file; each problem names its place in the file."""

    def __init__(self, problems: list[Invalid]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, eq=False)
class Model:
    """A public model of a stream. `digest` is the SHA-256 of its file's content in hexadecimal.

    `contexts` is how many contexts the file lists; of order 1 these are the values.
    """

    alphabet: Alphabet
    chain: Chain
    order: int
    contexts: int
    learnt_from: Mapping[str, object]
    digest: str

    @property
    def version(self) -> int:
        if self.chain.phases > 1:
            return WITH_PHASES
        if self.order > 1:
            return WITH_CONTEXTS
        return WITH_TAIL if self.chain.has_tail else FIRST_ORDER

    @property
    def short(self) -> str:
        """Eight digits for people and for headers."""
        return self.digest[:8]

    @property
    def tag(self) -> int:
        """The first four bytes of the digest as an integer: `short` read as a hexadecimal number."""
        return int(self.digest[:8], 16)


def parse(data: bytes) -> Model:
    """The model in these bytes, or `InvalidModel` with all its problems."""
    problems = Problems()
    document = problems.run(lambda: _document(data))
    if document is None:
        raise InvalidModel(problems.found)
    if not _header_fits(document, problems):
        raise InvalidModel(problems.found)  # another format or version: nothing further down is known to mean the same
    version = next(known for known in KEYS if known == document["version"])
    missing = [key for key in _NEEDED[version] if key not in document]
    for key in missing:
        problems.add(key, "is missing")
    alphabet = problems.run(lambda: read_alphabet(document["alphabet"])) if "alphabet" in document else None
    readers = {WITH_CONTEXTS: _read_with_contexts, WITH_PHASES: _read_in_phases}
    chain = None if missing else readers.get(version, _read_first_order)(document, alphabet, problems)
    learnt_from = problems.run(lambda: read_object(document.get("learnt_from", {}), "learnt_from"))
    digest = problems.run(lambda: _checked_digest(document))
    order, listed = document.get("order"), document.get("contexts")
    if problems.found or alphabet is None or chain is None or learnt_from is None or digest is None:
        raise InvalidModel(problems.found)
    if isinstance(phases := document.get("phases"), list):
        listed = phases[0]
    if not isinstance(order, int) or not isinstance(listed, list):  # of order 1
        return Model(alphabet, chain, 1, alphabet.size, learnt_from, digest)
    return Model(alphabet, chain, order, len(listed), learnt_from, digest)


def serialise(alphabet: Alphabet, chain: Chain, learnt_from: Mapping[str, object]) -> bytes:
    """A model file, one row of transitions a line, dense or sparse as the chain is. The same input, the same bytes."""
    if alphabet.size != chain.size:
        raise Invalid("chain", f"has {chain.size} states, but the alphabet has {alphabet.size} values")
    document: dict[str, object] = {
        "format": FORMAT,
        "version": WITH_TAIL if chain.has_tail else FIRST_ORDER,
        "order": 1,
        "alphabet": written_alphabet(alphabet),
        "start": chain.start.tolist(),
        "transitions": written_transitions(chain),
        "learnt_from": dict(learnt_from),
    }
    return _written(document, "transitions")


def serialise_contexts(
    alphabet: Alphabet, order: int, start: Vector, laws: Mapping[Context, Row], learnt_from: Mapping[str, object]
) -> bytes:
    """A model file of an order above 1, one context a line. The same input, the same bytes."""
    if not 2 <= order <= ORDER_MAX:
        raise Invalid("order", f"must be from 2 to {ORDER_MAX}; `serialise` writes a chain of order 1")
    document: dict[str, object] = {
        "format": FORMAT,
        "version": WITH_CONTEXTS,
        "order": order,
        "alphabet": written_alphabet(alphabet),
        "start": start.tolist(),
        "contexts": written_contexts(laws, alphabet.size),
        "learnt_from": dict(learnt_from),
    }
    return _written(document, "contexts")


def serialise_phases(
    alphabet: Alphabet,
    order: int,
    start: Vector,
    phases: Sequence[Chain] | Sequence[Laws],
    learnt_from: Mapping[str, object],
) -> bytes:
    """A model file in phases, one a line: chains of order 1, or the laws of contexts."""
    document: dict[str, object] = {
        "format": FORMAT,
        "version": WITH_PHASES,
        "order": order,
        "alphabet": written_alphabet(alphabet),
        "start": start.tolist(),
        "phases": written_phases(start, phases),
        "learnt_from": dict(learnt_from),
    }
    return _written(document, "phases")


def _written(document: dict[str, object], table: str) -> bytes:
    unfit = [*json_text.unfit_values(document["learnt_from"], "learnt_from")]
    if unfit:
        raise Invalid(unfit[0], "cannot be written as JSON: it is not finite, or holds half of a surrogate pair")
    # The digest is taken of what a reader will see: keys that are no texts, tuples and the like become JSON first.
    document = json.loads(_text(document))
    lines = [
        f" {json.dumps(key)}: {_text(document[key])}" for key in ("format", "version", "order", "alphabet", "start")
    ]
    lines.append(f' "{table}": {_table(document[table])}')
    lines.append(f' "learnt_from": {_text(document["learnt_from"])}')
    lines.append(f' "hash": "sha256:{digest_of(document)}"')
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("utf-8")


def _table(value: object) -> str:
    if isinstance(value, dict):
        tail = f'"tail": {_text(value["tail"])}, ' if "tail" in value else ""
        return f'{{"form": "{value["form"]}", {tail}"rows": {_table(value["rows"])}}}'
    rows = value if isinstance(value, list) else []
    return "[\n" + ",\n".join(f"  {_text(row)}" for row in rows) + "]"


def digest_of(document: Mapping[str, object]) -> str:
    """SHA-256 of the canonical text of everything but `hash`."""
    content = {key: value for key, value in document.items() if key != "hash"}
    return hashlib.sha256(json_text.canonical(content)).hexdigest()


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _document(data: bytes) -> Mapping[str, object]:
    value = json_text.read(data)
    if not isinstance(value, dict):
        raise Invalid("text", f"must hold one JSON object, found {kind_of(value)}")
    return value


def _header_fits(document: Mapping[str, object], problems: Problems) -> bool:
    for path in json_text.repeated_keys(document):
        problems.add(path, "is given more than once; keep one of them")
    for path in json_text.unfit_values(document):
        problems.add(path or "text", "holds NaN, an infinity or half of a surrogate pair")
    if document.get("format") != FORMAT:
        problems.add("format", f'must be "{FORMAT}"; this is another kind of file')
        return False
    version, order = document.get("version"), document.get("order")
    if type(version) is not int or version not in KEYS:
        problems.add("version", "must be 1, 2, 3 or 4, the only versions that this release reads")
        return False
    if version == WITH_PHASES and (type(order) is not int or not 1 <= order <= ORDER_MAX):
        problems.add("order", f"must be from 1 to {ORDER_MAX}")
    if version in (FIRST_ORDER, WITH_TAIL) and (type(order) is not int or order != 1):
        problems.add(
            "order", f"must be 1 in version {version}; a chain of another order is of version 2, with contexts"
        )
    if version == WITH_CONTEXTS and (type(order) is not int or not 2 <= order <= ORDER_MAX):
        problems.add("order", f"must be from 2 to {ORDER_MAX} in version 2; a chain of order 1 is of version 1")
    for key in document:
        if key not in KEYS[version]:
            problems.add(key, f"is no key of a model of version {version}; the keys are {', '.join(KEYS[version])}")
    return True


def _read_first_order(document: Mapping[str, object], alphabet: Alphabet | None, problems: Problems) -> Chain | None:
    size, tail = None if alphabet is None else alphabet.size, document["version"] == WITH_TAIL
    return read_transitions(document, size, problems, tail=tail)


def _read_in_phases(document: Mapping[str, object], alphabet: Alphabet | None, problems: Problems) -> Chain | None:
    order = document.get("order")
    if alphabet is None or not isinstance(order, int) or problems.found:
        return None
    return read_phases(document, alphabet.size, order, problems)


def _read_with_contexts(document: Mapping[str, object], alphabet: Alphabet | None, problems: Problems) -> Chain | None:
    if alphabet is None:
        return None  # without the values no row can be judged
    order, size = document.get("order"), alphabet.size
    order = order if isinstance(order, int) and 2 <= order <= ORDER_MAX else ORDER_MAX  # a wrong one has been reported
    laws = read_contexts(document["contexts"], order, size, problems)
    start = problems.run(lambda: start_law(document["start"], "start", size)) if "start" in document else None
    if problems.found:
        return None
    if start is None:
        start = np.zeros(size)
        start[laws[()][0]] = laws[()][1]
    first = start
    return problems.run(lambda: chain_of(first, laws))


def _checked_digest(document: Mapping[str, object]) -> str:
    if any(True for _ in json_text.unfit_values(document)):
        raise Invalid("hash", "cannot be checked before the values above are put right")
    right = f"sha256:{digest_of(document)}"
    if "hash" not in document:
        raise Invalid("hash", f"is missing; for this content it is {right}")
    if document["hash"] != right:
        raise Invalid("hash", f"does not fit the content; if the content was changed on purpose, it is {right}")
    return right.removeprefix("sha256:")
