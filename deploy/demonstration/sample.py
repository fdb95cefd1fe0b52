"""A table of labelled activities to learn with: what the simulated phones did, as CSV on standard output.

    python deploy/demonstration/sample.py > activities.csv

The same phones lead the same lives each time, so whoever repeats this has the same table to the byte.
"""

from __future__ import annotations

import argparse
import csv
import signal
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from phones import ACTIVITIES, STEP_MILLISECONDS, Phones, key_of

BEGIN = datetime(2024, 3, 4, tzinfo=UTC)
"""In the past: a broker refuses records from more than an hour after its own clock."""
HEAD = ("user", "time", "activity")


def rows(phones: int, events: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """By time, as a log has them: each phone once in ten minutes, the first time at midnight."""
    # The first round of phones comes one step after their beginning.
    lives = Phones(phones, seed, int(BEGIN.timestamp() * 1000) - STEP_MILLISECONDS)
    for _ in range(events):
        now = lives.advance()
        time = datetime.fromtimestamp(now.time / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for phone, activity in enumerate(now.activities.tolist()):
            yield key_of(phone).decode(), time, ACTIVITIES[activity]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Labelled activities of simulated phones, as CSV.")
    parser.add_argument("--phones", type=int, default=200, help="how many (default: %(default)s)")
    parser.add_argument(
        "--events", type=int, default=144, help="of each, one in ten minutes (default: %(default)s, a day)"
    )
    parser.add_argument("--seed", type=int, default=1, help="which lives they lead (default: %(default)s)")
    chosen = parser.parse_args(arguments)
    if chosen.phones < 1 or chosen.events < 1:
        parser.error("--phones and --events: at least 1")
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(HEAD)
    table.writerows(rows(chosen.phones, chosen.events, chosen.seed))
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # behind it may stand `head`
    sys.exit(main(sys.argv[1:]))
