"""Everything that a command needs before it may start: settings, model and keys, checked by themselves and together.

Problems of all three are collected and reported at once. Nothing here talks to Kafka.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from beliefs.chain import Chain
from beliefs.clock import LEAST_CHANCE
from beliefs.model_file import InvalidModel, Model, parse
from mechanisms.registry import MECHANISMS
from mechanisms.sequence.dual_sequences import SEQUENCES_MAX
from mechanisms.sequence.window import LENGTH_MAX, shave_of
from stream.distances import Chosen, choose_distance
from stream.errors import ConfigurationRefused, DistanceRefused, KeyRefused, ModelRefused, Problem
from stream.keys import KeyRing, load_keys
from stream.promise import Promise, compile_promise
from stream.settings.checks import is_loopback
from stream.settings.kinds import write_duration
from stream.settings.load import load_settings, problem_at
from stream.settings.model import Settings

_MOST_MODEL_PROBLEMS = 20
_MOST_LEAN = 2.0**-12


@dataclass(frozen=True)
class Opened:
    """A pipeline that may be started: everything in it has been found right."""

    file: Path
    settings: Settings
    model: Model
    ring: KeyRing
    promise: Promise
    warnings: tuple[str, ...]


def open_pipeline(file: Path, environment: Mapping[str, str]) -> Opened:
    """Read and check the settings file and all that it names, or raise ConfigurationRefused with every problem."""
    settings = load_settings(file)
    problems: list[Problem] = []
    model = _model(settings, file, problems)
    ring = _keys(settings, file, environment, problems)
    _check_radius(settings, file, problems)
    if model is not None:
        _check_bound(settings, model, file, problems)
        _check_window(settings, model, file, problems)
        _check_clock(settings, model, file, problems)
        _check_tail(settings, model, file, problems)
    chosen = _distance(settings, model, file, problems) if model is not None else None
    if problems or model is None or ring is None:
        raise ConfigurationRefused(str(file), problems)
    promise = compile_promise(settings, model, ring, chosen)
    return Opened(file, settings, model, ring, promise, tuple(_warnings(settings, model)))


def load_model(file: Path) -> Model:
    """The model in this file, or ModelRefused with what is wrong with it."""
    fix = "correct the file, or name another one in the settings"
    try:
        return parse(file.read_bytes())
    except OSError as error:
        raise ModelRefused("The model cannot be read.", str(file), error.strerror or "unknown", fix) from None
    except InvalidModel as error:
        shown = [str(problem) for problem in error.problems[:_MOST_MODEL_PROBLEMS]]
        if len(error.problems) > len(shown):
            shown.append(f"and {len(error.problems) - len(shown)} more")
        raise ModelRefused("The model cannot be used.", str(file), "; ".join(shown), fix) from None


def _model(settings: Settings, file: Path, problems: list[Problem]) -> Model | None:
    try:
        return load_model(Path(settings.model.file))
    except ModelRefused as error:
        found = f"{error.where}: {error.why}"
        problems.append(_problem(file, ("model",), found, "a model file that can be used", error.fix))
        return None


def _keys(settings: Settings, file: Path, environment: Mapping[str, str], problems: list[Problem]) -> KeyRing | None:
    try:
        return load_keys(settings.keys, environment)
    except KeyRefused as error:
        place = ("keys", "file" if settings.keys.file is not None else "environment")
        found = f"{error.where}: {error.why}"
        problems.append(_problem(file, place, found, "a key ring that only its owner can read", error.fix))
        return None


def _distance(settings: Settings, model: Model, file: Path, problems: list[Problem]) -> Chosen | None:
    try:
        return choose_distance(settings.record.protect.distance, model.alphabet)
    except DistanceRefused as error:
        place = ("record", "protect", "distance", error.where)
        problems.append(_problem(file, place, error.why, "a distance of the model's values", error.fix))
        return None


def _problem(file: Path, place: tuple[str, ...], found: str, allowed: str, fix: str) -> Problem:
    return problem_at(file, file.read_bytes(), place, found, allowed, fix)


def _check_bound(settings: Settings, model: Model, file: Path, problems: list[Problem]) -> None:
    mechanism = settings.mechanism
    if mechanism.accept_unbounded or not exceeds_epsilon(
        mechanism.name, mechanism.epsilon, model.chain, settings.model.step
    ):
        return
    if MECHANISMS[mechanism.name].row_epsilons < math.inf:
        found = f"{mechanism.name} with a model of {model.chain.size} values"
        allowed = "a mechanism that keeps epsilon; this one tells up to 2 epsilon, whatever the beliefs"
    else:
        needed, least = belief_floor(mechanism.epsilon), least_belief(model.chain, settings.model.step)
        found = f"{mechanism.name} with a model whose beliefs may fall to {least:.3g}"
        allowed = f"beliefs of at least 1/(e^epsilon + 1) = {needed:.3g}; below that it tells more than epsilon"
    fix = "use name: optimal, which keeps epsilon for every belief; or add accept_unbounded: true"
    problems.append(_problem(file, ("mechanism", "name"), found, allowed, fix))


def _check_radius(settings: Settings, file: Path, problems: list[Problem]) -> None:
    """A radius withholds part of an epsilon that depends on the beliefs; nothing else has a use for it."""
    name = settings.mechanism.name
    mechanism = MECHANISMS[name]
    if settings.mechanism.radius == 0 or (mechanism.holds_epsilon and mechanism.row_epsilons > 1):
        return
    why = "keeps epsilon whatever a reader believes" if mechanism.holds_epsilon else "keeps no epsilon for any reader"
    found = f"{settings.mechanism.radius:g} beside {name}, which {why}"
    allowed = "a radius for a mechanism whose bound depends on the beliefs: optimal, marginal_preserving or near"
    fix = "remove it" if mechanism.holds_epsilon else "remove it, or write name: optimal"
    problems.append(_problem(file, ("mechanism", "radius"), found, allowed, fix))


def exceeds_epsilon(name: str, epsilon: float, chain: Chain, step: int | None = None) -> bool:
    """Whether one release of this mechanism may tell more than epsilon under this model."""
    mechanism = MECHANISMS[name]
    if mechanism.holds_epsilon:
        return False
    if mechanism.row_epsilons < math.inf:
        # Randomised response at 2 epsilon keeps epsilon only where every belief is 1/(e^epsilon + 1) exactly.
        return chain.size > 1
    return least_belief(chain, step) < belief_floor(epsilon)


def _check_window(settings: Settings, model: Model, file: Path, problems: list[Problem]) -> None:
    """Windows know chains of one step, one for each event; and what their coin and caps lean to the safe side, for what
    their arithmetic may err, must stay a trifle.
    """
    if settings.window is None:
        return
    if settings.model.step is not None or model.chain.size != model.chain.symbols:
        kind = "a model by the clock" if settings.model.step is not None else f"a model of order {model.order}"
        fix = "use a model of order 1 with a step for each event, or remove window"
        problems.append(
            _problem(file, ("window",), f"windows beside {kind}", "a model of order 1, event by event", fix)
        )
    if settings.window.order == "dual" and model.chain.symbols**settings.window.events > SEQUENCES_MAX:
        found = f"dual beside {settings.window.events} events of {model.chain.symbols} values"
        allowed = f"at most {SEQUENCES_MAX:,} sequences: values to the power of events"
        problems.append(_problem(file, ("window", "order"), found, allowed, _fewer(model.chain.symbols)))
        return
    epsilon = settings.mechanism.epsilon
    lean = shave_of(LENGTH_MAX, model.chain.size, 1.0 + math.exp(epsilon))
    if lean > _MOST_LEAN:
        found = f"{epsilon:g} for windows over {model.chain.size} values"
        allowed = "an epsilon that 62-bit coins can honour within a window"
        most = math.floor(100 * math.log(_MOST_LEAN * 2.0**60 / (LENGTH_MAX * model.chain.size))) / 100
        fix = f"choose at most {most:g}; beyond that nearly nothing is hidden anyway"
        problems.append(_problem(file, ("mechanism", "epsilon"), found, allowed, fix))


def _fewer(symbols: int) -> str:
    most = max(length for length in range(LENGTH_MAX) if symbols**length <= SEQUENCES_MAX)
    return f"use order: bisect, or at most {most} events" if most else "use order: bisect"


def _check_clock(settings: Settings, model: Model, file: Path, problems: list[Problem]) -> None:
    """Many steps without an event in between must not turn what is possible into a zero."""
    least = min(float(model.chain.data.min(initial=1.0)), float(model.chain.start[model.chain.start > 0].min()))
    if model.chain.has_tail:
        lefts = model.chain.left[model.chain.left > 0]
        least = min(least, float(lefts.min(initial=1.0)) * float(model.chain.tail.min()))
    if settings.model.step is not None and least < LEAST_CHANCE:
        found = f"a step of {write_duration(settings.model.step)} with a model that holds a probability of {least:.3g}"
        allowed = f"positive probabilities of at least {LEAST_CHANCE:.3g} beside a clock"
        fix = "write 0 for what cannot happen, or a larger probability; or step: event"
        problems.append(_problem(file, ("model", "step"), found, allowed, fix))


def _check_tail(settings: Settings, model: Model, file: Path, problems: list[Problem]) -> None:
    """Windows do not know tails, and only beside a tail entries can be listed."""
    if model.chain.has_tail and settings.window is not None:
        fix = "use a model without a tail, or remove window"
        problems.append(_problem(file, ("window",), "windows beside a model with a tail", "one without a tail", fix))
    if settings.model.listed is not None and not model.chain.has_tail:
        found, allowed = f"{settings.model.listed} beside a model without a tail", "a model with a tail, of version 3"
        fix = "remove listed: every entry of a belief is then kept; or give the transitions of the model a tail"
        problems.append(_problem(file, ("model", "listed"), found, allowed, fix))


def belief_floor(epsilon: float) -> float:
    """The belief below which `published_crr` tells more than epsilon."""
    return 1.0 / (math.exp(epsilon) + 1.0)


def least_belief(chain: Chain, step: int | None = None) -> float:
    """A bound below every belief in a value that can be positive, whatever was released before.

    A predicted belief in y is an average over the states before it of what leads from there to y, so it is at least the
    smallest of these; a value that can never occur has no belief at all. By the clock a second event within a step is
    not predicted: its belief is what a release has left, for which there is no bound.
    """
    if step is not None:
        return 0.0
    ways = np.zeros(chain.symbols)
    smallest = np.full(chain.symbols, np.inf)
    for state in range(chain.size):
        following, probabilities = chain.row(state)
        values = chain.symbol_of[following]
        ways[values] += 1
        smallest[values] = np.minimum(smallest[values], probabilities)
    smallest[ways < chain.size] = 0.0
    possible = ways > 0
    possible[chain.symbol_of[chain.start > 0]] = True
    smallest[ways == 0] = np.inf
    positive_start = chain.start[chain.start > 0]
    return float(min(smallest[possible].min(initial=np.inf), positive_start.min(initial=np.inf)))


def _warnings(settings: Settings, model: Model) -> list[str]:
    warnings = []
    mechanism = settings.mechanism
    if exceeds_epsilon(mechanism.name, mechanism.epsilon, model.chain, settings.model.step):
        floor = belief_floor(mechanism.epsilon)
        without_limit = MECHANISMS[mechanism.name].row_epsilons == math.inf
        when = f"whenever a belief is below {floor:.3g}" if without_limit else f"and up to {2 * mechanism.epsilon:g}"
        warnings.append(
            f"{mechanism.name} tells more than epsilon = {mechanism.epsilon:g} {when}; "
            "what it really tells is counted and charged, but not bounded by epsilon"
        )
    if mechanism.name == "near" and settings.record.protect.distance.is_hamming:
        warnings.append("near without a distance is optimal: name a distance beside record.protect.path")
    if math.isinf(settings.budget.nats):
        warnings.append("the budget is unlimited: what is told about a user grows with every event, without end")
    abroad = [broker for broker in settings.kafka.brokers if not is_loopback(broker.rpartition(":")[0])]
    if abroad and settings.kafka.allow_plaintext and settings.kafka.tls is None:
        warnings.append("plaintext is allowed: whoever shares the network can read the raw events")
    if not is_loopback(settings.admin.host):
        warnings.append(f"metrics are served on {settings.admin.host}, not on loopback: they have no password")
    return warnings
