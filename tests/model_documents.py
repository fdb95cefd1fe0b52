"""Model files as JSON documents that a test may spoil."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from beliefs.model_file import InvalidModel, digest_of, parse

ROWS = [[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.0, 0.3, 0.7]]
Document = dict[str, object]


def document() -> Document:
    return {
        "format": "sottovoce-model",
        "version": 1,
        "order": 1,
        "alphabet": {"kind": "categories", "values": ["rest", "walk", "run"]},
        "start": [0.5, 0.3, 0.2],
        "transitions": {"form": "dense", "rows": [list(row) for row in ROWS]},
        "learnt_from": {"source": "a sample", "events": 100, "users": 7},
    }


def signed(content: Document) -> bytes:
    return json.dumps({**content, "hash": f"sha256:{digest_of(content)}"}).encode()


def problems_of(data: bytes) -> dict[str, str]:
    with pytest.raises(InvalidModel) as caught:
        parse(data)
    return {problem.field: problem.reason for problem in caught.value.problems}


def put(**changes: object) -> Callable[[Document], None]:
    return lambda content: content.update(changes)


def without(key: str) -> Callable[[Document], None]:
    def remove(content: Document) -> None:
        del content[key]

    return remove


def assert_named(content: Document, spoil: Callable[[Document], None], field: str, reason: str) -> None:
    spoil(content)
    data = json.dumps(content).encode() if "hash" in content else signed(content)
    found = problems_of(data)
    assert field in found
    assert reason in found[field]
    if not field.startswith("alphabet") and "has 3 rows" not in reason:  # a wrong size is felt in every law
        assert {re.split(r"[.[]", name)[0] for name in found} == {re.split(r"[.[]", field)[0]}
