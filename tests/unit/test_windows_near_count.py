"""Searches of `near` that come to their limit inside windows are counted once, like those of single releases."""

from __future__ import annotations

from pipeline_help import ACTIVITIES, TAG, TOPIC_ID, Partition, promise_of, walk, windows_of
from step_help import policy_of

from beliefs.distance import from_table
from mechanisms.sequence.near import CUT_SHORT_SO_FAR
from stream.policy import new_bench
from stream.stores.memory import MemoryStore
from stream.stores.rows import StateRows
from stream.windows.pipeline import WindowPipeline

LINE = from_table([[0.0, 1.0, 2.0, 3.0], [1.0, 0.0, 1.0, 2.0], [2.0, 1.0, 0.0, 1.0], [3.0, 2.0, 1.0, 0.0]], 4)


def test_they_are_counted_once() -> None:
    size = len(ACTIVITIES)
    promise = promise_of(policy=policy_of("near"), windows=windows_of(4))
    pipeline = WindowPipeline(promise, "raw", TOPIC_ID, 0, new_bench(size, size, LINE))
    partition = Partition(MemoryStore(StateRows(size, TAG)), pipeline)
    records = walk(60)
    assert partition.carry_out(records[:30]).cut_short == 0
    pipeline._steps[0]._tools.work.size[CUT_SHORT_SO_FAR] = 3
    effects = partition.carry_out(records[30:])
    assert len(effects.releases) > 0
    assert effects.cut_short == 3
    overdue = partition.close_overdue(1 << 60)
    assert overdue is not None and overdue.cut_short == 0
