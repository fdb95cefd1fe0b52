"""Everything that a command needs before it may start: settings, model and keys, checked by themselves and together.

Problems of all three are collected and reported at once. Nothing here talks to Kafka.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from beliefs.clock import LEAST_CHANCE
from beliefs.model_file import Model
from mechanisms.registry import MECHANISMS
from mechanisms.sequence.dual_sequences import SEQUENCES_MAX
from mechanisms.sequence.window import LENGTH_MAX, shave_of
from stream.accounts import why_no_accounts
from stream.distances import Chosen, choose_distance
from stream.errors import ConfigurationRefused, DistanceRefused, Problem
from stream.fields.joint import load_joint, undrawable
from stream.house import keys_of, problem_in, seen_by_others
from stream.keys import KeyRing
from stream.learning.promises import learning_promise
from stream.least_belief import belief_floor, exceeds_epsilon, least_belief
from stream.listing_loss import in_words, loss_of
from stream.never_possible import warned_of
from stream.policy import Policy
from stream.promise import Promise, compile_segments
from stream.serving import Serving, load_servings, told_of
from stream.settings.declared import declared_model
from stream.settings.followed import require_single_events
from stream.settings.kinds import write_duration
from stream.settings.load import load_settings
from stream.settings.model import Settings
from stream.settings.models import NamedFile

_MOST_LEAN = 2.0**-12


@dataclass(frozen=True)
class Opened:
    """A pipeline that may be started: everything in it has been found right."""

    file: Path
    settings: Settings
    servings: tuple[Serving, ...]
    ring: KeyRing
    promise: Promise
    warnings: tuple[str, ...]

    @property
    def model(self) -> Model:
        """The model that serves everybody, or the first of several."""
        return self.servings[0].model


def open_pipeline(file: Path, environment: Mapping[str, str]) -> Opened:
    """Read and check the settings file and all that it names, or raise ConfigurationRefused with every problem."""
    settings = load_settings(file)
    require_single_events(settings, file)
    problems: list[Problem] = []
    servings = load_servings(settings.model, partial(problem_in, file), problems)
    declared = declared_model(settings)
    if declared is not None:
        servings = (Serving(declared, NamedFile("", ("model", "learn"))),)
    ring = keys_of(settings, file, environment, problems)
    _check_radius(settings, file, problems)
    for serving in servings:
        problems += _of_model(settings, serving, file)
    chosen = _distance(settings, servings[0].model, file, problems) if servings else None
    joint = load_joint(settings, partial(problem_in, file), problems)
    problems += undrawable(settings, partial(problem_in, file))
    if problems or not servings or ring is None:
        raise ConfigurationRefused(str(file), problems)
    promise = learning_promise(settings, compile_segments(settings, servings, ring, chosen, joint))
    losses = [
        loss
        for serving, each in zip(servings, promise.served, strict=True)
        for loss in _losses(each.policy, serving.model)
    ]
    return Opened(file, settings, servings, ring, promise, (*_warnings(settings, servings), *losses))


def _of_model(settings: Settings, serving: Serving, file: Path) -> list[Problem]:
    """What is wrong with one model under these settings."""
    problems: list[Problem] = []
    for check in (_check_bound, _check_window, _check_clock, _check_tail, _check_accounts):
        check(settings, serving.model, file, problems)
    return [told_of(serving.file, problem) for problem in problems]


def _distance(settings: Settings, model: Model, file: Path, problems: list[Problem]) -> Chosen | None:
    try:
        return choose_distance(settings.record.protect.distance, model.alphabet)
    except DistanceRefused as error:
        place = ("record", "protect", "distance", error.where)
        problems.append(problem_in(file, place, error.why, "a distance of the model's values", error.fix))
        return None


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
    problems.append(problem_in(file, ("mechanism", "name"), found, allowed, fix))


def _check_radius(settings: Settings, file: Path, problems: list[Problem]) -> None:
    """A radius or an error of the chain withholds part of an epsilon that depends on the beliefs; nothing else has a
    use for it.
    """
    name = settings.mechanism.name
    mechanism = MECHANISMS[name]
    if mechanism.holds_epsilon and mechanism.row_epsilons > 1:
        return
    why = "keeps epsilon whatever a reader believes" if mechanism.holds_epsilon else "keeps no epsilon for any reader"
    allowed = "a mechanism whose bound depends on the beliefs: optimal, marginal_preserving or near"
    fix = "remove it" if mechanism.holds_epsilon else "remove it, or write name: optimal"
    for place in ("radius", "chain_error"):
        if (amount := getattr(settings.mechanism, place)) > 0:
            found = f"{amount:g} beside {name}, which {why}"
            problems.append(problem_in(file, ("mechanism", place), found, allowed, fix))


def _check_window(settings: Settings, model: Model, file: Path, problems: list[Problem]) -> None:
    """What a window's coin and caps lean to the safe side, for what their arithmetic may err, must stay a trifle; and a
    channel over whole sequences knows chains of one step, one for each event.
    """
    if settings.window is None:
        return
    if model.chain.phases > 1:
        found, allowed = f"windows beside a model of {model.chain.phases} phases", "a model of one phase"
        fix = "use a model without phases, or remove window"
        problems.append(problem_in(file, ("window",), found, allowed, fix))
    if settings.window.order == "dual":
        _check_dual(settings.window.events, settings, model, file, problems)
        return
    epsilon, step = settings.mechanism.epsilon, settings.model.step
    steps = 1 if step is None else settings.model.most
    lean = shave_of(LENGTH_MAX, model.chain.size, 1.0 + math.exp(epsilon), steps)
    if lean > _MOST_LEAN:
        of_steps = f" and up to {steps} steps between two events" if steps > 1 else ""
        found = f"{epsilon:g} for windows over {model.chain.size} values{of_steps}"
        allowed = "an epsilon that 62-bit coins can honour within a window"
        most = math.floor(100 * math.log(_MOST_LEAN * 2.0**60 / (LENGTH_MAX * model.chain.size))) / 100
        fix = f"choose at most {most:g}; beyond that nearly nothing is hidden anyway"
        if shave_of(LENGTH_MAX, model.chain.size, 1.0, steps) > _MOST_LEAN / 2:
            fix = "choose a smaller most beside model.step, or remove window"
        problems.append(problem_in(file, ("mechanism", "epsilon"), found, allowed, fix))


def _check_dual(events: int, settings: Settings, model: Model, file: Path, problems: list[Problem]) -> None:
    by_clock, chain = settings.model.step is not None, model.chain
    if by_clock or chain.size != chain.symbols or chain.has_tail:
        kind = "with a tail" if chain.has_tail else f"of order {model.order}"
        found = f"dual beside a model {'by the clock' if by_clock else kind}"
        fix = "use order: bisect; or a model of order 1 without a tail, with a step for each event"
        problems.append(problem_in(file, ("window", "order"), found, "a model of order 1, event by event", fix))
    if chain.symbols**events > SEQUENCES_MAX:
        found = f"dual beside {events} events of {chain.symbols} values"
        allowed = f"at most {SEQUENCES_MAX:,} sequences: values to the power of events"
        problems.append(problem_in(file, ("window", "order"), found, allowed, _fewer(chain.symbols)))


def _fewer(symbols: int) -> str:
    most = max(length for length in range(LENGTH_MAX) if symbols**length <= SEQUENCES_MAX)
    return f"use order: bisect, or at most {most} events" if most else "use order: bisect"


def _check_clock(settings: Settings, model: Model, file: Path, problems: list[Problem]) -> None:
    """Many steps without an event in between, or the steps of a window, must not turn what is possible into a zero."""
    least = min(float(model.chain.data.min(initial=1.0)), float(model.chain.start[model.chain.start > 0].min()))
    if model.chain.has_tail:
        lefts = model.chain.left[model.chain.left > 0]
        least = min(least, float(lefts.min(initial=1.0)) * float(model.chain.tail.min()))
    step = settings.model.step
    if least >= LEAST_CHANCE or (step is None and settings.window is None):
        return
    beside = "windows" if step is None else f"a step of {write_duration(step)}"
    place, other = (("window",), "no window") if step is None else (("model", "step"), "step: event")
    found = f"{beside} with a model that holds a probability of {least:.3g}"
    allowed = f"positive probabilities of at least {LEAST_CHANCE:.3g} beside a clock or windows"
    fix = f"write 0 for what cannot happen, or a larger probability; or {other}"
    problems.append(problem_in(file, place, found, allowed, fix))


def _check_tail(settings: Settings, model: Model, file: Path, problems: list[Problem]) -> None:
    """Only beside a tail entries can be listed."""
    if settings.model.listed is not None and not model.chain.has_tail:
        found, allowed = f"{settings.model.listed} beside a model without a tail", "a model with a tail, of version 3"
        fix = "remove listed: every entry of a belief is then kept; or give the transitions of the model a tail"
        problems.append(problem_in(file, ("model", "listed"), found, allowed, fix))


def _check_accounts(settings: Settings, model: Model, file: Path, problems: list[Problem]) -> None:
    wrong = why_no_accounts(settings, model)
    if wrong is not None:
        problems.append(problem_in(file, ("metrics", "accounts"), *wrong))


def _losses(policy: Policy, model: Model) -> Iterator[str]:
    """What comes of listing fewer entries of a belief than the rows name values."""
    loss = loss_of(model.chain, policy.listed, policy.epsilon, policy.shift)
    if loss is not None:
        yield in_words(loss, policy.listed)


def _warnings(settings: Settings, servings: Sequence[Serving]) -> list[str]:
    warnings = []
    mechanism = settings.mechanism
    chains = [serving.model.chain for serving in servings]
    if any(exceeds_epsilon(mechanism.name, mechanism.epsilon, chain, settings.model.step) for chain in chains):
        floor = belief_floor(mechanism.epsilon)
        without_limit = MECHANISMS[mechanism.name].row_epsilons == math.inf
        when = f"whenever a belief is below {floor:.3g}" if without_limit else f"and up to {2 * mechanism.epsilon:g}"
        warnings.append(
            f"{mechanism.name} tells more than epsilon = {mechanism.epsilon:g} {when}; "
            "what it really tells is counted and charged, but not bounded by epsilon"
        )
    if mechanism.name == "near" and settings.record.protect.distance.is_hamming:
        warnings.append("near without a distance is optimal: name a distance beside record.protect.path")
    if settings.follows and math.isinf(settings.budget.nats):
        warnings.append("the budget is unlimited: what is told about a user grows with every event, without end")
    uncapped = (
        [] if settings.fields is None else [n for n, each in settings.fields.each.items() if math.isinf(each.cap)]
    )
    if uncapped:
        warnings.append(f"no cap for {', '.join(uncapped)}: what is told about it grows with every event, without end")
    warnings += seen_by_others(settings)
    warnings += warned_of(servings)
    return warnings
