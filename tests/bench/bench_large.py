"""Events a second over tens of thousands of values, on one core without a broker: `advance` in a loop.

    PYTHONPATH=. python tests/bench/bench_large.py --values 41270 --events 3000

Values follow the model. Each line is one model: how many states its rows lead to by name, and how many they name.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from step_help import Run, events_of, part, policy_of
from tail_models import zipf_chain

from beliefs.chain import Chain
from beliefs.listed import entries_listed
from mechanisms.contract import DRIFT_UNITS_PER_NAT, DRIFT_UNKNOWN
from stream.policy import Events
from stream.state import codes_of, drift_of, row_bytes

_USERS = 50
_WARM = 2 * _USERS


def true_values(chain: Chain, events: Events, seed: int = 5) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Paths of the chain, one for each user."""
    source = np.random.default_rng(seed)
    reached, values = np.full(_USERS, -1), np.zeros(events.slot.shape[0], dtype=np.int64)
    first, tail = np.cumsum(chain.start), np.cumsum(chain.tail)
    for i, user in enumerate(events.slot.tolist()):
        point, state = source.random(), int(reached[user])
        if state < 0:
            place = np.searchsorted(first, point * first[-1], side="right")
        elif point < chain.left[state]:
            place = np.searchsorted(tail, source.random() * tail[-1], side="right")
        else:
            columns, masses = chain.named(state)
            sums = np.cumsum(masses)
            place = columns[np.searchsorted(sums, source.random() * sums[-1], side="right")]
        values[i] = reached[user] = int(place)
    return values


def measure(size: int, reach: int, named: int, count: int, epsilon: float) -> str:
    chain = zipf_chain(size, named=named, reach=reach)
    listed = entries_listed(None, size, chain.has_tail)
    run = Run(policy_of("optimal", epsilon, listed=listed), chain, users=_USERS)
    events = events_of(_WARM + count, _USERS, size)
    events = events._replace(symbol=true_values(chain, events))
    run.block(part(events, 0, _WARM))
    begun = perf_counter()
    releases = run.block(part(events, _WARM, _WARM + count))
    seconds = perf_counter() - begun
    drifts = drift_of(run.heads)
    worst = int(drifts.max())
    drift = "unknown" if worst == DRIFT_UNKNOWN else f"{worst / DRIFT_UNITS_PER_NAT:.2g}"
    agreement = float((releases.symbol == events.symbol[_WARM:]).mean())
    return (
        f"{size:>7} {chain.data.size:>9} {reach:>7} {row_bytes(codes_of(size, listed)):>6} {count / seconds:>9.0f} "
        f"{drift:>9} {agreement:>9.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=int, default=41_270)
    parser.add_argument("--events", type=int, default=3_000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    chosen = parser.parse_args()
    print(f"{'values':>7} {'named':>9} {'reached':>7} {'bytes':>6} {'events/s':>9} {'drift':>9} {'agreement':>9}")
    for reach, named in ((1_500, 6), (1_500, 20), (chosen.values, 6), (chosen.values, 20)):
        print(measure(chosen.values, min(reach, chosen.values), named, chosen.events, chosen.epsilon), flush=True)


if __name__ == "__main__":
    main()
