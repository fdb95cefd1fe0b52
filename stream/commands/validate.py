"""`sottovoce validate`: settings, model and keys, checked as `run` checks them, and nothing started."""

import os
from pathlib import Path
from typing import Any

from stream.aggregates.opening import OpenedAggregates, open_aggregates
from stream.commands.memory import in_short, memory_of, whom_served
from stream.commands.report import errors_told, say, say_json
from stream.crowds.opening import OpenedCrowds, open_crowds
from stream.names import EXIT_DONE
from stream.opening import Opened, open_pipeline
from stream.settings.load import released_in


def validate_command(file: Path, as_json: bool) -> int:
    """Say that all is in order, with the warnings; or every problem."""
    with errors_told(as_json=as_json):
        kind = released_in(file)
        if kind != "events":
            about = open_aggregates(file, os.environ) if kind == "aggregates" else open_crowds(file, os.environ)
            say_json({"ok": True, **summary_of_windows(about)}) if as_json else say(_text_of_windows(about))
            return EXIT_DONE
        opened = open_pipeline(file, os.environ)
        if as_json:
            say_json({"ok": True, **summary(opened)})
        else:
            say(_text(opened))
    return EXIT_DONE


def summary_of_windows(opened: OpenedAggregates | OpenedCrowds) -> dict[str, Any]:
    return {
        "file": str(opened.file),
        "pipeline": opened.settings.pipeline.name,
        "policy": opened.promise.policy_name,
        **_declared(opened),
        "key_epoch": opened.ring.current.number,
        "key_fingerprint": opened.ring.current.fingerprint,
        "warnings": list(opened.warnings),
    }


def _declared(opened: OpenedAggregates | OpenedCrowds) -> dict[str, Any]:
    if isinstance(opened, OpenedAggregates):
        return {"aggregates": [query.name for query in opened.promise.queries]}
    release = opened.declared.release
    return {"k": opened.promise.k, "release": release.records or release.kind}


def _text_of_windows(opened: OpenedAggregates | OpenedCrowds) -> str:
    facts = summary_of_windows(opened)
    if "aggregates" in facts:
        what = f"aggregates {', '.join(facts['aggregates'])}"
    else:
        what = f"{facts['release']} of crowds of at least {facts['k']:,}"
    in_order = (
        f"{opened.file} is in order: pipeline {facts['pipeline']}, policy {facts['policy']}, {what}, "
        f"key epoch {facts['key_epoch']} ({facts['key_fingerprint']})."
    )
    return "\n".join([*(f"WARNING: {warning}" for warning in opened.warnings), in_order])


def summary(opened: Opened) -> dict[str, Any]:
    several, models = opened.promise.segments is not None, _of_models(opened)
    fields = opened.settings.fields
    segments = [{**whom, **facts} for whom, facts in zip(whom_served(opened), models, strict=True)]
    return {
        "file": str(opened.file),
        "pipeline": opened.settings.pipeline.name,
        "policy": opened.promise.policy_name,
        "values": opened.model.alphabet.size,
        **({"model": opened.promise.beliefs_name, "segments": segments} if several else models[0]),
        **({} if opened.promise.learning is None else {"model": opened.promise.beliefs_name, "learnt": True}),
        **({} if fields is None else {"fields": list(fields.each)}),
        "key_epoch": opened.ring.current.number,
        "key_fingerprint": opened.ring.current.fingerprint,
        "warnings": list(opened.warnings),
    }


def _of_models(opened: Opened) -> list[dict[str, Any]]:
    """Each model that serves: what it is called, and what it remembers."""
    pairs = zip(opened.servings, opened.promise.served, strict=True)
    clock = opened.settings.model
    return [{"model": serving.model.short, **memory_of(serving.model, clock, promise)} for serving, promise in pairs]


def _text(opened: Opened) -> str:
    facts, learn = summary(opened), opened.settings.model.learn
    lines = [f"WARNING: {warning}" for warning in opened.warnings]
    memory = "" if "segments" in facts else in_short(facts)
    model = f"model {facts['model']}" if learn is None else f"a model that is learnt ({facts['model']})"
    protected = [f"{model} ({facts['values']} values{memory})"] if opened.settings.follows else []
    if "fields" in facts:
        protected.append(f"fields {', '.join(facts['fields'])}")
    lines.append(
        f"{opened.file} is in order: pipeline {facts['pipeline']}, policy {facts['policy']}, {', '.join(protected)}, "
        f"key epoch {facts['key_epoch']} ({facts['key_fingerprint']})."
    )
    for each in facts.get("segments", ()):
        order = "" if each["order"] != 1 else ", order 1"
        by = opened.settings.model.by
        lines.append(f"  Users whose first {by} is {each['serves']}: model {each['model']}{order}{in_short(each)}.")
    return "\n".join(lines)
