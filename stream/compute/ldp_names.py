"""The names of the local mechanisms and what each is given."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from mechanisms.local.registry import MECHANISMS
from stream.compute import local
from stream.compute.computation import Choice, Computation
from stream.compute.inputs import (
    Input,
    channel,
    count,
    law,
    list_of_nats,
    nats,
    numbers,
    pair_or_more,
    positive,
    share,
    text,
)

VALUES = Input("values", pair_or_more)

LDP: Mapping[str, Computation | Choice] = {
    "ldp.parameters": Choice(
        "mechanism",
        {
            **{
                name: Computation(partial(local.parameters, name), (Input("epsilon", nats), VALUES))
                for name in MECHANISMS
            },
            "rappor": Computation(
                local.rappor_parameters,
                (Input("flip", share), Input("report_zero", share), Input("report_one", share)),
            ),
        },
    ),
    "ldp.level": Computation(local.level, (Input("channel", channel), Input("at", list_of_nats, needed=False))),
    "ldp.estimate": Computation(
        local.estimate,
        (
            Input("mechanism", text),
            Input("epsilon", positive),
            VALUES,
            Input("reports", count),
            Input("counts", numbers),
            Input("truth", law, needed=False),
        ),
    ),
}
