"""Counters of one worker; see `table` for every metric that leaves it."""

from stream.metrics.meter import BlockCounts, Meter, MeterSettings

__all__ = ["BlockCounts", "Meter", "MeterSettings"]
