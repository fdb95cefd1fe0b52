"""The records of a flow: one for each crowd that goes out, in its box, and one for events that are withheld, and why.

Nothing is known of what a flow tells about somebody's value: where and when an event comes out depends on it. So its
guarantee is k alone, and it says so. Sensitive values are counted for a crowd that goes out together. An event that
goes out alone, in the box of an earlier crowd, has no count: a count of one is a person's value.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import orjson

from beliefs.checks import require
from mechanisms.crowds.flow import Emitted
from stream import names
from stream.crowds.boxes import Boxes
from stream.crowds.promise import CrowdPromise
from stream.crowds.tuples import Event
from stream.gathering.numbers import rounded_up
from stream.protocol.ports import Outgoing
from stream.release_ids import release_ids

_FRAME_BYTES: Final = 1024


class FlowReleases:
    """Writes the records of one flow; `partition` is where its tuples come."""

    def __init__(self, promise: CrowdPromise, topic_id: bytes, partition: int) -> None:
        self._promise, self._boxes = promise, Boxes(promise.release)
        self._topic_id, self._partition = topic_id, partition
        self._guarantee = {"epsilon": None, "delta": 1, "method": "none", "k": promise.k}

    def record(self, number: int, emitted: Emitted, events: Sequence[Event], clock: int) -> Outgoing:
        """What goes out by this clock. Refuses to write what is no crowd, whatever the grouper says."""
        require_crowd(emitted, events, self._promise.k)
        promise, outcome = self._promise, names.RELEASED if emitted.reason is None else names.WITHHELD
        said = {
            "crowd": number,
            "partition": self._partition if promise.over == "partition" else None,
            "outcome": outcome,
            "reason": emitted.reason,
            "grouper": promise.release.grouper,
            "events": len(events),
            "reused": emitted.reused,
            **self._told(emitted, events),
            "guarantee": self._guarantee,
        }
        (release_id,) = release_ids(
            self._topic_id, self._partition, np.array([number], np.int64), promise.policy_fingerprint
        )
        headers = (
            (names.HEADER_RELEASE_ID, release_id),
            (names.HEADER_POLICY, promise.policy_name.encode()),
            (names.HEADER_OUTCOME, outcome.encode()),
        )
        return Outgoing(b"%d-%d" % (self._partition, number), orjson.dumps(said), clock, headers)

    def _told(self, emitted: Emitted, events: Sequence[Event]) -> dict[str, Any]:
        """Of events that are withheld nothing but how many they are."""
        if emitted.box is None:
            return dict.fromkeys(("users", "box", "loss", "sensitive"))
        counted = self._promise.release.sensitive is not None and not emitted.reused
        return {
            "users": emitted.users,
            "box": self._boxes.box(emitted.box),
            "loss": rounded_up(Fraction(emitted.loss)),
            "sensitive": self._boxes.counts(event.sensitive for event in events) if counted else None,
        }


def require_crowd(emitted: Emitted, events: Sequence[Event], k: int) -> None:
    """A box is that of k users at least, of which these events are; or, let out again, it was that of k users."""
    require(len(events) == len(emitted.seqs) > 0, "a record is about the events that go out with it")
    require((emitted.box is None) == (emitted.reason is not None), "what is withheld has no box, and all else has one")
    if emitted.box is None:
        return
    require(emitted.users >= k, "a crowd has k users at least")
    require(emitted.reused or len({event.user for event in events}) >= k, "a crowd has k distinct users at least")
    sides = [side for event in events for side in zip(event.cells, emitted.box, strict=True)]
    require(all(low <= cell <= high for cell, (low, high) in sides), "an event lies in the box that it is released in")


def record_bytes_max(promise: CrowdPromise) -> int:
    """The largest value of a released record."""
    return _FRAME_BYTES + Boxes(promise.release).bytes_max(promise.flowing.events)
