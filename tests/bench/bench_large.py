"""Events a second over tens of thousands of values, on one core without a broker: `advance` in a loop.

    PYTHONPATH=. python tests/bench/bench_large.py --values 41270 --events 3000

Values follow the model. Each line is one model: how many entries its rows name, and how many states these lead to. The
last column is the agreement where rows keep every entry. With the folder of the Kosarak click-stream in
SOTTOVOCE_DATA, two more lines are models learnt from half of its sessions, told of the other half.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from click_stream import ITEMS, clicks, learnt_chain
from step_help import Run, events_of, part, policy_of
from tail_models import zipf_chain

from beliefs.chain import Chain
from beliefs.listed import entries_listed
from mechanisms.contract import DRIFT_UNITS_PER_NAT, DRIFT_UNKNOWN
from stream.policy import Events
from stream.state import codes_of, drift_of, row_bytes

Integers = NDArray[np.int64]

_USERS = 50
_WARM = 2 * _USERS


def true_values(chain: Chain, slot: Integers, seed: int = 5) -> Integers:
    """Paths of the chain, one for each user."""
    source = np.random.default_rng(seed)
    reached, values = np.full(int(slot.max()) + 1, -1), np.zeros(slot.shape[0], dtype=np.int64)
    first, tail = np.cumsum(chain.start), np.cumsum(chain.tail)
    left = chain.left if chain.has_tail else np.zeros(chain.size)
    for i, user in enumerate(slot.tolist()):
        point, state = source.random(), int(reached[user])
        if state < 0:
            place = np.searchsorted(first, point * first[-1], side="right")
        elif point < left[state]:
            place = np.searchsorted(tail, source.random() * tail[-1], side="right")
        else:
            columns, masses = chain.named(state)
            sums = np.cumsum(masses)
            place = columns[np.searchsorted(sums, source.random() * sums[-1], side="right")]
        values[i] = reached[user] = int(place)
    return values


def of_clicks(folder: Path, size: int, reach: int, count: int, epsilon: float) -> str:
    """Learnt from every other session, told of the others' clicks, one user a session."""
    sessions = clicks(folder)
    chain = learnt_chain(sessions[::2], size, reach)
    told = [(user, item) for user, session in enumerate(sessions[1::2]) for item in session][: _WARM + count]
    slot, symbol = (np.array(column, dtype=np.int64) for column in zip(*told, strict=True))
    offset = np.arange(len(told), dtype=np.int64)
    return line_of(chain, Events(slot, offset, offset, symbol), int(slot.max()) + 1, reach, epsilon)


def of_zipf(size: int, reach: int, named: int, count: int, epsilon: float) -> str:
    chain = zipf_chain(size, named=named, reach=reach)
    events = events_of(_WARM + count, _USERS, size)
    return line_of(chain, events._replace(symbol=true_values(chain, events.slot)), _USERS, reach, epsilon)


def line_of(chain: Chain, events: Events, users: int, reach: int, epsilon: float) -> str:
    listed = entries_listed(None, chain.size, chain.has_tail)
    run = Run(policy_of("optimal", epsilon, listed=listed), chain, users=users)
    run.block(part(events, 0, _WARM))
    count = events.slot.shape[0]
    begun = perf_counter()
    releases = run.block(part(events, _WARM, count))
    seconds = perf_counter() - begun
    worst = int(drift_of(run.heads).max())
    drift = "unknown" if worst == DRIFT_UNKNOWN else f"{worst / DRIFT_UNITS_PER_NAT:.2g}"
    agreement = float((releases.symbol == events.symbol[_WARM:]).mean())
    most = int(max(releases.upper.max(), releases.lower.max()))
    assert most <= run.policy.epsilon
    whole = Run(policy_of("optimal", epsilon), chain, users=users).block(events)
    return (
        f"{chain.size:>7} {chain.data.size:>9} {reach:>7} {row_bytes(codes_of(chain.size, listed)):>6} "
        f"{(count - _WARM) / seconds:>9.0f} {drift:>9} {agreement:>9.3f} "
        f"{float((whole.symbol == events.symbol)[_WARM:].mean()):>9.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=int, default=41_270)
    parser.add_argument("--events", type=int, default=3_000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    chosen = parser.parse_args()
    print(" values     named reached  bytes  events/s     drift agreement  unlisted")
    for reach, named in ((1_500, 6), (1_500, 12), (chosen.values, 6), (chosen.values, 12)):
        print(of_zipf(chosen.values, min(reach, chosen.values), named, chosen.events, chosen.epsilon), flush=True)
    folder = os.environ.get("SOTTOVOCE_DATA")
    for reach in (1_900, ITEMS) if folder else ():
        print(of_clicks(Path(str(folder)), ITEMS, reach, chosen.events, chosen.epsilon), flush=True)


if __name__ == "__main__":
    main()
