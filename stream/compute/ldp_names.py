"""The names of the local mechanisms and what each is given.

Each mechanism has inputs of its own: an epsilon and the registry's options, or RAPPOR's constants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Never

from beliefs.checks import Invalid
from mechanisms.local.registry import REGISTRY
from stream.compute import local
from stream.compute.computation import Choice, Computation
from stream.compute.inputs import (
    Input,
    Reader,
    channel,
    count,
    indices,
    key,
    law,
    list_of_nats,
    listed,
    nats,
    numbers,
    pair_or_more,
    positive,
    share,
    strict_share,
    text,
    whole_number,
)
from stream.compute.sequence import Result

VALUES = Input("values", pair_or_more)
CONSTANTS = (Input("flip", share), Input("report_zero", share), Input("report_one", share))


def no_epsilon(value: object, field: str) -> Never:  # noqa: ARG001 - the shape of all readers
    names = ", ".join(each.name for each in CONSTANTS)
    raise Invalid("mechanism", f"{local.RAPPOR} is asked for by {names}, and not by an epsilon")


READERS: Mapping[str, Reader] = {"subset_size": count, "threshold": share, "top": indices}


def by_mechanism(
    function: Callable[..., Result],
    *inputs: Input,
    epsilon: Reader = nats,
    more_of_rappor: tuple[Input, ...] = (),
) -> Choice:
    """One computation for each mechanism; `function` is given the name first."""
    found = {
        name: Computation(partial(function, name), (Input("epsilon", epsilon), *inputs, *options_of(name)))
        for name in REGISTRY
        if name != local.RAPPOR
    }
    twice = Computation(
        partial(function, local.RAPPOR),
        (Input("epsilon", no_epsilon, needed=False), *CONSTANTS, *inputs, *more_of_rappor),
    )
    return Choice("mechanism", {**found, local.RAPPOR: twice})


def options_of(name: str) -> tuple[Input, ...]:
    entry = REGISTRY[name]
    return tuple(Input(option, READERS[option], needed=option in entry.needs) for option in entry.options)


LDP: Mapping[str, Computation | Choice] = {
    "ldp.parameters": Choice(
        "mechanism",
        {
            **by_mechanism(local.parameters, VALUES).computations,
            local.RAPPOR: Computation(local.rappor_parameters, (*CONSTANTS, Input("times", count, needed=False))),
        },
    ),
    "ldp.level": Computation(local.level, (Input("channel", channel), Input("at", list_of_nats, needed=False))),
    "ldp.estimate": by_mechanism(
        local.estimate,
        VALUES,
        Input("reports", count),
        Input("counts", numbers),
        Input("truth", law, needed=False),
        epsilon=positive,
    ),
    "ldp.report": by_mechanism(
        local.report,
        VALUES,
        Input("value", whole_number),
        Input("key", key),
        Input("field", text),
        Input("number", whole_number),
        epsilon=positive,
        more_of_rappor=(Input("user", text, needed=False),),
    ),
    "ldp.frequencies": by_mechanism(
        local.frequencies,
        VALUES,
        Input("reports", listed),
        Input("confidence", strict_share, needed=False),
        epsilon=positive,
    ),
}
