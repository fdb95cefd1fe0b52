"""What is claimed of the losses of windows, from how users and windows are declared to depend on one another."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, Literal

from beliefs.checks import Invalid
from beliefs.dependence.claim import Claim, claim_of
from beliefs.dependence.user_accounts import OnlyQuery
from beliefs.laws.chosen import LawSet, Theta, each_of
from beliefs.laws.dependence import BY_FIELD, Dependence, Group, Independent, Members, OverWindows
from beliefs.laws.markov import MarkovLaw
from stream.aggregates.laws import Laws, said_by
from stream.aggregates.query import Query
from stream.settings.aggregate import AggregateSettings

WHOEVER: Final = Members(BY_FIELD, "whoever belongs together")
"""A group's bound needs nobody's name: the account is everybody's."""


def claim_for(settings: AggregateSettings, queries: Sequence[Query], laws: Laws) -> Claim:
    """`Invalid` on users, windows or protects where the declared dependence carries no claim."""
    return claim_of(
        users_of(settings, laws),
        _windows_of(settings, laws),
        protects=settings.protects,
        adversary=settings.adversary,
        horizon=settings.target.windows,
        only=only_query(queries),
    )


def users_of(settings: AggregateSettings, laws: Laws) -> Dependence | Theta:
    if laws.users is not None:
        return said_by(laws.users)
    group = settings.dependence.users.group
    return Independent() if group is None else Group(group, WHOEVER)


def _windows_of(settings: AggregateSettings, laws: Laws) -> Literal["any", "fresh"] | OverWindows | Theta:
    if laws.windows is None:
        return "fresh" if settings.dependence.windows.fresh else "any"
    said = said_by(laws.windows)
    if isinstance(said, OverWindows | MarkovLaw):
        return said
    if isinstance(said, LawSet) and all(isinstance(law, MarkovLaw) for law in each_of(said)):
        return said
    raise Invalid("windows", "must have the law of a chain: what one window's contribution says of the next one's")


def only_query(queries: Sequence[Query]) -> OnlyQuery | None:
    """The one count or sum that a window releases, whose leak can be found exactly; None where it releases more."""
    if len(queries) != 1 or queries[0].kind not in ("count", "sum"):
        return None
    (query,) = queries
    if query.kind == "count":
        return OnlyQuery(Fraction(1), 1, 1)
    return OnlyQuery(Fraction(query.grid), query.least, query.most)
