"""Epochs of a pipeline that learns its model: what is promised in each, and the rows that come from another one.

A partition begins blind: randomised response over all values, which is locally private at epsilon, so nothing that is
believed matters. Once a model is learnt from these releases it may switch to an informed epoch, and back. Each epoch
has a tag of its own, also each blind one, and a row bears the tag of the epoch that wrote it. A row of another epoch is
adopted before its user's next event: nothing is known any more of how far its belief is from the exact one, so it is
charged what anybody might learn until it has settled. Proof: beliefs/learning/online.md.

In each block: `adopt` the rows, and under a blind policy read `last_releases` of their codes, `advance`, `count_pairs`
(stream/learning/pairs.py). A block ends at `next_checkpoint`; there `learn` from the counts, and `choose` (see
beliefs/learning/online.py, stream/learning/choice.py); if that says so, go on with `informed_policy` and the chain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beliefs.chain import Chain
from beliefs.checks import require
from beliefs.learning.online import Learnt, uniform_chain
from mechanisms import registry
from mechanisms.contract import DRIFT_UNKNOWN, SHAVE_UNITS, Integers, constants_of, constants_table
from stream.drift import settle_of
from stream.policy import Policy
from stream.state import STOPPED, UNSETTLED_BIT, Codes, Word, seal

BLIND = registry.MECHANISMS["randomised_response"]
INFORMED = registry.MECHANISMS["optimal"]


def blind_policy(policy: Policy, tag: int) -> Policy:
    """The same promise without a model. Whatever the belief and its drift, the channel is built for the whole of
    epsilon, and each release is charged what it tells anybody: half of epsilon withheld says so to the ledger.
    """
    whole = np.array([constants_of(policy.epsilon - SHAVE_UNITS)] * len(policy.constants))
    return policy._replace(
        mechanism=BLIND.code,
        holds_epsilon=BLIND.holds_epsilon,
        constants=whole,
        model_tag=tag,
        shift=policy.epsilon - policy.epsilon // 2,
        rising=None,
        settle=None,
    )


def blind_chain(symbols: int) -> Chain:
    return uniform_chain(symbols)


def informed_policy(policy: Policy, learnt: Learnt, tag: int) -> Policy:
    """The same promise under the learnt model, for whoever knows the true one."""
    return policy._replace(
        mechanism=INFORMED.code,
        holds_epsilon=INFORMED.holds_epsilon,
        constants=constants_table(policy.epsilon, learnt.withheld_units),
        model_tag=tag,
        shift=learnt.withheld_units,
        rising=None,
        settle=settle_of(learnt.chain.contraction),
    )


def of_other_epochs(heads: Integers, tag: int) -> NDArray[np.bool_]:
    """Which rows some other epoch has written. Rows of new users were written by none."""
    marks = heads[:, Word.MARKS]
    others: NDArray[np.bool_] = (marks != 0) & ((marks >> 32) & 0xFFFFFFFF != tag)
    return others


def adopt(heads: Integers, codes: Codes, policy: Policy) -> NDArray[np.bool_]:
    """Make rows of other epochs rows of this policy's, in place; says which were. Where one stays, nothing changes.

    In a blind epoch the belief is flat: the last release of an earlier one is no first half of a pair here.
    """
    require(codes.shape[1] >= 2, "there are two values at least")
    others = of_other_epochs(heads, policy.model_tag)
    blind = policy.settle is None
    left = 0 if policy.settle is None else policy.settle.predictions
    for place in np.flatnonzero(others).tolist():
        head = heads[place]
        if blind:
            codes[place] = codes[place].max()
        head[Word.WINDOW_AND_DRIFT] = (head[Word.WINDOW_AND_DRIFT] & DRIFT_UNKNOWN) | np.int64(-1 << 32)
        flags = int(head[Word.MARKS] >> 8) & STOPPED
        seal(head, codes[place], flags | left << UNSETTLED_BIT, policy.model_tag, policy.listed > 0)
    return others
