"""Waits until a worker has carried out so many events, and says from its metrics what became of them.

python deploy/demonstration/settled.py --status 8998 --events 28800
"""

from __future__ import annotations

import argparse
import sys
import time
import urllib.request
from collections.abc import Sequence

from worker import ANSWER_SECONDS_MAX, Metrics

OUTCOMES = ("released", "forecast", "suppressed", "dead_lettered", "replayed")
LOOK_EVERY_SECONDS = 0.2
TELL_EVERY_SECONDS = 5.0


def scrape(address: str) -> Metrics | None:
    """None while nobody answers."""
    try:
        with urllib.request.urlopen(address, timeout=ANSWER_SECONDS_MAX) as answer:
            return Metrics(answer.read().decode())
    except OSError:  # refused while the worker starts
        return None


def wait(address: str, events: int, seconds: float) -> Metrics | None:
    """The metrics once so many events have an outcome; None if that takes longer than `seconds`."""
    began = told = time.monotonic()
    while (now := time.monotonic()) - began < seconds:
        found = scrape(address)
        done = 0 if found is None else int(found.total("sottovoce_events_total"))
        if found is not None and done >= events:
            return found
        if now - told >= TELL_EVERY_SECONDS:
            told = now
            state = "it does not answer yet" if found is None else f"{done:,} events so far"
            print(f"waiting for the worker, {now - began:.0f} s: {state}", file=sys.stderr)
        time.sleep(LOOK_EVERY_SECONDS)
    return None


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Wait until a worker has carried out so many events.")
    parser.add_argument("--status", type=int, default=8998, help="the port of its status page (default: %(default)s)")
    parser.add_argument("--events", type=int, required=True, help="how many events")
    parser.add_argument("--seconds", type=float, default=300, help="how long to wait (default: %(default)s)")
    chosen = parser.parse_args(arguments)
    address = f"http://127.0.0.1:{chosen.status}/metrics"
    found = wait(address, chosen.events, chosen.seconds)
    if found is None:
        print(f"settled: not {chosen.events:,} events within {chosen.seconds:g} s by {address}", file=sys.stderr)
        print("settled: see what `sottovoce run` said, and name its port with --status", file=sys.stderr)
        return 1
    counts = {name: int(found.value("sottovoce_events_total", outcome=name)) for name in OUTCOMES}
    above = int(found.total("sottovoce_releases_above_epsilon_total"))
    print(", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items()))
    print(f"{above:,} above epsilon, {int(found.total('sottovoce_tracked_users')):,} users")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
