"""From the settings and the models to what is to be estimated. No key is read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from beliefs.model_file import Model
from mechanisms.local.inverted import cells_of
from mechanisms.local.pairs import CELLS_MOST
from stream.audit.public import Public
from stream.audit.task import policy_of, public_of, segments_of
from stream.errors import CannotEstimate
from stream.estimation.asked import Asked, Task
from stream.fields.forms import Form, form_of
from stream.fields.gate import FULL
from stream.settings.model import Settings


def task_of(settings: Settings, models: Sequence[Model], asked: Asked) -> Task:
    """`models` are those that serve, in the order of the settings; without a field whose values follow one another it
    is the one that stands for none.
    """
    forms = () if settings.fields is None else tuple(form_of(name, each) for name, each in settings.fields.each.items())
    publics = _publics(settings, models)
    _require_pairs(asked, forms, publics[0] if settings.follows else None)
    policy = policy_of(settings, models, _joint_digest(settings)).encode()
    return Task(
        pipeline=settings.pipeline.name,
        released_topic=settings.kafka.released_topic,
        policy=policy,
        models=frozenset(public.form.model for public in publics),
        forms=forms,
        publics=tuple(replace(one, form=replace(one.form, policy=policy)) for one in publics)
        if settings.follows
        else (),
        floor=settings.metrics.small_count_floor,
        groups=_groups(settings),
        learns=settings.follows and settings.model.learn is not None,
        asked=asked,
    )


def _groups(settings: Settings) -> dict[str, tuple[str, ...]]:
    each = {} if settings.fields is None else settings.fields.each
    return {name: tuple(one.coarser) for name, one in each.items() if one.coarser is not None}


def _publics(settings: Settings, models: Sequence[Model]) -> tuple[Public, ...]:
    """Of the users of each model; what is declared of other fields changes nothing here but the policy's name."""
    alone = settings.model_copy(update={"fields": None})
    segments = segments_of(alone, models)
    return (public_of(alone, models[0]),) if segments is None else segments.publics


def _joint_digest(settings: Settings) -> str:
    if settings.fields is None or settings.fields.joint is None:
        return ""
    file = Path(settings.fields.joint)
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        why, fix = error.strerror or type(error).__name__, "name the table that the pipeline ran with"
        raise CannotEstimate("The joint table cannot be read.", f"fields.joint: {file}", why, fix) from None


def _require_pairs(asked: Asked, forms: Sequence[Form], followed: Public | None) -> None:
    """Pairs of fields that are reported by themselves, or of one of these and the one that is followed."""
    cells = {form.name: cells_of(form.reporters[FULL].drawn) for form in forms}
    if followed is not None and forms:
        cells[str(followed.form.protected)] = followed.symbols
    for one, other in asked.joint:
        why = ""
        if one not in cells or other not in cells:
            why = f"the fields are {', '.join(cells)}" if cells else "fields.each has no fields"
        elif one == other:
            why = "a field has no joint table with itself"
        elif cells[one] * cells[other] > CELLS_MOST:
            why = f"they have {cells[one]} times {cells[other]} values, and {CELLS_MOST:,} are the most"
        if why:
            where = f"--joint {one},{other}"
            raise CannotEstimate("There is no such joint table.", where, why, "name two fields, as in --joint a,b")
