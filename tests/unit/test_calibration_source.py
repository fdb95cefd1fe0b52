"""Joint tables and records as what fields are calibrated by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from calibration_help import LABELS, NAMES, joint_file, many_values, people, records_file, table_of

from beliefs.correlation.joint_file import JointModel, parse, serialise
from beliefs.correlation.table_radii import counted_radii, known_within
from beliefs.correlation.tables import JointTable, given
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


def test_counts_stay_counts_and_tables_say_how_well_they_are_known(tmp_path: Path) -> None:
    """A table that was counted is no truth: neither from records, nor with fewer fields, nor with weight added."""
    rows = people()
    counted = sample_of(records_file(tmp_path, rows), *NAMES)
    file = tmp_path / "counted.json"
    file.write_bytes(serialise(JointModel(table_of(rows), failure=0.02)))
    assert counted.model is not None
    assert (counted.model.known, counted.model.failure) == ("counted", 0.05)
    some = sample_of(file, "income", "work")
    assert some.model is not None
    assert (some.model.known, some.model.failure) == ("counted", 0.02)
    assert some.model.people("income") == [table_of(rows).weights[:, :, at].sum() for at in range(2)]
    assert some.radii is not None
    assert some.radii[0].tolist() == counted_radii(some.model.people("income"), 3, 0.02, 2).tolist()
    assert known_within(parse(serialise(some.model))) is not None
    more = sample_of(file, "income", "work", added=100.0)
    assert more.model is not None
    assert more.radii is not None
    assert more.model.known == "stated"
    for axis in range(2):
        before, after = (given(each.table.weights, axis) for each in (some.model, more.model))
        moved = np.abs(before - after).sum(axis=1) / 2
        assert (moved > 0.01).any()
        assert more.radii[axis].tolist() == pytest.approx((some.radii[axis] + moved).tolist())
        assert (more.radii[axis] >= some.radii[axis] + moved).all()
    stated = tmp_path / "stated.json"
    radius = {name: np.linspace(0.0, 0.3, len(each)) for name, each in zip(NAMES, LABELS, strict=True)}
    stated.write_bytes(serialise(JointModel(table_of(rows), radius=radius)))
    fewer = sample_of(stated, "income", "school").radii
    assert fewer is not None
    assert [each.tolist() for each in fewer] == [radius["income"].tolist(), radius["school"].tolist()]
    for of_all in (file, stated):
        assert read_sample(of_all, (), None, 0.0, everybody=True).radii is None
    assert sample_of(joint_file(tmp_path, table_of(rows)), added=1.0).radii is None


def test_a_value_that_nobody_was_counted_with_may_have_any_law_with_weight_added(tmp_path: Path) -> None:
    file = tmp_path / "counted.json"
    weights = np.array([[40.0, 2.0], [30.0, 9.0], [0.0, 0.0]])
    table = JointTable(("a", "b"), (("x", "y", "z"), ("p", "q")), weights)
    file.write_bytes(serialise(JointModel(table, failure=0.05)))
    radii = sample_of(file, added=1.0).radii
    assert radii is not None
    assert radii[0][2] == 1.0
    assert radii[0][0] < 1.0


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
