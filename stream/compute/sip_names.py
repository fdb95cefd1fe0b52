"""The names of sequence information privacy and what each is given."""

from __future__ import annotations

from collections.abc import Mapping

from stream.compute import accounts, release, sequence, windows
from stream.compute.computation import Computation
from stream.compute.inputs import (
    Input,
    channel,
    count,
    indices,
    key,
    law,
    likelihoods,
    list_of_nats,
    nats,
    numbers,
    share,
    strict_share,
    table,
    text,
    truth,
    whole_number,
)

PRIOR = Input("prior", law)
CHANNEL = Input("channel", channel)
EPSILON = Input("epsilon", nats)
TRANSITION = Input("transition", channel)
START = Input("start", law)
TIMES = Input("times", count)
DELTA = Input("delta", strict_share)

SIP: Mapping[str, Computation] = {
    "sip.optimal": Computation(
        sequence.optimal,
        (
            PRIOR,
            Input("epsilon", nats, needed=False),
            Input("lower", nats, needed=False),
            Input("upper", nats, needed=False),
        ),
        exactly_one_of=(("epsilon",), ("lower", "upper")),
    ),
    "sip.crr": Computation(sequence.crr, (PRIOR, EPSILON)),
    "sip.leakage": Computation(sequence.leakage, (PRIOR, CHANNEL)),
    "sip.repair": Computation(sequence.repair, (PRIOR, CHANNEL, EPSILON)),
    "sip.distortion": Computation(windows.distortion, (PRIOR, Input("distortion", table), EPSILON)),
    "sip.window": Computation(
        windows.window, (TRANSITION, START, Input("length", count), EPSILON, Input("delay", truth))
    ),
    "sip.ledger": Computation(
        accounts.ledger,
        (
            TRANSITION,
            START,
            Input("likelihoods", likelihoods, needed=False),
            Input("mechanism", text, needed=False),
            Input("epsilon", nats, needed=False),
            Input("released", indices, needed=False),
        ),
        exactly_one_of=(("likelihoods",), ("mechanism", "epsilon", "released")),
    ),
    "sip.robust": Computation(accounts.robust, (EPSILON, Input("radius", share))),
    "sip.chain_error": Computation(accounts.chain_error, (TRANSITION, Input("error", nats), EPSILON)),
    "sip.path": Computation(accounts.path, (TIMES, EPSILON, DELTA)),
    "sip.path_losses": Computation(accounts.path_losses, (PRIOR, CHANNEL, TIMES, DELTA)),
    "sip.sliding": Computation(
        accounts.sliding, (Input("charges", list_of_nats), Input("events", count), Input("budget", nats))
    ),
    "sip.score": Computation(
        accounts.score, (Input("laws", channel), Input("released", indices), Input("alpha", strict_share))
    ),
    "sip.two_budget": Computation(sequence.two_budget, (PRIOR, Input("lower", nats), Input("upper", nats))),
    "sip.tops": Computation(
        windows.tops,
        (
            Input("stream", numbers),
            Input("bound", nats),
            EPSILON,
            Input("samples", count),
            Input("quantile", share),
            Input("smoothing", count),
            Input("uniforms", numbers),
        ),
    ),
    "sip.published_batch": Computation(
        windows.published_batch, (TRANSITION, START, Input("length", count), EPSILON, Input("step", strict_share))
    ),
    "sip.published_window": Computation(windows.published_window, (TRANSITION, START, Input("length", count), EPSILON)),
    "sip.topk": Computation(accounts.topk, (PRIOR, EPSILON)),
    "sip.noise": Computation(accounts.noise, (START, Input("flip", share), Input("epsilons", list_of_nats))),
    "sip.published": Computation(accounts.published, (Input("formula", text), TIMES, EPSILON, DELTA)),
    "sip.release": Computation(
        release.release,
        (
            Input("mechanism", text),
            PRIOR,
            EPSILON,
            Input("value", whole_number),
            Input("key", key, needed=False),
            Input("offset", whole_number, needed=False),
            Input("distance", table, needed=False),
        ),
    ),
}
