"""What a reader who knows the chain makes of releases of gaze: the likeliest cell after each, by Bayes' rule."""

from __future__ import annotations

import numpy as np
from paper_eyes import Study
from paper_releases import Floats, Integers, events_of_users
from step_help import KEY, Run, part, policy_of

from beliefs.chain import Chain
from beliefs.forward import chain_arrays, reversed_arrays
from mechanisms.coins import Coins, coins_of
from mechanisms.sequence.window import Plan, mix
from stream.policy import RELEASED, new_bench
from stream.state import Codes, new_users
from stream.windows.step import Told, WindowStep


def likeliest_cell(chain: Chain, belief: Floats) -> int:
    """`belief` is over states, several of which may end in one cell."""
    return int(np.bincount(chain.symbol_of, weights=belief, minlength=chain.symbols).argmax())


def believed(
    chain: Chain, mechanism: str, epsilon: float, what: Study, pieces: list[Integers]
) -> tuple[list[Integers], list[Integers]]:
    """What is released one by one, and the likeliest cell after each release, by the pipeline's own belief."""
    events = events_of_users(pieces)
    run = Run(policy_of(mechanism, epsilon), chain, len(pieces), what.distance if mechanism == "near" else None)
    released, likeliest = np.zeros_like(events.slot), np.zeros_like(events.slot)
    for place in range(events.slot.size):
        released[place] = run.block(part(events, place, place + 1)).symbol[0]
        likeliest[place] = likeliest_cell(chain, run.bench.posterior)
    ends = np.cumsum([piece.size for piece in pieces])[:-1]
    return np.split(released, ends), np.split(likeliest, ends)


def believed_from_raw(chain: Chain, epsilon: float, released: list[Integers]) -> list[Integers]:
    """After responses whose sets are the successors of the true state before: the likeliest cell, by Bayes' rule over
    pairs of states. A release is possible only after states which it may follow."""
    symbols = chain.symbol_of[chain.indices]
    sizes = np.diff(chain.indptr)
    before = np.repeat(np.arange(chain.size), sizes)
    by_symbol = np.argsort(symbols, kind="stable")
    starts = np.searchsorted(symbols[by_symbol], np.arange(chain.symbols + 1))
    grown, found = float(np.exp(epsilon)), []
    for piece in released:
        belief = np.full(chain.symbols, 1.0) / chain.symbols
        belief[piece[0]] *= grown
        whole = np.zeros(chain.size)
        whole[: chain.symbols] = belief / belief.sum()
        likeliest = [int(belief.argmax())]
        for value in piece[1:].tolist():
            possible = before[by_symbol[starts[value] : starts[value + 1]]]
            possible = possible[whole[possible] > 0]
            following = np.zeros(chain.size)
            for state in possible.tolist():
                columns, masses = chain.row(state)
                weights = np.where(chain.symbol_of[columns] == value, grown, 1.0) / (grown + columns.size - 1)
                following[columns] += whole[state] * masses / masses.sum() * weights
            whole = following / following.sum()
            likeliest.append(likeliest_cell(chain, whole))
        found.append(np.array(likeliest, dtype=np.int64))
    return found


class ReadWindows(WindowStep):
    """Windows as the pipeline carries them out, and what its reader believes of each value once a window is closed."""

    def close(self, head: Integers, codes: Codes, times: Integers, values: Integers, coins: Coins) -> Told:
        self.plan: Plan | None = None
        self.told = super().close(head, codes, times, values, coins)
        return self.told

    def _plan(self, units: int, length: int) -> Plan:
        self.plan = super()._plan(units, length)
        return self.plan

    def likeliest(self, chain: Chain, position: int) -> int:
        room, belief = self._room, self._room.priors[position].copy()
        if self.plan is not None and self.told.outcome == RELEASED:
            mix(self.plan, room.priors[position], room.beliefs[position], belief)
        return likeliest_cell(chain, belief)


def believed_in_windows(
    chain: Chain, length: int, epsilon: float, what: Study, pieces: list[Integers]
) -> tuple[list[Integers], list[Integers]]:
    """What is released in windows of `near` under one epsilon each, and the likeliest cell once its window is closed:
    not always what is shown, which is the cell that is expected to be nearest.
    """
    policy, arrays = policy_of("near", epsilon), chain_arrays(chain)
    step = ReadWindows(policy, arrays, reversed_arrays(chain), new_bench(chain.size, chain.symbols, what.distance))
    events = events_of_users(pieces)
    coins, released, likeliest, first = coins_of(KEY, events.offset), list[Integers](), list[Integers](), 0
    for piece in pieces:
        head, codes = (rows[0] for rows in new_users(1, chain.size))
        shown, read = list[int](), list[int]()
        for start in range(0, piece.size, length):
            window = slice(first + start, first + min(start + length, piece.size))
            told = step.close(head, codes, events.time[window], events.symbol[window], coins[window])
            shown += told.symbols
            read += [step.likeliest(chain, position) for position in range(len(told.symbols))]
        first += piece.size
        released.append(np.array(shown, dtype=np.int64))
        likeliest.append(np.array(read, dtype=np.int64))
    return released, likeliest
