"""Whether a learnt model is worth a switch: what is kept now, exactly, and what would be kept, by a fixed rehearsal.

The rehearsal draws values from the learnt chain and coins from a public keystream and runs them through the pipeline's
own step under the policy that an informed epoch would have, users whose first beliefs nobody knows included. So the
same counts lead to the same choice on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from beliefs.learning.online import Learnt, Setup, response_of
from beliefs.rounding import INFINITE
from mechanisms.contract import constants_table
from stream.commands.expectation import Promised, without_budget
from stream.epochs import INFORMED, informed_policy
from stream.policy import SPENT_FORECAST, Policy


@dataclass(frozen=True)
class Choice:
    """The share of values that are released unchanged, in the blind epoch and, as predicted, in an informed one."""

    agreement_blind: float
    agreement_informed: float
    switch: bool


def choose(setup: Setup, learnt: Learnt) -> Choice:
    """Switch as soon as more values are expected to be kept and no more is withheld than was allowed."""
    blind, informed = response_of(setup).keep, predicted(setup, learnt)
    cheap = learnt.withheld_units <= setup.withheld * setup.epsilon_units + 1
    return Choice(blind, informed, bool(cheap and informed > blind))


def predicted(setup: Setup, learnt: Learnt) -> float:
    policy = informed_policy(_promise(setup), learnt, 0)
    return without_budget(Promised(policy), learnt.chain).agreement


def _promise(setup: Setup) -> Policy:
    table = constants_table(setup.epsilon_units)
    return Policy(INFORMED.code, True, table, setup.epsilon_units, INFINITE, 0, SPENT_FORECAST, 0)
