"""The part of the status page about what two stages gather, whatever it is."""

from __future__ import annotations

from stream.metrics.aggregates import AggregateCounts
from stream.metrics.crowds import CrowdCounts, FlowCounts
from stream.metrics.gathered import Gathered
from stream.metrics.page_aggregates import aggregates_card
from stream.metrics.page_crowds import crowds_card, flows_card


def gathered_card(counts: Gathered | None) -> str:
    """Nothing where every event is released by itself."""
    match counts:
        case AggregateCounts():
            return aggregates_card(counts)
        case CrowdCounts():
            return crowds_card(counts)
        case FlowCounts():
            return flows_card(counts)
        case _:
            return ""
