"""What one pipeline promises, compiled from its settings, its model and its key ring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from beliefs.alphabet import Alphabet
from beliefs.distance import Distance
from beliefs.forward import ChainArrays, chain_arrays, reversed_arrays
from beliefs.learning.online import Setup
from beliefs.model_file import Model
from mechanisms.contract import Integers
from stream import names
from stream.distances import Chosen, choose_distance
from stream.fields.joint import Joint, digest_of
from stream.fields.promise import FieldsPromise, compile_fields
from stream.keys import KeyRing, Pseudonyms, derived_key
from stream.policy import Bench, Policy, new_bench
from stream.policy_units import compile_policy, listed_by
from stream.protocol.texts import Texts
from stream.records.fields import FieldForm
from stream.segments import Rule
from stream.serving import Serving, rule_of
from stream.settings.kinds import write_duration
from stream.settings.load import policy_fingerprint
from stream.settings.model import DEFAULT_DEADLINE_MS, RecordSettings, Settings
from stream.settings.segments import assignment, short_of
from stream.state import codes_of

_CLOSED_TOGETHER: Final = 250


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

    @property
    def closed_together(self) -> int:
        """How many windows may be closed without a pause. A channel for N sequences takes up to some 4e-7 N^2 s, and
        two seconds are no more than a worker may be silent for.
        """
        if not self.dual:
            return _CLOSED_TOGETHER
        sequences: int = self.back.start.shape[0] ** self.events
        return max(1, min(_CLOSED_TOGETHER, 5_000_000 // sequences**2))

    def is_beyond(self, time: int, first: int) -> bool:
        """Whether an event of this time belongs to a later stretch than a window that began at `first`. A late event
        belongs to no earlier one: it joins the window that its user has reached.
        """
        return self.stretch > 0 and time // self.stretch > first // self.stretch


@dataclass(frozen=True)
class Segments:
    """Where several models serve: which of them serves a user, and the promise to the users of each. `short` tells
    this assignment of models to users from every other one.
    """

    rule: Rule
    promises: tuple[Promise, ...]
    short: str

    @property
    def tags(self) -> Integers:
        return np.array([promise.policy.model_tag for promise in self.promises], dtype=np.int64)

    @property
    def widths(self) -> Integers:
        return np.array([promise.width for promise in self.promises], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Learning:
    """Where a model is learnt: what learning needs to know, and the policy that is gone over to, for no model yet."""

    setup: Setup
    settled: Policy = field(repr=False)


@dataclass(frozen=True)
class Promise:
    """Everything that decides what is released; shared by a process's partitions. Its `repr` holds no secret.

    Where `segments` are given, this is the promise to the users of the first, and what is common to all of them. Where
    `learning` is given, it is the one before anything is learnt, or that of one epoch (stream/learning/promises.py).
    """

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
    segments: Segments | None = field(repr=False, default=None)
    learning: Learning | None = None
    fields: FieldsPromise | None = field(repr=False, default=None)

    @property
    def served(self) -> tuple[Promise, ...]:
        """The promise to the users of each segment; this one alone where one model serves everybody."""
        return (self,) if self.segments is None else self.segments.promises

    @property
    def readers(self) -> tuple[FieldForm, ...]:
        """What is read of the fields that are protected each by itself."""
        return () if self.fields is None else self.fields.readers

    @property
    def width(self) -> int:
        """How many codes a row of this promise's model has."""
        return codes_of(self.chain.start.shape[0], self.policy.listed)

    @property
    def epoch_key(self) -> bytes:
        return self.ring.current.secret

    @property
    def most_states(self) -> int:
        """Of the largest model that serves."""
        return max(int(each.chain.start.shape[0]) for each in self.served)

    @property
    def policy_name(self) -> str:
        """As in the header of a released record."""
        return f"{self.policy_version}:{self.policy_fingerprint.hex()[:8]}"

    @property
    def model_name(self) -> str:
        """As in the header of a released record: the model of its user, and, behind @, which models serve whom."""
        return f"{self.model_version}:{self.model_short}"

    @property
    def beliefs_name(self) -> str:
        """As in the control record of the beliefs: whose probabilities they are, or what they are learnt for."""
        if self.learning is not None:
            return f"learn@{self.model_short}"
        return self.model_name if self.segments is None else f"segments@{self.segments.short}"


