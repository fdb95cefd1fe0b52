"""The names of correlated fields and what each is given."""

from __future__ import annotations

from collections.abc import Mapping

from stream.compute import correlated, correlated_published, sampled
from stream.compute.computation import Choice, Computation
from stream.compute.inputs import (
    Input,
    below_one,
    channel,
    channels,
    count,
    indices,
    key,
    level,
    list_of_counts,
    list_of_nats,
    list_of_shares,
    nats,
    nested,
    pair_or_more,
    positive,
    strict_share,
    text,
)
from stream.compute.ldp_names import by_mechanism

CONDITIONAL = Input("conditional", channel)
CHANNEL = Input("channel", channel)
COUNTS = Input("counts", nested)
EPSILON = Input("epsilon", nats)
MECHANISM = Input("mechanism", text)
TOTAL = Input("total", positive)

RADII = (
    Input("radii", list_of_shares, needed=False),
    Input("samples", list_of_counts, needed=False),
    Input("failure", strict_share, needed=False),
)
RADII_OR_SAMPLES = (("radii",), ("samples", "failure"))

CPL: Mapping[str, Computation | Choice] = {
    "cpl.correlation": Computation(correlated.correlation, (COUNTS,)),
    "cpl.bound": Computation(
        correlated.bound_of,
        (
            CONDITIONAL,
            Input("epsilon", level),
            Input("delta", below_one, needed=False),
            Input("at", list_of_nats, needed=False),
        ),
    ),
    "cpl.saturation": Computation(correlated.saturation_of, (CONDITIONAL,)),
    "cpl.channel": Computation(correlated.through_channel, (CONDITIONAL, CHANNEL)),
    "cpl.mechanism": by_mechanism(correlated.mechanism_leak, CONDITIONAL),
    "cpl.attacked": by_mechanism(correlated.attacked, CONDITIONAL),
    "cpl.joint": Computation(
        correlated.joint,
        (
            COUNTS,
            Input("epsilons", list_of_nats, needed=False),
            Input("channels", channels, needed=False),
            Input("own_epsilon", nats, needed=False),
        ),
        exactly_one_of=(("epsilons",), ("channels",)),
    ),
    "cpl.repeated": Computation(
        correlated.repeated,
        (
            CONDITIONAL,
            Input("epsilon", nats, needed=False),
            Input("times", count, needed=False),
            Input("epsilons", list_of_nats, needed=False),
        ),
        exactly_one_of=(("epsilon", "times"), ("epsilons",)),
    ),
    "cpl.calibrate": Computation(correlated.calibrate, (COUNTS, MECHANISM, TOTAL)),
    "cpl.robust": Computation(correlated.robust, (CONDITIONAL, EPSILON, *RADII), exactly_one_of=RADII_OR_SAMPLES),
    "cpl.robust_hull": Computation(
        correlated.robust_hull, (CONDITIONAL, EPSILON, *RADII), exactly_one_of=RADII_OR_SAMPLES
    ),
    "cpl.sampled": Computation(
        sampled.sampled,
        (
            Input("secrets", indices),
            Input("neighbours", indices),
            Input("epsilon", positive),
            Input("values", pair_or_more),
            Input("key", key),
            Input("copies", count, needed=False),
            Input("shuffles", count, needed=False),
        ),
    ),
    "cpl.benchmark": Computation(
        correlated.benchmark,
        (Input("reference", list_of_nats), Input("estimate", list_of_nats), Input("epsilon", positive)),
    ),
    "cpl.published": Choice(
        "formula",
        {
            "algorithm1": Computation(correlated_published.through_rows, (CONDITIONAL, CHANNEL)),
            "equation6": Computation(correlated_published.sum_of_pairs, (COUNTS, Input("epsilons", list_of_nats))),
            "algorithm3": Computation(
                correlated_published.stepwise, (COUNTS, MECHANISM, TOTAL, Input("step", positive))
            ),
            "relaxation": Computation(correlated_published.relaxed, (CONDITIONAL, EPSILON, Input("delta", below_one))),
        },
    ),
}
