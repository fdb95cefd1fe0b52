"""From a settings file to frozen settings, or to a report of everything that is wrong with it."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from stream.errors import ConfigurationRefused, Problem
from stream.settings.checks import check_together
from stream.settings.collect import Collector
from stream.settings.model import MechanismSettings, Settings
from stream.settings.yaml_lines import Tree, read_tree

Released = Literal["events", "aggregates", "crowds"]
"""A record for each event, or windows of aggregates, or crowds."""

# Every field that holds a file or a folder; a relative one is meant beside the settings file.
FILES: Final = (
    ("model", "file"),
    ("model", "otherwise"),
    ("record", "protect", "distance", "table"),
    ("record", "protect", "distance", "cost_table"),
    ("keys", "file"),
    ("store", "folder"),
    ("fields", "joint"),
    ("aggregate", "dependence", "users", "law"),
    ("aggregate", "dependence", "windows", "law"),
    ("crowd", "believes", "law"),
    ("kafka", "tls", "ca_file"),
    ("kafka", "tls", "certificate_file"),
    ("kafka", "tls", "private_key_file"),
    ("kafka", "sasl", "password", "file"),
)


def load_settings(file: Path) -> Settings:
    """The settings in this file. Files and folders that they name are absolute afterwards."""
    try:
        data = file.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        fix = "name a settings file, or make one with `sottovoce init`"
        raise ConfigurationRefused(str(file), [Problem(str(file), 1, "", reason, "a readable file", fix)]) from None
    return parse_settings(data, file)


def released_in(file: Path) -> Released:
    """What these settings are about."""
    return kind_of(load_settings(file))


def kind_of(settings: Settings) -> Released:
    return "aggregates" if settings.aggregate is not None else "crowds" if settings.crowd is not None else "events"


def parse_settings(data: bytes, file: Path) -> Settings:
    """The settings in this text; `file` gives messages their name and relative paths their folder."""
    return Settings.model_validate(written_out(data, file))


def written_out(data: bytes, file: Path) -> dict[str, Any]:
    """The same as plain values, with every shorthand written out, once they have been found right."""
    tree = read_tree(data)
    collector = Collector(str(file), tree)
    full: dict[str, Any] = {}
    if tree.value is not None:
        full = collector.collect()
        check_together(collector)
    if collector.problems:
        raise ConfigurationRefused(str(file), collector.problems)
    segments = [("model", "files", name) for name in full.get("model", {}).get("files") or ()]
    for place in (*FILES, *segments):
        _make_absolute(full, place, file.absolute().parent)
    return full


def problem_at(file: Path, data: bytes, place: tuple[str, ...], found: str, allowed: str, fix: str) -> Problem:
    """A problem that was found later, with what a field names, at the line of that field."""
    tree: Tree = read_tree(data)
    return Problem(str(file), tree.line_of(place), ".".join(place), found, allowed, fix)


def _make_absolute(full: dict[str, Any], place: tuple[str, ...], folder: Path) -> None:
    section: Any = full
    for name in place[:-1]:
        section = section.get(name)
        if not isinstance(section, dict):
            return
    if section.get(place[-1]) is not None:
        section[place[-1]] = str(folder / section[place[-1]])


def policy_fingerprint(
    settings: Settings, model: str | Mapping[str, Any], distance_digest: str = "", joint_digest: str = ""
) -> bytes:
    """Eight bytes that change whenever anything changes that decides what is released.

    They are the first of the SHA-256 of a canonical JSON text. Brokers, stores, limits and metrics are not in it: a
    pipeline that moves house still releases the same. A distance and a joint table count by their content, not by the
    name of their file, and so do models: `model` is the digest of the only one, or says which digest serves whom
    (`segments.assignment`).
    """
    decides: dict[str, Any] = {
        "pipeline": settings.pipeline.name,
        "record": settings.record.model_dump(exclude={"protect": {"distance"}}),
        "mechanism": settings.mechanism.model_dump(exclude=_unused(settings.mechanism)),
        **({} if settings.window is None else {"window": settings.window.model_dump()}),
        "budget": settings.budget.model_dump(),
        "model": model,
        "policy_version": settings.policy_version,
    }
    if settings.model.step is not None:  # a pipeline without a clock keeps the fingerprint that it has always had
        decides["clock"] = {"step": settings.model.step, "most": settings.model.most}
    if settings.model.listed is not None:
        decides["listed"] = settings.model.listed
    if distance_digest:
        decides["distance"] = distance_digest
    if settings.fields is not None:
        declared = settings.fields.model_dump(mode="json", exclude={"joint"})
        # Their order decides, too: the first ones are given their part of what may be told before the others.
        decides["fields"] = {**declared, "each": list(declared["each"].items())}
        decides["joint"] = joint_digest
    return _eight_bytes(decides)


def aggregate_fingerprint(settings: Settings, laws: Mapping[str, str]) -> bytes:
    """The same of a pipeline of aggregates. Laws count by the digests of their content. The order of the aggregates
    decides, too: the noise of each comes from coins of its place.
    """
    if settings.aggregate is None:
        raise ValueError("no aggregate is declared")
    declared = settings.aggregate.model_dump(mode="json", by_alias=True, exclude={"dependence"})
    users, windows = settings.aggregate.dependence.users, settings.aggregate.dependence.windows
    return _eight_bytes(
        {
            **_of_windows(settings),
            "aggregate": {**declared, "each": list(declared["each"].items())},
            "dependence": {"group": users.group, "fresh": windows.fresh, **laws},
        }
    )


def crowd_fingerprint(settings: Settings, law_digest: str | None) -> bytes:
    """The same of a pipeline of crowds. The order of attributes and of the values in a tree decides, too, so what is
    declared counts as the text that has it in this order.
    """
    if settings.crowd is None:
        raise ValueError("no crowd is declared")
    declared = settings.crowd.model_dump(mode="json", by_alias=True, exclude={"believes": {"law"}})
    return _eight_bytes({**_of_windows(settings), "crowd": json.dumps(declared), "law": law_digest})


def _of_windows(settings: Settings) -> dict[str, Any]:
    return {
        "pipeline": settings.pipeline.name,
        "record": settings.record.model_dump(mode="json", include={"user", "event_time", "max_bytes"}),
        "policy_version": settings.policy_version,
    }


def _eight_bytes(decides: Mapping[str, Any]) -> bytes:
    text = json.dumps(decides, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).digest()[:8]


def _unused(mechanism: MechanismSettings) -> set[str]:
    """What is 0 or nothing is left out: a pipeline without it keeps the fingerprint that it has always had."""
    return {name for name in ("upper", "radius", "chain_error") if not getattr(mechanism, name)}
