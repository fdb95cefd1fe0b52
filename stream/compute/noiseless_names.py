"""The names of exact sums that a crowd covers and what each is given."""

from __future__ import annotations

from collections.abc import Mapping

from stream.compute import crowd
from stream.compute.computation import Choice, Computation
from stream.compute.inputs import (
    Input,
    below_one,
    count,
    law,
    nats,
    number,
    objects,
    positive,
    strict_share,
    text,
    whole_number,
)
from stream.compute.pdp_names import CHAIN, KNOWN

EITHER = (Input("epsilon", nats, needed=False), Input("delta", strict_share, needed=False))
ONE_OF = (("epsilon",), ("delta",))
USERS = Input("users", count)
LAW = Input("law", law)
SHIFT = Input("shift", positive)
MINIMUM = Input("minimum", count)
PROBABILITY = Input("probability", strict_share)
EPSILON1 = Input("epsilon1", positive)

NOISELESS: Mapping[str, Computation | Choice] = {
    "noiseless.exact": Computation(
        crowd.exact,
        (
            Input("groups", objects),
            KNOWN,
            Input("attacked", whole_number, needed=False),
            *EITHER,
            Input("events", text, needed=False),
            Input("neighbour", text, needed=False),
        ),
        ONE_OF,
    ),
    "noiseless.required": Computation(
        crowd.required,
        (LAW, Input("epsilon", nats), Input("delta", strict_share), Input("known_fraction", below_one, needed=False)),
    ),
    "noiseless.gaussian": Computation(crowd.normal, (SHIFT, Input("deviation", positive), *EITHER), ONE_OF),
    "noiseless.bound": Computation(
        crowd.bound,
        (
            Input("variance", positive),
            Input("third", positive, needed=False),
            Input("range", positive, needed=False),
            SHIFT,
            Input("epsilon", nats, needed=False),
            Input("tail", strict_share, needed=False),
            Input("events", text),
        ),
    ),
    "noiseless.selection": Computation(crowd.selection, (USERS, PROBABILITY, *EITHER), ONE_OF),
    "noiseless.blocks": Computation(crowd.blocks, (Input("blocks", objects), KNOWN, *EITHER), ONE_OF),
    "noiseless.markov": Computation(
        crowd.markov,
        (*CHAIN, *EITHER),
        ONE_OF,
    ),
    "noiseless.range": Computation(crowd.smallest_and_largest, (LAW, USERS, *EITHER), ONE_OF),
    "noiseless.windows": Computation(crowd.windows, (LAW, USERS, Input("windows", count), Input("epsilon", nats))),
    "noiseless.published": Choice(
        "formula",
        {
            "theorem1-epsilon": Computation(
                crowd.theorem1_epsilon, (USERS, PROBABILITY, MINIMUM, Input("delta", strict_share))
            ),
            "theorem1-delta": Computation(crowd.theorem1_delta, (USERS, PROBABILITY, MINIMUM, Input("epsilon", nats))),
            "lemma2": Computation(crowd.lemma2, (Input("delta", strict_share), SHIFT, MINIMUM, EPSILON1)),
            "theorem4": Computation(
                crowd.theorem4,
                (
                    USERS,
                    SHIFT,
                    MINIMUM,
                    EPSILON1,
                    Input("variance", positive),
                    Input("third", number),
                    Input("cubes", positive),
                ),
            ),
            "theorem5": Computation(
                crowd.theorem5,
                (
                    USERS,
                    Input("neighbourhood", positive),
                    Input("deviation", positive),
                    Input("third", positive),
                    Input("fourth", positive),
                    Input("epsilon", nats),
                ),
            ),
        },
    ),
}
