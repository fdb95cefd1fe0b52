"""How users stand with the fields that are protected each by itself: amounts by quantiles, and what a page shows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fields_world import BESIDE, JOB, SEX, World, settings_of

from beliefs.rounding import INFINITE, UNITS_PER_NAT, nats
from stream.fields.choices import FieldsTold
from stream.fields.gate import CHOICE_NAMES
from stream.fields.promise import FieldsPromise
from stream.fields.rows import ACCOUNT, MARKS, words_of_fields
from stream.metrics.fields import FIELD_REPORTS, FIELD_TOTAL, PROTECTED, FieldCounts
from stream.metrics.page_fields import fields_card

NAT = UNITS_PER_NAT


def promise(before: str = BESIDE) -> FieldsPromise:
    found = World(
        settings_of(SEX.replace("cap: 3", "cap: 8"), JOB.replace(", cap: 4", ""), before=before)
    ).promise.fields
    assert found is not None
    return found


def heads(*accounts: tuple[int, int]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Rows of users of whom so much was told by sex and by job."""
    rows = np.zeros((len(accounts), 8 + words_of_fields(2)), dtype=np.int64)
    for row, (sex, job) in zip(rows, accounts, strict=True):
        row[8 + MARKS] = 1
        row[8 + ACCOUNT], row[8 + ACCOUNT + 2] = sex, job
    return rows


def counted(floor: int = 1) -> FieldCounts:
    """A hundred users over two partitions: the i-th told i hundredths of a nat by sex, and half of that by job."""
    counts = FieldCounts(promise(), floor)
    for partition in (0, 1):
        mine = [(i * NAT // 100, i * NAT // 200) for i in range(1, 101) if i % 2 == partition]
        counts.change(partition, np.zeros((len(mine), 8 + words_of_fields(2)), dtype=np.int64), heads(*mine))
    return counts


def test_quantiles_are_the_least_amounts_that_so_many_do_not_exceed() -> None:
    stands = counted().stands()
    assert stands is not None
    for label, rank in (("0.5", 50), ("0.9", 90), ("0.99", 99), ("1", 100)):
        assert stands.spent["sex", label] == rank * NAT // 100
        assert stands.spent["job", label] == rank * NAT // 200
        told = rank * NAT // 100 + rank * NAT // 200
        assert stands.totals["sex", label] == stands.totals["job", label] == told + 3 * NAT
        assert stands.totals[PROTECTED, label] == told + 3 * NAT // 2


def test_users_who_change_or_leave_are_counted_once() -> None:
    counts = counted()
    counts.lost(0)
    before = heads(*((i * NAT // 100, i * NAT // 200) for i in range(1, 101, 2)))
    counts.change(1, before, heads(*((7, 9) for _ in range(50))))
    stands = counts.stands()
    assert stands is not None
    assert {stands.spent["sex", label] for label in ("0.5", "1")} == {7}
    counts.change(1, heads(*((7, 9) for _ in range(50))), heads(*((7, 9) for _ in range(50))))
    assert counts.stands() == stands


def test_nothing_is_said_of_fewer_users_than_the_floor() -> None:
    assert counted(101).stands() is None
    assert dict(counted(101).samples())[FIELD_TOTAL] == {}
    assert counted(100).stands() is not None
    assert "–" in fields_card(counted(101), 100)


def test_choices_add_up() -> None:
    counts = counted()
    for _ in range(2):
        counts.told(
            FieldsTold({"sex": [1, 0, 0, 0, 0, 4], "job": [5, 0, 0, 0, 0, 0]}, {("job", "sex"): np.array([0.25])})
        )
    found = dict(counts.samples())[FIELD_REPORTS]
    assert [found["sex", choice] for choice in CHOICE_NAMES] == [2, 0, 0, 0, 0, 8]
    assert found["job", "full"] == 10
    assert counts.realised["sex", "job"].count == 2


@pytest.mark.parametrize(("told", "shown"), [(INFINITE, "infinite"), (NAT, "4.5")])
def test_the_page_says_what_is_told_without_bound_and_what_has_no_cap(told: int, shown: str) -> None:
    """What is told is never shown as nothing."""
    counts = FieldCounts(promise(), 1)
    counts.change(0, np.zeros((1, 8 + words_of_fields(2)), dtype=np.int64), heads((told, NAT // 2)))
    page = fields_card(counts, 1)
    sex, job, protected = page.split("<tr>")[-3:]
    assert sex.count(shown) == job.count(shown) == 3
    assert "none" not in sex
    assert job.count("none") == 1
    assert protected.count("none") == 1
    assert nats(INFINITE) == math.inf
