"""What is about records that are released one for each event, and so does not go with windows over all users."""

from collections.abc import Mapping
from typing import Final

from stream.settings.collect import Collector

_OF_EVENTS: Final[tuple[tuple[str, ...], ...]] = (
    ("record", "protect"),
    ("record", "public"),
    ("record", "headers"),
    ("record", "release_key"),
    ("model",),
    ("mechanism",),
    ("window",),
    ("fields",),
    ("budget",),
    ("metrics", "accounts"),
)


def stands_alone(collector: Collector, section: str, about: Mapping[tuple[str, ...], str], why: str) -> None:
    """Refuse it beside this section; `about` says of some where the same is said there, `why` is said of the rest."""
    for place in _OF_EVENTS:
        if collector.gives(*place):
            name = ".".join(place)
            fix = f"remove {name}; {about.get(place, why)}"
            collector.add(place, f"{name} beside {section}", f"{section} without it", fix)
