"""Settings of crowds and their laws, for the tests that read, change and open them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aggregate_world import HEAD, TIMES, aggregate_house

from beliefs.crowd.law_file import FORMAT
from stream.crowds.opening import OpenedCrowds, open_crowds
from stream.settings.load import parse_settings
from stream.settings.model import Settings

FAIR = (0.5, 0.5)
COUNT = "{count: $.activity, of: [walking, running]}"
SUM = "{sum: $.speed, low: 0, high: 3, grid: 1}"
MEAN = "{mean: $.speed, low: -1, high: 1, grid: 0.5, take: largest}"
RANGE = "{range: $.speed, low: 0, high: 4, grid: 1}"
HISTOGRAM = "{histogram: $.job, values: [clerk, nurse, pilot]}"
AGE = "age: {of: $.age, low: 20, high: 60, grid: 10}"
JOB = "job: {of: $.job, tree: {any: {medical: [doctor, nurse], office: [clerk]}}}"
SENSITIVE = "{of: $.disease, values: [flu, none], diverse: 2, close: 0.25}"
BOXES = f"{{records: mondrian, by: {{{AGE}, {JOB}}}, sensitive: {SENSITIVE}, loss_most: 0.5}}"
LAW = "{law: law.json}"
TARGET = "{epsilon: 1.0, delta: 0.01}"
NOTHING = "nothing_declared"
DELAY = "delay: {events: 100, time: 1m}"


def crowd_text(
    release: str = COUNT,
    *,
    k: str = "10",
    times: str = TIMES,
    believes: str = LAW,
    target: str | None = TARGET,
    more: str = "",
) -> str:
    lines = [f"k: {k}", *times.splitlines(), f"release: {release}", f"believes: {believes}", *more.splitlines()]
    if target is not None:
        lines.append(f"target: {target}")
    return HEAD + "crowd:\n" + "".join(f"  {line}\n" for line in lines)


def flow_text(grouper: str = "castle", *, k: str = "10", delay: str = DELAY, by: str = AGE) -> str:
    release = f"{{records: {grouper}, by: {{{by}}}}}"
    return crowd_text(release, k=k, times=delay, believes=NOTHING, target=None)


def crowd_settings(text: str) -> Settings:
    return parse_settings(text.encode(), Path("c.yaml"))


def law_text(types: Mapping[str, Sequence[float]] | None = None, household: Any = None, **more: Any) -> bytes:
    document: dict[str, Any] = {"format": FORMAT, "version": 1, **more}
    if types is not None:
        document["types"] = {name: list(law) for name, law in types.items()}
    if household is not None:
        document["household"] = household
    return json.dumps(document).encode()


def crowd_house(folder: Path, text: str, law: bytes | None = None) -> Path:
    file = aggregate_house(folder, text)
    (folder / "law.json").write_bytes(law_text({"default": FAIR}) if law is None else law)
    return file


def opened_crowds(folder: Path, text: str, law: bytes | None = None) -> OpenedCrowds:
    return open_crowds(crowd_house(folder, text, law), {})
