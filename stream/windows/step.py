"""One user's windows, carried out: a stored row and the values of a window -> what is released, and the new row.

A window of n values is one release: one prediction, one charge, one belief kept. With delay all of it happens when the
window is closed. Without, the window is `open` between two values, and its belief is kept when it ends.

Nothing here depends on when or in which block the values came: only on the row, the values, their times and their
coins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from beliefs.clock import steps_between
from beliefs.forward import ChainArrays
from beliefs.ledger import charge_of, fits, spread_counts
from beliefs.rounding import UNITS_PER_NAT, add_units, log_units_up
from mechanisms.coins import Coins
from mechanisms.contract import DRIFT_UNKNOWN, LEVEL_UNKNOWN, Integers, design_units, drift_level, nearby_of
from mechanisms.sequence.forecast import most_likely
from mechanisms.sequence.near import searches_cut_short
from mechanisms.sequence.window import (
    LENGTH_MAX,
    NOTHING_DRAWN,
    Plan,
    draw_path,
    mix,
    plan_of,
    ratios_of,
    release_window,
)
from mechanisms.sequence.window_beliefs import begin, new_room, new_tools, values_of
from mechanisms.sequence.window_running import COUNT, HIGHEST, LOWEST, ROUNDS, Running, new_running, release_next
from stream import drift as drifts
from stream.policy import FORECAST, RELEASED, SPENT_DRAW, SPENT_STOP, SUPPRESSED, Bench, Policy
from stream.recall import charge_user, keep_belief, open_budget_window, predict_user, take_steps
from stream.state import STOPPED, Codes, Word, seal
from stream.windows.dual import Sequences, Sides

# The words of an offset's coins that windows use; the first two belong to single releases.
COIN_OF_STRANGER, COIN_OF_CHANNEL, COIN_OF_WINDOW = 2, 3, 4


class Told(NamedTuple):
    """What became of the values of one window, or of the next value of an open one.

    `symbols` holds what is shown, or -1; `drawn` what came out of the channels, or -1. The charges are for all of them
    together.
    """

    symbols: list[int]
    drawn: list[int]
    outcome: int
    upper: int
    lower: int
    uncertified: bool


@dataclass(slots=True)
class OpenWindow:
    """A window without delay between two of its values. What `running` holds of the coin and the stranger is secret."""

    running: Running
    units: int
    drift: int
    upper: int
    lower: int
    time: int

    def __repr__(self) -> str:
        return f"OpenWindow(values={int(self.running.marks[COUNT])})"


class WindowStep:
    """The windows of one pipeline. It holds scratch space and plans, nothing that outlives a call."""

    def __init__(
        self, policy: Policy, chain: ChainArrays, back: ChainArrays, bench: Bench, *, longest: int = 0
    ) -> None:
        """`longest`: unless 0, windows of up to so many values go through one channel for their sequence."""
        self._policy, self._chain, self._bench = policy, chain, bench
        self._sequences = Sequences(chain, longest) if longest else None
        self._states = chain.start.shape[0]
        nearby = nearby_of(bench.work)
        self._tools = new_tools(chain, back, None if nearby is None else nearby.distance)
        self._room = new_room(LENGTH_MAX, self._states, bench.belief.shape[0])
        self._shown: Integers = np.zeros(LENGTH_MAX, dtype=np.int64)
        self._plans: dict[tuple[int, int], Plan] = {}
        self._most_steps = policy.most_steps if policy.interval > 0 else 1

    def close(self, head: Integers, codes: Codes, times: Integers, values: Integers, coins: Coins) -> Told:
        """Release the values of a window that has ended, in the order of their offsets. `coins` are a row for each."""
        length = values.shape[0]
        drift = self._begin(head, codes, int(times[0]), int(times.max()))
        self._count_steps(head, times)
        units = self._units(drift)
        worst = None
        if self._sequences is not None and units > 0:
            worst = self._sequences.prepare(self._bench.belief, units, length)
        outcome, uncertified = self._decide(head, drift, units, worst)
        take_steps(self._policy.sliding, head, length, False)
        if outcome != RELEASED:
            return self._untold(head, codes, drift, coins, outcome, uncertified=uncertified)
        if self._sequences is not None:
            return self._tell_sequence(self._sequences, head, codes, drift, values, coins)
        plan, room, shown = self._plan(units, length), self._room, self._shown[:length]
        highest, lowest = release_window(plan, self._tools, self._bench.ahead, values, _in_order(coins), room, shown)
        upper, lower = self._charges(plan, drift, highest, lowest)
        charge_user(self._policy.sliding, head, upper, lower)
        mix(plan, room.priors[length - 1], room.beliefs[length - 1], self._bench.posterior)
        self._keep(head, codes, drift, self._rounds(length))
        return Told(shown.tolist(), room.drawn[:length].tolist(), RELEASED, upper, lower, uncertified=False)

    def _tell_sequence(
        self, sequences: Sequences, head: Integers, codes: Codes, drift: int, values: Integers, coins: Coins
    ) -> Told:
        shown = self._shown[: values.shape[0]]
        told = sequences.release(values, coins[0, COIN_OF_CHANNEL], shown, self._bench.posterior)
        upper, lower = _costs(told, drift, self._policy)
        charge_user(self._policy.sliding, head, upper, lower)
        self._keep(head, codes, drift, values.shape[0])
        return Told(shown.tolist(), shown.tolist(), RELEASED, upper, lower, uncertified=False)

    def next(
        self, head: Integers, codes: Codes, opened: OpenWindow | None, time: int, value: int, coins: Coins
    ) -> tuple[Told, OpenWindow | None]:
        """Release the next value of a window without delay; a user without an open one gets it, if the budget lets
        it. A value that it does not let through is a window by itself.
        """
        if opened is None:
            drift = self._begin(head, codes, time, time)
            units = self._units(drift)
            outcome, uncertified = self._decide(head, drift, units, None)
            if outcome != RELEASED:
                take_steps(self._policy.sliding, head, 1, False)
                return self._untold(head, codes, drift, coins, outcome, uncertified=uncertified), None
            opened = OpenWindow(new_running(self._states), units, drift, 0, 0, time)
        else:
            self._room.steps[0] = self._steps_to(head, time)
        take_steps(self._policy.sliding, head, 1, int(opened.running.marks[COUNT]) > 0)
        plan, running, ahead = self._plan(opened.units, LENGTH_MAX), opened.running, self._bench.ahead
        shown, drawn = release_next(plan, self._tools, ahead, value, _in_order(coins), self._room, running)
        highest, lowest = running.amounts[HIGHEST], running.amounts[LOWEST]
        upper, lower = self._charges(plan, opened.drift, highest, lowest)
        upper, lower = max(upper, opened.upper), max(lower, opened.lower)
        more_upper, more_lower = upper - opened.upper, lower - opened.lower
        charge_user(self._policy.sliding, head, more_upper, more_lower)
        opened.upper, opened.lower = upper, lower
        return Told([shown], [drawn], RELEASED, more_upper, more_lower, uncertified=False), opened

    def end(self, head: Integers, codes: Codes, opened: OpenWindow) -> None:
        """The window without delay is over: what it told becomes the belief."""
        running = opened.running
        mix(self._plan(opened.units, LENGTH_MAX), running.prior, running.belief, self._bench.posterior)
        self._keep(head, codes, opened.drift, int(running.marks[ROUNDS]))

    def stamp(self, head: Integers, codes: Codes) -> None:
        """Version, flags, tag and check of a row that is finished for this block."""
        seal(head, codes, _flags(head), self._policy.model_tag, self._policy.listed > 0)

    def searches_cut_short(self) -> int:
        """How many channels since the last call were the best of those that `near` had come to."""
        return searches_cut_short(self._tools.work)

    def is_stopped(self, head: Integers) -> bool:
        return _flags(head) != 0

    def _begin(self, head: Integers, codes: Codes, time: int, latest: int) -> int:
        """The belief about the window's first value, and its drift; the budget's window is that of the latest event."""
        drift = self._predict(head, codes, time)
        open_budget_window(self._policy, head, latest)
        return drift

    def _predict(self, head: Integers, codes: Codes, time: int) -> int:
        before, events = int(head[Word.WINDOW_AND_DRIFT] >> 32) & DRIFT_UNKNOWN, int(head[Word.STEPS])
        drift = int(predict_user(self._policy, self._chain, self._bench, head, codes, time))
        if self._chain.span > 1 and self._policy.interval == 0 and events > 0:
            return int(drifts.after_windows(before, events, self._chain.contraction, self._chain.span, LENGTH_MAX))
        return drift

    def _count_steps(self, head: Integers, times: Integers) -> None:
        """How far the model goes on before each value but the first; without a clock it is one step, always."""
        if self._policy.interval > 0:
            for place in range(1, times.shape[0]):
                self._room.steps[place] = self._steps_to(head, int(times[place]))

    def _steps_to(self, head: Integers, time: int) -> int:
        """From the step that the user has reached to that of this time, which is then reached."""
        if self._policy.interval == 0:
            return 1
        now, reached = time // self._policy.interval, int(head[Word.CLOCK])
        head[Word.CLOCK] = max(reached, now)
        return int(steps_between(reached, now, self._policy.most_steps))

    def _rounds(self, length: int) -> int:
        """How often the last prior of a window may have rounded."""
        if self._room.raised[0] > 0:
            return DRIFT_UNKNOWN
        return 1 + int(np.maximum(self._room.steps[1:length], 1).sum())

    def _units(self, drift: int) -> int:
        """What a window is built for when its belief may be off by this drift."""
        level = LEVEL_UNKNOWN if drift >= DRIFT_UNKNOWN else int(drift_level(drift))
        return design_units(self._policy.epsilon, level, self._policy.shift)

    def _decide(self, head: Integers, drift: int, units: int, worst: Sides | None) -> tuple[int, bool]:
        """Whether the worst case of a window that is built for so much fits; public quantities only."""
        policy = self._policy
        if _flags(head):
            return SUPPRESSED, False
        upper, lower = _costs(worst or Sides(units, units, 2 * units), drift, policy)
        if units <= 0 or max(upper, lower) > policy.epsilon:
            return FORECAST, True
        if fits(head[Word.WINDOW_UPPER], head[Word.WINDOW_LOWER], upper, lower, policy.budget):
            return RELEASED, False
        return FORECAST if policy.when_spent <= SPENT_DRAW else SUPPRESSED, False

    def _untold(
        self, head: Integers, codes: Codes, drift: int, coins: Coins, outcome: int, *, uncertified: bool
    ) -> Told:
        """Values of which nothing is told: each is the likeliest, or a stranger's, or none."""
        policy, room, ahead, length = self._policy, self._room, self._bench.ahead, coins.shape[0]
        if outcome == SUPPRESSED:
            self._suppress(head, codes, drift, length)
            return Told([-1] * length, [NOTHING_DRAWN] * length, outcome, 0, 0, uncertified)
        begin(self._tools, ahead, length, room)
        if policy.when_spent == SPENT_DRAW:
            draw_path(self._tools, ahead, _in_order(coins), length, room)
            symbols = room.values[:length].tolist()
        else:
            laws = (values_of(room.priors[i], self._chain.symbol_of, room.law) for i in range(length))
            symbols = [int(most_likely(law)) for law in laws]
        self._bench.posterior[:] = room.priors[length - 1]
        self._keep(head, codes, drift, self._rounds(length))
        return Told(symbols, [NOTHING_DRAWN] * length, outcome, 0, 0, uncertified)

    def _suppress(self, head: Integers, codes: Codes, drift: int, length: int) -> None:
        """The belief is kept after each value, as if each were a window: into how many windows suppressed values were
        cut is not public, and who audits must not need to know it.
        """
        for place in range(length):
            if place > 0:
                drift = self._predict(head, codes, 0)
            begin(self._tools, self._bench.ahead, 1, self._room)
            self._bench.posterior[:] = self._room.priors[0]
            self._keep(head, codes, drift, 1)
        if self._policy.when_spent == SPENT_STOP:
            head[Word.MARKS] |= STOPPED << 8

    def _plan(self, units: int, length: int) -> Plan:
        plan = self._plans.get((units, length))
        if plan is None:
            plan = self._plans[units, length] = plan_of(units / UNITS_PER_NAT, length, self._states, self._most_steps)
        return plan

    def _charges(self, plan: Plan, drift: int, highest: float, lowest: float) -> tuple[int, int]:
        """What a window has told so far, on both sides."""
        upper, lower = (int(log_units_up(ratio)) for ratio in ratios_of(plan, highest, lowest))
        return _costs(Sides(upper, lower, add_units(upper, lower)), drift, self._policy)

    def _keep(self, head: Integers, codes: Codes, drift: int, rounds: int) -> None:
        """Each position may have rounded as much as the predictions that lead to it."""
        drift = DRIFT_UNKNOWN if drift >= DRIFT_UNKNOWN else min(drift + rounds * drifts.OF_DOUBLES, DRIFT_UNKNOWN)
        keep_belief(self._chain, self._bench, head, codes, drift, True)


def _flags(head: Integers) -> int:
    return int(head[Word.MARKS] >> 8) & STOPPED


def _costs(sides: Sides, drift: int, policy: Policy) -> tuple[int, int]:
    """Both sides of a window: its log ratio and the shift, or the log ratio between two windows of values."""
    shift = int(add_units(int(drifts.in_units(drift)), policy.shift))
    spread = sides.spread if spread_counts(shift, policy.epsilon) else 0
    upper, lower = (int(charge_of(side, spread, shift, policy.epsilon)) for side in (sides.upper, sides.lower))
    return upper, lower


def _in_order(coins: Coins) -> Coins:
    """As the mechanism wants them: the window's, then the stranger's and the channel's of each position."""
    words = np.empty(1 + 2 * coins.shape[0], dtype=np.uint64)
    words[0] = coins[0, COIN_OF_WINDOW]
    words[1::2] = coins[:, COIN_OF_STRANGER]
    words[2::2] = coins[:, COIN_OF_CHANNEL]
    return words
