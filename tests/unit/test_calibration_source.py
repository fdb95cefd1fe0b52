"""Joint tables and records as what fields are calibrated by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from calibration_help import LABELS, NAMES, joint_file, many_values, people, records_file, table_of

from stream.calibration.source import Sample, read_sample
from stream.errors import CannotFit, CannotPlan


def sample_of(file: Path, *fields: str, user: str | None = None, added: float = 0.0) -> Sample:
    return read_sample(file, fields, user, added)


def test_records_and_their_table_are_the_same(tmp_path: Path) -> None:
    rows = people()
    table = table_of(rows)
    from_table = sample_of(joint_file(tmp_path, table))
    for file in (records_file(tmp_path, rows), records_file(tmp_path, rows, "people.tsv", "\t")):
        sample = sample_of(file, *NAMES)
        assert sample.names == NAMES
        assert sample.labels == tuple(tuple(sorted(labels)) for labels in LABELS)
        for one, other in ((0, 1), (2, 0)):
            order = [[LABELS[axis].index(label) for label in sample.labels[axis]] for axis in (one, other)]
            assert sample.pair(one, other).argmax() == from_table.pair(one, other)[np.ix_(*order)].argmax()
    assert from_table.weights is not None
    assert (from_table.weights == table.weights).all()
    assert from_table.cells == 24
    assert from_table.law(1).tolist() == pytest.approx((table.weights.sum(axis=(0, 2)) / 3000).tolist())


def test_each_person_counts_once(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("who,work,income\nann,a,low\nann,b,low\nbob,b,high\n", encoding="utf-8")
    once, anew = sample_of(file, "work", "income", user="who"), sample_of(file, "work", "income")
    assert once.weights is not None
    assert anew.weights is not None
    assert once.weights.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert anew.weights.tolist() == [[0.0, 1.0], [1.0, 1.0]]
    assert (once.empty, anew.empty) == (2, 1)


def test_some_fields_and_more_weight(tmp_path: Path) -> None:
    rows = people()
    some = sample_of(records_file(tmp_path, rows), "income", "work", added=0.5)
    assert some.names == ("income", "work")
    assert some.weights is not None
    assert some.weights.sum() == 3000 + 0.5 * 6
    other = sample_of(joint_file(tmp_path, table_of(rows)), "income", "work", added=0.5)
    assert other.weights is not None
    assert other.weights[:, 0].tolist() == some.weights[:, 0].tolist()


def test_more_combinations_than_a_table_may_have(tmp_path: Path) -> None:
    sample = sample_of(many_values(tmp_path), *"abcdef")
    assert sample.weights is None
    assert sample.empty is None
    assert sample.records.shape == (300, 6)
    assert sample.pair(1, 4).sum() == 300
    assert sample.law(3).sum() == pytest.approx(1.0)
    met = {sample.labels[0][row[0]]: sample.labels[1][row[1]] for row in sample.records.tolist()}
    assert met == {str(number): str(2 * number % 11) for number in range(11)}
    with pytest.raises(CannotPlan, match="too many for a table to add"):
        sample_of(tmp_path / "many.csv", *"abcdef", added=1.0)


def test_what_cannot_be_used_is_refused(tmp_path: Path) -> None:
    rows = people(20)
    joint, records = joint_file(tmp_path, table_of(rows)), records_file(tmp_path, rows)
    for error, words, file, fields in (
        (CannotFit, "no column is called age", records, ("age", "work")),
        (CannotFit, "name each once", records, ("work", "work")),
        (CannotPlan, "it is not said which fields", records, ()),
        (CannotPlan, "name two fields at least", records, ("work",)),
        (CannotPlan, "must be different ones of work, school, income", joint, ("age",)),
        (CannotPlan, "name two fields at least", joint, ("work",)),
        (CannotPlan, "No such file", tmp_path / "gone.json", ()),
        (CannotFit, "no such file", tmp_path / "gone.csv", ("a", "b")),
        (CannotFit, "cannot be told what the file holds", tmp_path / "people", ("a", "b")),
    ):
        with pytest.raises(error, match=words) as refused:
            sample_of(file, *fields)
        assert "to put it right" in str(refused.value)
    with pytest.raises(CannotPlan, match="in which nobody is named"):
        sample_of(joint, user="who")
    joint.write_text('{"format": "sottovoce-joint", "version": 3}', encoding="utf-8")
    with pytest.raises(CannotPlan, match="version: must be 1"):
        sample_of(joint)
    one = tmp_path / "one.csv"
    one.write_text("work,income\na,low\na,high\n", encoding="utf-8")
    with pytest.raises(CannotPlan, match="one value, which is no secret"):
        sample_of(one, "work", "income")