def bench_of(promise: Promise) -> Bench:
    """Scratch space for the events of one model's users."""
    states, listed = promise.chain.start.shape[0], promise.policy.listed > 0
    return new_bench(states, promise.alphabet.size, promise.distance, listed=listed)


def model_names(promise: Promise, owners: Integers) -> Texts | bytes:
    """The header `model` of released records whose users are of these segments."""
    texts = [each.model_name.encode() for each in promise.served]
    return Texts.of([texts[owner] for owner in owners.tolist()]) if len(texts) > 1 else texts[0]


def compile_segments(
    settings: Settings,
    servings: Sequence[Serving],
    ring: KeyRing,
    chosen: Chosen | None = None,
    joint: Joint | None = None,
) -> Promise:
    """The promise of a pipeline in which each of these models serves some of the users."""
    rule = rule_of(settings.model, servings)
    if rule is None:
        return compile_promise(settings, servings[0].model, ring, chosen, joint)
    listed = {name: serving.model.digest for serving in servings for name in serving.names}
    others = [serving.model.digest for serving in servings if serving.others]
    assigned = assignment(rule.path, listed, others[0] if others else None)
    ends = {serving.model.digest: name_end(settings, serving.model) for serving in servings}
    short = short_of(assigned, ends)
    chosen = chosen or choose_distance(settings.record.protect.distance, servings[0].model.alphabet)
    fingerprint = policy_fingerprint(settings, assigned, chosen.digest, digest_of(joint))
    promises = []
    for serving in servings:
        alone = compile_promise(settings, serving.model, ring, chosen, joint)
        name = f"{alone.model_short}@{short}"
        promises.append(replace(alone, policy_fingerprint=fingerprint, model_short=name))
    return replace(promises[0], segments=Segments(rule, tuple(promises), short))


def compile_promise(
    settings: Settings, model: Model, ring: KeyRing, chosen: Chosen | None = None, joint: Joint | None = None
) -> Promise:
    distance, digest = chosen or choose_distance(settings.record.protect.distance, model.alphabet)
    keep = settings.record.release_key == "keep"
    return Promise(
        pipeline=settings.pipeline.name,
        record=settings.record,
        alphabet=model.alphabet,
        chain=chain_arrays(model.chain),
        policy=compile_policy(settings, model),
        policy_version=settings.policy_version,
        policy_fingerprint=policy_fingerprint(settings, model.digest, digest, digest_of(joint)),
        model_version=model.version,
        model_short=model.short + name_end(settings, model),
        ring=ring,
        windows=compile_windows(settings, model),
        pseudonym=None if keep else Pseudonyms(ring, settings.pipeline.name).of,
        distance=distance if settings.mechanism.name == "near" else None,
        fields=compile_fields(
            settings,
            joint,
            derived_key(ring.first.secret, names.PURPOSE_LASTING, settings.pipeline.name),
        ),
    )


def compile_windows(settings: Settings, model: Model) -> WindowRules | None:
    window = settings.window
    if window is None:
        return None
    natural = window.order == "natural"
    deadline = window.deadline or DEFAULT_DEADLINE_MS
    back, dual = reversed_arrays(model.chain), window.order == "dual"
    return WindowRules(window.events, window.stretch or 0, natural, deadline, back, dual)


def name_end(settings: Settings, model: Model) -> str:
    return clock_suffix(settings) + listed_suffix(settings, model)


def clock_suffix(settings: Settings) -> str:
    """A model by the clock is another one for each length of its step: rows count the steps since 1970.

    The name stands in the control record of the beliefs, so a worker with another step refuses them.
    """
    return "" if settings.model.step is None else f"/{write_duration(settings.model.step)}"


def listed_suffix(settings: Settings, model: Model) -> str:
    """Beliefs of which other entries are kept are other beliefs: a worker refuses them at its start."""
    listed = listed_by(settings, model)
    return f"/{listed}-listed" if listed else ""
