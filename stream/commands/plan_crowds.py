"""`sottovoce plan` of crowds: how many people, how long a window and which grouper it takes.

Exit status 0 when a window as declared would be released, or when records are grouped; 1 when it would not.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stream.commands.aggregate_facts import DAY_MS
from stream.commands.compiling import compiling_told
from stream.commands.plan_asked import Asked, Outputs
from stream.commands.report import hint, say, say_json
from stream.crowds.expected import needed_users
from stream.crowds.opening import OpenedCrowds, open_crowds
from stream.crowds.promise import CrowdPromise
from stream.names import EXIT_DONE, EXIT_FAILED, MOST_EVENTS_A_DAY
from stream.planning.crowd_groupers import MOST_EVENTS, GrouperOutlook, side_by_side
from stream.planning.crowd_sample import CrowdSample, read_crowd_sample
from stream.planning.crowd_words import grouper_figures, groupers_told, window_figures, windows_told
from stream.planning.crowds import WindowOutlook, expected_windows, sampled_windows
from stream.planning.progress import Progress
from stream.planning.sample import with_user
from stream.planning.target import impossible
from stream.settings.crowd import MOST_PEOPLE

_MOST_TYPES = 8


def plan_crowds(asked: Asked, outputs: Outputs, *, as_json: bool) -> int:
    if asked.config is None:
        raise ValueError("crowds are declared in settings")
    mine = Asked(config=asked.config, users=asked.users, per_day=asked.per_day, sample=asked.sample, user=asked.user)
    if asked != mine or outputs != Outputs():
        why = "agreement, distance, leakage, budgets, widths and files are for other pipelines"
        raise impossible(
            "the options", why, "give no option but --users, --sample, --user, --events-per-day and --json"
        )
    if not 1 <= asked.users <= MOST_PEOPLE:
        fix = f"write how many users a window of the declared length has, from 1 to {MOST_PEOPLE:,}"
        raise impossible("--users", f"{asked.users:,} is more than a window can hold, or none", fix)
    if not 1 <= asked.per_day <= MOST_EVENTS_A_DAY:
        why = f"{asked.per_day} is no number of events from 1 to {MOST_EVENTS_A_DAY:,}"
        raise impossible("--events-per-day", why, "write how many events a user has in a day")
    opened = open_crowds(asked.config, os.environ)
    sample = None if asked.sample is None else _sample(opened, asked.sample, asked)
    if opened.promise.release.kind == "records":
        return _records(opened.promise, sample, as_json=as_json)
    return _windows(opened.promise, sample, asked.users, as_json=as_json)


def _sample(opened: OpenedCrowds, file: Path, asked: Asked) -> CrowdSample:
    record = with_user(opened.settings.record, asked.user)
    return read_crowd_sample(file, record, opened.promise, DAY_MS // asked.per_day)


def _windows(promise: CrowdPromise, sample: CrowdSample | None, users: int, *, as_json: bool) -> int:
    with Progress("plan", sys.stderr) as progress:
        found = expected_windows(promise, users) if sample is None else sampled_windows(promise, sample, progress)
        kinds = range(0 if promise.target is None else min(len(promise.types), _MOST_TYPES))
        needed = {promise.types[kind]: needed_users(promise, kind) for kind in kinds}
    good = _declared_is_released(promise, found)
    if as_json:
        say_json({"ok": good, **_about(sample), **window_figures(found, needed)})
    else:
        say(windows_told(promise, found, needed, sampled=sample is not None))
        _warn(sample)
    return EXIT_DONE if good else EXIT_FAILED


def _declared_is_released(promise: CrowdPromise, found: list[WindowOutlook]) -> bool:
    """Most windows of the declared length are."""
    return any(each.length == promise.windowed.length and each.released > 0.5 for each in found)


def _records(promise: CrowdPromise, sample: CrowdSample | None, *, as_json: bool) -> int:
    if sample is None:
        fix = "give one: --sample FILE, raw records as .jsonl, .csv, .tsv or .parquet"
        raise impossible("--sample", "what a box loses depends on the people in it, and no sample is given", fix)
    with Progress("plan", sys.stderr) as progress, compiling_told(hint):
        found: list[GrouperOutlook] = list(side_by_side(promise, sample.first(MOST_EVENTS), progress))
    if as_json:
        say_json({"ok": True, **_about(sample), **grouper_figures(found)})
    else:
        say(groupers_told(found))
        if sample.size > MOST_EVENTS:
            say(f"\nThe first {MOST_EVENTS:,} events of {sample.size:,} in {sample.source} were looked at.")
        _warn(sample)
    return EXIT_DONE


def _about(sample: CrowdSample | None) -> dict[str, object]:
    if sample is None:
        return {"sample": None}
    return {
        "sample": sample.source,
        "events": sample.size,
        "refused": sample.refused,
        "warnings": list(sample.warnings),
    }


def _warn(sample: CrowdSample | None) -> None:
    for warning in () if sample is None else sample.warnings:
        say(f"\nWARNING: {warning}")
