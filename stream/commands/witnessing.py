"""The witness of a worker: it watches over the model and keeps exact accounts."""

from __future__ import annotations

from stream.accounts import events_kept
from stream.metrics.witness import Witness
from stream.opening import Opened
from stream.promise import bench_of
from stream.watch import Following


def following_of(opened: Opened) -> Following:
    return Following(opened.settings.metrics.accounts)


def witness_of(opened: Opened, following: Following) -> Witness | None:
    """None where values are released in windows, several models serve or one is learnt: neither the monitor nor the
    accounts know those. A partition that learns has a monitor of its own (stream/learning/carried.py).
    """
    promise = opened.promise
    if promise.windows is not None or promise.segments is not None or promise.learning is not None:
        return None
    events = max(1, events_kept(following.most, opened.model.chain)) if following.most else 1
    chain = opened.model.chain if following.most else None
    return Witness(opened.promise, bench_of(opened.promise), following, chain, events)
