"""What is tried: the candidates, and the settings that make a pipeline of each."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

from mechanisms.registry import MECHANISMS
from stream.commands.expectation import DAY_MS
from stream.errors import ConfigurationRefused
from stream.opening import Opened, open_pipeline
from stream.planning.points import NO_WINDOW, Candidate, kept_per_day
from stream.planning.target import Target, impossible
from stream.settings.kinds import write_duration
from stream.settings.model import DEFAULT_DEADLINE_MS, MechanismSettings, WindowSettings

EPSILONS: Final = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
LENGTHS: Final = (2, 5, 10, 20)
ORDERS: Final = (NO_WINDOW, "bisect", "natural")
_HOUR_MS: Final = 3_600_000
_MOST_DEADLINE_MS: Final = 7 * DAY_MS
_FOR_READERS: Final = ("radius", "chain_error")

Document = dict[str, Any]


@dataclass(frozen=True)
class Grid:
    """What candidates are made of; what is empty is chosen for the settings."""

    mechanisms: tuple[str, ...] = ()
    epsilons: tuple[float, ...] = ()
    orders: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()

    def check(self, target: Target) -> None:
        known = get_args(WindowSettings.model_fields["order"].annotation)
        for name, given, allowed in (
            ("--order", self.orders, (NO_WINDOW, *known)),
            ("--mechanism", self.mechanisms, get_args(MechanismSettings.model_fields["name"].annotation)),
        ):
            for one in given:
                if one not in allowed:
                    raise impossible(name, f"{one} is not known", f"write one of {', '.join(allowed)}")
        for epsilon in self.epsilons:
            if not 1e-6 <= epsilon <= 32:
                raise impossible("--epsilon", f"{epsilon:g} is not allowed", "write a number from 0.000001 to 32")
        for length in self.lengths:
            if not 2 <= length <= 64:
                raise impossible("--window", f"{length} is not allowed", "write a number of values from 2 to 64")
        if self.lengths and self.orders and set(self.orders) == {NO_WINDOW}:
            raise impossible("--window", "--order none tries no windows", "add --order bisect, or leave --window away")
        if target.delay is not None and all(order in (NO_WINDOW, "natural") for order in self.orders or ORDERS):
            why = "values wait in windows of order bisect alone, and none of these is to be tried"
            raise impossible("--delay", why, "add --order bisect, or leave --delay away")


def base_document(document: Document, model: Path | None) -> Document:
    """The settings that all candidates share."""
    base = copy.deepcopy(document)
    if model is not None:
        base["model"] = {**base.get("model", {}), "file": str(model.absolute())}
    return base


def candidates(document: Document, grid: Grid, target: Target) -> Iterator[Candidate]:
    """Every combination that is tried, budgets included."""
    own = document["mechanism"]
    has_distance = document["record"]["protect"].get("distance") not in (None, "hamming", {"kind": "hamming"})
    names = grid.mechanisms or tuple(
        name
        for name, mechanism in MECHANISMS.items()
        if mechanism.holds_epsilon
        and name != "forecast"
        and (has_distance or name != "near")
        and (own.get("upper") is not None or not mechanism.rises)
    )
    epsilons = sorted(set(grid.epsilons) or {*EPSILONS, float(own["epsilon"])})
    budgets = list(dict.fromkeys(budgets_for(document["budget"], target)))
    for order in grid.orders or ORDERS:
        for name in names if order == NO_WINDOW else [name for name in names if name == "optimal"]:
            for events in (1,) if order == NO_WINDOW else grid.lengths or LENGTHS:
                for epsilon in epsilons:
                    for nats, length in budgets:
                        if nats >= epsilon:
                            yield Candidate(name, epsilon, order, events, nats, length)


def budgets_for(own: Mapping[str, Any], target: Target) -> Iterator[tuple[float, int | None]]:
    """No budget, the settings' own, and those that keep what is asked for a day, however often events come."""
    from stream.settings.kinds import Sliding, read_budget, read_window

    yield math.inf, None
    nats = read_budget(own["nats"])
    window = read_window(own.get("window", "forever"))
    if nats < math.inf and not isinstance(window, Sliding):
        yield nats, window
    if target.leakage is None:
        return
    for length in (DAY_MS, 6 * _HOUR_MS, _HOUR_MS):
        most = math.floor(target.leakage / kept_per_day(1.0, length) * 1e6) / 1e6
        if most >= 1e-6:
            yield most, length


def document_of(base: Document, candidate: Candidate, per_day: int) -> Document:
    """The settings that make this candidate."""
    document = copy.deepcopy(base)
    mechanism = document["mechanism"] = {**document["mechanism"], "name": candidate.mechanism}
    mechanism["epsilon"] = candidate.epsilon
    kind = MECHANISMS[candidate.mechanism]
    if kind.row_epsilons <= 1 or not kind.holds_epsilon:
        for name in _FOR_READERS:
            mechanism.pop(name, None)
    if not kind.rises:
        mechanism.pop("upper", None)
    if candidate.mechanism != "near":
        document["record"]["protect"].pop("distance", None)
    window = document.pop("window", None) or {}
    if candidate.order != NO_WINDOW:
        document["window"] = _window(window, candidate, per_day)
    budget = document["budget"]
    budget["nats"] = "unlimited" if math.isinf(candidate.nats) else candidate.nats
    budget["window"] = "forever" if candidate.length is None else write_duration(candidate.length)
    return document


def _window(own: Document, candidate: Candidate, per_day: int) -> Document:
    """A window that waits is given time for two events; a deadline that is longer in the settings stays."""
    window: Document = {"events": candidate.events, "order": candidate.order}
    if own.get("stretch") is not None:
        window["stretch"] = own["stretch"]
    if candidate.order != "natural":
        from stream.settings.kinds import read_duration

        given = DEFAULT_DEADLINE_MS if own.get("deadline") is None else read_duration(own["deadline"])
        between = DAY_MS // per_day
        window["deadline"] = write_duration(min(max(given, -(-2 * between // 1000) * 1000), _MOST_DEADLINE_MS))
    return window


def opened_of(document: Document, folder: Path, keys: Path | None) -> Opened:
    """The pipeline of these settings, found right by everything that `validate` asks; JSON is YAML."""
    if keys is not None:
        document = {**document, "keys": {"file": str(keys)}}
    file = folder / "candidate.yaml"
    file.write_text(json.dumps(document), encoding="utf-8")
    return open_pipeline(file, {})


def reasons_of(error: ConfigurationRefused) -> Sequence[str]:
    """Why settings were refused, without the names of places that only exist while planning."""
    return [f"{problem.path}: {problem.found}; allowed: {problem.allowed}" for problem in error.problems]
