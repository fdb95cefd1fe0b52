"""Several local fields in one pipeline: what leaves, what is kept, what a cap does, whatever the blocks are."""

from __future__ import annotations

import numpy as np
import pytest
from fields_world import BESIDE, JOB, JOBS, SEX, SEXES, World, events, released, settings_of, table
from pipeline_help import Record

from beliefs.rounding import INFINITE, UNITS_PER_NAT
from mechanisms.local import rappor
from mechanisms.local.likelihood import weights_of
from mechanisms.local.registry import drawn
from stream import names
from stream.errors import ConfigurationRefused
from stream.fields.gate import WITHHELD
from stream.fields.rows import ACCOUNT, words_of_fields
from stream.settings import fields as settings_fields

OUE_AGE = "age: {path: $.age, values: {kind: bins, low: 0, high: 100, cells: 10}, mechanism: oue, epsilon: 1}"
APPS = "apps: {path: $.apps, values: [a, b, c, d], mechanism: olh, epsilon: 1, at_most: 3}"


def without_cap(field: str) -> str:
    return field.partition(", cap")[0] + "}"


RAPPOR = "sex: {path: $.sex, values: [f, m], mechanism: rappor, epsilon: 1, lasting: true, cap: 10}"


def test_what_leaves_is_public_or_a_report_of_a_declared_field() -> None:
    world = World(settings_of(*(without_cap(each) for each in (SEX, JOB)), OUE_AGE, APPS))
    effects = world.carry_out(events(200))
    found = released(effects.releases)
    assert len(found) == 200
    assert effects.outcomes[names.RELEASED] == 200
    for _, document, headers in found:
        assert list(document) == ["battery", "sex", "job", "age", "apps"]
        assert document["sex"] in SEXES
        assert document["job"] in JOBS
        assert document["age"]["length"] == 10
        assert set(document["apps"]) == {"version", "seed", "range", "cell"}
        assert headers[names.HEADER_FIELDS] == b"0000"
    assert b"canary" not in b"".join(record.value or b"" for record in effects.releases)


def test_a_cap_withholds_the_field_before_it_would_be_passed() -> None:
    """Without a table every field counts for every other: of 3 nats for sex, each event takes .5 + .25."""
    world = World(settings_of(SEX, JOB))
    found = released(world.carry_out(events(20, users=1)).releases)
    signs = [headers[names.HEADER_FIELDS].decode() for _, _, headers in found]
    assert signs[:4] == ["00"] * 4
    for (_, document, _), made in zip(found, signs, strict=True):
        assert ("sex" in document) == (made[0] != "-")
        assert ("job" in document) == (made[1] != "-")
    assert signs[-1] == "--"
    totals = [world.promise.fields.totals.of(tuple(account)) for account in accounts(world)]
    assert all(total <= cap * UNITS_PER_NAT for pair in totals for total, cap in zip(pair, (3, 4), strict=True))


def test_a_joint_table_lets_more_be_told_under_the_same_caps() -> None:
    alone, known = World(settings_of(SEX, JOB)), World(settings_of(SEX, JOB), table())
    reports = [
        sum(made.count("0") for made in signs_of(world.carry_out(events(40, users=1)).releases))
        for world in (alone, known)
    ]
    assert reports[1] > reports[0]
    assert known.promise.fields is not None
    assert known.promise.fields.totals.rules == ("exact", "exact")


@pytest.mark.parametrize("beyond", ["lower", "coarsen, coarser: {desk: [clerk], away: [nurse, pilot]}"])
def test_other_ways_to_stay_below_a_cap(beyond: str) -> None:
    job = JOB.replace("cap: 4", f"cap: 40, beyond: {beyond}").replace("epsilon: 0.25", "epsilon: 1")
    world = World(settings_of(job, SEX.replace("cap: 3", "cap: 1.2")), table())
    found = released(world.carry_out(events(40, users=1)).releases)
    signs = [headers[names.HEADER_FIELDS].decode() for _, _, headers in found]
    other = "123" if beyond == "lower" else "c"
    assert any(sign in other for made in signs for sign in made)
    if other == "c":
        coarse = [document["job"] for _, document, headers in found if headers[names.HEADER_FIELDS][:1] == b"c"]
        assert set(coarse) <= {"desk", "away"}


@pytest.mark.parametrize("fields", [(SEX.replace("cap: 3", "cap: 30"), without_cap(JOB), OUE_AGE, APPS), (RAPPOR, JOB)])
@pytest.mark.parametrize("before", ["alone", "beside"])
def test_blocks_may_be_cut_anyhow_and_repeated(fields: tuple[str, ...], before: str) -> None:
    settings = settings_of(*fields, before=BESIDE) if before == "beside" else settings_of(*fields)
    records = events(120)
    whole = World(settings)
    at_once = whole.carry_out(records)
    cut = World(settings)
    parts = []
    for start in range(0, 120, 7):
        block = records[start : start + 7]
        parts += list(cut.carry_out(block).releases)
    assert [(r.key, r.value, r.timestamp, r.headers) for r in at_once.releases] == [
        (r.key, r.value, r.timestamp, r.headers) for r in parts
    ]
    assert accounts(whole).tolist() == accounts(cut).tolist()
    again = cut.carry_out(records[50:])
    assert again.outcomes[names.REPLAYED] == 70
    assert accounts(whole).tolist() == accounts(cut).tolist()


def test_windows_begin_anew_and_late_events_join_the_window_that_is_reached() -> None:
    job = "job: {path: $.job, values: [clerk, nurse, pilot], mechanism: grr, epsilon: 1, cap: 2}"
    world = World(settings_of(job, more="  window: 1m\n"))
    day = 1_700_000_040_000  # begins a minute
    times = [day, day + 1, day + 2, day + 60_000, day + 5, day + 60_001, day + 60_002]
    records = [Record(i, each.value, b"u", time) for i, (each, time) in enumerate(zip(events(7), times, strict=True))]
    assert signs_of(world.carry_out(records).releases) == ["0", "0", "-", "0", "0", "-", "-"]


