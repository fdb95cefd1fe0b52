"""What the words of a user's fields mean: under settings that make other amounts of them they are not read."""

from __future__ import annotations

import numpy as np
import pytest
from fields_world import JOB, SEX, World, events, released, settings_of

from stream.audit.field_rules import fields_of
from stream.fields.meaning import tag_of
from stream.settings.model import Settings

COARSEN = JOB.replace("cap: 4", "cap: 4, beyond: coarsen, coarser: {desk: [clerk], away: [nurse, pilot]}")
TOP = "{name: top_k, top: [clerk]}"
RAPPOR = SEX.replace("mechanism: grr", "mechanism: rappor")
AGE = "age: {path: $.age, values: [young, old], mechanism: grr, epsilon: 1}"


def tag(settings: Settings) -> int:
    """As the engine has it; the auditor finds the same."""
    audited = fields_of(settings, None)
    assert settings.fields is not None
    assert audited is not None
    assert audited.tag == tag_of(settings.fields)
    return audited.tag


@pytest.mark.parametrize(
    ("field", "other"),
    [
        (JOB, JOB.replace("grr", "oue")),
        (JOB, JOB.replace("grr", TOP)),
        (JOB.replace("grr", TOP), JOB.replace("grr", TOP.replace("clerk", "nurse"))),
        (JOB, COARSEN),
        (COARSEN, COARSEN.replace("[clerk], away: [nurse, pilot]", "[clerk, nurse], away: [pilot]")),
        (JOB, JOB.replace("pilot]", "pilot, cook]")),
        (JOB, JOB.replace(", lasting: true", "")),
        (RAPPOR, RAPPOR.replace("epsilon: 0.5", "epsilon: 0.6")),
        (RAPPOR, RAPPOR.replace("[f, m]", "[m, f]")),
        (RAPPOR, SEX),
        (SEX, JOB),
    ],
)
def test_what_other_reports_told_is_not_read_as_these(field: str, other: str) -> None:
    assert tag(settings_of(field)) != tag(settings_of(other))
    rows = World(settings_of(field)).carry_out(events(40)).changelog.values.all()
    assert World(settings_of(field)).codec.from_rows(rows)[2].all()
    assert not World(settings_of(other)).codec.from_rows(rows)[2].any()


@pytest.mark.parametrize(
    ("field", "other"),
    [
        (JOB, JOB.replace("epsilon: 0.25", "epsilon: 0.5").replace("cap: 4", "cap: 9")),
        (JOB, JOB.replace("grr", "exp")),
        (JOB.replace("grr", "oue"), JOB.replace("grr", "olh")),
        (JOB, JOB.replace("cap: 4", "cap: 4, beyond: lower")),
        (
            JOB.replace("grr", "{name: top_k, top: [clerk, nurse]}"),
            JOB.replace("grr", "{name: top_k, top: [nurse, clerk]}"),
        ),
        (RAPPOR, RAPPOR.replace("rappor", "{name: rappor, report_zero: 0.25}")),
        (AGE, AGE.replace("grr", "sue").replace("young", "new")),
    ],
)
def test_what_means_the_same_is_read(field: str, other: str) -> None:
    assert tag(settings_of(field)) == tag(settings_of(other))


def test_kept_bits_of_two_levels_are_drawn_apart() -> None:
    """From the same coins a bit that is kept at one level would be kept at every higher one, and what changes would be
    the value itself. Reports here are the kept bits.
    """
    told = "{name: rappor, report_zero: 0, report_one: 1}"
    own = {}
    for epsilon in (0.5, 3):
        field = f"sex: {{path: $.sex, values: [f, m], mechanism: {told}, epsilon: {epsilon}, lasting: true}}"
        found = released(World(settings_of(field)).carry_out(events(600, users=200)).releases)
        own[epsilon] = {key: document["sex"]["bits"] for key, document, _ in found}
    lower, higher = (np.array([own[each][user] == "gA==" for user in sorted(own[0.5])]) for each in own)
    women = np.array([int(user.removeprefix(b"user-")) % 2 == 0 for user in sorted(own[0.5])])
    both = (lower & ~higher)[women].sum()
    assert lower[women].sum() > 10
    assert both > 0, "some woman is shown as one at the lower level and not at the higher one"
