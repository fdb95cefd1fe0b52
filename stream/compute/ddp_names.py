"""The names of dependent differential privacy and what each is given."""

from __future__ import annotations

from collections.abc import Mapping

from stream.compute import dependent, dependent_published
from stream.compute.computation import Choice, Computation
from stream.compute.influence import influence
from stream.compute.inputs import (
    Input,
    channel,
    count,
    law,
    list_of_nats,
    matrix,
    nats,
    nested_numbers,
    numbers,
    objects,
    positive,
    share,
    text,
    vectors,
)
from stream.compute.pdp_names import DOMAINS, JOINT, SCALE, WEIGHTS

EPSILON = Input("epsilon", positive)
ADVERSARY = Input("adversary", text, needed=False)
SUPPORT = Input("support", numbers)
COEFFICIENTS = Input("coefficients", matrix)
SENSITIVITIES = Input("sensitivities", list_of_nats)
SENSITIVITY = Input("sensitivity", positive)

DDP: Mapping[str, Computation | Choice] = {
    "ddp.coefficient": Computation(
        dependent.coefficient,
        (
            SUPPORT,
            Input("conditional", channel, needed=False),
            Input("friends", dependent.friends, needed=False),
            SCALE,
        ),
        exactly_one_of=(("conditional",), ("friends",)),
    ),
    "ddp.sensitivity": Computation(dependent.sensitivity, (COEFFICIENTS, SENSITIVITIES, EPSILON)),
    "ddp.scale": Computation(dependent.scale, (JOINT, DOMAINS, WEIGHTS, EPSILON, Input("method", text))),
    "ddp.leak": Computation(
        dependent.leak,
        (
            JOINT,
            Input("domains", vectors, needed=False),
            WEIGHTS,
            Input("answers", nested_numbers, needed=False),
            SCALE,
            ADVERSARY,
            Input("times", count, needed=False),
        ),
        exactly_one_of=(("domains",), ("answers",)),
    ),
    "ddp.parallel": Computation(dependent.parallel, (Input("epsilons", list_of_nats), Input("sensitivities", matrix))),
    "ddp.information": Computation(
        dependent.information, (Input("prior", law), Input("conditional", channel), SUPPORT, SCALE)
    ),
    "ddp.influence": Computation(
        influence,
        (
            Input("transition", channel, needed=False),
            Input("length", count, needed=False),
            Input("edges", objects, needed=False),
            ADVERSARY,
            Input("loss", nats, needed=False),
            Input("epsilon", nats, needed=False),
        ),
        exactly_one_of=(("transition", "length"), ("edges",)),
    ),
    "ddp.accuracy": Computation(
        dependent.accuracy,
        (
            SENSITIVITY,
            Input("epsilon", positive, needed=False),
            Input("margin", nats, needed=False),
            Input("failure", share, needed=False),
            Input("coordinates", count, needed=False),
            Input("norm", text, needed=False),
        ),
    ),
    "ddp.underestimate": Computation(
        dependent.underestimate,
        (SENSITIVITY, Input("own_sensitivity", nats), Input("fraction", share), EPSILON),
    ),
    "ddp.attack": Computation(
        dependent.attack,
        (
            Input("counts", list_of_nats),
            Input("prior_weights", list_of_nats, needed=False),
            Input("smoothing", nats, needed=False),
            Input("released", numbers),
            Input("known_total", numbers),
            Input("candidates", matrix),
            EPSILON,
            SENSITIVITY,
        ),
    ),
    "ddp.published": Choice(
        "formula",
        {
            "degree": Computation(dependent_published.degree, (COEFFICIENTS, SENSITIVITIES, EPSILON)),
            "correlated": Computation(
                dependent_published.correlated,
                (Input("correlations", matrix), SENSITIVITIES, Input("threshold", share), EPSILON),
            ),
            "theorem9": Computation(
                dependent_published.theorem9, (JOINT, DOMAINS, EPSILON, Input("coefficient", text))
            ),
        },
    ),
}
