"""Settings of crowds and their laws, for the tests that read, change and open them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from aggregate_world import HEAD, TIMES, aggregate_house

from beliefs.crowd.law_file import FORMAT
from stream.crowds.opening import OpenedCrowds, open_crowds
from stream.errors import ConfigurationRefused
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
HOMES = "{law: law.json, household: $.home}"
TYPES = "{law: law.json, by: $.kind}"
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


FOUR = law_text({"default": (0.25, 0.25, 0.25, 0.25)})
TWO = law_text({"young": (0.5, 0.5), "old": (0.9, 0.1)})
PAIR = law_text(household=[[0.4, 0.1], [0.1, 0.4]])


def told_of(refused: ConfigurationRefused) -> list[tuple[int, str, str]]:
    """Line, place and what was found of each problem; each says what is allowed and how to put it right."""
    for problem in refused.problems:
        assert problem.allowed
        assert problem.fix
    return [(problem.line, problem.path, problem.found) for problem in refused.problems]


def problems(text: str) -> list[tuple[int, str, str]]:
    """Of a text of settings that is refused."""
    with pytest.raises(ConfigurationRefused) as refused:
        parse_settings(text.encode(), Path("c.yaml"))
    return told_of(refused.value)


def refused_crowds(file: Path) -> list[tuple[int, str, str]]:
    """Of settings, a law or keys that are refused together."""
    with pytest.raises(ConfigurationRefused) as refused:
        open_crowds(file, {})
    return told_of(refused.value)
