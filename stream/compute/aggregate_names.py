"""The names of aggregates' noise and what each is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from mechanisms.aggregate.registry import REGISTRY
from stream.compute import aggregate
from stream.compute.computation import Choice, Computation
from stream.compute.inputs import Input, count, key, positive, strict_share, whole_number
from stream.compute.sequence import Result


def by_mechanism(function: Callable[..., Result], *inputs: Input) -> Choice:
    """One computation for each mechanism; `function` is given the name first."""
    always = (Input("sensitivity", count), Input("epsilon", positive))
    return Choice("mechanism", {name: Computation(partial(function, name), (*always, *inputs)) for name in REGISTRY})


AGGREGATE: Mapping[str, Computation | Choice] = {
    "aggregate.noise": by_mechanism(
        aggregate.noise,
        Input("confidence", strict_share, needed=False),
        Input("more_noise", positive, needed=False),
    ),
    "aggregate.draws": by_mechanism(
        aggregate.draws,
        Input("key", key),
        Input("window", whole_number),
        Input("query", whole_number),
        Input("count", count),
    ),
}
