"""Opening a pipeline of crowds: what is promised, what is refused and warned of, and what validate and explain say."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from crowd_settings_text import (
    BOXES,
    COUNT,
    FOUR,
    HISTOGRAM,
    HOMES,
    MEAN,
    NOTHING,
    PAIR,
    RANGE,
    SUM,
    TWO,
    TYPES,
    crowd_house,
    crowd_text,
    flow_text,
    law_text,
    opened_crowds,
    refused_crowds,
)

from mechanisms.crowds.attributes import Numeric, Tree
from stream.records.fields import fields_reader
from stream.records.shapes import Rejected


def test_what_is_declared_is_promised(tmp_path: Path) -> None:
    promise = opened_crowds(tmp_path, crowd_text(believes="{law: law.json, known: 0.1}")).promise
    assert (promise.pipeline, promise.k, promise.over) == ("walkers", 10, "all")
    timing = promise.windowed
    assert (timing.length, timing.lateness, timing.grace, timing.ahead) == (60_000, 10_000, 10_000, 3_600_000)
    assert (promise.flow, promise.types, promise.type_form) == (None, ("default",), None)
    assert (promise.household_path, promise.household_most, promise.known) == (None, None, Fraction(1, 10))
    assert (promise.fresh, promise.horizon, promise.tops_up) == (False, 1, False)
    assert promise.account is not None
    assert promise.policy_name == f"1:{promise.policy_fingerprint.hex()[:8]}"
    assert str(promise.ring.current.secret) not in repr(promise)
    with pytest.raises(ValueError, match="have no delay"):
        promise.flowing.time  # noqa: B018 - asking is refused


@pytest.mark.parametrize(
    ("release", "event", "places", "sizes"),
    [
        (COUNT, {"activity": "running"}, (1,), (2,)),
        (COUNT, {"activity": "still"}, (0,), (2,)),
        (SUM, {"speed": 2.4}, (2,), (4,)),
        (SUM, {"speed": 9}, (3,), (4,)),
        (MEAN, {"speed": -0.5}, (1,), (5,)),
        (RANGE, {"speed": 0}, (0,), (5,)),
        (HISTOGRAM, {"job": "pilot"}, (2,), (3,)),
        (BOXES, {"age": 41, "job": "clerk", "disease": "none"}, (2, 2, 1), (5, 3, 2)),
    ],
)
def test_an_event_has_a_place_on_the_lattice_of_the_law(
    tmp_path: Path, release: str, event: dict[str, object], places: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    found = opened_crowds(tmp_path, crowd_text(release, believes=NOTHING, target=None)).promise.release
    symbols = fields_reader(found.forms)(event)
    assert not isinstance(symbols, Rejected)
    assert tuple(one - offset for one, offset in zip(symbols, found.offsets, strict=True)) == places
    assert found.sizes == sizes


def test_boxes_are_of_the_declared_attributes(tmp_path: Path) -> None:
    found = opened_crowds(tmp_path, crowd_text(BOXES, believes=NOTHING, target=None)).promise.release
    assert found.attributes is not None
    ages, jobs = found.attributes.each
    assert isinstance(ages, Numeric)
    assert isinstance(jobs, Tree)
    assert (ages.cells, jobs.values, jobs.name_of(0, 1)) == (5, ("doctor", "nurse", "clerk"), "medical")
    assert [form.name for form in found.forms] == ["age", "job", "sensitive"]
    assert found.sensitive is found.forms[-1]
    assert found.rule is not None
    assert (found.rule.k, found.rule.values, found.rule.diverse, found.rule.close) == (10, 2, 2, 250_000)
    assert (found.rule.loss_most, found.labels, found.grouper) == (0.5, ("flu", "none"), "mondrian")


def test_amounts_keep_their_grid(tmp_path: Path) -> None:
    found = opened_crowds(tmp_path, crowd_text(MEAN), law_text({"default": [0.2] * 5})).promise.release
    assert (found.grid, found.least, found.most, found.take) == (Decimal("0.5"), -2, 2, "largest")
    assert found.sensitive is None


def test_single_events_wait_for_a_crowd_and_have_no_account(tmp_path: Path) -> None:
    opened = opened_crowds(tmp_path, flow_text("castle"))
    promise = opened.promise
    assert (promise.flowing.events, promise.flowing.time, promise.timing) == (100, 60_000, None)
    assert (promise.account, promise.target, opened.law) == (None, None, None)
    assert promise.release.rule is not None
    assert promise.release.rule.loss_most == 1.0
    with pytest.raises(ValueError, match="have no windows"):
        promise.windowed.length  # noqa: B018 - asking is refused
    assert any("delta is 1" in warning for warning in opened.warnings)


def test_types_and_households_are_read_of_public_fields(tmp_path: Path) -> None:
    typed = opened_crowds(tmp_path, crowd_text(believes=TYPES), TWO).promise
    assert typed.types == ("young", "old")
    assert typed.type_form is not None
    assert fields_reader([typed.type_form])({"kind": "old"}) == (1,)
    homes = opened_crowds(tmp_path, crowd_text(believes=HOMES), PAIR).promise
    assert (str(homes.household_path), homes.household_most, homes.types) == ("$.home", 2, ("default",))


TRIPLE = law_text(household=[[0.2, 0.1, 0.0], [0.1, 0.2, 0.1], [0.0, 0.1, 0.2]])


@pytest.mark.parametrize(
    ("text", "law", "path", "found"),
    [
        (crowd_text(SUM), None, "law", "a law of 2 values, where a person may have 4"),
        (crowd_text(BOXES), FOUR, "law", "a law of 4 values, where a person may have 30"),
        (crowd_text(), PAIR, "law", "a law of households, and nothing that says who is of which"),
        (crowd_text(HISTOGRAM, believes=HOMES), TRIPLE, "law", "a law of households beside histogram"),
        (
            crowd_text(HISTOGRAM, believes="{law: law.json, by: $.kind, known: 0.1}"),
            law_text(dict.fromkeys("abc", (0.5, 0.3, 0.2))),
            "law",
            "3 types of people beside histogram and known",
        ),
        (crowd_text(), TWO, "law", "2 types of people, and nothing that says who is which"),
        (crowd_text(believes=HOMES), None, "household", "households beside a law of types"),
        (crowd_text(), b"{", "law", "law.json"),
        (crowd_text(), law_text({"default": (0.5, 0.6)}), "law", "types.default sums to 1.1"),
        (crowd_text(), law_text(household=[[0.5, 0.3], [0.1, 0.1]]), "law", "another law when members"),
    ],
)
def test_a_law_that_does_not_fit_is_refused_at_its_line(
    tmp_path: Path, text: str, law: bytes | None, path: str, found: str
) -> None:
    ((line, where, what),) = refused_crowds(crowd_house(tmp_path, text, law))
    assert where == f"crowd.believes.{path}"
    assert found in what
    assert line == 12


def test_a_law_and_keys_that_are_not_there_are_told_together(tmp_path: Path) -> None:
    file = crowd_house(tmp_path, crowd_text())
    (tmp_path / "law.json").unlink()
    (tmp_path / "keys.json").unlink()
    assert sorted(where for _, where, _ in refused_crowds(file)) == ["crowd.believes.law", "keys.file"]


def test_a_law_that_rules_values_out_is_warned_of(tmp_path: Path) -> None:
    sure = opened_crowds(tmp_path, crowd_text(SUM), law_text({"default": (0.5, 0.5, 0, 0)}))
    assert any("gives 2 of 4 values no chance" in warning for warning in sure.warnings)
    homes = law_text(household=[[1, 0], [0, 0]])
    assert any("1 of 2 values" in each for each in opened_crowds(tmp_path, crowd_text(believes=HOMES), homes).warnings)
    fair = opened_crowds(tmp_path, crowd_text())
    assert not any("no chance" in warning for warning in fair.warnings)
    assert any("each window's guarantee stands alone" in warning for warning in fair.warnings)
    fresh = opened_crowds(tmp_path, crowd_text(believes="{law: law.json, windows: fresh}"))
    assert not any("stands alone" in warning for warning in fresh.warnings)


def test_a_range_beyond_what_can_be_worked_out_is_refused_at_the_law(tmp_path: Path) -> None:
    wide = RANGE.replace("high: 4", "high: 9999")
    file = crowd_house(tmp_path, crowd_text(wide), law_text({"default": [1e-4] * 10_000}))
    ((_, where, what),) = refused_crowds(file)
    assert where == "crowd.believes.law"
    assert "10000 possible values" in what.replace(",", "")


def test_a_pipeline_of_events_is_none_of_crowds(tmp_path: Path) -> None:
    file = crowd_house(tmp_path, crowd_text())
    text = file.read_text(encoding="utf-8")
    aggregate = "aggregate:\n  window: 1m\n  from: 2026-01-01T00:00:00Z\n  each: {p: {count: users, epsilon: 0.1}}\n"
    aggregate += "  dependence: {users: independent}\n  target: {nats: 1, windows: 1}\n"
    file.write_text(text[: text.index("crowd:")] + aggregate, encoding="utf-8")
    assert [(where, what) for _, where, what in refused_crowds(file)] == [("crowd", "no crowd")]


def test_many_types_beside_known_values_are_warned_of(tmp_path: Path) -> None:
    for types, known, warned in ((4, "0.1", True), (3, "0.1", False), (4, "0", False)):
        law = law_text({f"t{number}": (0.5, 0.5) for number in range(types)})
        text = crowd_text(believes=f"{{law: law.json, by: $.kind, known: {known}}}")
        assert any("declare few types" in each for each in opened_crowds(tmp_path, text, law).warnings) == warned
