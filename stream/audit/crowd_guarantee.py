"""What a guarantee must say whatever its numbers are: the parts that follow from the settings and from one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from stream.audit.crowd_numbers import alike, down, number, up
from stream.audit.crowd_rules import Crowds

ADVERSARIES: Final = ("independent", "dependent", "independent_informed", "dependent_informed")
METHODS: Final = ("exact", "sound", "lattice", "none")


def declared(crowds: Crowds) -> tuple[tuple[str, bool], ...]:
    """The adversaries that are told of, and whether they know values of others."""
    believed = crowds.believed
    if believed is None:
        return ()
    both = ((believed.adversaries[0], False), (believed.adversaries[1], True))
    return both if believed.known else both[:1]


def not_following(crowds: Crowds, told: Mapping[str, Any], *, released: bool) -> Iterator[str]:
    """The names of parts that are not as they must be. A withheld window tells nothing of anybody."""
    wanted, goal = always(crowds), crowds.goal
    if told.keys() != {*wanted, "adversaries", "delta", "total"}:
        yield "parts"
    for name, value in wanted.items():
        if alike(told.get(name)) != alike(value):
            yield name
    adversaries = told.get("adversaries")
    names = {name for name, _ in declared(crowds)} if released else set()
    if not isinstance(adversaries, dict) or adversaries.keys() != set(ADVERSARIES):
        yield "adversaries"
        return
    deltas = [Fraction(1) if released and goal is None else Fraction(0)]
    for name, its in adversaries.items():
        if (its is None) == (name in names) or not (its is None or _is_told(its)):
            yield name
        elif its is not None:
            deltas.append(number(its["delta"]) or Fraction(0))
    if number(told.get("delta")) != max(deltas):
        yield "delta"
    total, together = told.get("total"), None
    if released and goal is not None and goal.windows > 1:
        together = {"windows": goal.windows, "epsilon": up(goal.epsilon), "delta": 0}
    its_total = {**total, "delta": 0} if isinstance(total, dict) and number(total.get("delta")) is not None else total
    if alike(its_total) != alike(together):
        yield "total"


def always(crowds: Crowds) -> Mapping[str, Any]:
    """What every guarantee of these crowds says alike."""
    goal, known = crowds.goal, Fraction(0) if crowds.believed is None else crowds.believed.known
    target = None
    if goal is not None:
        target = {
            "epsilon": up(goal.epsilon),
            "delta": up(goal.delta),
            "windows": goal.windows,
            "beyond": "top_up" if goal.tops_up else "withhold",
        }
    epsilon = None if goal is None else up(goal.epsilon)
    return {"k": crowds.k, "epsilon": epsilon, "known": down(known), "target": target}


def _is_told(its: Any) -> bool:
    if not isinstance(its, dict) or its.keys() != {"delta", "epsilon_at_target", "method"}:
        return False
    delta, epsilon = number(its["delta"]), number(its["epsilon_at_target"])
    fine = delta is not None and 0 <= delta <= 1
    fine &= its["epsilon_at_target"] is None or (epsilon is not None and epsilon >= 0)
    return fine and its["method"] in METHODS
