"""One block of an informed epoch: carried out, and the model tested with some of its releases on the way.

Those events are tested whose step is a multiple of 16: their users' rows say that before any coin is looked at, and a
user's steps do not depend on where blocks were cut, so neither does what is tested, nor what comes of it. What is
tested is that users follow some chain within the declared error of the learnt one: whoever knows that chain believes
something within a distance of what is believed here, and of all such beliefs the one that favours a bet most settles
its odds (beliefs/score.md). Whether a bet was ever won is asked after each event that is tested, not at a block's end.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from beliefs.forward import ChainArrays
from beliefs.native import kernel
from beliefs.score import BETS, WIDTH, Floats, evidence, new_score
from beliefs.score_apart import lay_bets, most_worth, observe_apart
from mechanisms import registry
from mechanisms.coins import Coins
from mechanisms.contract import DRIFT_UNITS_PER_NAT, DRIFT_UNKNOWN, TOTAL, Integers, outward
from stream.policy import RELEASED, STEPS, WATERMARK, Bench, Events, Policy, Releases
from stream.recall import predict_user
from stream.state import Codes
from stream.step import carry_out_one, weigh_outputs
from stream.watch import EVERY

PEAK: Final = WIDTH
"""Behind the monitor's own numbers, the most that its money ever was."""
ALARM: Final = 1000.0
"""Money at which the model is given up: under a right one that ever comes in one epoch of so many at most."""
KEPT: Final = WIDTH + 1


class Test(NamedTuple):
    """How far readers of the true chain may be from what is believed, in nats of Hilbert's metric, and scratch space:
    a law, the bets' laws, what each bet is worth given each value, and one head of a row.
    """

    apart: float
    law: Floats
    bets: Floats
    worth: Floats
    odds: Floats
    spare: Integers


def new_test(apart: float, symbols: int, words: int) -> Test:
    places = symbols + 2
    worth, spare = np.zeros((BETS, symbols)), np.zeros(words, dtype=np.int64)
    return Test(apart, np.zeros(places), np.zeros((BETS, places)), worth, np.zeros(BETS), spare)


def new_evidence() -> Floats:
    return np.append(new_score(), 1.0)


@kernel
def carry_out_scored(
    policy: Policy,
    chain: ChainArrays,
    bench: Bench,
    heads: Integers,
    codes: Codes,
    events: Events,
    coins: Coins,
    releases: Releases,
    test: Test,
    score: Floats,
) -> None:
    for i in range(events.slot.shape[0]):
        head, drift = heads[events.slot[i]], DRIFT_UNKNOWN
        if events.offset[i] > head[WATERMARK] and (head[STEPS] + 1) % EVERY == 0:
            for word in range(head.shape[0]):
                test.spare[word] = head[word]
            drift = predict_user(policy, chain, bench, test.spare, codes[events.slot[i]], events.time[i])
        carry_out_one(policy, chain, bench, heads, codes, events, coins, releases, i)
        if drift < DRIFT_UNKNOWN and releases.outcome[i] == RELEASED:
            _test(policy, bench, releases.symbol[i], drift, test, score)
            score[PEAK] = max(score[PEAK], evidence(score))


@kernel
def _test(policy: Policy, bench: Bench, symbol: int, drift: int, test: Test, score: Floats) -> None:
    """The channel that the last event went through is still on the bench, and the belief that it was built for."""
    work, belief = bench.work, bench.belief
    released = weigh_outputs(policy, bench, symbol, test.law)
    lay_bets(test.law, work.size[0], test.bets)
    test.worth[:] = 0.0
    for place in range(work.size[0]):
        registry.column(policy.mechanism, place, belief, work)
        for x in range(belief.shape[0]):
            chance = work.likelihood[x] / TOTAL
            for j in range(BETS):
                if test.law[place] > 0.0:
                    test.worth[j, x] += chance * test.bets[j, place] / test.law[place]
    apart = drift / DRIFT_UNITS_PER_NAT + test.apart
    for j in range(BETS):
        test.odds[j] = most_worth(belief, test.worth[j], apart)
    observe_apart(score, test.law, test.bets, test.odds, released, 1.0 - 8.0 * (outward(belief.shape[0]) - 1.0))
