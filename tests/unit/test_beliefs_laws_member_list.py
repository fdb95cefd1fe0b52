from __future__ import annotations

import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.laws.dependence import Blocks, Group, Independent, Members
from beliefs.laws.member_list import read_members
from beliefs.laws.table import TableLaw

BITS = np.array([0.0, 1.0])
BY_FILE = Members("file", "houses.csv")
LISTED = b'\xef\xbb\xbfuser,component\r\nann,h1\r\n"b,ob",h1\r\ncid,h2\r\n"d\ne",h1\r\n'


def even(size: int) -> TableLaw:
    return TableLaw(np.full((2,) * size, 0.5**size), (BITS,) * size)


def test_users_and_their_components() -> None:
    found = read_members(LISTED)
    assert dict(found.component_of) == {"ann": "h1", "b,ob": "h1", "cid": "h2", "d\ne": "h1"}
    assert found.sizes() == {"h1": 3, "h2": 1}
    assert found.largest == 3
    assert read_members(b"user,component\n").largest == 1


def test_a_dependence_must_cover_every_component() -> None:
    found = read_members(LISTED)
    found.require_covered(Independent())
    found.require_covered(Group(3, BY_FILE))
    found.require_covered(Blocks({1: even(1), 3: even(3)}, BY_FILE))
    with pytest.raises(Invalid, match="size: is 2, but a component that is listed has 3 members"):
        found.require_covered(Group(2, BY_FILE))
    with pytest.raises(Invalid, match="laws: has no law for a component of 3; there are laws for 1, 2"):
        found.require_covered(Blocks({1: even(1), 2: even(2)}, BY_FILE))
    with pytest.raises(Invalid, match="laws: has no law for a component of 1"):
        found.require_covered(Blocks({3: even(3)}, BY_FILE))


@pytest.mark.parametrize(
    ("data", "field", "says"),
    [
        (b"", "line 1", "must be user,component"),
        (b"component,user\n", "line 1", "must be user,component"),
        (b"user,component\nann\n", "line 2", "has 1 cells, not 2"),
        (b"user,component\nann,h1\n\n", "line 3", "has 0 cells"),
        (b"user,component\nann,\n", "line 2", "empty cell"),
        (b"user,component\n,h1\n", "line 2", "empty cell"),
        (b"user,component\nann,h1\nbob,h1\nann,h1\n", "line 4", "listed before"),
        (b'user,component\n"ann"x,h1\n', "line 2", "no line of a table"),
        (b'user,component\n"ann,h1\n', "line 2", "no line of a table"),
        (b"user,component\nann,\xff\n", "text", "not UTF-8 from byte 19"),
    ],
)
def test_a_wrong_list_is_refused_with_its_line(data: bytes, field: str, says: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_members(data)
    assert refused.value.field == field
    assert says in refused.value.reason
    assert "ann" not in str(refused.value)
