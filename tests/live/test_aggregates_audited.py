"""Windows of aggregates from the real broker, audited: by the command, and by a hundred thousand other keys."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from broker import Broker
from live_aggregates import AggregateHouse, housed
from live_stream import moment, now_ms, write_for
from scipy import stats

from beliefs.rounding import UNITS_PER_NAT
from mechanisms.aggregate.coin_stream import CoinStream
from stream.aggregates.promise import AggregatePromise

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
KEYS = 100_000
FAILURE = 1e-6


async def test_the_audit_agrees_and_no_number_of_keys_proves_more_than_the_claim(
    broker: Broker, tmp_path: Path
) -> None:
    start = now_ms() // 1000 * 1000 - 5_000
    async with housed(broker.bootstrap, tmp_path, moment(start), "{nats: 5, windows: 4}") as house:
        await house.start("w1")
        last = await write_for(house, 5, start)
        await house.released_past(last)
        await house.check(last)
        await house.check_audit()
        await check_other_keys(house)


async def test_every_window_once_although_the_broker_is_killed(broker: Broker, tmp_path: Path) -> None:
    start = now_ms() // 1000 * 1000 - 5_000
    async with housed(broker.bootstrap, tmp_path, moment(start)) as house:
        await house.start("w1")
        await write_for(house, 4, start)
        await asyncio.to_thread(broker.kill9)
        await asyncio.sleep(2)
        await asyncio.to_thread(broker.start)
        last = await write_for(house, 4, start)
        await house.released_past(last)
        await house.check(last)
        await house.check_audit()


async def check_other_keys(house: AggregateHouse) -> None:
    """A window as it was released, and the same without one of its users: the key alone is another one each time.

    Who knows all other users can do no better than to look at the likelihood ratio of both; the event that it is at
    least so large is counted under either.
    """
    promise = house.promise
    said = [each for each in await house.released() if each["outcome"] == "released"]
    sums, _ = await house.recount(promise)  # after the releases: windows go on closing
    number = max((each["window"]["number"] for each in said), key=lambda at: sums[at][0])
    here = sums[number]
    assert here[0] > 1, "somebody is there"
    gone = without_one(promise, here)
    claim = float(next(each for each in said if each["window"]["number"] == number)["guarantee"]["leak"])
    seen = ratios(promise, number, here, here, gone, 0), ratios(promise, number, gone, here, gone, KEYS)
    least = max(proven(np.count_nonzero(seen[0] >= at), np.count_nonzero(seen[1] >= at)) for at in thresholds(seen[0]))
    assert claim == pytest.approx(promise.window_loss / UNITS_PER_NAT, rel=1e-8)
    assert 0.8 * distance(promise, here, gone) < least <= claim


def without_one(promise: AggregatePromise, here: Sequence[int]) -> list[int]:
    """Somebody leaves who has contributed as much to everything as one can."""
    gone, at = list(here), 0
    for query in promise.queries:
        gone[at] -= {"count": 1, "sum": query.most, "mean": query.most - query.centre}.get(query.kind, 1)
        if query.kind == "mean":
            gone[at + 1] -= 1
        at += query.cells
    return gone


def distance(promise: AggregatePromise, here: Sequence[int], gone: Sequence[int]) -> float:
    return float(sum(abs(a - b) / scale for a, b, scale in zip(here, gone, scales(promise), strict=True)))


def scales(promise: AggregatePromise) -> list[float]:
    """Of each cell."""
    return [
        float((query.noise[cell] if len(query.noise) > 1 else query.noise[0]).scale)
        for query in promise.queries
        for cell in range(query.cells)
    ]


def ratios(
    promise: AggregatePromise, number: int, truth: Sequence[int], here: Sequence[int], gone: Sequence[int], first: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The log likelihood ratio of what each key would have released."""
    cells = np.array(scales(promise))
    shown = np.array([noisy(promise, number, truth, first + key) for key in range(KEYS)], dtype=float)
    away, near = np.abs(shown - np.array(gone)), np.abs(shown - np.array(here))
    found: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = ((away - near) / cells).sum(axis=1)
    return found


def noisy(promise: AggregatePromise, number: int, truth: Sequence[int], key: int) -> list[int]:
    """What is released under this key, in the order in which the cells are drawn."""
    secret, found = Random(key).randbytes(32), []
    for place, query in enumerate(promise.queries):
        stream = CoinStream(secret, number, place)
        noise = query.noise * (query.cells // len(query.noise))
        found += [truth[len(found) + cell] + each.draw(stream) for cell, each in enumerate(noise)]
    return found


def thresholds(seen: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[float]:
    return [float(np.quantile(seen, share)) for share in np.linspace(0.05, 0.95, 19)]


def proven(often: int, seldom: int) -> float:
    """What two counts prove, whatever the true chances are (Clopper and Pearson)."""
    low = stats.beta.ppf(FAILURE, often, KEYS - often + 1)
    high = stats.beta.ppf(1 - FAILURE, seldom + 1, KEYS - seldom)
    return math.log(low / high)
