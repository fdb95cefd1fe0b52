"""What is promised in each epoch of a partition that learns its model.

While nothing is known, values go through randomised response over all of them: local privacy at epsilon, and each
release is charged what it tells anybody. Once a model is learnt they go through `optimal`, built for epsilon less what
is withheld for the model's error. Both are `stream/epochs.py`'s; here they become promises of a pipeline.
"""

from __future__ import annotations

import math
from dataclasses import replace

from beliefs.forward import chain_arrays
from beliefs.leakage.robust import chain_error_units
from beliefs.learning.online import Learnt, Setup
from beliefs.rounding import nats
from stream.epochs import blind_chain, blind_policy, informed_policy
from stream.learning.record import Epoch
from stream.promise import Learning, Promise
from stream.settings.model import Settings


def learning_promise(settings: Settings, promise: Promise) -> Promise:
    """What a pipeline promises before anything is learnt; that of a pipeline with a model stays as it is."""
    learn = settings.model.learn
    if learn is None:
        return promise
    settled = promise.policy
    setup = Setup(learn.values.size, settled.epsilon, learn.doubt, learn.withheld)
    return replace(promise, policy=blind_policy(settled, settled.model_tag), learning=Learning(setup, settled))


def promise_of(promise: Promise, epoch: Epoch) -> Promise:
    """What holds in this epoch; `promise` is the one before anything is learnt. Its tag is its number."""
    if promise.learning is None:
        raise ValueError("the settings name a model")
    settled = promise.learning.settled
    if epoch.informed:
        policy = informed_policy(settled, _learnt(epoch), epoch.number)
        chain = epoch.model.chain
    else:
        policy, chain = blind_policy(settled, epoch.number), blind_chain(promise.alphabet.size)
    return replace(
        promise,
        chain=chain_arrays(chain),
        policy=policy,
        model_version=epoch.number,
        model_short=epoch.model.short,
    )


def _learnt(epoch: Epoch) -> Learnt:
    """As it was when the epoch began."""
    pairs = 0 if epoch.counts is None else int(epoch.counts.sum())
    error = math.inf if epoch.error is None else epoch.error
    return Learnt(epoch.model.chain, error, epoch.withheld_units, pairs, epoch.tests)


def apart_in(epoch: Epoch) -> float:
    """How far readers who know the true chain may be from what is believed under the epoch's, in nats."""
    if epoch.error is None:
        return math.inf
    chain = epoch.model.chain
    return nats(chain_error_units(epoch.error, chain.contraction, chain.span))
