"""The names of sums over attributes that depend on each other and what each is given."""

from __future__ import annotations

from collections.abc import Mapping

from stream.compute import prior, prior_laws, prior_published
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
LAWS = Input("laws", prior_laws.laws, needed=False)
ONE_OR_SEVERAL = (("joint", "domains"), ("laws",))


def maybe(*inputs: Input) -> tuple[Input, ...]:
    """The same inputs where they may be left out."""
    return tuple(Input(each.name, each.read, needed=False) for each in inputs)


TABLE = (*maybe(JOINT, DOMAINS), LAWS)

PDP: Mapping[str, Computation | Choice] = {
    "pdp.leakage": Computation(
        prior.leakage, (*TABLE, WEIGHTS, SCALE, ATTACKED, KNOWN, KNOWN_VALUES), exactly_one_of=ONE_OR_SEVERAL
    ),
    "pdp.worst": Computation(
        prior.worst,
        (*TABLE, WEIGHTS, SCALE, Input("max_known", whole_number, needed=False)),
        exactly_one_of=ONE_OR_SEVERAL,
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
            LAWS,
            WEIGHTS,
            Input("adversary", text, needed=False),
            *maybe(ATTACKED),
            KNOWN,
        ),
        exactly_one_of=(("joint", "domains"), ("covariance", "range"), tuple(each.name for each in CHAIN), ("laws",)),
    ),
    "pdp.posterior": Computation(
        prior.posterior,
        (JOINT, DOMAINS, WEIGHTS, SCALE, ATTACKED, KNOWN, KNOWN_VALUES, Input("released", number)),
    ),
    "pdp.joint_release": Computation(
        prior.joint_release,
        (*TABLE, ATTACKED, KNOWN, KNOWN_VALUES, QUERIES, SCALES),
        exactly_one_of=ONE_OR_SEVERAL,
    ),
    "pdp.ledger": Computation(
        prior.ledger,
        (*TABLE, ATTACKED, QUERIES, SCALES, Input("released", numbers)),
        exactly_one_of=ONE_OR_SEVERAL,
    ),
}