def test_a_field_beside_the_protected_one_sets_its_budget_aside() -> None:
    world = World(settings_of(SEX.replace("cap: 3", "cap: 4"), before=BESIDE, more="  protected_cap: 2\n"))
    effects = world.carry_out(events(30, users=1))
    signs = signs_of(effects.releases)
    # Of 4 nats 2 x 1.5 are set aside, so that two reports of .5 remain; but protected_cap leaves 2 - 1.5 for them.
    assert signs == ["0"] + ["-"] * 29
    assert all("activity" in document for _, document, _ in released(effects.releases))


def test_a_rappor_reports_the_same_kept_bits_for_ever() -> None:
    """With reports that are never noisy what is seen are the kept bits themselves."""
    told = "{name: rappor, report_zero: 0, report_one: 1}"
    plain = f"sex: {{path: $.sex, values: [f, m], mechanism: {told}, epsilon: 1, lasting: true}}"
    found = released(World(settings_of(plain)).carry_out(events(60, users=3)).releases)
    kept: dict[bytes, set[str]] = {}
    for key, document, _ in found:
        kept.setdefault(key, set()).add(document["sex"]["bits"])
    assert len(kept) == 3
    assert all(len(bits) == 1 for bits in kept.values())


@pytest.mark.parametrize("shares", [(0, 0), (1, 1), (0.5, 0.5)])
def test_kept_bits_that_are_told_alike_are_refused(shares: tuple[float, float]) -> None:
    """They would tell nothing; and where the meter asks what they told, a worker would divide by nothing."""
    told = f"{{name: rappor, report_zero: {shares[0]}, report_one: {shares[1]}}}"
    field = RAPPOR.replace("mechanism: rappor", f"mechanism: {told}")
    with pytest.raises(ConfigurationRefused, match="report_zero other than report_one"):
        settings_of(field)
    assert (settings_fields.REPORT_ZERO, settings_fields.REPORT_ONE) == (rappor.REPORT_ZERO, rappor.REPORT_ONE)
    bits = drawn("rappor", 2, 1.0, report_zero=shares[0], report_one=shares[1])
    assert weights_of(bits, np.array([[0, 1], [1, 1]])).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_all_reports_of_kept_bits_tell_no_more_than_epsilon() -> None:
    world = World(settings_of(RAPPOR))
    world.carry_out(events(300, users=1))
    assert int(accounts(world)[0, 0]) <= UNITS_PER_NAT


@pytest.mark.parametrize("wrong", ['{"sex": "f"}', '{"sex": "x", "job": "clerk"}', '{"sex": 1, "job": "clerk"}', "[]"])
def test_an_event_without_a_right_value_of_each_field_is_a_dead_letter(wrong: str) -> None:
    world = World(settings_of(SEX, JOB))
    effects = world.carry_out([Record(0, wrong.encode(), b"u")])
    assert effects.outcomes[names.DEAD_LETTERED] == 1
    assert len(effects.releases) == 0
    assert len(effects.keys) == 0


def test_rows_survive_their_bytes_and_wrong_ones_are_set_aside() -> None:
    world = World(settings_of(SEX, JOB, before=BESIDE.replace("nats: 1.5", "nats: 1.4")))
    effects = world.carry_out(events(50))
    rows = effects.changelog.values.all()
    heads, codes, readable = world.codec.from_rows(rows)
    assert readable.all()
    assert heads.tolist() == effects.heads.tolist()
    assert codes.tolist() == effects.codes.tolist()
    assert world.codec.to_rows(heads, codes) == rows
    for place in range(len(rows[0])):
        damaged = bytearray(rows[0])
        damaged[place] ^= 64
        assert not world.codec.from_rows([bytes(damaged)])[2][0], place
    less = BESIDE.replace("nats: 1.5", "nats: 1.4")
    for other in (settings_of(JOB, SEX, before=less), settings_of(SEX, before=less)):
        assert not World(other).codec.from_rows(rows)[2].any()


def test_whoever_told_more_than_is_set_aside_is_told_of_no_further() -> None:
    """Settings with a smaller budget than before: what the other fields may tell would be counted from too little."""
    field = SEX.replace("cap: 3", "cap: 6")
    rows = World(settings_of(field, before=BESIDE)).carry_out(events(50, users=2)).changelog.values.all()
    for nats, known in ((1.5, True), (2.0, True), (0.6, False)):
        world = World(settings_of(field, before=BESIDE.replace("nats: 1.5", f"nats: {nats}")))
        heads, _, readable = world.codec.from_rows(rows)
        assert readable.all()
        fields = world.promise.fields
        assert fields is not None
        for account in heads[:, -words_of_fields(1) + ACCOUNT :].tolist():
            assert (account != [INFINITE, INFINITE]) == known
            turn = fields.gate.turn(tuple(account))
            assert known or turn.choices.tolist() == [WITHHELD]
            assert known or turn.account == (INFINITE, INFINITE)


def accounts(world: World) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """By user."""
    fields = world.promise.fields
    assert fields is not None
    words = words_of_fields(len(fields.forms))
    keys = sorted(b"user-%d" % user for user in range(9))
    loaded = world.store.load(keys)
    found: np.ndarray[tuple[int, int], np.dtype[np.int64]] = loaded.heads[loaded.known, -words + ACCOUNT :]
    return found


def signs_of(block: object) -> list[str]:
    return [headers[names.HEADER_FIELDS].decode() for _, _, headers in released(block)]  # type: ignore[arg-type]
