"""Figure 5: binary streams of ten values, errors against epsilon, all by enumeration but for ToPS.

Everything that may be released is followed: a belief, the channel that the pipeline would sample for it, and for each
output the next belief. Windows of 2, 3 and 5 are built by `dual`, near the best that any mechanism can do.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from paper_releases import Floats, channel_of, constants_for, leak_of, uniforms

from beliefs.chain import Chain
from beliefs.forward import chain_arrays, normalise
from mechanisms.contract import TOTAL
from mechanisms.sequence import dual
from mechanisms.sequence.dual_prices import DualRoom, new_rooms
from mechanisms.sequence.dual_sequences import last_of_sequences, law_of_sequences
from mechanisms.sequence.tops_value import tops_value

TIMES: Final = 10
CASES: Final = {"case 1": (0.5, 0.5), "case 2": (0.9, 0.9)}
"""P(X1 = 1), and the chance that a value stays."""
WINDOWS: Final = (2, 3, 5)
EPSILONS: Final = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
QUICK: Final = (0.5, 1.0, 2.0)
STEP: Final = 0.02
TOPS: Final = (3, 0.9, 3)
"""Samples for the threshold, its quantile, and over how many releases the mean is taken; the paper names none."""


def chain_of_case(case: str) -> Chain:
    one, stay = CASES[case]
    return Chain.from_dense([1 - one, one], [[stay, 1 - stay], [1 - stay, stay]])


def dense(chain: Chain) -> Floats:
    rows = np.zeros((chain.size, chain.size))
    for state in range(chain.size):
        columns, masses = chain.row(state)
        rows[state, columns] = masses / masses.sum()
    return rows


def singly_exact(mechanism: str, chain: Chain, epsilon: float, times: int = TIMES) -> tuple[float, float]:
    """The mean error over so many releases, and the most that one of them told."""
    move, error, worst = dense(chain), 0.0, 0.0
    beliefs: dict[bytes, tuple[Floats, float]] = {b"": (chain.start / chain.start.sum(), 1.0)}
    for _ in range(times):
        following: dict[bytes, tuple[Floats, float]] = {}
        for belief, weight in beliefs.values():
            channel = channel_of(mechanism, belief, epsilon)
            worst = max(worst, leak_of(belief, channel))
            kept = float(
                (belief[channel.released] * channel.rows[channel.released, range(len(channel.released))]).sum()
            )
            error += weight * (1.0 - kept) / times
            for i in range(channel.released.size):
                joint = belief * channel.rows[:, i]
                chance = float(joint.sum())
                if chance > 0:
                    after = joint / chance @ move
                    key = np.round(after, 12).tobytes()
                    before = following.get(key, (after, 0.0))[1]
                    following[key] = after, before + weight * chance
        beliefs = following
    return error, worst


@lru_cache(maxsize=4)
def rooms(symbols: int, longest: int) -> list[DualRoom]:
    return new_rooms(symbols, longest)


def in_windows_exact(chain: Chain, length: int, epsilon: float, times: int = TIMES) -> float:
    """The mean error of windows through one channel each; `epsilon` is for a window of this length, less for a rest."""
    arrays, move, error = chain_arrays(chain), dense(chain), 0.0
    beliefs: dict[bytes, tuple[Floats, float]] = {b"": (chain.start / chain.start.sum(), 1.0)}
    for begun in range(0, times, length):
        count = min(length, times - begun)
        room, following = rooms(chain.size, length)[count - 1], dict[bytes, tuple[Floats, float]]()
        for belief, weight in beliefs.values():
            law = np.zeros(chain.size**count)
            law_of_sequences(arrays, belief.copy(), count, law)
            normalise(law)
            dual.prepare(law, constants_for(epsilon * count / length), room)
            for i in range(int(room.counts[dual.COUNT])):
                dual.column(i, law, room)
                joint = law * room.likelihood / TOTAL
                error += weight * float((joint * room.wrong[room.head[i]]).sum()) / times
                last = np.zeros(chain.size)
                last_of_sequences(law, room.likelihood, last)
                normalise(last)
                after = last @ move
                key = np.round(after, 9).tobytes()
                before = following.get(key, (after, 0.0))[1]
                following[key] = after, before + weight * float(joint.sum())
        beliefs = following
    return error


def tops_error(chain: Chain, epsilon: float, users: int) -> float:
    """Read as 1 above one half. By simulation: it is a mechanism for numbers, with a state of its own."""
    source, move, wrong = np.random.default_rng(8), dense(chain), 0
    for user in range(users):
        values = [int(source.random() < chain.start[1])]
        while len(values) < TIMES:
            values.append(int(source.random() < move[values[-1], 1]))
        stream = np.array(values, dtype=np.float64)
        value = tops_value(stream, 1.0, epsilon, *TOPS, uniforms(user, TIMES))
        wrong += int(((np.array(value.smoothed) > 0.5) != (stream > 0.5)).sum())
    return wrong / (users * TIMES)
