"""The names of groupers of crowds and what each is given."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from mechanisms.crowds.registry import REGISTRY
from stream.compute import groupers
from stream.compute.computation import Choice, Computation
from stream.compute.inputs import Input, count, share, whole_number

CROWD = (Input("attributes", groupers.attributes), Input("k", count))
RULE = (
    Input("values", count, needed=False),
    Input("diverse", count, needed=False),
    Input("close", share, needed=False),
    Input("loss_most", share, needed=False),
)
FLOW = (
    *CROWD,
    Input("events", count),
    Input("time", count),
    Input("stream", groupers.rows),
    Input("until", whole_number, needed=False),
    *RULE,
)

GROUPERS: Mapping[str, Computation | Choice] = {
    "crowd.flow": Choice("grouper", {name: Computation(partial(groupers.flow, name), FLOW) for name in REGISTRY}),
    "crowd.window": Computation(groupers.window, (*CROWD, Input("people", groupers.rows), *RULE)),
}
