"""Rows that were written under another budget: read so that no window is believed to have spent less than it did."""

from __future__ import annotations

import numpy as np
import pytest
from step_help import TAG, Run, events_of, policy_of, sticky_chain

from beliefs.rounding import INFINITE, budget_units
from stream import state
from stream.rings import relaid
from stream.state import Word
from stream.stores.rows import StateRows

BUDGET = budget_units(3.5)


def written(sliding: int | None, events: int, interval: int = 0) -> Run:
    run = Run(policy_of(budget=BUDGET, sliding=sliding, interval=interval), sticky_chain(4), users=1)
    run.block(events_of(events, 1, 4))
    return run


def charges_of(head: state.Integers, plain: int, events: int) -> list[int]:
    """The upper charges of the last events, the latest first."""
    ring = head[plain : plain + events].tolist()
    return [ring[(int(head[Word.STEPS]) - back) % events] for back in range(1, events + 1)]


@pytest.mark.parametrize("interval", [0, 25])
@pytest.mark.parametrize("before", [None, 3, 6, 11])
@pytest.mark.parametrize("after", [None, 2, 6, 20])
@pytest.mark.parametrize("events", [0, 1, 5, 60])
def test_what_is_known_is_kept_and_the_rest_is_taken_for_late(
    interval: int, before: int | None, after: int | None, events: int
) -> None:
    run = written(before, events, interval)
    clock, plain = interval > 0, state.head_words(interval > 0)
    codec = StateRows(4, TAG, state.head_words(clock, after))
    heads, codes, readable = codec.from_rows(state.to_rows(run.heads, run.codes) if events else [])
    if not events:
        assert heads.shape == (0, state.head_words(clock, after))
        return
    assert readable.all() and (codes == run.codes).all()
    old, new = run.heads[0], heads[0]
    same = [Word.WATERMARK, Word.UPPER, Word.LOWER, Word.STEPS, Word.WINDOW_AND_DRIFT, *range(8, plain)]
    assert (old[same] == new[same]).all()
    if after is None:
        assert new[Word.WINDOW_UPPER] == old[Word.WINDOW_UPPER]
        return
    told = charges_of(new, plain, after)
    assert sum(told) == new[Word.WINDOW_UPPER]
    known = [] if before is None else charges_of(old, plain, before)
    shared = min(len(known), after)
    assert told[:shared] == known[:shared]
    if shared < min(after, events):
        assert sum(told) == old[Word.UPPER]  # nothing that was ever charged is forgotten
        assert told[shared] == old[Word.UPPER] - sum(known)


def test_an_amount_without_bound_stays_without_bound() -> None:
    run = written(None, 5)
    run.heads[0, Word.UPPER] = INFINITE
    state.seal(run.heads[0], run.codes[0], 0, TAG)
    heads, _, readable = StateRows(4, TAG, state.head_words(False, 4)).from_rows(state.to_rows(run.heads, run.codes))
    assert readable.all() and heads[0, Word.WINDOW_UPPER] == INFINITE


def test_a_stopped_user_stays_stopped() -> None:
    run = written(3, 5)
    state.seal(run.heads[0], run.codes[0], state.STOPPED, TAG)
    heads, _, readable = StateRows(4, TAG).from_rows(state.to_rows(run.heads, run.codes))
    assert readable.all() and state.is_stopped(heads)[0]


def test_what_is_broken_or_of_another_model_or_kind_stays_unreadable() -> None:
    run = written(3, 5)
    row = state.to_rows(run.heads, run.codes)[0]
    broken = row[:70] + bytes([row[70] ^ 1]) + row[71:]
    by_clock = state.to_rows(*(side for side in (written(3, 5, 25).heads, written(3, 5, 25).codes)))[0]
    words = state.head_words(False, 8)
    codec = StateRows(4, TAG, words)
    _, _, readable = codec.from_rows([row, broken, by_clock, b"", row[:60], row[:-4]])
    assert readable.tolist() == [True, False, False, False, False, False]
    assert relaid(row, 4, words, TAG + 1, listed=False) is None
    assert relaid(row, 4, words, TAG, listed=True) is None


def test_events_that_follow_a_change_wait_until_the_unknown_charges_are_out_of_every_window() -> None:
    run = written(None, 5)
    heads, codes, _ = StateRows(4, TAG, state.head_words(False, 6)).from_rows(state.to_rows(run.heads, run.codes))
    after = Run(policy_of(budget=BUDGET, sliding=6), sticky_chain(4), users=1)
    after.heads, after.codes = heads, codes
    releases = after.block(events_of(12, 1, 4, first_offset=5))
    spent = int(run.heads[0, Word.UPPER])
    for at in range(5):
        assert int(releases.upper[: at + 1].sum()) + spent <= BUDGET
    assert np.any(releases.outcome[5:] == 0)
