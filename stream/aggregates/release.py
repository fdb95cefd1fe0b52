"""The record of one window: what was counted, with its noise, and what that tells; or that it is withheld, and why.

Amounts are written exactly, as decimals: whole numbers of the grid. Scales and everything under `guarantee` are rounded
up at the last digit that is written. An interval holds the truth with 95 %; that of a mean comes from two of 97.5 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
import orjson

from beliefs.rounding import UNITS_PER_NAT
from mechanisms.aggregate.coin_stream import CoinStream
from mechanisms.aggregate.geometric import Geometric, slimmed
from mechanisms.contract import Integers
from stream import names
from stream.aggregates.ledger import Decision
from stream.aggregates.promise import AggregatePromise
from stream.aggregates.query import Query
from stream.gathering.numbers import exact, near, rounded_up
from stream.keys import derived_key
from stream.protocol.ports import Outgoing
from stream.release_ids import release_ids
from stream.settings.amounts import write_moment

CONFIDENCE: Final = 0.95
CONFIDENCE_OF_A_PART: Final = 0.975
"""Two parts are both right with 95 %."""
_CELL_BYTES: Final = 128


class Releases:
    """Writes the records of a pipeline's windows. The coins of a window are the same for ever: they come from the key
    epoch that its sums were sealed with, so that a key may change between two attempts at a window.
    """

    def __init__(self, promise: AggregatePromise, topic_id: bytes) -> None:
        self._promise, self._topic_id = promise, topic_id
        name = f"{promise.pipeline} {topic_id.hex()}"
        self._keys = {
            epoch.number: derived_key(epoch.secret, names.PURPOSE_NOISE, name) for epoch in promise.ring.epochs
        }

    def record(self, number: int, sums: Integers, decision: Decision, epoch: int) -> Outgoing:
        """`sums` are the cells over all partitions, `epoch` the latest that one of them was sealed with."""
        promise = self._promise
        start = promise.start + number * promise.length
        outcome = names.RELEASED if decision.reason is None else names.WITHHELD
        said = {
            "window": {"start": write_moment(start), "end": write_moment(start + promise.length), "number": number},
            "outcome": outcome,
            "reason": decision.reason,
            "aggregates": {} if decision.reason is not None else self._aggregates(number, sums, decision, epoch),
            "guarantee": self._guarantee(decision),
        }
        (release_id,) = release_ids(self._topic_id, 0, np.array([number], np.int64), promise.policy_fingerprint)
        headers = (
            (names.HEADER_RELEASE_ID, release_id),
            (names.HEADER_POLICY, promise.policy_name.encode()),
            (names.HEADER_OUTCOME, outcome.encode()),
        )
        return Outgoing(write_moment(start).encode(), orjson.dumps(said), start + promise.length, headers)

    def _aggregates(self, number: int, sums: Integers, decision: Decision, epoch: int) -> dict[str, Any]:
        told, at = {}, 0
        for place, query in enumerate(self._promise.queries):
            stream = CoinStream(self._keys[epoch], number, place)
            noise = [_slimmed(each, decision.more_noise) for each in query.noise]
            told[query.name] = _told(query, sums[at : at + query.cells], noise, stream)
            at += query.cells
        return told

    def _guarantee(self, decision: Decision) -> dict[str, Any]:
        promise = self._promise
        return {
            "loss": _nats(decision.loss),
            "leak": _nats(decision.leak),
            "total": _nats(decision.total),
            "windows": promise.horizon,
            "target": None if promise.target is None else _nats(promise.target),
            "adversary": promise.claim.adversary,
            "protects": promise.protects,
            "method": promise.claim.method,
            "more_noise": rounded_up(decision.more_noise),
        }


def record_bytes_max(promise: AggregatePromise) -> int:
    """The largest value of a released record: no number that is written has more than 24 characters."""
    return 1024 + sum(_bytes_max(query) for query in promise.queries)


def _bytes_max(query: Query) -> int:
    lengths = sorted((len(orjson.dumps(label)) for label in query.labels), reverse=True)
    return 1024 + len(query.name) + sum(_CELL_BYTES + length for length in lengths[: query.shown])


def _told(query: Query, sums: Integers, noise: Sequence[Geometric], stream: CoinStream) -> dict[str, Any]:
    if query.kind == "mean":
        return _mean(query, sums, noise, stream)
    if query.kind in ("histogram", "top"):
        return _histogram(query, sums, noise[0], stream)
    return {"kind": query.kind, **_amount(int(sums[0]) + noise[0].draw(stream), noise[0], query.grid, CONFIDENCE)}


def _amount(value: int, noise: Geometric, grid: Decimal, confidence: float) -> dict[str, Any]:
    reach = _interval(noise, confidence)
    return {
        "value": exact(value, grid),
        "scale": rounded_up(noise.scale * Fraction(grid)),
        "interval": [exact(value - reach, grid), exact(value + reach, grid)],
    }


def _mean(query: Query, sums: Integers, noise: Sequence[Geometric], stream: CoinStream) -> dict[str, Any]:
    """Of what users are above the centre; it lies between the ends of what one user may contribute. Where nobody seems
    to be there it has no value.
    """
    above, users = int(sums[0]) + noise[0].draw(stream), int(sums[1]) + noise[1].draw(stream)
    far, more = _interval(noise[0], CONFIDENCE_OF_A_PART), _interval(noise[1], CONFIDENCE_OF_A_PART)
    counts = (max(1, users - more), max(1, users + more))
    low = min(_between(query, Fraction(above - far, count)) for count in counts)
    high = max(_between(query, Fraction(above + far, count)) for count in counts)
    value = _between(query, Fraction(above, users)) if users > 0 else None
    grid = Fraction(query.grid)
    return {
        "kind": query.kind,
        "value": None if value is None else near(value * grid, ROUND_HALF_EVEN),
        "interval": [near(low * grid, ROUND_FLOOR), near(high * grid, ROUND_CEILING)],
        "sum": {
            **_amount(above, noise[0], query.grid, CONFIDENCE_OF_A_PART),
            "above": exact(query.centre, query.grid),
        },
        "count": _amount(users, noise[1], Decimal(1), CONFIDENCE_OF_A_PART),
    }


def _between(query: Query, above: Fraction) -> Fraction:
    return min(max(query.centre + above, Fraction(query.least)), Fraction(query.most))


def _histogram(query: Query, sums: Integers, noise: Geometric, stream: CoinStream) -> dict[str, Any]:
    counts = (sums + noise.draws(stream, query.cells)).tolist()
    reach = _interval(noise, CONFIDENCE)
    cells = [
        {"value": query.labels[cell], "count": counts[cell], "interval": [counts[cell] - reach, counts[cell] + reach]}
        for cell in _shown(query, counts)
    ]
    return {"kind": query.kind, "cells": cells, "scale": rounded_up(noise.scale)}


def _shown(query: Query, counts: Sequence[int]) -> Iterator[int]:
    """All cells in their order; or those that are largest with their noise, of equal ones the first."""
    if query.shown is None:
        return iter(range(query.cells))
    return iter(sorted(range(query.cells), key=lambda cell: (-counts[cell], cell))[: query.shown])


@lru_cache(maxsize=4096)
def _interval(noise: Geometric, confidence: float) -> int:
    return noise.interval(confidence)


@lru_cache(maxsize=4096)
def _slimmed(noise: Geometric, more_noise: Fraction) -> Geometric:
    return noise if more_noise == 1 else slimmed(noise, more_noise)


def _nats(units: int) -> Any:
    return rounded_up(Fraction(units, UNITS_PER_NAT))
