"""Whether a learnt model is worth a switch: what is kept now, exactly, and what would be kept, by a fixed rehearsal.

The rehearsal draws values from the learnt chain and coins from a public keystream and runs them through the pipeline's
own step under the policy that an informed epoch would have, users whose first beliefs nobody knows included. It counts
in whole numbers, so the same counts of pairs lead to the same choice on every machine.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

import numpy as np

from beliefs.chain import Chain
from beliefs.learning.online import Learnt, Setup, response_of
from beliefs.rounding import INFINITE
from mechanisms.coins import WORDS_PER_OFFSET, keystream
from mechanisms.contract import Integers, constants_table
from stream.commands.expectation import Drawn, Promised, carry_out
from stream.epochs import INFORMED, informed_policy
from stream.policy import SPENT_FORECAST, Events, Policy

NEARLY_ALL: Final = 0.98
"""What an informed epoch should keep of what the same chain would, if it were known to be true: it learns nothing more,
so where it begins it stays. Who allows half of epsilon to be withheld asks for whatever is better than nothing.
"""
_USERS: Final = 256
_EVENTS: Final = 100
_VALUES: Final = hashlib.sha256(b"sottovoce learning: values").digest()
_COINS: Final = hashlib.sha256(b"sottovoce learning: coins").digest()


@dataclass(frozen=True)
class Choice:
    """The share of values that are released unchanged: in the blind epoch; as predicted, in an informed one; and, as
    predicted, if the learnt chain were known to be true, so that nothing had to be withheld and no row to settle.
    """

    agreement_blind: float
    agreement_informed: float
    agreement_if_certain: float
    switch: bool


def choose(setup: Setup, learnt: Learnt) -> Choice:
    """Switch as soon as more values are expected to be kept, nearly as many as if the chain were certain, and no more
    is withheld than was allowed.
    """
    certain = _certain(setup)
    blind = response_of(setup).keep
    informed = _rehearsed(informed_policy(certain, learnt, 0), learnt.chain)
    if_certain = _rehearsed(certain, learnt.chain)
    cheap = learnt.withheld_units <= setup.withheld * setup.epsilon_units + 1
    patient = setup.withheld < 0.5
    enough = informed > blind and (not patient or informed >= NEARLY_ALL * if_certain)
    return Choice(blind, informed, if_certain, bool(cheap and enough))


def _rehearsed(policy: Policy, chain: Chain) -> float:
    count = _USERS * _EVENTS
    order = np.arange(count, dtype=np.int64)
    events = Events(slot=order % _USERS, offset=order, time=order, symbol=_values(chain).reshape(-1))
    drawn = Drawn(events, keystream(_COINS, 0, count), _USERS, _EVENTS)
    releases = carry_out(Promised(policy), chain, drawn).releases
    return int(np.count_nonzero(releases.symbol == events.symbol)) / count


def _values(chain: Chain) -> Integers:
    """A row for each step: the users' values, which follow the chain, all users at once."""
    words = keystream(_VALUES, 0, _USERS * _EVENTS // WORDS_PER_OFFSET).reshape(_EVENTS, _USERS, 1)
    points = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    rows = np.add.accumulate(chain.dense, axis=1)[:, :-1]
    values = np.zeros((_EVENTS, _USERS), dtype=np.int64)
    values[0] = (points[0] >= np.add.accumulate(chain.start)[:-1]).sum(axis=1)
    for step in range(1, _EVENTS):
        values[step] = (points[step] >= rows[values[step - 1]]).sum(axis=1)
    return values


def _certain(setup: Setup) -> Policy:
    table = constants_table(setup.epsilon_units)
    return Policy(INFORMED.code, INFORMED.holds_epsilon, table, setup.epsilon_units, INFINITE, 0, SPENT_FORECAST, 0)
