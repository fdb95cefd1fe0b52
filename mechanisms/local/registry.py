"""The local mechanisms by their names. A new one is one file, its note, a line here, and its shape in wire.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from beliefs.checks import Invalid
from mechanisms.local.contract import Drawn, Local
from mechanisms.local.exponential import drawn_exponential, exponential
from mechanisms.local.grr import drawn_response, grr
from mechanisms.local.hashing import blh, drawn_blh, drawn_olh, olh
from mechanisms.local.histogram import drawn_she, she
from mechanisms.local.subset import drawn_subset, subset_selection
from mechanisms.local.unary import drawn_oue, drawn_sue, oue, sue

MECHANISMS: Mapping[str, Callable[[int, float], Local]] = {
    "grr": grr,
    "exp": exponential,
    "oue": oue,
    "sue": sue,
    "blh": blh,
    "olh": olh,
    "ss": subset_selection,
    "she": she,
}

DRAWN: Mapping[str, Callable[[int, float], Drawn]] = {
    "grr": drawn_response,
    "exp": drawn_exponential,
    "oue": drawn_oue,
    "sue": drawn_sue,
    "blh": drawn_blh,
    "olh": drawn_olh,
    "ss": drawn_subset,
    "she": drawn_she,
}
"""The same in whole numbers."""


def local(name: str, values: int, epsilon: float) -> Local:
    """The mechanism of that name for a field of so many values."""
    if name not in MECHANISMS:
        raise Invalid("mechanism", f"is not known; the local mechanisms are {', '.join(MECHANISMS)}")
    if values < 1:
        raise Invalid("values", "must be 1 or more")
    if not 0.0 <= epsilon < math.inf:
        raise Invalid("epsilon", "must be a finite number of 0 or more nats")
    return MECHANISMS[name](values, epsilon)


def drawn(name: str, values: int, epsilon: float) -> Drawn:
    """The same in the whole numbers that reports are drawn from; its level is theirs, and at most the one asked for."""
    if name not in DRAWN:
        raise Invalid("mechanism", f"is not known; the local mechanisms are {', '.join(DRAWN)}")
    return DRAWN[name](values, epsilon)
