"""How many searches for a near value came to their limit is counted from the kernel to the page that people read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import orjson
from grid_walks import grid_of, walk_on
from metering import COMMITTED_AT_MS, meter_settings
from pipeline_help import TOPIC_ID, Record, promise_of
from step_help import TAG, policy_of

from beliefs.alphabet import Grid
from beliefs.distance import euclidean
from stream.metrics.families import exposition, registry_of
from stream.metrics.meter import Meter
from stream.metrics.observer import MeterObserver
from stream.metrics.page import status_page
from stream.pipeline import PartitionPipeline
from stream.policy import new_bench
from stream.protocol.effects import BlockReport, Effects
from stream.protocol.inputs import InputBlock
from stream.stores.memory import MemoryStore
from stream.stores.rows import StateRows

EVENTS = 40


def carried_out(grid: Grid, epsilon: float) -> tuple[InputBlock, Effects]:
    chain = walk_on(grid.rows.size, grid.columns.size)
    distance = euclidean([grid.middle_at(cell) for cell in range(grid.size)])
    promise = replace(promise_of(policy=policy_of("near", epsilon), chain=chain), alphabet=grid, distance=distance)
    pipeline = PartitionPipeline(promise, "raw", TOPIC_ID, 0, new_bench(grid.size, None, distance))
    cells = np.random.default_rng(3).integers(grid.size, size=EVENTS).tolist()
    records = InputBlock.of(
        [Record(i, orjson.dumps({"activity": grid.value_at(cell)}), b"u%d" % i) for i, cell in enumerate(cells)]
    )
    return records, pipeline.prepare(records, MemoryStore(StateRows(grid.size, TAG)))


def test_events_of_searches_that_were_cut_short_are_counted() -> None:
    """All users begin alike: one search is enough for all of them, and each of their events is counted."""
    assert carried_out(grid_of(11, 11), 3.0)[1].cut_short == EVENTS
    assert carried_out(grid_of(3, 3), 1.0)[1].cut_short == 0


def test_they_are_exported_and_shown() -> None:
    meter = Meter(meter_settings())
    observer = MeterObserver(meter, lambda partition: (), lambda: COMMITTED_AT_MS)
    assert "cut short" not in status_page(meter)
    records, effects = carried_out(grid_of(11, 11), 3.0)
    observer.assigned([0])
    for _ in range(2):
        observer.block_committed(BlockReport(0, records, effects, EVENTS, 0, 0, 0.1, 0.1, 0.1))
    text = exposition(registry_of(meter), "")[0].decode()
    assert f"sottovoce_near_cut_short_total {2 * EVENTS}.0" in text
    cell = f'<td class="n" data-metric="sottovoce_near_cut_short_total">{2 * EVENTS}</td>'
    assert f"near's search came to its limit first</small></th>{cell}" in status_page(meter)
