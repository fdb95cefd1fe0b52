"""Tags of whom users belong to: the same for the same text or number, and for nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs.alphabet import Categories
from stream.names import FIELD_MISSING, FIELD_TYPE
from stream.records.belonging import NOBODY, Belonging
from stream.records.fields import FieldForm, fields_reader, value_reader
from stream.records.paths import MISSING, Path
from stream.records.shapes import Rejected

HERE = Belonging(bytes(32))


@given(st.one_of(st.text(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_tag_fits_into_eight_bytes_and_is_never_nobody(value: str | float) -> None:
    tag = HERE.index_of(value)
    assert -(2**63) <= tag < 2**63
    assert tag != NOBODY
    assert tag == HERE.index_of(value)
    assert tag != Belonging(bytes([1]) * 32).index_of(value)


def test_numbers_that_are_equal_are_one_and_texts_are_none_of_them() -> None:
    assert HERE.index_of(7) == HERE.index_of(7.0)
    assert len({HERE.index_of(value) for value in (7, "7", "7.0", 7.5, "t7", -7, 1e300, "")}) == 8
    assert HERE.index_of(10**18) != HERE.index_of(10**18 + 1)


def test_the_key_is_not_shown() -> None:
    assert repr(Belonging(b"secret")) == "Belonging()"


def test_who_says_nothing_belongs_to_nobody() -> None:
    read = value_reader(HERE)
    assert read(MISSING) == NOBODY
    assert [read(value) for value in (None, True, [], {})] == [FIELD_TYPE] * 4
    assert read("rose street") == HERE.index_of("rose street")


def test_a_field_may_have_a_reason_of_its_own() -> None:
    plain = FieldForm("kind", Path(("kind",)), Categories(["a", "b"]))
    own = FieldForm("kind", Path(("kind",)), Categories(["a", "b"]), unfit="unknown_type")
    assert fields_reader([plain])({}) == Rejected(FIELD_MISSING, "$.kind")
    for document in ({}, {"kind": 5}, {"kind": "c"}):
        assert fields_reader([own])(document) == Rejected("unknown_type", "$.kind")
    assert fields_reader([own])({"kind": "b"}) == (1,)


@pytest.mark.parametrize("value", [None, [], True])
def test_what_is_neither_text_nor_number_has_no_tag(value: object) -> None:
    with pytest.raises(TypeError):
        HERE.index_of(value)
