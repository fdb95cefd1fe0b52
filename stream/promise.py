"""What one pipeline promises, compiled from its settings, its model and its key ring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from beliefs.alphabet import Alphabet
from beliefs.distance import Distance
from beliefs.forward import ChainArrays, chain_arrays, reversed_arrays
from beliefs.leakage.robust import withheld_units
from beliefs.listed import entries_listed
from beliefs.model_file import Model
from beliefs.rounding import budget_units
from mechanisms.contract import constants_table
from mechanisms.registry import MECHANISMS
from stream.distances import Chosen, choose_distance
from stream.keys import KeyRing, Pseudonyms
from stream.policy import SPENT_DRAW, SPENT_FORECAST, SPENT_STOP, SPENT_SUPPRESS, Policy
from stream.settings.kinds import write_duration
from stream.settings.load import policy_fingerprint
from stream.settings.model import DEFAULT_DEADLINE_MS, RecordSettings, Settings

WHEN_SPENT: Final = {
    "forecast": SPENT_FORECAST,
    "forecast_draw": SPENT_DRAW,
    "suppress": SPENT_SUPPRESS,
    "stop": SPENT_STOP,
}


@dataclass(frozen=True, slots=True)
class WindowRules:
    """When a user's window ends. A stretch of 0 is none; times in milliseconds. `back` are the model's transitions from
    their ends to their beginnings. With `dual` a window's values go through one channel for their sequence.
    """

    events: int
    stretch: int
    natural: bool
    deadline: int
    back: ChainArrays = field(repr=False)
    dual: bool = False

    @property
    def at_once(self) -> int:
        """How many values go through one channel for their sequence at most; 0 if each goes through its own."""
        return self.events if self.dual else 0

    def is_beyond(self, time: int, first: int) -> bool:
        """Whether an event of this time belongs to a later stretch than a window that began at `first`. A late event
        belongs to no earlier one: it joins the window that its user has reached.
        """
        return self.stretch > 0 and time // self.stretch > first // self.stretch


@dataclass(frozen=True)
class Promise:
    """Everything that decides what is released; shared by a process's partitions. Its `repr` holds no secret."""

    pipeline: str
    record: RecordSettings
    alphabet: Alphabet
    chain: ChainArrays = field(repr=False)
    policy: Policy = field(repr=False)
    policy_version: int
    policy_fingerprint: bytes
    model_version: int
    model_short: str
    ring: KeyRing = field(repr=False)
    windows: WindowRules | None = None
    pseudonym: Callable[[bytes], bytes] | None = field(repr=False, default=None)
    distance: Distance | None = field(repr=False, default=None)

    @property
    def epoch_key(self) -> bytes:
        return self.ring.current.secret

    @property
    def policy_name(self) -> str:
        """As in the header of a released record."""
        return f"{self.policy_version}:{self.policy_fingerprint.hex()[:8]}"

    @property
    def model_name(self) -> str:
        return f"{self.model_version}:{self.model_short}"


def compile_promise(settings: Settings, model: Model, ring: KeyRing, chosen: Chosen | None = None) -> Promise:
    distance, digest = chosen or choose_distance(settings.record.protect.distance, model.alphabet)
    keep = settings.record.release_key == "keep"
    return Promise(
        pipeline=settings.pipeline.name,
        record=settings.record,
        alphabet=model.alphabet,
        chain=chain_arrays(model.chain),
        policy=compile_policy(settings, model),
        policy_version=settings.policy_version,
        policy_fingerprint=policy_fingerprint(settings, model.digest, digest),
        model_version=model.version,
        model_short=model.short + clock_suffix(settings) + listed_suffix(settings, model),
        ring=ring,
        windows=compile_windows(settings, model),
        pseudonym=None if keep else Pseudonyms(ring, settings.pipeline.name).of,
        distance=distance if settings.mechanism.name == "near" else None,
    )


def compile_windows(settings: Settings, model: Model) -> WindowRules | None:
    window = settings.window
    if window is None:
        return None
    natural = window.order == "natural"
    deadline = window.deadline or DEFAULT_DEADLINE_MS
    back, dual = reversed_arrays(model.chain), window.order == "dual"
    return WindowRules(window.events, window.stretch or 0, natural, deadline, back, dual)


def clock_suffix(settings: Settings) -> str:
    """A model by the clock is another one for each length of its step: rows count the steps since 1970.

    The name stands in the control record of the beliefs, so a worker with another step refuses them.
    """
    return "" if settings.model.step is None else f"/{write_duration(settings.model.step)}"


def listed_suffix(settings: Settings, model: Model) -> str:
    """Beliefs of which other entries are kept are other beliefs: a worker refuses them at its start."""
    listed = listed_by(settings, model)
    return f"/{listed}-listed" if listed else ""


def listed_by(settings: Settings, model: Model) -> int:
    return entries_listed(settings.model.listed, model.chain.size, model.chain.has_tail)


def compile_policy(settings: Settings, model: Model) -> Policy:
    """The policy in units: epsilon and the budget are rounded down."""
    mechanism = MECHANISMS[settings.mechanism.name]
    epsilon = budget_units(settings.mechanism.epsilon)
    shift = withheld_units(epsilon, settings.mechanism.radius)
    return Policy(
        mechanism=mechanism.code,
        holds_epsilon=mechanism.holds_epsilon,
        constants=constants_table(epsilon, shift),
        epsilon=epsilon,
        budget=budget_units(settings.budget.nats),
        window=settings.budget.window or 0,
        when_spent=WHEN_SPENT[settings.budget.when_spent],
        model_tag=model.tag,
        interval=settings.model.step or 0,
        most_steps=settings.model.most,
        shift=shift,
        listed=listed_by(settings, model),
    )
