"""Everything that a command needs before it may start: settings, model and keys, checked by themselves and together.

Problems of all three are collected and reported at once. Nothing here talks to Kafka.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from beliefs.chain import Chain
from beliefs.model_file import InvalidModel, Model, parse
from mechanisms.registry import MECHANISMS
from stream.distances import Chosen, choose_distance
from stream.errors import ConfigurationRefused, DistanceRefused, KeyRefused, ModelRefused, Problem
from stream.keys import KeyRing, load_keys
from stream.promise import Promise, compile_promise
from stream.settings.checks import is_loopback
from stream.settings.load import load_settings, problem_at
from stream.settings.model import Settings

_MOST_MODEL_PROBLEMS = 20


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
    if model is not None:
        _check_bound(settings, model, file, problems)
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
        return load_model(Path(settings.model))
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
    if MECHANISMS[mechanism.name].holds_epsilon or mechanism.accept_unbounded:
        return
    needed, least = belief_floor(mechanism.epsilon), least_belief(model.chain)
    if least < needed:
        found = f"{mechanism.name} with a model whose beliefs may fall to {least:.3g}"
        allowed = f"beliefs of at least 1/(e^epsilon + 1) = {needed:.3g}; below that it tells more than epsilon"
        fix = "use name: optimal, which keeps epsilon for every belief; or add accept_unbounded: true"
        problems.append(_problem(file, ("mechanism", "name"), found, allowed, fix))


def belief_floor(epsilon: float) -> float:
    """The belief below which `published_crr` tells more than epsilon."""
    return 1.0 / (math.exp(epsilon) + 1.0)


def least_belief(chain: Chain) -> float:
    """A bound below every belief that can be positive, whatever was released before.

    A predicted belief in y is an average of the column of y over the states before it, so it is at least the column's
    smallest entry; a value that can never occur has no belief at all.
    """
    columns = np.zeros(chain.size)
    smallest = np.full(chain.size, np.inf)
    for state in range(chain.size):
        following, probabilities = chain.row(state)
        columns[following] += 1
        smallest[following] = np.minimum(smallest[following], probabilities)
    smallest[columns < chain.size] = 0.0
    possible = (columns > 0) | (chain.start > 0)
    smallest[columns == 0] = np.inf
    positive_start = chain.start[chain.start > 0]
    return float(min(smallest[possible].min(initial=np.inf), positive_start.min(initial=np.inf)))


def _warnings(settings: Settings, model: Model) -> list[str]:
    warnings = []
    mechanism = settings.mechanism
    floor = belief_floor(mechanism.epsilon)
    if not MECHANISMS[mechanism.name].holds_epsilon and least_belief(model.chain) < floor:
        warnings.append(
            f"{mechanism.name} tells more than epsilon = {mechanism.epsilon:g} whenever a belief is below {floor:.3g}; "
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
