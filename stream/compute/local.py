"""Numbers of the local mechanisms themselves: their parameters, their true level, what their reports are worth.

`mechanism` is the name in the registry, and `options` are that mechanism's own; RAPPOR is asked for by its constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from beliefs.alphabet import IntegerRange
from beliefs.checks import Invalid
from beliefs.correlation.bound import excess, rows_of
from beliefs.correlation.outputs import level_of
from beliefs.simplex import Vector, on_the_simplex
from mechanisms.local.coins import field_key, memoised_coins, report_coins
from mechanisms.local.contract import Drawn, Local
from mechanisms.local.estimate import squared_error
from mechanisms.local.frequencies import Tally
from mechanisms.local.rappor import DrawnRappor, drawn_rappor, level_of_reports, rappor
from mechanisms.local.registry import drawn, local
from mechanisms.local.wire import shape_of, write
from stream.compute.sequence import Result

SHE, RAPPOR = "she", "rappor"
DRAWN_VALUES_MAX = 1 << 16
"""Reports of so many values still fit on a page."""


def parameters(mechanism: str, epsilon: float, values: int, **options: Any) -> Result:
    """The chances of support, the true level, and what else the mechanism is built of."""
    return _described(local(mechanism, values, epsilon, **options))


def rappor_parameters(flip: float, report_zero: float, report_one: float, times: int | None = None) -> Result:
    """The same of two-step bits; their chances do not depend on the number of values.

    With `times` also what so many reports of one permanent vector tell.
    """
    found = rappor(2, flip, report_zero, report_one)
    told = _described(found)
    if times is None:
        return told
    kept = told["longitudinal"]
    assert isinstance(kept, float)
    return {**told, "together": min(kept, level_of_reports(kept / 2.0, report_zero, report_one, times))}


def level(channel: Sequence[Vector], at: Vector | None = None) -> Result:
    """The epsilon of a channel, and the smallest delta at each level asked for."""
    laws = rows_of(channel)
    return {
        "epsilon": level_of(laws),
        "profile": [] if at is None else [excess(laws, each) for each in at.tolist()],
    }


def chosen(mechanism: str, values: int, **options: Any) -> Local:
    """RAPPOR by its constants, any other mechanism by its epsilon; the catalogue has seen to the options' names."""
    return rappor(values, **options) if mechanism == RAPPOR else local(mechanism, values, **options)


def chosen_drawn(mechanism: str, values: int, **options: Any) -> Drawn:
    """The same in whole numbers."""
    return drawn_rappor(values, **options) if mechanism == RAPPOR else drawn(mechanism, values, **options)


def estimate(
    mechanism: str, values: int, reports: int, counts: Vector, truth: Vector | None = None, **options: Any
) -> Result:
    """Frequencies without bias from counts of support."""
    found = chosen(mechanism, values, **options)
    cells = len(found.extras().get("top", range(values - 1))) + 1  # type: ignore[arg-type]
    if counts.size != cells:
        raise Invalid("counts", f"has {counts.size} entries, but there are {cells} values")
    if mechanism != SHE and not bool(((counts >= 0) & (counts <= reports)).all()):
        raise Invalid("counts", f"must be 0 to {reports} each: a report supports a value once or not at all")
    if truth is not None and truth.size != cells:
        raise Invalid("truth", f"has {truth.size} entries, but there are {cells} values")
    with np.errstate(over="ignore"):
        told = found.estimate(counts, reports)
        missed = None if truth is None else squared_error(told.frequencies, truth)
    return {"frequencies": told.frequencies.tolist(), "variances": told.variances.tolist(), "squared_error": missed}


def report(
    mechanism: str,
    values: int,
    value: int,
    key: bytes,
    field: str,
    number: int,
    user: str | None = None,
    **options: Any,
) -> Result:
    """The report that is drawn for a value, as it stands on the wire, and the level of the numbers it is drawn from.

    With a user RAPPOR's permanent bits are that user's for ever; without one they are drawn for this report alone.
    """
    _require_places(values)
    if value >= values:
        raise Invalid("value", f"is no value of {values}; values start at 0")
    found = chosen_drawn(mechanism, values, **options)
    secret, place = field_key(key, field), np.array([value], dtype=np.int64)
    if user is None:
        coins = report_coins(secret, number, 1, found.words)
    else:
        coins = memoised_coins(secret, [user.encode()], place, number, found.words)
    told: dict[str, object] = {"level": found.level}
    if isinstance(found, DrawnRappor):
        told["longitudinal"] = found.longitudinal
    shape = shape_of(found, IntegerRange(0, values - 1))
    return {"report": write(shape, found.draw(place, coins))[0], **told}


def frequencies(
    mechanism: str, values: int, reports: Sequence[object], confidence: float = 0.95, **options: Any
) -> Result:
    """From reports as they stand on the wire: frequencies with their intervals, and the nearest law."""
    _require_places(values)
    counted = Tally(chosen_drawn(mechanism, values, **options), IntegerRange(0, values - 1))
    counted.read(reports)
    found = counted.frequencies()
    low, high = found.estimate.interval(confidence)
    return {
        "values": list(found.values),
        "frequencies": found.estimate.frequencies.tolist(),
        "variances": found.estimate.variances.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "projected": on_the_simplex(found.estimate.frequencies).tolist(),
    }


def _require_places(values: int) -> None:
    if values > DRAWN_VALUES_MAX:
        raise Invalid("values", f"is above {DRAWN_VALUES_MAX}, the most that reports are written of here")


def _described(mechanism: Local) -> Result:
    return {"p": mechanism.p, "q": mechanism.q, "level": mechanism.level, **mechanism.extras()}
