"""Model files of version 2: what is read, and what is refused at which row."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from context_models import random_contexts
from model_documents import Document, assert_named, document, problems_of, put, signed, without

from beliefs.alphabet import Categories, IntegerRange
from beliefs.checks import Invalid
from beliefs.contexts import chain_of
from beliefs.model_file import parse, serialise_contexts

CONTEXTS: list[dict[str, object]] = [
    {"context": [], "p": [0.5, 0.25, 0.25]},
    {"context": [2], "to": [0, 2], "p": [0.25, 0.75]},
    {"context": [0, 2], "p": [0.0, 0.5, 0.5]},
]


def with_contexts() -> Document:
    content = document()
    del content["transitions"]
    return content | {"version": 2, "order": 2, "contexts": [dict(row) for row in CONTEXTS]}


def row(place: int, **changes: object) -> Callable[[Document], None]:
    """Change one row of the contexts."""
    return put(contexts=[{**one, **changes} if number == place else one for number, one in enumerate(CONTEXTS)])


def test_a_model_with_contexts_is_read_as_it_stands() -> None:
    model = parse(signed(with_contexts()))
    assert (model.order, model.contexts, model.version) == (2, 3, 2)
    assert model.chain.symbol_of.tolist() == [0, 1, 2, 2]  # rest, walk, run, and run after rest
    assert model.chain.start.tolist() == [0.5, 0.3, 0.2, 0.0]
    expected = [
        ([0, 1, 3], [0.5, 0.25, 0.25]),
        ([0, 1, 2], [0.5, 0.25, 0.25]),
        ([0, 2], [0.25, 0.75]),
        ([1, 2], [0.5, 0.5]),
    ]
    for state, (following, probabilities) in enumerate(expected):
        assert model.chain.row(state)[0].tolist() == following
        assert model.chain.row(state)[1].tolist() == probabilities


def test_without_a_start_the_first_value_follows_the_empty_context() -> None:
    content = with_contexts()
    del content["start"]
    assert parse(signed(content)).chain.start.tolist() == [0.5, 0.25, 0.25, 0.0]


@pytest.mark.parametrize("seed", range(8))
def test_contexts_that_were_written_are_read_back(seed: int) -> None:
    source = random.Random(seed)
    symbols = source.randrange(1, 6)
    start, laws = random_contexts(source, symbols, 3)
    alphabet = IntegerRange(5, 4 + symbols)
    data = serialise_contexts(alphabet, 3, start, laws, {"users": 3})
    model, chain = parse(data), chain_of(start, laws)
    assert model.contexts == len(laws)
    assert np.array_equal(model.chain.indices, chain.indices)
    assert np.array_equal(model.chain.symbol_of, chain.symbol_of)
    assert np.allclose(model.chain.data, chain.data, rtol=1e-15, atol=0)
    assert data == serialise_contexts(alphabet, 3, start, laws, {"users": 3})


def test_an_order_that_no_reader_takes_is_not_written() -> None:
    start, laws = random_contexts(random.Random(1), 2, 2)
    for order in (1, 17):
        with pytest.raises(Invalid, match="order"):
            serialise_contexts(Categories(["a", "b"]), order, start, laws, {})


BAD_CONTEXTS = [
    (put(order=1), "order", "from 2 to 16 in version 2"),
    (put(order=17), "order", "from 2 to 16 in version 2"),
    (put(order=2.0), "order", "from 2 to 16 in version 2"),
    (put(transitions={}), "transitions", "is no key of a model of version 2"),
    (without("contexts"), "contexts", "is missing"),
    (put(contexts={}), "contexts", "must be a list of rows"),
    (put(contexts=CONTEXTS[1:]), "contexts", "no row for the empty context"),
    (put(contexts=[*CONTEXTS, []]), "contexts[3]", "must be an object"),
    (put(contexts=[*CONTEXTS, {"context": [1]}]), "contexts[3]", 'with "context" and "p"'),
    (row(1, more=1), "contexts[1]", 'with "context" and "p"'),
    (row(1, context=[3]), "contexts[1].context", "entry 0 is no value; they are numbered from 0 to 2"),
    (row(1, context=[-1]), "contexts[1].context", "entry 0 is no value"),
    (row(2, context=[0, "run"]), "contexts[2].context", "entry 1 must be an integer, found a text"),
    (row(2, context=[0, True]), "contexts[2].context", "entry 1 must be an integer, found a truth value"),
    (row(2, context="run"), "contexts[2].context", "must be a list"),
    (row(2, context=[0, 1, 2]), "contexts[2].context", "has 3 values, more than the order, which is 2"),
    (row(2, context=[2]), "contexts[2].context", "repeats contexts[1]"),
    (row(0, p=[0.5, 0.5]), "contexts[0].p", "has 2 entries"),
    (row(0, p=[0.5, 0.3, 0.1]), "contexts[0].p", "sums to 0.9"),
    (row(1, to=[2, 0]), "contexts[1].to", "larger"),
    (row(1, to=[0, 3]), "contexts[1].to", "is no state"),
    (row(1, p=[0.25, 0.5]), "contexts[1].p", "sums to 0.75"),
    (put(start=[0.5, 0.5]), "start", "has 2 entries"),
    (put(start=None), "start", "must be a list"),
]


@pytest.mark.parametrize(
    ("spoil", "field", "reason"), BAD_CONTEXTS, ids=[f"{number}-{bad[1]}" for number, bad in enumerate(BAD_CONTEXTS)]
)
def test_each_problem_of_a_context_is_named(spoil: Callable[[Document], None], field: str, reason: str) -> None:
    assert_named(with_contexts(), spoil, field, reason)


def test_every_wrong_context_is_named_at_once() -> None:
    content = with_contexts()
    content["contexts"] = [
        {"context": [9], "p": [1]},
        {"context": [0], "p": [0, 0, 0]},
        {"context": [0], "p": [1, 0, 0]},
    ]
    assert set(problems_of(signed(content))) == {
        "contexts",
        "contexts[0].context",
        "contexts[1].p",
        "contexts[2].context",
    }


def test_too_many_states_are_refused() -> None:
    paths = [[int(digit) for digit in f"{number:016b}"] for number in range(2**16)]
    rows = [{"context": path, "p": [0.5, 0.5, 0]} for path in [[], *paths]]
    found = problems_of(signed(with_contexts() | {"order": 16, "contexts": rows}))
    assert found.keys() == {"contexts"}
    assert "make 131071 states" in found["contexts"]
    assert "at most 65536" in found["contexts"]
