"""Some users' events carried out once more, on copies of their rows, by whoever watches the model and the accounts.

A release leaves the step with its charges and its value. What watching needs besides is the law that the value was
drawn from, and how likely it was given each true value; both are on the bench when an event has been carried out. So
the events of a few users are repeated one by one with the same coins: the result is the same to the bit, however blocks
were cut. The step itself is not touched, and nothing here leaves a trace in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.forward import ChainArrays
from beliefs.native import kernel
from beliefs.score import observe
from mechanisms.coins import Coins
from mechanisms.contract import DRIFT_UNITS_PER_NAT, DRIFT_UNKNOWN, Floats, Integers, outward
from stream.policy import RELEASED, REPLAYED, Bench, Events, Policy, Releases
from stream.recall import predict_user
from stream.state import Codes
from stream.step import carry_out_one, weigh_outputs

NOBODY = -1


class Pages(NamedTuple):
    """The latest events of each followed user: what was believed before each, what its release said about each state,
    how far that belief may be off, the charges, and how many
    events there were. Event number k of a user is at place k modulo the events kept.
    """

    believed: Floats
    said: Floats
    drift: Integers
    upper: Integers
    lower: Integers
    events: Integers


def new_pages(users: int, events: int, states: int) -> Pages:
    believed, said = (np.zeros((users, events, states)) for _ in range(2))
    drift, upper, lower = (np.zeros((users, events), dtype=np.int64) for _ in range(3))
    return Pages(believed, said, drift, upper, lower, np.zeros(users, dtype=np.int64))


@kernel
def witness_all(
    policy: Policy,
    chain: ChainArrays,
    bench: Bench,
    heads: Integers,
    codes: Codes,
    events: Events,
    coins: Coins,
    scored: NDArray[np.bool_],
    page: Integers,
    releases: Releases,
    law: Floats,
    score: Floats,
    pages: Pages,
) -> None:
    """`scored` says which events the model is tested with; `page` is where each event's user is followed, or NOBODY.
    `law` is room for one law.
    """
    before = heads[-1]  # a spare row: the prediction moves the clock of the row that it is given
    for i in range(events.slot.shape[0]):
        user = events.slot[i]
        for word in range(before.shape[0]):
            before[word] = heads[user, word]
        drift = predict_user(policy, chain, bench, before, codes[user], events.time[i])
        kept = pages.events[page[i]] % pages.drift.shape[1] if page[i] != NOBODY else 0
        if page[i] != NOBODY:
            for s in range(bench.ahead.shape[0]):
                pages.believed[page[i], kept, s] = bench.ahead[s]
        carry_out_one(policy, chain, bench, heads, codes, events, coins, releases, i)
        if releases.outcome[i] == REPLAYED:
            continue
        if page[i] != NOBODY:
            _keep_page(chain, bench, pages, page[i], kept, drift, i, releases)
        if scored[i] and releases.outcome[i] == RELEASED and drift < DRIFT_UNKNOWN:
            _score(policy, bench, releases.symbol[i], drift, law, score)


@kernel
def _keep_page(
    chain: ChainArrays, bench: Bench, pages: Pages, page: int, kept: int, drift: int, i: int, releases: Releases
) -> None:
    told = releases.outcome[i] == RELEASED
    for s in range(bench.ahead.shape[0]):
        pages.said[page, kept, s] = bench.work.likelihood[chain.symbol_of[s]] if told else 1.0
    pages.drift[page, kept] = drift
    pages.upper[page, kept], pages.lower[page, kept] = releases.upper[i], releases.lower[i]
    pages.events[page] += 1


@kernel
def _score(policy: Policy, bench: Bench, symbol: int, drift: int, law: Floats, score: Floats) -> None:
    """The law of the value that was released is the channel's output under the stored belief. The exact one lies within
    exp(+-drift) of it, and the sums that make it are rounded.
    """
    released = weigh_outputs(policy, bench, symbol, law)
    off = drift / DRIFT_UNITS_PER_NAT + 2.0 * (outward(bench.belief.shape[0]) - 1.0)
    observe(score, law, bench.work.size[0], released, off)
