"""Rows of the status page about how far windows of two stages have come."""

from __future__ import annotations

from collections.abc import Iterator

from stream.metrics.rows import Row, duration, moment, words
from stream.metrics.window_progress import WindowProgress


def far(progress: WindowProgress, waiting: str) -> Iterator[Row]:
    """`waiting` names the series of what waits for other partitions."""
    if progress.released_to is not None:
        note = f"ended {duration(1000 * (progress.released_lag() or 0.0))} ago"
        yield Row("released up to", words(moment(progress.released_to)), note=note)
        yield Row("parts that wait", f"{progress.waiting:,}", waiting, "sealed, for other partitions")
    opened = progress.open_windows()
    for partition, lag in progress.closed_lags().items():
        closed_to = words(moment(progress.partitions[partition].closed_to))
        note = f"ended {duration(1000 * lag)} ago; {opened[partition]:,} windows open"
        yield Row(f"partition {partition} closed up to", closed_to, note=note)
