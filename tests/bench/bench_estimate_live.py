"""How often the 95 % intervals of `sottovoce estimate` hold, through everything on a real broker:

    python tests/bench/bench_estimate_live.py [--runs 10] [--events 1000000] [--mechanism grr] [--epsilon 2]

It starts a broker of its own. Each run has a key ring, topics and a worker of its own: a million events with one of
twelve categories go into the raw topic, `sottovoce run` releases them, and `sottovoce estimate` reads the released
topic. An interval holds if the share among the raw events lies in it. Of right intervals of twelve shares some 95 % do,
in the long run; it ends with 1 if less than 93 % of all do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bench_broker import Broker

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS), str(TESTS.parent / "deploy" / "demonstration")]

from fault_workers import command  # noqa: E402 after the path to it
from live_worker import opened  # noqa: E402
from live_writing import FIRST_TIME, PARTITIONS, Raw, write  # noqa: E402

CATEGORIES, USERS = 12, 1_000
NAMES = [f"category {place}" for place in range(CATEGORIES)]
SHARES = np.arange(CATEGORIES, 0, -1) / (CATEGORIES * (CATEGORIES + 1) / 2)
HOLD_LEAST = 0.93
ALONE = {"model": "", "mechanism": "", "budget": "", "record": "{public: [$.n]}"}


class Held(NamedTuple):
    """Of one run: which intervals hold, by how many standard errors estimates are off, and how long it took."""

    inside: list[bool]
    scores: list[float]
    seconds: dict[str, float]


def events_of(values: np.ndarray[Any, Any]) -> Iterator[Raw]:
    texts = [b'{"c":%s,"n":1}' % json.dumps(name).encode() for name in NAMES]
    keys = [b"user-%d" % user for user in range(USERS)]
    for number, value in enumerate(values.tolist()):
        user = number % USERS
        yield Raw(user % PARTITIONS, keys[user], texts[value], (), FIRST_TIME + number)


async def one_run(bootstrap: str, folder: Path, values: np.ndarray[Any, Any], mechanism: str, epsilon: float) -> Held:
    field = f"{{path: $.c, values: {json.dumps(NAMES)}, mechanism: {mechanism}, epsilon: {epsilon}}}"
    began, seconds = time.monotonic(), {}
    async with opened(bootstrap, folder, **ALONE, fields=f"{{each: {{c: {field}}}}}") as house:
        await write(bootstrap, house.raw, events_of(values))
        seconds["written"] = time.monotonic() - began
        await house.start()
        await house.settled()
        await house.stop()
        seconds["released"] = time.monotonic() - began - seconds["written"]
        answer = await command("estimate", str(house.file), "--json")
        seconds["estimated"] = time.monotonic() - began - seconds["written"] - seconds["released"]
    if answer.status:
        raise SystemExit(answer.out + answer.said)
    document = json.loads(answer.out)
    if document["reports"] != values.shape[0]:
        raise SystemExit(f"{document['reports']} of {values.shape[0]} events were estimated from")
    table, truth = document["tables"]["frequency"], np.bincount(values, minlength=CATEGORIES) / values.shape[0]
    inside = [low <= true <= high for low, true, high in zip(table["low"], truth, table["high"], strict=True)]
    scores = (np.array(table["estimate"]) - truth) / np.sqrt(table["variance"])
    return Held(inside, scores.tolist(), seconds)


async def all_runs(given: argparse.Namespace, bootstrap: str, folder: Path) -> list[Held]:
    source, found = np.random.default_rng(given.seed), []
    for number in range(given.runs):
        values = source.choice(CATEGORIES, given.events, p=SHARES)
        held = await one_run(bootstrap, folder / f"run-{number}", values, given.mechanism, given.epsilon)
        took = ", ".join(f"{name} in {seconds:.1f} s" for name, seconds in held.seconds.items())
        furthest = max(abs(score) for score in held.scores)
        hold = f"{sum(held.inside)} of {CATEGORIES} hold"
        print(f"run {number + 1}: {hold}, furthest {furthest:.2f} errors; {took}", flush=True)
        found.append(held)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--mechanism", default="grr")
    parser.add_argument("--epsilon", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=1, help="of the raw values; keys are new in each run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Broker() as broker:
        found = asyncio.run(all_runs(given, broker.bootstrap, Path(folder)))
    intervals, hold = CATEGORIES * len(found), sum(sum(held.inside) for held in found)
    squares = np.mean([score * score for held in found for score in held.scores])
    print(f"{hold} of {intervals} intervals hold: {hold / intervals:.1%}; mean square of the scores {squares:.2f}")
    return 0 if hold >= HOLD_LEAST * intervals else 1


if __name__ == "__main__":
    sys.exit(main())
