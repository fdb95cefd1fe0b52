from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_documents import ROWS, Document, assert_named, document, problems_of, put, signed, without

from beliefs.alphabet import CLAMP, Bins, Categories, Grid, IntegerRange
from beliefs.chain import Chain
from beliefs.checks import Invalid
from beliefs.model_file import InvalidModel, Model, digest_of, parse, serialise


def test_a_model_is_read_as_it_stands() -> None:
    model = parse(signed(document()))
    assert model.alphabet == Categories(["rest", "walk", "run"])
    assert model.chain.dense.tolist() == [[p / sum(row) for p in row] for row in ROWS]
    assert model.order == 1
    assert model.learnt_from == {"source": "a sample", "events": 100, "users": 7}
    assert model.short == model.digest[:8]
    assert model.tag == int.from_bytes(bytes.fromhex(model.digest)[:4], "big")


def test_the_hash_is_that_of_the_canonical_content() -> None:
    content = document()
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert parse(signed(content)).digest == hashlib.sha256(text.encode()).hexdigest()
    reordered = dict(reversed(list(content.items())))
    assert parse(json.dumps({**json.loads(signed(reordered))}, indent=3).encode()).digest == digest_of(content)


def test_sparse_rows_give_the_same_chain() -> None:
    content = document()
    sparse = [{"to": [y for y in range(3) if row[y]], "p": [p for p in row if p]} for row in ROWS]
    content["transitions"] = {"form": "sparse", "rows": sparse}
    one, other = parse(signed(content)).chain, parse(signed(document())).chain
    assert np.array_equal(one.data, other.data)
    assert np.array_equal(one.indices, other.indices)


@settings(max_examples=60)
@given(st.integers(1, 7), st.integers(0, 2**32), st.booleans())
def test_what_was_written_is_read_back(size: int, seed: int, integers: bool) -> None:
    source = np.random.default_rng(seed)
    table = source.dirichlet(np.full(size, 0.3), size) * (source.random((size, size)) < source.random())
    table[np.arange(size), source.integers(0, size, size)] += 1e-3
    chain = Chain.from_dense(np.full(size, 1 / size), table / table.sum(axis=1, keepdims=True))
    alphabet = IntegerRange(-3, size - 4) if integers else Categories([f"ü{x}" for x in range(size)])
    data = serialise(alphabet, chain, {"users": 3})
    model = parse(data)
    assert model.alphabet == alphabet
    assert np.array_equal(model.chain.indices, chain.indices)
    assert np.allclose(model.chain.data, chain.data, rtol=1e-15, atol=0)
    assert data == serialise(alphabet, chain, {"users": 3})


@pytest.mark.parametrize(
    "alphabet",
    [
        Bins(-10.0, 40.0, 6, CLAMP),
        Bins(0.0, 1.5, 6),
        Grid(Bins(47.3, 47.5, 2, CLAMP), Bins(8.4, 8.7, 3)),
        Grid(Bins(47.3, 47.5, 3), Bins(8.4, 8.7, 2), ("lat", "lon")),
    ],
)
def test_cells_are_written_and_read_back(alphabet: Bins | Grid) -> None:
    chain = Chain.from_dense([1 / 6] * 6, [[1 / 6] * 6] * 6)
    model = parse(serialise(alphabet, chain, {}))
    assert model.alphabet == alphabet
    assert [model.alphabet.value_at(x) for x in range(6)] == [alphabet.value_at(x) for x in range(6)]


def test_a_large_sparse_model_stays_sparse() -> None:
    size = 3000
    chain = Chain.from_sparse(
        [1 / size] * size, [([x, (x + 1) % size][:: -1 if x == size - 1 else 1], [0.5, 0.5]) for x in range(size)]
    )
    data = serialise(IntegerRange(0, size - 1), chain, {})
    model = parse(data)
    assert len(data) < 70 * size
    assert model.chain.dense.size == 0
    assert np.array_equal(model.chain.data, chain.data)


