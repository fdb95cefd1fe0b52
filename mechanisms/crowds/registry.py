"""The groupers of streams by their names. A new one is one file, its note and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mechanisms.crowds.castle import Castle
from mechanisms.crowds.fads import Fads
from mechanisms.crowds.flow import Flow, FlowForm
from mechanisms.crowds.sky import Sky

REGISTRY: Mapping[str, Callable[[FlowForm], Flow]] = {
    "castle": Castle,
    "fads": Fads,
    "sky": Sky,
}
