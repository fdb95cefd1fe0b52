"""The local mechanisms by their names. A new one is one file, its note, and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from beliefs.checks import Invalid
from mechanisms.local.contract import Local
from mechanisms.local.exponential import exponential
from mechanisms.local.grr import grr
from mechanisms.local.hashing import blh, olh
from mechanisms.local.histogram import she
from mechanisms.local.subset import subset_selection
from mechanisms.local.unary import oue, sue

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


def local(name: str, values: int, epsilon: float) -> Local:
    """The mechanism of that name for a field of so many values."""
    if name not in MECHANISMS:
        raise Invalid("mechanism", f"is not known; the local mechanisms are {', '.join(MECHANISMS)}")
    return MECHANISMS[name](values, epsilon)
