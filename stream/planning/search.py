"""From a grid to points: each candidate is tried on a few users, and those that matter on as many as they need."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from beliefs.distance import Distance
from beliefs.rounding import INFINITE
from stream.commands.expectation import DAY_MS, Drawn, Promised, draw
from stream.distances import choose_distance
from stream.errors import ConfigurationRefused
from stream.opening import Opened
from stream.planning.exact import exactly
from stream.planning.frontier import choose, frontier
from stream.planning.grid import Document, document_of, opened_of, reasons_of
from stream.planning.points import Candidate, Point, Trial, costs_of, is_measured
from stream.planning.target import Target, impossible
from stream.settings.model import DistanceSettings

FIRST_BATCHES: Final = 5
FIRST_EVENTS: Final = 4_000
MOST_EVENTS: Final = 40_000
MOST_STEPS: Final = 2_000
FREE_STEPS: Final = 200
PRECISION: Final = 0.01
_TABLE_MAX: Final = 1_024

Tell = Callable[[str, int, int], None]


@dataclass
class Search:
    """`folder` is for settings that only exist while this lasts, `keys` a key ring that nothing is released with."""

    base: Document
    target: Target
    per_day: int
    folder: Path
    keys: Path
    tell: Tell
    precision: float = PRECISION
    most_events: int = MOST_EVENTS
    left_out: dict[str, int] = field(default_factory=dict)
    _drawn: dict[tuple[object, ...], Drawn] = field(default_factory=dict)

    @property
    def by_distance(self) -> bool:
        return self.target.distance is not None

    def trials(self, candidates: Iterable[Candidate]) -> list[Trial]:
        """A trial of each candidate that makes a pipeline; why others do not is counted in `left_out`."""
        wanted, found = list(candidates), []
        for number, candidate in enumerate(wanted):
            self.tell("configurations tried", number, len(wanted))
            try:
                trial = self.trial(candidate)
            except ConfigurationRefused as error:
                for reason in reasons_of(error):
                    self.left_out[reason] = self.left_out.get(reason, 0) + 1
                continue
            for batch in range(FIRST_BATCHES):
                self.run(trial, batch)
            found.append(trial)
        return found

    def trial(self, candidate: Candidate) -> Trial:
        opened = opened_of(document_of(self.base, candidate, self.per_day), self.folder, self.keys)
        distance = self.distance_of(opened)
        chain, promise = opened.model.chain, opened.promise
        trial = Trial(candidate, Promised(promise.policy, promise.windows, promise.distance), chain, distance)
        costs = None if distance is None else costs_of(distance, chain.symbols)
        trial.exact = exactly(trial.promised, chain, costs, self.steps_of(trial), self.spacing)
        return trial

    def distance_of(self, opened: Opened) -> Distance | None:
        given = self.base["record"]["protect"].get("distance")
        if given is None:
            return None
        settings = DistanceSettings.model_validate(given)
        distance = choose_distance(settings, opened.model.alphabet).distance
        return distance if is_measured(distance) and opened.model.alphabet.size <= _TABLE_MAX else None

    @property
    def spacing(self) -> int:
        return DAY_MS // self.per_day

    def steps_of(self, trial: Trial) -> int:
        """A day of a user, in whole windows; without a budget the first events of it say how it goes on."""
        most = FREE_STEPS if trial.promised.policy.budget >= INFINITE else MOST_STEPS
        steps, events = max(2, min(self.per_day, most)), trial.candidate.events
        return -(-steps // events) * events

    def run(self, trial: Trial, batch: int) -> None:
        steps = self.steps_of(trial)
        users = max(4, FIRST_EVENTS // FIRST_BATCHES // steps)
        policy = trial.promised.policy
        key = (users, steps, batch, policy.interval, policy.most_steps)
        if key not in self._drawn:
            self._drawn[key] = draw(policy, trial.chain, users, steps, self.spacing, batch)
        trial.add(self._drawn[key], time.perf_counter)

    def is_sure(self, trial: Trial) -> bool:
        """Whether its interval is as narrow as is wanted, of a distance as a share of it; or enough was tried."""
        if trial.users * trial.steps >= self.most_events:
            return True
        if not self.by_distance:
            return trial.agreement_error <= self.precision
        return trial.distance_error <= self.precision * (trial.point(self.per_day).distance or 1.0)

    def refine(self, trials: list[Trial]) -> list[Point]:
        """More users for the points that no other beats, until these stay the same and are known well enough."""
        while True:
            points = [trial.point(self.per_day) for trial in trials]
            best = {point.candidate for point in frontier(points, self.by_distance)}
            chosen = choose(points, self.target, self.by_distance)
            best |= {chosen.candidate} if chosen is not None else set()
            unsure = [trial for trial in trials if trial.candidate in best and not self.is_sure(trial)]
            if not unsure:
                return points
            for number, trial in enumerate(unsure):
                self.tell("points made surer", number, len(unsure))
                while not self.is_sure(trial):
                    self.run(trial, trial.batches)


def check_measured(target: Target, trials: list[Trial]) -> None:
    if target.distance is not None and any(trial.distance is None for trial in trials):
        why = f"the settings name no distance of at most {_TABLE_MAX:,} values: all errors count alike"
        raise impossible("distance", why, "name one at record.protect.distance, or ask for --agreement")
    if not trials:
        fix = "see `sottovoce validate`, or allow other mechanisms, windows or epsilons"
        raise impossible("the model", "no configuration that was to be tried makes a pipeline with it", fix)
