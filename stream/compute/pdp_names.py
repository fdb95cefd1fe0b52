"""The names of sums over attributes that depend on each other and what each is given."""

from __future__ import annotations

from collections.abc import Mapping

from stream.compute import prior, prior_published
from stream.compute.computation import Choice, Computation
from stream.compute.inputs import (
    Input,
    ascending_set,
    channel,
    count,
    integers,
    law,
    list_of_nats,
    list_of_positive,
    matrix,
    nested,
    number,
    numbers,
    objects,
    places,
    positive,
    text,
    vectors,
    whole_number,
)

JOINT = Input("joint", nested)
DOMAINS = Input("domains", vectors)
WEIGHTS = Input("weights", numbers, needed=False)
SCALE = Input("scale", positive)
ATTACKED = Input("attacked", whole_number)
KNOWN = Input("known", ascending_set, needed=False)
KNOWN_VALUES = Input("known_values", places, needed=False)
QUERIES = Input("queries", matrix)
SCALES = Input("scales", list_of_positive)
CHAIN = (
    Input("transition", channel),
    Input("start", law),
    Input("domain", integers),
    Input("length", count),
)


def maybe(*inputs: Input) -> tuple[Input, ...]:
    """The same inputs where they may be left out."""
    return tuple(Input(each.name, each.read, needed=False) for each in inputs)


PDP: Mapping[str, Computation | Choice] = {
    "pdp.leakage": Computation(prior.leakage, (JOINT, DOMAINS, WEIGHTS, SCALE, ATTACKED, KNOWN, KNOWN_VALUES)),
    "pdp.worst": Computation(
        prior.worst, (JOINT, DOMAINS, WEIGHTS, SCALE, Input("max_known", whole_number, needed=False))
    ),
    "pdp.published": Choice(
        "formula",
        {
            "chain": Computation(prior_published.chain, (JOINT, DOMAINS, SCALE, ATTACKED, KNOWN, KNOWN_VALUES)),
            "influence": Computation(
                prior_published.influence,
                (JOINT, DOMAINS, SCALE, ATTACKED, KNOWN, Input("other", whole_number), KNOWN_VALUES),
            ),
        },
    ),
    "pdp.graph": Computation(
        prior_published.graph,
        (
            Input("ranges", list_of_nats),
            SCALE,
            Input("default", number),
            Input("edges", objects),
            Input("variant", text),
        ),
    ),
    "pdp.gaussian": Computation(
        prior.gaussian,
        (
            Input("covariance", matrix),
            WEIGHTS,
            *maybe(SCALE, QUERIES, SCALES),
            Input("range", positive),
            *maybe(ATTACKED),
            KNOWN,
        ),
        exactly_one_of=(("scale",), ("queries", "scales")),
    ),
    "pdp.markov": Computation(prior.markov, (*CHAIN, SCALE)),
    "pdp.calibrate": Computation(
        prior.calibrate,
        (
            Input("epsilon", positive),
            *maybe(JOINT, DOMAINS, Input("covariance", matrix), Input("range", positive), *CHAIN),
            WEIGHTS,
            Input("adversary", text, needed=False),
            *maybe(ATTACKED),
            KNOWN,
        ),
        exactly_one_of=(("joint", "domains"), ("covariance", "range"), tuple(each.name for each in CHAIN)),
    ),
    "pdp.posterior": Computation(
        prior.posterior,
        (JOINT, DOMAINS, WEIGHTS, SCALE, ATTACKED, KNOWN, KNOWN_VALUES, Input("released", number)),
    ),
    "pdp.joint_release": Computation(
        prior.joint_release, (JOINT, DOMAINS, ATTACKED, KNOWN, KNOWN_VALUES, QUERIES, SCALES)
    ),
    "pdp.ledger": Computation(prior.ledger, (JOINT, DOMAINS, ATTACKED, QUERIES, SCALES, Input("released", numbers))),
}
