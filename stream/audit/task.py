"""From the public settings and the public model to what is audited. No key is read."""

from __future__ import annotations

from collections.abc import Sequence

from beliefs.distance import EQUAL
from beliefs.model_file import Model
from stream.audit.amounts import constants_by_level, units_within, withheld
from stream.audit.audit import Task
from stream.audit.book import BEYOND_EPSILON, MECHANISMS, OPTIMAL, WHEN_SPENT, Rules
from stream.audit.changelog import Owner
from stream.audit.dual_prices import MOST_SEQUENCES
from stream.audit.law import Law, law_of
from stream.audit.listing import listed_of
from stream.audit.public import Public
from stream.audit.records import Form
from stream.audit.window_book import Cut, Windows
from stream.audit.window_law import windows_of
from stream.distances import choose_distance
from stream.errors import CannotAudit
from stream.settings.kinds import write_duration
from stream.settings.load import policy_fingerprint
from stream.settings.model import Settings


def task_of(
    settings: Settings,
    model: Model,
    metrics: Sequence[str] = (),
    *,
    changelog: bool = True,
    uncommitted: bool = True,
    accounts: int = 0,
) -> Task:
    public = public_of(settings, model)
    admin = settings.admin
    own_page = (f"http://{admin.host}:{admin.port}/metrics",) if admin.port else ()
    return Task(
        pipeline=settings.pipeline.name,
        public=public,
        owner=Owner(settings.pipeline.name, public.form.policy.decode(), public.form.model.decode()),
        raw_topic=settings.kafka.raw_topic,
        dead_letter_topic=settings.kafka.dead_letter_topic,
        with_changelog=changelog,
        with_uncommitted=uncommitted,
        metrics=tuple(metrics) or own_page,
        metrics_required=bool(metrics),
        accounts=accounts,
    )


def public_of(settings: Settings, model: Model) -> Public:
    record, name = settings.record, settings.mechanism.name
    distance, digest = choose_distance(record.protect.distance, model.alphabet)
    # Where all errors count alike, what is near is what is optimal.
    mechanism = OPTIMAL if name == "near" and distance.kind == EQUAL else MECHANISMS[name]
    fingerprint = policy_fingerprint(settings, model.digest, digest)
    epsilon = units_within(settings.mechanism.epsilon)
    shift = withheld(epsilon, settings.mechanism.radius)
    law = law_of(model.chain)
    listed = listed_of(settings.model.listed, model.chain.size, law.tail)
    return Public(
        form=Form(
            alphabet=model.alphabet,
            protected=record.protect.path,
            public=record.public,
            headers=frozenset(record.headers),
            policy=f"{settings.policy_version}:{fingerprint.hex()[:8]}".encode(),
            model=f"{model.version}:{model.digest[:8]}{_step_of(settings)}{_listed_name(listed)}".encode(),
            windows=settings.window is not None,
        ),
        rules=Rules(
            mechanism=mechanism,
            keeps_epsilon=mechanism not in BEYOND_EPSILON,
            numbers=constants_by_level(epsilon, shift),
            epsilon=epsilon,
            budget=units_within(settings.budget.nats),
            window=settings.budget.window or 0,
            when_spent=WHEN_SPENT[settings.budget.when_spent],
            interval=settings.model.step or 0,
            most_steps=settings.model.most,
            shift=shift,
        ),
        law=law,
        windows=_windows(settings, law, epsilon, shift),
        tag=int(model.digest[:8], 16),
        fingerprint=fingerprint,
        released_topic=settings.kafka.released_topic,
        changelog_topic=settings.changelog_topic,
        distance=distance,
        listed=listed,
    )


def _windows(settings: Settings, law: Law, epsilon: int, shift: int) -> Windows | None:
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
    return windows_of(cut, law, epsilon, shift)


def _step_of(settings: Settings) -> str:
    """What the name of a model by the clock ends with: beliefs of another step are beliefs of another model."""
    return f"/{write_duration(settings.model.step)}" if settings.model.step is not None else ""


def _listed_name(listed: int) -> str:
    """Beliefs of which so many states are listed are not those of which all are kept."""
    return f"/{listed}-listed" if listed else ""
