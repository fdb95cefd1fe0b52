"""The names that can be computed. A new one is one function in the file of its family, and one entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stream.compute import release, sequence
from stream.compute.inputs import Input, channel, key, law, nats, text, whole_number


@dataclass(frozen=True)
class Computation:
    """The inputs in the order of the documentation; each alternative is a group of inputs that are given together."""

    function: Callable[..., Mapping[str, object]]
    inputs: tuple[Input, ...]
    exactly_one_of: tuple[tuple[str, ...], ...] = ()


PRIOR = Input("prior", law)
CHANNEL = Input("channel", channel)
EPSILON = Input("epsilon", nats)

CATALOGUE: Mapping[str, Computation] = {
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
    "sip.release": Computation(
        release.release,
        (
            Input("mechanism", text),
            PRIOR,
            EPSILON,
            Input("value", whole_number),
            Input("key", key, needed=False),
            Input("offset", whole_number, needed=False),
        ),
    ),
}
