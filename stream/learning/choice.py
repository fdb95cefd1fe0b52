"""Whether a learnt model is worth a switch: what is kept now, exactly, and what would be kept, by a fixed rehearsal.

The rehearsal draws values from the learnt chain and coins from a public keystream and runs them through the pipeline's
own step under the policy that an informed epoch would have, users whose first beliefs nobody knows included. It counts
in whole numbers, so the same counts of pairs lead to the same choice on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from beliefs.chain import Chain
from beliefs.learning.online import Learnt, Setup, response_of
from beliefs.rounding import INFINITE
from mechanisms.contract import constants_table
from stream.commands.expectation import Promised, carry_out, draw
from stream.epochs import INFORMED, informed_policy
from stream.policy import SPENT_FORECAST, Policy

_USERS: Final = 256
_EVENTS: Final = 100


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
    """Switch as soon as more values are expected to be kept and no more is withheld than was allowed."""
    certain = _certain(setup)
    blind = response_of(setup).keep
    informed = _rehearsed(informed_policy(certain, learnt, 0), learnt.chain)
    cheap = learnt.withheld_units <= setup.withheld * setup.epsilon_units + 1
    return Choice(blind, informed, _rehearsed(certain, learnt.chain), bool(cheap and informed > blind))


def _rehearsed(policy: Policy, chain: Chain) -> float:
    drawn = draw(policy, chain, _USERS, _EVENTS, 1)
    releases = carry_out(Promised(policy), chain, drawn).releases
    return int(np.count_nonzero(releases.symbol == drawn.events.symbol)) / (_USERS * _EVENTS)


def _certain(setup: Setup) -> Policy:
    table = constants_table(setup.epsilon_units)
    return Policy(INFORMED.code, INFORMED.holds_epsilon, table, setup.epsilon_units, INFINITE, 0, SPENT_FORECAST, 0)