def test_serialise_refuses_what_no_reader_could_take() -> None:
    chain = Chain.from_dense([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    unfit: list[tuple[dict[str, object], str]] = [
        ({"a": [float("nan")]}, "learnt_from.a[0]"),
        ({"a": {"b": "\ud800"}}, "learnt_from.a.b"),
    ]
    for learnt_from, field in unfit:
        with pytest.raises(Invalid) as caught:
            serialise(Categories(["a", "b"]), chain, learnt_from)
        assert caught.value.field == field
    with pytest.raises(Invalid):
        serialise(Categories(["a"]), chain, {})


def transitions(form: object, rows: object) -> Callable[[Document], None]:
    return put(transitions={"form": form, "rows": rows})


SIDE = {"low": 0.0, "high": 1.0, "cells": 3}
IDENTITY = [{"to": [x], "p": [1.0]} for x in range(3)]

BAD = [
    (put(format="other"), "format", "another kind of file"),
    (without("format"), "format", "sottovoce-model"),
    (put(version=5), "version", "the only versions"),
    (put(version=True), "version", "the only version"),
    (put(version="1"), "version", "the only version"),
    (put(order=2), "order", "chain of another order"),
    (put(contexts=[]), "contexts", "is no key of a model of version 1"),
    (put(order=1.0), "order", "must be 1"),
    (without("order"), "order", "must be 1"),
    (put(surprise=1), "surprise", "is no key of a model"),
    (without("alphabet"), "alphabet", "is missing"),
    (put(alphabet=["a"]), "alphabet", "must be an object"),
    (put(alphabet={"kind": "colours"}), "alphabet.kind", "must be"),
    (put(alphabet={"kind": ["integers"]}), "alphabet.kind", "must be"),
    (put(alphabet={"kind": "categories"}), "alphabet.values", "must be a list"),
    (put(alphabet={"kind": "categories", "values": ["a", "b", "a"]}), "alphabet.values[2]", "repeats values[0]"),
    (put(alphabet={"kind": "categories", "values": ["a", "b", 3]}), "alphabet.values[2]", "must be a text"),
    (put(alphabet={"kind": "categories", "values": ["a"], "low": 1}), "alphabet.low", "does not belong"),
    (put(alphabet={"kind": "integers", "low": 3, "high": 1}), "alphabet.high", "below low"),
    (put(alphabet={"kind": "integers", "low": 0.0, "high": 2}), "alphabet.low", "must be an integer"),
    (put(alphabet={"kind": "integers", "low": 0, "high": 3}), "transitions.rows", "has 3 rows"),
    (without("start"), "start", "is missing"),
    (put(start=[0.5, 0.5]), "start", "has 2 entries"),
    (put(start=[0.5, 0.3, 0.1]), "start", "sums to 0.9"),
    (put(start="uniform"), "start", "must be a list"),
    (without("transitions"), "transitions", "is missing"),
    (put(transitions=[]), "transitions", "must be an object"),
    (put(transitions={"form": "dense", "rows": ROWS, "more": 1}), "transitions.more", "is no key"),
    (transitions("csr", ROWS), "transitions.form", "must be"),
    (transitions("dense", {}), "transitions.rows", "must be a list"),
    (transitions("dense", ROWS[:2]), "transitions.rows", "has 2 rows"),
    (transitions("dense", [*ROWS[:2], [0.0, 0.3, 0.6]]), "transitions.rows[2]", "sums to 0.9"),
    (transitions("dense", [*ROWS[:2], [0.0, True, 0.0]]), "transitions.rows[2]", "entry 1 must be a number"),
    (transitions("dense", [*ROWS[:2], [0.5, -0.5, 1.0]]), "transitions.rows[2]", "entry 1 is negative"),
    (transitions("dense", [*ROWS[:2], [0.5, 0.5]]), "transitions.rows[2]", "has 2 entries"),
    (transitions("dense", IDENTITY), "transitions.rows[0]", "must be a list"),
    (transitions("sparse", ROWS), "transitions.rows[0]", 'two lists "to" and "p"'),
    (transitions("sparse", [*IDENTITY[:2], {"to": [3], "p": [1.0]}]), "transitions.rows[2].to", "is no state"),
    (transitions("sparse", [*IDENTITY[:2], {"to": [1, 0], "p": [0.5, 0.5]}]), "transitions.rows[2].to", "larger"),
    (transitions("sparse", [*IDENTITY[:2], {"to": [0], "p": [0.5]}]), "transitions.rows[2].p", "sums to 0.5"),
    (transitions("sparse", [*IDENTITY[:2], {"to": [0]}]), "transitions.rows[2]", "two lists"),
    (put(learnt_from="somewhere"), "learnt_from", "must be an object"),
    (put(hash="sha256:00"), "hash", "does not fit the content"),
    (put(hash=None), "hash", "does not fit the content"),
    (put(alphabet={"kind": "bins", "low": 0, "high": 1}), "alphabet.cells", "must be a whole number, found null"),
    (put(alphabet={"kind": "bins", "low": 1, "high": 0, "cells": 3}), "alphabet.high", "must be above low"),
    (put(alphabet={"kind": "bins", "low": 0, "high": 1, "cells": 3, "outside": 1}), "alphabet.outside", '"clamp"'),
    (put(alphabet={"kind": "bins", "low": 0, "high": 1, "cells": 4}), "transitions.rows", "has 3 rows"),
    (put(alphabet={"kind": "bins", "low": 0, "high": 1, "cells": 3, "step": 1}), "alphabet.step", "does not belong"),
    (put(alphabet={"kind": "grid", "rows": SIDE}), "alphabet.columns", "must be an object"),
    (put(alphabet={"kind": "grid", "rows": SIDE, "columns": {"low": 0}}), "alphabet.columns.high", "must be a number"),
    (put(alphabet={"kind": "grid", "rows": {**SIDE, "x": 1}, "columns": SIDE}), "alphabet.rows.x", "does not belong"),
    (put(alphabet={"kind": "grid", "rows": SIDE, "columns": SIDE, "names": ["a"]}), "alphabet.names", "two names"),
]


@pytest.mark.parametrize(
    ("spoil", "field", "reason"), BAD, ids=[f"{number}-{bad[1]}" for number, bad in enumerate(BAD)]
)
def test_each_problem_is_named(spoil: Callable[[Document], None], field: str, reason: str) -> None:
    assert_named(document(), spoil, field, reason)


def test_all_problems_come_at_once() -> None:
    content = document()
    content |= {"order": 2, "start": [1.0], "extra": 0, "hash": "sha256:00"}
    content["transitions"] = {"form": "dense", "rows": [[1.0, 0.0, 0.1], [0.0, 1.0, 0.0], [0.5, 0.5]]}
    found = problems_of(json.dumps(content).encode())
    assert set(found) == {"order", "start", "extra", "hash", "transitions.rows[0]", "transitions.rows[2]"}


def test_a_missing_hash_is_told() -> None:
    content = document()
    assert digest_of(content) in problems_of(json.dumps(content).encode())["hash"]


def test_equal_keys_are_refused_at_any_depth() -> None:
    data = (
        signed(document())
        .replace(b'"order": 1', b'"order": 1, "order": 1')
        .replace(b'"users": 7', b'"users": 7, "users": 7')
    )
    assert set(problems_of(data)) == {"order", "learnt_from.users"}


@pytest.mark.parametrize("data", [b"", b"[]", b"7", b"\xff", b'{"format":', b"[" * 200 + b"]" * 200])
def test_what_is_no_object_is_refused(data: bytes) -> None:
    assert list(problems_of(data)) == ["text"]


def test_a_nan_is_refused_where_it_stands() -> None:
    found = problems_of(signed(document()).replace(b'"events": 100', b'"events": NaN'))
    assert set(found) == {"learnt_from.events", "hash"}


@given(st.binary(max_size=60))
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    with pytest.raises(InvalidModel):
        parse(data)


@settings(max_examples=300)
@given(st.integers(0, 600), st.sampled_from([b"0", b"9", b"-", b"[", b"]", b'"', b",", b"true", b"NaN", b"{}", b""]))
def test_damage_is_never_read_as_another_model(place: int, piece: bytes) -> None:
    whole = signed(document())
    data = whole[:place] + piece + whole[place + 1 :]
    try:
        model: Model | None = parse(data)
    except InvalidModel:
        model = None
    assert model is None or json.loads(data) == json.loads(whole)
