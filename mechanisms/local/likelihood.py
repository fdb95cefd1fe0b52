"""How likely a report is under each value, up to what all values have in common. Checked against draws by rows.

With them Bayes' rule follows, and what a report has really told: of any other attribute, whose law given each value of
the field is known, its chances are sums of these weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from beliefs.checks import Invalid
from mechanisms.contract import TOTAL, Floats, Integers
from mechanisms.local.contract import Drawn
from mechanisms.local.grr import DrawnResponse
from mechanisms.local.hashing import DrawnHashing, HashReports, hashed
from mechanisms.local.histogram import DrawnHistogram
from mechanisms.local.rappor import DrawnRappor
from mechanisms.local.subset import DrawnSubset
from mechanisms.local.top_k import DrawnTop, cells_of
from mechanisms.local.unary import DrawnBits


def weights_of(found: Drawn, reports: Any) -> Floats:
    """One row for each report, one column for each value; each row is right up to a factor of its own."""
    if isinstance(found, DrawnResponse):
        return _response(found, np.arange(found.values), reports)
    if isinstance(found, DrawnTop):
        return _response(found.response, cells_of(found.values, found.top), reports)
    if isinstance(found, DrawnHashing):
        values = np.arange(found.values, dtype=np.uint64)
        hashes = hashed(values, reports.factors[:, None], reports.shifts[:, None], found.response.values)
        return np.where(hashes == reports.hashes[:, None], found.response.high / found.response.low, 1.0)
    if isinstance(found, DrawnBits):
        return _bits(found.one / TOTAL, found.other / TOTAL, reports)
    if isinstance(found, DrawnRappor):
        return _bits(found.one_of(found.permanent.one), found.one_of(found.permanent.other), reports)
    if isinstance(found, DrawnSubset):
        inside = found.own * (found.values - found.size) / ((TOTAL - found.own) * found.size)
        return np.where(reports == 1, inside, 1.0)
    if isinstance(found, DrawnHistogram):
        other = np.array(found.other, dtype=np.float64)
        ratios: Floats = (other[::-1] / other)[reports - found.first]
        return ratios
    raise Invalid("mechanism", "has no likelihood here")


def few_of(reports: Any, most: int) -> Any:
    """The first of them, in their own form."""
    if isinstance(reports, HashReports):
        return HashReports(reports.factors[:most], reports.shifts[:most], reports.hashes[:most])
    return reports[:most]


def _response(found: DrawnResponse, cells: Integers, reports: Integers) -> Floats:
    return np.where(cells == reports[:, None], found.high / found.low, 1.0)


def _bits(own: float, other: float, reports: Integers) -> Floats:
    """All bits but a value's own have the same chances whatever the value is; where the own one has them, too, reports
    say nothing.
    """
    if own == other:
        return np.ones(reports.shape)
    return np.where(reports == 1, own / other, (1.0 - own) / (1.0 - other))
