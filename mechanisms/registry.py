"""Every mechanism that a configuration may name: one line in the table, one line in each of the three dispatchers.

The dispatchers are compiled, so that a block of events runs through one native loop whichever mechanism it uses.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from beliefs.native import kernel
from mechanisms.contract import Floats, NearWorkspace, Workspace, nearby_of
from mechanisms.sequence import (
    forecast,
    marginal_preserving,
    near,
    optimal,
    published_crr,
    randomised_response,
    randomised_response_double,
    temporal_ldp,
    top_k_grr,
    two_budget,
)


class Mechanism(NamedTuple):
    code: int
    module: str
    holds_epsilon: bool  # False: the true leak may exceed epsilon; it is charged in full all the same
    row_epsilons: float = 2.0  # any two rows differ by at most exp(this epsilon): what holds whatever is believed
    rises: bool = False  # upwards a release may tell as much as the budget has left, up to a declared most: so both of
    # the above are said of the level epsilon. Beyond it, rows differ by at most exp(epsilon + the declared most).


MECHANISMS: dict[str, Mechanism] = {
    "optimal": Mechanism(0, "mechanisms.sequence.optimal", optimal.HOLDS_EPSILON),
    "marginal_preserving": Mechanism(1, "mechanisms.sequence.marginal_preserving", marginal_preserving.HOLDS_EPSILON),
    "published_crr": Mechanism(2, "mechanisms.sequence.published_crr", published_crr.HOLDS_EPSILON, inf),
    "forecast": Mechanism(3, "mechanisms.sequence.forecast", forecast.HOLDS_EPSILON, 0.0),
    "top_k_grr": Mechanism(4, "mechanisms.sequence.top_k_grr", top_k_grr.HOLDS_EPSILON, top_k_grr.ROW_EPSILONS),
    "randomised_response": Mechanism(
        5,
        "mechanisms.sequence.randomised_response",
        randomised_response.HOLDS_EPSILON,
        randomised_response.ROW_EPSILONS,
    ),
    "randomised_response_double": Mechanism(
        6,
        "mechanisms.sequence.randomised_response_double",
        randomised_response_double.HOLDS_EPSILON,
        randomised_response_double.ROW_EPSILONS,
    ),
    "temporal_ldp": Mechanism(
        7, "mechanisms.sequence.temporal_ldp", temporal_ldp.HOLDS_EPSILON, temporal_ldp.ROW_EPSILONS
    ),
    "near": Mechanism(8, "mechanisms.sequence.near", near.HOLDS_EPSILON),
    "two_budget": Mechanism(9, "mechanisms.sequence.two_budget", two_budget.HOLDS_EPSILON, rises=True),
}


NEAR = MECHANISMS["near"].code
# `two_budget` is code 9: the functions of `optimal`, given other constants.


@kernel
def prepare(code: int, belief: Floats, constants: Floats, work: Workspace) -> tuple[float, float, float]:
    return _prepare(nearby_of(work), code, belief, constants, work)


@kernel
def row(code: int, x: int, belief: Floats, work: Workspace) -> None:
    _row(nearby_of(work), code, x, belief, work)


@kernel
def column(code: int, i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    return _column(nearby_of(work), code, i, belief, work)


# Where the first argument is known to be None, what it leads to is not compiled at all. The locally private ones stand
# behind one more call: with all of them in one place none would be inlined, and the usual ones would pay for it.


@kernel
def _prepare(
    nearby: NearWorkspace | None, code: int, belief: Floats, constants: Floats, work: Workspace
) -> tuple[float, float, float]:
    if nearby is not None:  # noqa: SIM102 - the type decides the outer question before the inner one is compiled
        if code == 8:
            return near.prepare(belief, constants, nearby)
    if code == 0 or code == 9:
        return optimal.prepare(belief, constants, work)
    if code == 1:
        return marginal_preserving.prepare(belief, constants, work)
    return _other_prepare(code, belief, constants, work)


@kernel
def _row(nearby: NearWorkspace | None, code: int, x: int, belief: Floats, work: Workspace) -> None:
    if nearby is not None:  # noqa: SIM102 - the type decides the outer question before the inner one is compiled
        if code == 8:
            near.row(x, belief, nearby)
            return
    if code == 0 or code == 9:
        optimal.row(x, belief, work)
    elif code == 1:
        marginal_preserving.row(x, belief, work)
    else:
        _other_row(code, x, belief, work)


@kernel
def _column(
    nearby: NearWorkspace | None, code: int, i: int, belief: Floats, work: Workspace
) -> tuple[float, float, float]:
    if nearby is not None:  # noqa: SIM102 - the type decides the outer question before the inner one is compiled
        if code == 8:
            return near.column(i, belief, nearby)
    if code == 0 or code == 9:
        return optimal.column(i, belief, work)
    if code == 1:
        return marginal_preserving.column(i, belief, work)
    return _other_column(code, i, belief, work)


@kernel
def _other_prepare(code: int, belief: Floats, constants: Floats, work: Workspace) -> tuple[float, float, float]:
    if code == 2:
        return published_crr.prepare(belief, constants, work)
    if code == 4:
        return top_k_grr.prepare(belief, constants, work)
    if code == 5:
        return randomised_response.prepare(belief, constants, work)
    if code == 6:
        return randomised_response_double.prepare(belief, constants, work)
    if code == 7:
        return temporal_ldp.prepare(belief, constants, work)
    if code == 3:
        return forecast.prepare(belief, constants, work)
    return inf, inf, inf  # a mechanism without its workspace: nothing that it says fits any bound


@kernel
def _other_row(code: int, x: int, belief: Floats, work: Workspace) -> None:
    if code == 2:
        published_crr.row(x, belief, work)
    elif code == 4:
        top_k_grr.row(x, belief, work)
    elif code == 5:
        randomised_response.row(x, belief, work)
    elif code == 6:
        randomised_response_double.row(x, belief, work)
    elif code == 7:
        temporal_ldp.row(x, belief, work)
    else:
        forecast.row(x, belief, work)


@kernel
def _other_column(code: int, i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    if code == 2:
        return published_crr.column(i, belief, work)
    if code == 4:
        return top_k_grr.column(i, belief, work)
    if code == 5:
        return randomised_response.column(i, belief, work)
    if code == 6:
        return randomised_response_double.column(i, belief, work)
    if code == 7:
        return temporal_ldp.column(i, belief, work)
    return forecast.column(i, belief, work)
