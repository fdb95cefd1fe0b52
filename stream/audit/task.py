"""From the public settings and the public model to what is audited. No key is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from beliefs.distance import EQUAL
from beliefs.model_file import Model
from stream.audit.amounts import constants_by_level, units_within, withheld, wrong_model
from stream.audit.audit import Task
from stream.audit.book import BEYOND_EPSILON, MECHANISMS, NEAR, OPTIMAL, WHEN_SPENT, Rules
from stream.audit.changelog import Owner
from stream.audit.dual_prices import MOST_SEQUENCES
from stream.audit.epoch_records import Learning
from stream.audit.field_gate import Gate
from stream.audit.field_rules import Joint, fields_of
from stream.audit.law import Law, law_of
from stream.audit.listing import listed_of
from stream.audit.public import Public
from stream.audit.records import Form
from stream.audit.rising import NO_LEVELS, levels_between, numbers_of_levels
from stream.audit.rows import EVERY_TAG
from stream.audit.segments import NONE, Segments
from stream.audit.window_book import Cut, Windows
from stream.audit.window_law import windows_of
from stream.distances import choose_distance
from stream.errors import CannotAudit
from stream.settings.kinds import write_duration
from stream.settings.load import policy_fingerprint
from stream.settings.model import Settings
from stream.settings.segments import assignment, short_of


def task_of(
    settings: Settings,
    model: Model,
    metrics: Sequence[str] = (),
    *,
    changelog: bool = True,
    uncommitted: bool = True,
    accounts: int = 0,
    others: Sequence[Model] = (),
    joint: Joint | None = None,
) -> Task:
    """Where the settings name several models, `model` and the `others` are these, in the order of the settings; `joint`
    is the joint table of their fields, where they name one.
    """
    segments = segments_of(settings, [model, *others], joint)
    public = public_of(settings, model, joint) if segments is None else segments.publics[0]
    learning = _learning(settings, public, changelog=changelog, accounts=accounts)
    if learning is not None:
        public = replace(public, tag=EVERY_TAG)
    admin = settings.admin
    own_page = (f"http://{admin.host}:{admin.port}/metrics",) if admin.port else ()
    return Task(
        pipeline=settings.pipeline.name,
        public=public,
        owner=Owner(settings.pipeline.name, public.form.policy.decode(), _beliefs_of(public, segments, learning)),
        raw_topic=settings.kafka.raw_topic,
        dead_letter_topic=settings.kafka.dead_letter_topic,
        with_changelog=changelog,
        with_uncommitted=uncommitted,
        metrics=tuple(metrics) or own_page,
        metrics_required=bool(metrics),
        accounts=accounts,
        segments=segments,
        learning=learning,
    )


def _learning(settings: Settings, public: Public, *, changelog: bool, accounts: int) -> Learning | None:
    """What is declared where a model is learnt."""
    learn = settings.model.learn
    if learn is None:
        return None
    if not changelog or accounts:
        raise CannotAudit(
            "A pipeline that learns its model cannot be audited in this way.",
            where="--accounts" if accounts else "--no-changelog",
            why="an account would have to follow several models" if accounts else "its models are in the belief topic",
            fix="leave that option out",
        )
    return Learning(learn.values.size, public.rules.epsilon, learn.doubt)


def _beliefs_of(public: Public, segments: Segments | None, learning: Learning | None) -> str:
    """What the control record must say of the model: all of them together are named by who is served by which, and
    those that are learnt by what was declared.
    """
    name = public.form.model.decode()
    if learning is not None:
        return f"learn@{name.partition(':')[2]}"
    return name if segments is None else f"segments@{name.rpartition('@')[2]}"


def segments_of(settings: Settings, models: Sequence[Model], joint: Joint | None = None) -> Segments | None:
    """Which of these models serves whom; names with the same model are one segment."""
    by = settings.model.by
    if by is None:
        return None
    distinct = {model.digest: model for model in models}
    number = {digest: place for place, digest in enumerate(distinct)}
    listed, otherwise = _listed(settings, models)
    assigned = assignment(by, listed, otherwise)
    short = short_of(assigned, {digest: _name_end(settings, model) for digest, model in distinct.items()})
    return Segments(
        by=by,
        numbers={name: number[digest] for name, digest in listed.items()},
        otherwise=NONE if otherwise is None else number[otherwise],
        publics=tuple(public_of(settings, model, joint, assigned, f"@{short}") for model in distinct.values()),
    )


def _listed(settings: Settings, models: Sequence[Model]) -> tuple[dict[str, str], str | None]:
    """The digest of the model of each name, and of all other names."""
    listed = {
        named.place[2]: model.digest
        for named, model in zip(settings.model.named, models, strict=True)
        if named.place[1] == "files"
    }
    return listed, models[-1].digest if settings.model.otherwise is not None else None


def policy_of(settings: Settings, models: Sequence[Model], joint_digest: str = "") -> str:
    """What released records bear as their policy, whatever they are read for."""
    by = settings.model.by
    serving = models[0].digest if by is None else assignment(by, *_listed(settings, models))
    _, distance = choose_distance(settings.record.protect.distance, models[0].alphabet)
    fingerprint = policy_fingerprint(settings, serving, distance, joint_digest)
    return f"{settings.policy_version}:{fingerprint.hex()[:8]}"


def public_of(
    settings: Settings,
    model: Model,
    joint: Joint | None = None,
    assigned: Mapping[str, object] | None = None,
    serves: str = "",
) -> Public:
    """What is public about the users of this model; where it serves not all, which models serve whom is `assigned`."""
    record, name = settings.record, settings.mechanism.name
    distance, digest = choose_distance(record.protect.distance, model.alphabet)
    # Where all errors count alike, what is near is what is optimal.
    mechanism = OPTIMAL if name == "near" and distance.kind == EQUAL else MECHANISMS[name]
    digests = digest, "" if joint is None else joint.digest
    fingerprint = policy_fingerprint(settings, assigned or model.digest, *digests)
    fields = fields_of(settings, joint)
    epsilon = units_within(settings.mechanism.epsilon)
    law = law_of(model.chain)
    shift = _shift(settings, law, epsilon)
    return Public(
        form=Form(
            alphabet=model.alphabet,
            protected=record.protect.path,
            public=record.public,
            headers=frozenset(record.headers),
            policy=f"{settings.policy_version}:{fingerprint.hex()[:8]}".encode(),
            model=f"{model.version}:{model.digest[:8]}{_name_end(settings, model)}{serves}".encode(),
            windows=settings.window is not None,
            fields=() if fields is None else fields.each,
        ),
        rules=_rules(settings, mechanism, epsilon, shift, model.chain.symbols),
        law=law,
        windows=_windows(settings, law, epsilon, shift, with_distance=mechanism == NEAR),
        tag=int(model.digest[:8], 16),
        fingerprint=fingerprint,
        released_topic=settings.kafka.released_topic,
        changelog_topic=settings.changelog_topic,
        distance=distance,
        listed=listed_of(settings.model.listed, model.chain.size, law.tail),
        fields=None if fields is None else Gate(fields),
    )


def _rules(settings: Settings, mechanism: int, epsilon: int, shift: int, symbols: int) -> Rules:
    upper = settings.mechanism.upper
    levels = NO_LEVELS if upper is None else levels_between(epsilon, units_within(upper))
    return Rules(
        mechanism=mechanism,
        keeps_epsilon=mechanism not in BEYOND_EPSILON,
        numbers=constants_by_level(epsilon, shift),
        epsilon=epsilon,
        budget=units_within(settings.budget.nats),
        window=settings.budget.length,
        when_spent=WHEN_SPENT[settings.budget.when_spent],
        interval=settings.model.step or 0,
        most_steps=settings.model.most,
        shift=shift,
        sliding=settings.budget.sliding or 0,
        levels=levels,
        raised=numbers_of_levels(levels if upper else np.array([epsilon]), shift, symbols),
    )


def _shift(settings: Settings, law: Law, epsilon: int) -> int:
    """Withheld for readers whose beliefs or whose model are off; never more than half of epsilon, rounded up."""
    mechanism, window = settings.mechanism, settings.window
    values = 1 if window is None else window.events
    by_clock = settings.model.step is not None
    apart = wrong_model(mechanism.chain_error, law.contraction, law.span, values, by_clock=by_clock)
    return min(withheld(epsilon, mechanism.radius) + apart, epsilon - epsilon // 2)


def _windows(settings: Settings, law: Law, epsilon: int, shift: int, *, with_distance: bool) -> Windows | None:
    window = settings.window
    if window is None:
        return None
    if window.order == "dual" and law.start.shape[0] ** window.events > MOST_SEQUENCES:
        raise CannotAudit(
            "No pipeline can have run with these settings.",
            where="window.order",
            why=f"dual is for at most {MOST_SEQUENCES:,} sequences, and {window.events} events of this model have more",
            fix="name the settings that the pipeline ran with",
        )
    cut = Cut(window.events, window.stretch or 0, window.order == "natural", window.order == "dual")
    most_steps = settings.model.most if settings.model.step is not None else 1
    return windows_of(cut, law, epsilon, shift, most_steps, with_distance=with_distance)


def _name_end(settings: Settings, model: Model) -> str:
    listed = listed_of(settings.model.listed, model.chain.size, model.chain.tail)
    return _step_of(settings) + _listed_name(listed)


def _step_of(settings: Settings) -> str:
    """What the name of a model by the clock ends with: beliefs of another step are beliefs of another model."""
    return f"/{write_duration(settings.model.step)}" if settings.model.step is not None else ""


def _listed_name(listed: int) -> str:
    """Beliefs of which so many states are listed are not those of which all are kept."""
    return f"/{listed}-listed" if listed else ""
