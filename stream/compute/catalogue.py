"""The names that can be computed. A new one is one function in a file of its family, and one entry in its list."""

from __future__ import annotations

from stream.compute.aggregate_names import AGGREGATE
from stream.compute.computation import Choice, Computation
from stream.compute.cpl_names import CPL
from stream.compute.ddp_names import DDP
from stream.compute.grouper_names import GROUPERS
from stream.compute.ldp_names import LDP
from stream.compute.noiseless_names import NOISELESS
from stream.compute.pdp_names import PDP
from stream.compute.sip_names import SIP

__all__ = ["CATALOGUE", "Choice", "Computation"]

CATALOGUE: dict[str, Computation | Choice] = {
    **SIP,
    **CPL,
    **LDP,
    **PDP,
    **DDP,
    **NOISELESS,
    **AGGREGATE,
    **GROUPERS,
}
