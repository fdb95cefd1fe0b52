"""What the auditor takes for the right choice: as the reference decides, and either one very near to a cap."""

from __future__ import annotations

from dataclasses import replace

import pytest
from field_audit_world import DIGEST, settings_with
from field_people import BESIDE, COARSE, COARSEN, JOB, LOWER, RANK, SEX, apart, table
from field_reference import Account, Reference

from beliefs.correlation.tables import JointTable
from beliefs.rounding import budget_units
from stream.audit.amounts import UNBOUNDED, UNITS
from stream.audit.field_gate import MARGIN, NO, YES, Gate
from stream.audit.field_rules import Joint, Option, fields_of

RAPPOR = "sex: {path: $.sex, values: [f, m], mechanism: rappor, epsilon: 1, lasting: true, cap: 1.5}"


def both(fields: list[str], joint: JointTable | None = None, beside: bool = False) -> tuple[Gate, Reference]:
    settings = settings_with(fields, ["joint: joint.json"] if joint is not None else [], BESIDE if beside else None)
    found = fields_of(settings, None if joint is None else Joint(joint, DIGEST))
    assert found is not None
    assert settings.fields is not None
    return Gate(found), Reference(settings.fields, joint, budget_units(settings.budget.nats) if beside else None)


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside"])
@pytest.mark.parametrize(
    ("fields", "joint"),
    [
        ([SEX, JOB], None),
        ([SEX, LOWER, RANK], table("sex", "job")),
        ([COARSEN, SEX], table("sex", "job")),
        ([COARSE, SEX, RANK], apart()),
        ([COARSE, SEX.replace("grr", "sue"), RANK], apart()),
        ([RAPPOR, JOB], table("sex", "job")),
    ],
    ids=["summed", "lower", "coarsen", "three", "bits", "rappor"],
)
def test_it_decides_and_adds_up_as_the_reference_does(
    fields: list[str], joint: JointTable | None, beside: bool
) -> None:
    if beside:
        fields = [field.replace("cap: 1.5", "cap: 4.5").replace("cap: 3", "cap: 6") for field in fields]
    gate, reference = both(fields, joint, beside)
    account, seen, signs = gate.nothing, set[Account](), ""
    while account not in seen and len(seen) < 60:
        seen.add(account)
        signs = reference.signs(account)
        judged = gate.judged(account, signs)
        assert (judged.beyond, judged.needless, judged.near) == ((), (), 0)
        for place, sign in enumerate(signs):
            account = reference.after(account, place, sign)
        assert judged.after == account
        for total, least in zip(gate.totals(account), reference.totals(account), strict=True):
            assert least <= total <= least + 2
    assert set(signs) == {"-"} or "rappor" in str(fields)
    assert len(seen) > 2


def test_reports_of_kept_bits_tell_no_more_than_the_bits() -> None:
    """From some event on another report of them adds nothing, and none is withheld."""
    gate, _ = both([RAPPOR])
    account = gate.nothing
    for _ in range(20):
        judged = gate.judged(account, "0")
        assert (judged.beyond, judged.needless) == ((), ())
        account = judged.after
    assert account == (gate.fields.each[0].together, 0)
    assert gate.totals(account)[0] <= UNITS


def with_cap(gate: Gate, cap: int) -> Gate:
    one, *others = gate.fields.each
    return Gate(replace(gate.fields, each=(replace(one, cap=cap), *others)))


@pytest.mark.parametrize(
    ("above", "right", "wrong"),
    [
        (MARGIN, "00", "0-"),
        (MARGIN - 1, "both", ""),
        (0, "both", ""),
        (-MARGIN, "both", ""),
        (-MARGIN - 1, "0-", "00"),
    ],
)
def test_very_near_to_a_cap_either_choice_is_accepted(above: int, right: str, wrong: str) -> None:
    """What sex loses through job is a logarithm. The cap is that far above what both told."""
    gate, _ = both([SEX, JOB], table("sex", "job"))
    total = gate.totals(gate.judged(gate.nothing, "00").after)[0]
    assert total < gate.totals(gate.judged(gate.nothing, "00").after)[1] + UNITS
    near = with_cap(gate, total + above)
    for signs in ("00", "0-"):
        judged = near.judged(near.nothing, signs)
        assert judged.near == (right == "both")
        assert bool(judged.beyond or judged.needless) == (signs == wrong)


def test_plain_sums_are_exact_to_the_unit() -> None:
    gate, _ = both([SEX, JOB])
    total = gate.totals(gate.judged(gate.nothing, "00").after)[0]
    account = gate.judged(gate.nothing, "00").after
    assert [with_cap(gate, total + more).fits(account) for more in (1, 0, -1)] == [YES, YES, NO]


def test_what_is_set_aside_has_no_bound_where_windows_differ() -> None:
    protect = {**BESIDE, "window": "1m"}
    settings = settings_with([SEX.replace(", cap: 3", "")], [], protect)
    found = fields_of(settings, None)
    assert found is not None
    assert Gate(found).totals((0, 0)) == (UNBOUNDED, UNBOUNDED)


def test_amounts_stay_at_what_has_no_bound() -> None:
    gate, _ = both([SEX.replace(", cap: 3", "")])
    (one,) = gate.fields.each
    endless = Gate(replace(gate.fields, each=(replace(one, options=(Option("0", UNBOUNDED), *one.options)),)))
    account: Account = (0, 0)
    for _ in range(2):
        account = endless.added(account, 0, endless.fields.each[0].options[0])
    assert account == (UNBOUNDED, 0)
    assert endless.totals(account) == (UNBOUNDED,)
