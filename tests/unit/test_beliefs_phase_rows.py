"""Model files of version 4: what is read, what is written back alike, and what is refused at which place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from model_documents import Document, assert_named, document, put, signed, without
from phase_models import random_phases

from beliefs.model_file import parse

DENSE = {"form": "dense", "rows": [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.3, 0.7]]}
SPARSE = {"form": "sparse", "rows": [{"to": [0, 1], "p": [0.5, 0.5]}, {"to": [2], "p": [1.0]}, {"to": [0], "p": [1.0]}]}
EMPTY = {"context": [], "p": [0.5, 0.25, 0.25]}
AFTER_RUN = {"context": [2], "to": [0, 2], "p": [0.25, 0.75]}


def in_phases(*phases: object, order: int = 1) -> Document:
    content = document()
    del content["transitions"]
    return content | {"version": 4, "order": order, "phases": list(phases)}


def test_phases_are_read_as_they_stand() -> None:
    model = parse(signed(in_phases(DENSE, SPARSE)))
    assert (model.version, model.order, model.contexts, model.chain.phases, model.chain.size) == (4, 1, 3, 2, 3)
    assert model.chain.row(0, 4)[1].tolist() == [0.9, 0.1]
    assert model.chain.row(1, 5)[0].tolist() == [2]
    assert model.chain.dense.size == 0  # one phase is sparse, so all are


def test_phases_of_contexts_have_one_list_of_states() -> None:
    other = [{**EMPTY, "p": [0.25, 0.5, 0.25]}, {**AFTER_RUN, "p": [0.5, 0.5]}]
    model = parse(signed(in_phases([EMPTY, AFTER_RUN], other, order=2)))
    assert (model.order, model.contexts, model.chain.phases) == (2, 2, 2)
    assert model.chain.row(0, 1)[1].tolist() == [0.25, 0.5, 0.25]
    assert model.chain.row(2, 1)[1].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(("order", "phases"), [(1, 2), (1, 24), (2, 3)])
def test_what_was_written_is_read_back(order: int, phases: int) -> None:
    model = random_phases(3, order, phases, 4)
    assert (model.order, model.chain.phases, model.version) == (order, phases, 4)
    assert np.allclose(np.add.reduceat(model.chain.data, model.chain.indptr[:-1]), 1.0)


WRONG = [
    (in_phases(DENSE), put(), "phases", "2 to 10080"),
    (in_phases(DENSE, DENSE), put(phases={}), "phases", "must be a list"),
    (in_phases(DENSE, DENSE), without("phases"), "phases", "is missing"),
    (in_phases(DENSE, DENSE), without("start"), "start", "is missing"),
    (in_phases(DENSE, DENSE), put(order=0), "order", "from 1 to 16"),
    (in_phases(DENSE, 3), put(), "phases[1].transitions", "must be an object"),
    (in_phases(DENSE, {**DENSE, "form": "round"}), put(), "phases[1].transitions.form", "dense"),
    (in_phases(DENSE, {**DENSE, "rows": [[0.9, 0.1, 0.0]]}), put(), "phases[1].transitions.rows", "has 1 rows"),
    (in_phases(DENSE, {**SPARSE, "tail": [1, 0, 0]}), put(), "phases[1].transitions.tail", "is no key"),
    (in_phases([EMPTY], DENSE, order=2), put(), "phases[1].contexts", "must be a list"),
    (in_phases([EMPTY], [AFTER_RUN], order=2), put(), "phases[1].contexts", "empty context"),
    (in_phases([EMPTY, AFTER_RUN], [EMPTY], order=2), put(), "phases[1]", "other contexts"),
    (in_phases(DENSE, DENSE), put(transitions=DENSE), "transitions", "is no key"),
]


@pytest.mark.parametrize(("content", "change", "field", "reason"), WRONG)
def test_what_is_wrong_is_named(content: Document, change: Callable[[Document], None], field: str, reason: str) -> None:
    assert_named(dict(content), change, field, reason)
