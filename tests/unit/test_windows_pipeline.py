"""Windows from records to effects: what is released when, that cutting and repeating change no byte, and that what
waits is sealed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from random import Random

import numpy as np
import orjson
import pytest
from pipeline_help import ACTIVITIES, KEY, RING, Line, Record, promise_of, record_settings, walk, windows_of
from step_help import policy_of

from beliefs.rounding import budget_units
from stream import names
from stream.errors import StateRefused
from stream.keys import Epoch, KeyRing
from stream.policy import SPENT_DRAW, SPENT_FORECAST, SPENT_STOP, SPENT_SUPPRESS
from stream.protocol.effects import Effects
from stream.protocol.ports import Outgoing
from stream.release_ids import release_ids
from stream.state import Word

ORDERS = pytest.mark.parametrize("natural", [False, True], ids=["bisect", "natural"])
START = 1_700_000_000_000
EPSILON = budget_units(1.0)


def line_of(*, natural: bool = False, **changes: int) -> Line:
    return Line(promise_of(windows=windows_of(natural=natural, **changes)))


def header(release: Outgoing, name: str) -> str:
    return dict(release.headers)[name].decode()


def one_user(symbols: list[int], first: int = 0, spacing: int = 1000, key: bytes = b"u1") -> list[Record]:
    return [
        Record(first + i, orjson.dumps({"activity": ACTIVITIES[s], "battery": i}), key, START + spacing * (first + i))
        for i, s in enumerate(symbols)
    ]


@ORDERS
def test_every_way_to_cut_the_records_releases_the_same(natural: bool) -> None:
    records = walk(400, users=7)
    whole = line_of(natural=natural, events=4, stretch=20_000)
    expected = list(whole.carry_out(records).releases)
    chance = Random(1)
    for _ in range(5):
        line, got, at = line_of(natural=natural, events=4, stretch=20_000), [], 0
        while at < len(records):
            size = chance.choice((1, 2, 17, 60))
            got += list(line.carry_out(records[at : at + size]).releases)
            at += size
        assert got == expected
        assert dict(line.store.held()) == dict(whole.store.held())
        keys = sorted({record.key for record in records})
        ours, theirs = line.store.load(keys), whole.store.load(keys)
        assert (ours.heads.tobytes(), ours.codes.tobytes()) == (theirs.heads.tobytes(), theirs.codes.tobytes())


@ORDERS
def test_a_repeated_block_is_the_same_and_a_committed_one_is_passed_over(natural: bool) -> None:
    records = walk(200)
    one, two = line_of(natural=natural), line_of(natural=natural)
    assert list(one.carry_out(records).releases) == list(two.carry_out(records).releases)
    again = two.carry_out(records)
    assert (len(again.releases), again.outcomes[names.REPLAYED], again.held_change) == (0, 200, 0)
    assert len(again.changelog) == 0


def test_values_wait_for_their_window_and_come_out_in_order() -> None:
    line = line_of(events=3)
    first = line.carry_out(one_user([0, 0]))
    assert (len(first.releases), first.held_change, sum(first.outcomes.values())) == (0, 2, 0)
    then = line.carry_out(one_user([0, 1], first=2))
    assert (len(then.releases), then.held_change, then.outcomes[names.RELEASED]) == (3, -1, 3)
    assert [header(r, "window").rpartition("/")[0] for r in then.releases] == ["1/3", "2/3", "3/3"]
    assert [header(r, "step") for r in then.releases] == ["1", "2", "3"]
    assert [r.timestamp for r in then.releases] == [START, START + 1000, START + 2000]
    assert [orjson.loads(r.value)["battery"] for r in then.releases] == [0, 1, 0]
    ids = release_ids(bytes(range(16)), 0, np.arange(3), b"12345678")
    assert [header(r, "release-id") for r in then.releases] == [bytes(i).decode() for i in ids]
    assert then.upper_units.shape == (1,)


def test_without_delay_each_value_is_released_at_once() -> None:
    line = line_of(natural=True, events=3)
    places = []
    for i in range(7):
        effects = line.carry_out(one_user([i % 2], first=i))
        assert (len(effects.releases), effects.held_change) == (1, 0)
        places.append(header(effects.releases[0], "window").split("/")[:2])
    assert places == [["1", ""], ["2", ""], ["3", ""], ["1", ""], ["2", ""], ["3", ""], ["1", ""]]


@ORDERS
def test_a_later_stretch_ends_the_window_and_a_late_event_joins_the_one_that_is_reached(natural: bool) -> None:
    line = line_of(natural=natural, events=10, stretch=10_000)
    times = [0, 3_000, 12_000, 8_000, 19_000, 21_000]
    records = [replace(r, timestamp=START + t) for r, t in zip(one_user([0] * 6), times, strict=True)]
    releases = list(line.carry_out(records).releases)
    assert [header(r, "window").split("/")[0] for r in releases] == ["1", "2", "1", "2", "3"] + ["1"] * natural


@ORDERS
def test_no_window_tells_more_than_epsilon_and_the_counters_are_the_sums(natural: bool) -> None:
    line, upper, lower = line_of(natural=natural, events=5), 0, 0
    told: defaultdict[bytes | None, list[int]] = defaultdict(list)
    for record in walk(600, users=3):
        effects = line.carry_out([record])
        upper += int(effects.upper_units.sum())
        lower += int(effects.lower_units.sum())
        if len(effects.upper_units):
            told[record.key].append(int(effects.upper_units[0]))
    size = 5 if natural else 1
    for amounts in told.values():
        windows = [sum(amounts[i : i + size]) for i in range(0, len(amounts), size)]
        assert 0 < max(windows) <= EPSILON
    heads = np.concatenate(list(line.store.all_heads()))
    assert (heads[:, Word.UPPER].sum(), heads[:, Word.LOWER].sum()) == (upper, lower)


def test_more_is_kept_in_a_window_than_one_by_one() -> None:
    chance, symbols = Random(2), [0]
    for _ in range(4_999):
        symbols.append(symbols[-1] if chance.random() < 0.9 else chance.randrange(4))
    records = one_user(symbols)
    agreements = []
    for promise in (
        promise_of(windows=windows_of(5)),
        promise_of(windows=windows_of(5, natural=True)),
        promise_of(policy=policy_of(epsilon=0.2)),
    ):
        shown = [orjson.loads(r.value)["activity"] for r in Line(promise).carry_out(records).releases]
        agreements.append(np.mean([ACTIVITIES[s] == v for s, v in zip(symbols, shown, strict=False)]))
    assert agreements[0] > agreements[1] > agreements[2] + 0.1


@pytest.mark.parametrize(
    ("spent", "outcome"),
    [
        (SPENT_FORECAST, "forecast"),
        (SPENT_DRAW, "forecast"),
        (SPENT_SUPPRESS, "suppressed"),
        (SPENT_STOP, "suppressed"),
    ],
)
@ORDERS
def test_a_window_that_does_not_fit_the_budget_tells_nothing(natural: bool, spent: int, outcome: str) -> None:
    policy = policy_of(budget=2 * EPSILON, when_spent=spent)
    line = Line(promise_of(policy=policy, windows=windows_of(2, natural=natural)))
    counts: defaultdict[str, int] = defaultdict(int)
    for record in one_user([0, 1] * 500):
        for name, count in line.carry_out([record]).outcomes.items():
            counts[name] += count
    head = next(iter(line.store.all_heads()))[0]
    assert max(head[Word.UPPER], head[Word.LOWER]) <= 2 * EPSILON
    assert counts["released"] >= 4
    assert counts["released"] + counts[outcome] == 1000
    assert head[Word.STEPS] == 1000


def test_a_silent_users_window_is_closed_when_it_is_due() -> None:
    line = line_of(events=10, deadline=5_000)
    line.carry_out([*one_user([0, 1]), *one_user([2], first=2, key=b"u2")])
    assert line.pipeline.deadlines is not None
    assert line.pipeline.deadlines.first() == START + 1000 + 5_000
    assert line.close_overdue(START + 5_999) is None
    effects = line.close_overdue(START + 6_000)
    assert effects is not None
    assert [(r.key, header(r, "window").rpartition("/")[0]) for r in effects.releases] == [
        (b"u1", "1/2"),
        (b"u1", "2/2"),
    ]
    assert (effects.held_change, dict(effects.held)) == (-2, {b"u1": b""})
    assert line.pipeline.deadlines.first() == START + 2000 + 5_000


@ORDERS
def test_what_is_held_is_sealed(natural: bool) -> None:
    clear = Line(promise_of(record_settings(headers=["trace"]), windows=windows_of(10, natural=natural)))
    effects = clear.carry_out(walk(40, users=2))
    assert effects.held
    for record in effects.held.values():
        assert b"battery" not in record
        assert b"activity" not in record
    other = Line(promise_of(record_settings(headers=["trace"]), windows=windows_of(10, natural=natural)), partition=1)
    assert not set(other.carry_out(walk(40, users=2)).held.values()) & set(effects.held.values())


@ORDERS
@pytest.mark.parametrize("place", [3, 9, 20, 40])
def test_a_damaged_seal_lets_nothing_through(natural: bool, place: int) -> None:
    line = line_of(natural=natural, events=10)
    line.carry_out(one_user([0, 1]))
    ((user, record),) = line.store.held()
    damaged = bytearray(record)
    damaged[place] ^= 1
    line.store.apply([], np.empty((0, 8), np.int64), np.empty((0, 4), np.uint32), 0, {}, {user: bytes(damaged)})
    effects = line.carry_out(one_user([1] * 10, first=2))
    assert len(effects.releases) == 0
    assert effects.reasons == {names.STATE_UNREADABLE: 10}
    assert line.close_overdue(1 << 60) is None


def test_what_belongs_to_another_user_or_an_older_state_is_not_opened() -> None:
    line = line_of(events=10)
    line.carry_out([*one_user([0, 1]), *one_user([2, 2], first=2, key=b"u2")])
    held = dict(line.store.held())
    nothing = (np.empty((0, 8), np.int64), np.empty((0, 4), np.uint32))
    line.store.apply([], *nothing, 0, {}, {b"u1": held[b"u2"]})
    assert line.carry_out(one_user([1], first=4)).reasons == {names.STATE_UNREADABLE: 1}
    line.carry_out(one_user([2], first=5, key=b"u2"))
    line.store.apply([], *nothing, 0, {}, {b"u2": held[b"u2"]})
    assert line.carry_out(one_user([1], first=6, key=b"u2")).reasons == {names.STATE_UNREADABLE: 1}


def test_a_new_key_epoch_opens_what_the_old_one_sealed_and_a_ring_without_it_is_refused() -> None:
    line = line_of(events=4)
    line.carry_out(one_user([0, 1]))
    second = Epoch(2, "", bytes(reversed(KEY)))
    both = Line(promise_of(windows=windows_of(4), ring=KeyRing((RING.current, second), second)))
    both.store = line.store
    both.pipeline.adopt(both.store)
    assert len(both.carry_out(one_user([0, 1], first=2)).releases) == 4
    line.carry_out(one_user([0, 1], first=2, key=b"u2"))
    alone = Line(promise_of(windows=windows_of(4), ring=KeyRing((second,), second)))
    with pytest.raises(StateRefused, match="key epoch 1"):
        alone.pipeline.adopt(line.store)


def test_settings_without_windows_do_not_take_over_events_that_wait() -> None:
    line, single = line_of(events=4), Line(promise_of())
    single.pipeline.adopt(line.store)
    line.carry_out(one_user([0, 1]))
    with pytest.raises(StateRefused, match="windows"):
        single.pipeline.adopt(line.store)


@pytest.mark.parametrize("first", [True, False])
def test_another_order_ends_the_windows_of_the_old_one(first: bool) -> None:
    """Records of the old order are released or ended before the new one begins."""
    old, new = line_of(natural=first, events=5), line_of(natural=not first, events=5)
    old.carry_out(one_user([0, 1, 1]))
    new.store = old.store
    effects = new.carry_out(one_user([1, 1, 1, 1, 1], first=3))
    wanted = ["1/5", "2/5", "3/5", "4/5", "5/5"] if first else ["1/3", "2/3", "3/3", "1/", "2/", "3/", "4/", "5/"]
    assert [header(r, "window").rpartition("/")[0] for r in effects.releases] == wanted
    steps = [4, 5, 6, 7, 8] if first else [1, 2, 3, 4, 5, 6, 7, 8]
    assert [int(header(r, "step")) for r in effects.releases] == steps


def effects_sum(effects: Effects) -> int:
    return sum(effects.outcomes.values()) + effects.held_change


@ORDERS
def test_every_record_is_counted_once(natural: bool) -> None:
    line = line_of(natural=natural, events=4)
    records = [*walk(50), Record(50, None), Record(51, b"{")]
    effects = line.carry_out(records)
    assert effects_sum(effects) == 52
    assert effects.reasons == {names.TOMBSTONE: 1, names.NOT_JSON: 1}
