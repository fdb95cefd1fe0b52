"""The local mechanisms by their names. A new one is one file, its note, a line here, its shape in wire.py and
tests/vectors/local_<name>.json.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from beliefs.checks import Invalid
from mechanisms.local.contract import Drawn, Local
from mechanisms.local.exponential import drawn_exponential, exponential
from mechanisms.local.grr import drawn_response, grr
from mechanisms.local.hashing import blh, drawn_blh, drawn_olh, olh
from mechanisms.local.histogram import drawn_she, drawn_the, she, the
from mechanisms.local.rappor import drawn_rappor_of_level, rappor_of_level
from mechanisms.local.subset import drawn_subset, subset_selection
from mechanisms.local.top_k import drawn_top_k, top_k
from mechanisms.local.unary import drawn_oue, drawn_sue, oue, sue


class Entry(NamedTuple):
    """How a mechanism is described and drawn, of values, epsilon and its options; those it `needs` have no default."""

    described: Callable[..., Local]
    drawn: Callable[..., Drawn]
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


REGISTRY: Mapping[str, Entry] = {
    "grr": Entry(grr, drawn_response),
    "exp": Entry(exponential, drawn_exponential),
    "oue": Entry(oue, drawn_oue),
    "sue": Entry(sue, drawn_sue),
    "rappor": Entry(rappor_of_level, drawn_rappor_of_level, ("report_zero", "report_one")),
    "blh": Entry(blh, drawn_blh),
    "olh": Entry(olh, drawn_olh),
    "ss": Entry(subset_selection, drawn_subset, ("subset_size",)),
    "she": Entry(she, drawn_she),
    "the": Entry(the, drawn_the, ("threshold",)),
    "top_k": Entry(top_k, drawn_top_k, ("top",), needs=("top",)),
}

MECHANISMS: Mapping[str, Callable[..., Local]] = {
    name: entry.described for name, entry in REGISTRY.items() if not entry.needs
}
"""Those that are made of values and an epsilon alone."""

DRAWN: Mapping[str, Callable[..., Drawn]] = {name: entry.drawn for name, entry in REGISTRY.items() if not entry.needs}
"""The same in whole numbers."""


def local(name: str, values: int, epsilon: float, **options: Any) -> Local:
    """The mechanism of that name for a field of so many values."""
    described = _entry(name, options).described
    if values < 1:
        raise Invalid("values", "must be 1 or more")
    if not 0.0 <= epsilon < math.inf:
        raise Invalid("epsilon", "must be a finite number of 0 or more nats")
    return described(values, epsilon, **options)


def drawn(name: str, values: int, epsilon: float, **options: Any) -> Drawn:
    """The same in the whole numbers that reports are drawn from; its level is theirs, and at most the one asked for."""
    return _entry(name, options).drawn(values, epsilon, **options)


def _entry(name: str, options: Mapping[str, object]) -> Entry:
    if name not in REGISTRY:
        raise Invalid("mechanism", f"is not known; the local mechanisms are {', '.join(REGISTRY)}")
    entry = REGISTRY[name]
    for option in options:
        if option not in entry.options:
            raise Invalid(option, f"is no option of {name}, which has {', '.join(entry.options) or 'none'}")
    for option in entry.needs:
        if option not in options:
            raise Invalid(option, f"is missing: {name} is made with it")
    return entry
