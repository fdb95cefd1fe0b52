"""Releases by the pipeline's own steps and channels, for figures: no line here perturbs anything by itself.

Every figure names the notion beside epsilon: `SIP` against a reader who knows the model, `LDP` against every reader.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from step_help import KEY, Run, policy_of

from beliefs.chain import Chain
from beliefs.distance import Distance
from beliefs.forward import chain_arrays, reversed_arrays
from beliefs.listed import entries_listed
from beliefs.rounding import UNITS_PER_NAT, budget_units
from mechanisms import registry
from mechanisms.coins import Coins, coins_of, pick
from mechanisms.contract import TOTAL, Workspace, constants_of, design_units, new_workspace
from stream.policy import Events
from stream.promise import WindowRules
from stream.windows.rehearse import rehearse

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
NEVER: Final = 1 << 40
"""A deadline that no window comes to, in milliseconds."""


class Released(NamedTuple):
    """Symbols beside the events; `told` is what each release (window: at its last value) told at most, in nats."""

    symbols: Integers
    told: Floats


def events_of_users(sequences: list[Integers]) -> Events:
    """One user a sequence, one after the other."""
    slot = np.repeat(np.arange(len(sequences)), [sequence.size for sequence in sequences])
    offset = np.arange(slot.size, dtype=np.int64)
    return Events(slot, offset, offset * 10, np.concatenate(sequences))


def singly(mechanism: str, epsilon: float, chain: Chain, events: Events, distance: Distance | None = None) -> Released:
    """Each event by itself."""
    listed = entries_listed(None, chain.size, chain.has_tail) if mechanism == "optimal" else 0
    run = Run(policy_of(mechanism, epsilon, listed=listed), chain, int(events.slot.max()) + 1, distance)
    releases = run.block(events)
    return Released(releases.symbol, np.maximum(releases.upper, releases.lower) / UNITS_PER_NAT)


def in_windows(length: int, epsilon: float, chain: Chain, events: Events, distance: Distance | None = None) -> Released:
    """`epsilon` is for a whole window; what a user has left at the end is a shorter one."""
    policy = policy_of("optimal" if distance is None else "near", epsilon)
    rules = WindowRules(length, 0, natural=False, deadline=NEVER, back=reversed_arrays(chain))
    releases = rehearse(policy, rules, chain_arrays(chain), events, coins_of(KEY, events.offset), distance).releases
    return Released(releases.symbol, np.maximum(releases.upper, releases.lower) / UNITS_PER_NAT)


class Channel(NamedTuple):
    """`rows[x, i]` is how likely value x is released as `released[i]`; the whole numbers that are sampled, divided."""

    released: Integers
    rows: Floats


def channel_of(mechanism: str, belief: Floats, epsilon: float, distance: Distance | None = None) -> Channel:
    work, code = new_workspace(belief.size, distance), registry.MECHANISMS[mechanism].code
    registry.prepare(code, belief, constants_for(epsilon), work)
    count = int(work.size[0])
    rows = np.zeros((belief.size, count))
    for x in range(belief.size):
        registry.row(code, x, belief, work)
        rows[x] = work.row[:count] / TOTAL
    return Channel(work.head[:count].copy(), rows)


def constants_for(epsilon: float) -> Floats:
    return np.array(constants_of(design_units(budget_units(epsilon), 0)))


def leak_of(belief: Floats, channel: Channel) -> float:
    """The larger side over all values that are possible."""
    law = belief @ channel.rows
    with np.errstate(divide="ignore"):
        scores = np.abs(np.log(channel.rows[belief > 0][:, law > 0] / law[law > 0]))
    return float(scores.max())


def released_from(
    mechanism: str, belief: Floats, constants: Floats, value: int, coins: Coins, place: int, work: Workspace
) -> int:
    """One release by the coin at this place, for a belief that is given, whoever says so."""
    code = registry.MECHANISMS[mechanism].code
    registry.prepare(code, belief, constants, work)
    registry.row(code, value, belief, work)
    return int(work.head[pick(work.row, work.size[0], coins[place])])


def uniforms(name: int, count: int) -> Floats:
    """Numbers strictly between 0 and 1 from the keystream, for mechanisms that add noise to numbers."""
    words = coins_of(KEY, np.arange(name << 20, (name << 20) + -(-count // 8), dtype=np.int64)).reshape(-1)[:count]
    found: Floats = ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return found


def response_error(epsilon: float, values: int) -> float:
    """Randomised response over so many values, epsilon-LDP."""
    return (values - 1) / (math.exp(epsilon) + values - 1)
