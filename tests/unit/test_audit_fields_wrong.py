"""Wrong local fields: each kind of fault is found, and named for what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pytest
from audit_world import run
from field_audit_world import FieldRun, events_of, settings_with, written
from field_faults import BITS, FEW, JOB, SEX, SOME, USERS, WAY, at, codes, found, inputs, last_of, world
from field_people import COARSE, apart
from field_people import SEX as LASTING_SEX
from field_people import world as people_world

from beliefs.correlation.tables import JointTable
from stream.errors import CannotAudit


@pytest.fixture
def right() -> FieldRun:
    return world(SEX, WAY, JOB, BITS)


def test_what_is_right_is_right(right: FieldRun) -> None:
    assert found(right) == {}
    assert "".join(sorted({sign for place in range(48) for sign in right.signs(place)})) == "-0"


def test_a_report_beyond_the_cap_is_found() -> None:
    generous = settings_with([SEX.replace("cap: 30", "cap: 4"), BITS])
    finished = written(settings_with([FEW, BITS]), inputs(), decided_by=generous)
    assert found(finished) == {("field_beyond_cap", "sex"): 2 * USERS}
    report = finished.report()
    assert report.fields is not None
    assert (report.fields["sex"]["within_cap"], report.fields["sex"]["verdict"]) == (False, "disagree")
    assert report.fields["bits"]["verdict"] == "agree"


def test_a_field_that_takes_what_another_may_be_told_is_found() -> None:
    """Bits have no cap of their own, and still count for sex."""
    finished = world(FEW, BITS, change=lambda number, should: "-0" if number // USERS == 2 else should)
    assert found(finished) == {("field_beyond_cap", "bits"): USERS}


def test_a_needless_silence_is_found_once_and_then_followed() -> None:
    assert found(world(FEW, BITS, change=at(1, "-0"))) == {("field_needless", "sex"): 1}


def test_a_report_lower_than_it_had_to_be_is_found() -> None:
    assert found(world(SOME, change=at(0, "1"))) == {("field_needless", "way"): 1}


def test_a_report_at_a_higher_level_than_there_was_room_for_is_found() -> None:
    right = world(SOME)
    place = next(place for place in range(48) if right.signs(place) == "1")
    assert found(world(SOME, change=at(place, "0"))) == {("field_beyond_cap", "way"): 1}


def test_a_fine_report_where_a_coarse_one_was_due_is_found() -> None:
    joint, sex = apart().reordered(["sex", "job"]), LASTING_SEX.replace("cap: 3", "cap: 2.1")
    right = people_world(COARSE, sex, joint=joint)
    place = next(place for place in range(48) if right.signs(place)[0] == "c")
    wrong = people_world(COARSE, sex, joint=joint, change=at(place, "0" + right.signs(place)[1:]))
    assert found(right) == {}
    assert found(wrong)["field_beyond_cap", "job"] == 1


def test_a_coarse_report_without_need_is_found() -> None:
    assert found(world(JOB, change=at(2, "c"))) == {("field_needless", "job"): 1}


def test_the_cap_of_the_protected_field_is_kept() -> None:
    protect = {"nats": 1.5, "window": "forever", "epsilon": 0.5}
    settings = [settings_with([BITS], [f"protected_cap: {cap}"], protect) for cap in (4, 6)]
    given = events_of([{"bits": "a", "activity": "act1"}] * 40, USERS)
    finished = written(settings[0], given, protect=protect, decided_by=settings[1])
    assert found(finished) == {("field_beyond_cap", "bits"): 2 * USERS}
    report = finished.report()
    assert report.fields is not None
    assert report.fields["record.protect"]["verdict"] == "disagree"


Document = dict[str, Any]


def put(name: str, report: Any) -> Callable[[Document], object]:
    return lambda document: document.__setitem__(name, report)


OTHER_RANGE = {"version": 1, "seed": "0" * 32, "range": 4, "cell": 1}
FAULTS: dict[str, tuple[Callable[[Document], object], str]] = {
    "a group where the value is due": (put("job", "ground"), "wrong_report"),
    "null where no slot can be empty": (put("sex", None), "wrong_report"),
    "a value of another field": (put("sex", "clerk"), "wrong_report"),
    "a hash range of a lowered level": (put("way", OTHER_RANGE), "wrong_report"),
    "bits of too many values": (put("bits", {"version": 1, "length": 4, "bits": "kA=="}), "wrong_report"),
    "a raw value in place of bits": (put("bits", "a"), "wrong_report"),
    "a field that nobody declared": (put("raw", "a"), "strange_field"),
    "a report inside of another": (put("sex", {"sex": "f"}), "wrong_report"),
    "no report": (lambda document: document.pop("way"), "missing_report"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_document_that_is_wrong_is_found(right: FieldRun, fault: str) -> None:
    change, code = FAULTS[fault]
    right.change(0, change)
    assert codes(right) == {code}


def test_a_report_of_a_withheld_field_is_found(right: FieldRun) -> None:
    right.change(last_of(right, "-", 0), put("sex", "f"))
    assert codes(right) == {"withheld_report"}


def test_a_report_of_a_lowered_field_at_the_full_level_is_found() -> None:
    finished = world(SOME)
    lowered, full = last_of(finished, "1", 0), last_of(finished, "0", 0)
    report = orjson.loads(finished.released()[full].value or b"")["way"]
    finished.change(lowered, put("way", report))
    assert codes(finished) == {"wrong_report"}


def test_a_member_that_stands_twice_is_found(right: FieldRun) -> None:
    one = right.released()[3]
    text = (one.value or b"").replace(b'{"battery"', b'{"sex":"f","battery"', 1)
    right.released()[3] = replace(one, value=text)
    assert codes(right) == {"repeated_member"}


@pytest.mark.parametrize("header", ["", "000", "00000", "1000", "000c", "....", "0x00"])
def test_a_header_that_says_what_cannot_be_is_found(right: FieldRun, header: str) -> None:
    one = right.released()[1]
    headers = tuple((name, header.encode() if name == "fields" else text) for name, text in one.headers)
    right.released()[1] = replace(one, headers=headers)
    assert codes(right) == {"wrong_signs"}
    report = right.report()
    assert report.tally.fields.users_left == 1
    assert any("could not be followed" in note for note in report.notes)


def test_a_missing_header_is_found(right: FieldRun) -> None:
    one = right.released()[1]
    headers = tuple(header for header in one.headers if header[0] != "fields")
    right.released()[1] = replace(one, headers=headers)
    assert codes(right) == {"wrong_signs"}


def test_a_sign_that_is_not_what_was_released_is_found(right: FieldRun) -> None:
    """Said to be withheld, and there; the account says that it was told."""
    signs = right.signs(4)
    right.change(4, lambda document: document, header="-" + signs[1:])
    assert codes(right) >= {"withheld_report", "field_needless", "field_account"}


def test_a_step_twice_is_no_second_event(right: FieldRun) -> None:
    again = right.released()[5]
    right.released().insert(6, again)
    assert codes(right) == {"out_of_order", "released_twice"}


def test_another_draw_for_the_same_input_is_found(right: FieldRun) -> None:
    again = right.released()[5]
    other = (again.value or b"").replace(b'"sex":"f"', b'"sex":"m"', 1)
    other = other if other != again.value else other.replace(b'"sex":"m"', b'"sex":"f"', 1)
    right.released().insert(6, replace(again, value=other))
    assert codes(right) >= {"two_texts", "out_of_order"}


def test_a_missing_event_ends_what_can_be_said_of_its_user(right: FieldRun) -> None:
    del right.released()[5]
    report = right.report()
    assert report.findings.codes() == {"lost_event", "identity"}
    assert report.tally.fields.users_left == 1


def test_a_missing_last_event_leaves_the_account_open(right: FieldRun) -> None:
    del right.released()[-1]
    assert codes(right) >= {"lost_event", "identity"}
    assert "field_account" not in codes(right)


def test_signs_without_fields_are_a_strange_header() -> None:
    finished = run(4, events=40, users=4)
    one = finished.released()[3]
    finished.released()[3] = replace(one, headers=(*one.headers, ("fields", b"0")))
    assert finished.report().findings.codes() == {"strange_field"}


def test_another_order_of_the_fields_is_another_policy_and_another_account(right: FieldRun) -> None:
    right.settings = settings_with([WAY, SEX, JOB, BITS])
    assert codes(right) >= {"wrong_policy", "quarantined_rows"}


def test_a_table_that_does_not_fit_is_refused() -> None:
    lasting = SEX.replace("cap: 30", "cap: 30, lasting: true")
    settings = settings_with([lasting], ["joint: joint.json"])
    for names, labels, weights, said in (
        (("age",), (("f", "m"),), [0.5, 0.5], "fields.joint, age"),
        (("sex",), (("f", "x"),), [0.5, 0.5], "not the values"),
        (("sex",), (("m", "f"),), [0.0, 1.0], "no weight"),
    ):
        with pytest.raises(CannotAudit, match=said):
            written(settings, inputs(), JointTable(names, labels, np.array(weights)))
    with pytest.raises(CannotAudit, match="not known"):
        written(settings, inputs())
