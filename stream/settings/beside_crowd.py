"""What a crowd's settings may hold together, and what does not go with them."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from stream.records.paths import Path
from stream.settings.alone import stands_alone
from stream.settings.collect import Collector
from stream.settings.crowd import (
    KINDS,
    MOST_ATTRIBUTES,
    MOST_PEOPLE,
    NOISY,
    WINDOWED,
    AttributeSettings,
    CrowdSettings,
    Kind,
    ReleaseSettings,
    SensitiveSettings,
)
from stream.settings.own_names import Wrong, wrong_names
from stream.settings.steps import wrong_steps
from stream.settings.yaml_lines import Place

_ABOUT: Final[dict[tuple[str, ...], str]] = {
    ("budget",): "say at crowd.target how much may be told",
    ("window",): "say at crowd.window how long a window is",
    ("mechanism",): "values are hidden by the crowd, and by noise only with crowd.target.beyond: top_up",
    ("model",): "say at crowd.believes what an adversary believes before",
}
_OF_WINDOWS: Final = ("window", "from", "lateness", "grace", "ahead")
MOST_OF_A_FLOW: Final = 256
"""Sensitive values: their counts are in the state that a flow writes with every block, for each box that it keeps."""
_COMPANIONS: Final = ("of", "low", "high", "grid", "values", "by", "sensitive", "loss_most")
_NEEDS: Final[dict[Kind, tuple[str, ...]]] = {
    "count": ("of",),
    "sum": ("low", "high", "grid"),
    "mean": ("low", "high", "grid"),
    "range": ("low", "high", "grid"),
    "histogram": ("values",),
    "records": ("by",),
}
_MAY: Final[dict[Kind, tuple[str, ...]]] = {"records": ("sensitive", "loss_most")}
_WRITE: Final[dict[Kind, str]] = {
    "count": "{count: $.activity, of: [walking, running]}",
    "sum": "{sum: $.speed, low: 0, high: 40, grid: 1}",
    "mean": "{mean: $.speed, low: 0, high: 40, grid: 1}",
    "range": "{range: $.speed, low: 0, high: 40, grid: 1}",
    "histogram": "{histogram: $.job, values: [clerk, nurse]}",
    "records": "{records: mondrian, by: {age: {of: $.age, low: 0, high: 120, grid: 1}}}",
}


def crowd_fits(collector: Collector) -> None:
    if not collector.gives("crowd"):
        return
    stands_alone(collector, "crowd", _ABOUT, "no record is released for an event as it is")
    if collector.gives("aggregate"):
        fix = "keep the one that is meant; the other needs a pipeline of its own"
        collector.add(("aggregate",), "aggregate beside crowd", "one of them", fix)
    crowd: CrowdSettings | None = collector.values.get("crowd")
    if crowd is None:
        return
    if len(crowd.release.kinds) != 1:
        found = " and ".join(crowd.release.kinds) or "none of them"
        fix = f"write it like {_WRITE['mean']}; two statistics of the same people tell more together than both alone"
        collector.add(("crowd", "release"), found, f"exactly one of {', '.join(KINDS)}", fix)
        return
    for place, found, allowed, fix in (
        *_in(("release",), _released(crowd.release, crowd.k)),
        *_timed(collector, crowd),
        *_believed(crowd),
        *_targeted(crowd),
    ):
        collector.add(("crowd", *place), found, allowed, fix)
    for wrong in _apart(collector, crowd):
        collector.add(*wrong)


def _in(place: Place, wrongs: Iterator[Wrong]) -> Iterator[Wrong]:
    for inner, found, allowed, fix in wrongs:
        yield (*place, *inner), found, allowed, fix


def _released(release: ReleaseSettings, k: int) -> Iterator[Wrong]:
    kind = release.kind
    for name in _COMPANIONS:
        given, needed = getattr(release, name) not in (None, {}), name in _NEEDS[kind]
        if given and not needed and name not in _MAY.get(kind, ()):
            yield (name,), f"{name} beside {kind}", f"{kind} without it", f"remove it: {_WRITE[kind]}"
        if needed and not given:
            yield (), f"{kind} without {name}", f"{name} beside {kind}", f"write it like {_WRITE[kind]}"
    if release.take in ("largest", "smallest") and kind not in ("sum", "mean", "range"):
        yield ("take",), f"{release.take} of values that are no amounts", "first or last", "write take: last"
    elif kind == "records" and release.take != "last":
        found = f"{release.take} of records: a window shows a person as he was last, a delay shows every event"
        yield ("take",), found, "no take beside records", "remove it"
    if release.steps is not None and "grid" in _NEEDS[kind]:
        yield from wrong_steps(release.steps)
    if kind == "records":
        yield from _in(("by",), _attributes(release))
        if release.sensitive is not None:
            yield from _in(("sensitive",), _mixed(release.sensitive, k))
            size = release.sensitive.values.size
            if release.records != WINDOWED and size > MOST_OF_A_FLOW:
                found, fix = f"{size:,} values beside {release.records}", "declare groups of values, or write mondrian"
                yield ("sensitive", "values"), found, f"at most {MOST_OF_A_FLOW}", fix


def _attributes(release: ReleaseSettings) -> Iterator[Wrong]:
    yield from wrong_names((), release.by, MOST_ATTRIBUTES, "attributes")
    for name, attribute in release.by.items():
        yield from _in((name,), _attribute(attribute))


def _attribute(attribute: AttributeSettings) -> Iterator[Wrong]:
    given = [name for name in ("low", "high", "grid") if getattr(attribute, name) is not None]
    if (attribute.tree is None) == (len(given) == 0) or (attribute.tree is None and len(given) < 3):
        found = " and ".join([*given, *(["tree"] if attribute.tree is not None else [])]) or "neither"
        fix = "write it like {of: $.age, low: 0, high: 120, grid: 1} or {of: $.job, tree: {any: [clerk, nurse]}}"
        yield (), found, "low, high and grid of numbers, or the tree of texts", fix
    elif attribute.steps is not None:
        yield from wrong_steps(attribute.steps)


def _mixed(sensitive: SensitiveSettings, k: int) -> Iterator[Wrong]:
    if sensitive.diverse is None and sensitive.close is None:
        yield (), "neither diverse nor close", "at least one of them", "add diverse: 2, or remove sensitive"
    most = min(k, sensitive.values.size)
    if sensitive.diverse is not None and sensitive.diverse > most:
        found = f"{sensitive.diverse}, with {sensitive.values.size} values and k at {k:,}"
        yield ("diverse",), found, f"at most {most}", "lower it: no crowd of k people could ever be so diverse"


def _timed(collector: Collector, crowd: CrowdSettings) -> Iterator[Wrong]:
    grouper = crowd.release.records
    if grouper is not None and grouper != WINDOWED:
        for name in _OF_WINDOWS:
            if collector.gives("crowd", name):
                fix = "remove it, or write records: mondrian"
                yield (name,), f"{name} beside {grouper}, which has no windows", "delay without it", fix
        if crowd.delay is None:
            fix = "add delay: {events: 1000, time: 1m}"
            yield ("delay",), "nothing", f"delay beside {grouper}: how long an event may wait", fix
        elif crowd.delay.events < crowd.k:
            found = f"{crowd.delay.events:,}, below k, which is {crowd.k:,}"
            yield ("delay", "events"), found, "at least k: no crowd could ever be complete", "raise it, or lower k"
        return
    if crowd.delay is not None:
        fix = "write window and from instead, or records: castle, fads or sky"
        yield ("delay",), "a delay of single events", "windows of event time", fix
    for name, value in (("window", crowd.window), ("from", crowd.start)):
        if value is None:
            fix = f"add {name}: {'1m' if name == 'window' else '2026-01-01T00:00:00Z'}"
            yield (name,), "nothing", f"{name}, which is required of windows", fix
    if crowd.k > MOST_PEOPLE:
        found = f"{crowd.k:,}, above the {MOST_PEOPLE:,} people that a window may hold"
        yield ("k",), found, "a crowd that a window can hold", "lower it, or no window is ever released"


def _believed(crowd: CrowdSettings) -> Iterator[Wrong]:
    believes, place, grouper = crowd.believes, ("believes",), crowd.release.records
    if believes.law is None:
        fix = "add law: the file with the law of people's values, or write believes: nothing_declared"
        for name, default in (("by", None), ("household", None), ("known", 0.0), ("windows", "any")):
            if getattr(believes, name) != default:
                yield (*place, name), f"{name} without law", f"{name} beside law", fix
    elif grouper not in (None, WINDOWED):
        found = f"a law beside {grouper}, which lets a person out where and when his value has it"
        yield place, found, "nothing_declared: no bound is known", "write believes: nothing_declared, and no target"
    if believes.by is not None and believes.household is not None:
        fix = "keep by, if people are independent; a law of households knows one type of people"
        yield (*place, "by"), "types of people beside households", "one of them", fix
    if believes.household is not None and crowd.over == "partition":
        fix = "write over: all; what one partition releases would tell of people whose household is in another"
        yield (*place, "household"), "households beside over: partition", "households over all partitions", fix


def _targeted(crowd: CrowdSettings) -> Iterator[Wrong]:
    believes, target = crowd.believes, crowd.target
    if target is None:
        if believes.law is not None:
            fix = "add target: {epsilon: 1.0, delta: 1e-6}"
            yield ("target",), "nothing", "target beside a law: what a window may tell at most", fix
        return
    if believes.law is None:
        fix = "remove target, or name a law at crowd.believes"
        yield ("target",), "a target although nothing is declared", "no target: only k is promised", fix
        return
    if target.windows > 1 and believes.windows != "fresh":
        fix = "write believes.windows: fresh, if a user's values of different windows are independent; or remove it"
        found = f"{target.windows:,} windows together, whose values may depend on each other"
        yield ("target", "windows"), found, "one window, or windows: fresh", fix
    elif target.windows > 1 and target.epsilon == 0:
        fix = "write an epsilon above 0, or remove windows"
        yield ("target", "epsilon"), "0 of several windows together", "an epsilon above 0 beside windows", fix
    if target.beyond == "top_up" and crowd.release.kind not in NOISY:
        fix = "write beyond: withhold"
        yield ("target", "beyond"), f"noise on {crowd.release.kind}", f"top_up for {', '.join(NOISY)}", fix


def _apart(collector: Collector, crowd: CrowdSettings) -> Iterator[Wrong]:
    """What is hidden, and by what people are told apart in public, stand in different places of a record."""
    hidden = [*_hidden(crowd.release)]
    public: list[tuple[Place, Path]] = []
    for name in ("by", "household"):
        path: Path | None = getattr(crowd.believes, name)
        if path is not None:
            public.append((("crowd", "believes", name), path))
    for name in ("user", "event_time"):
        path = collector.values.get(f"record.{name}.path")
        if path is not None:
            public.append((("record", name, "path"), path))
    both = [*combinations(hidden, 2), *((each, own) for own in hidden for each in public)]
    for (other, path), (place, own) in both:
        if own.overlaps(path):
            found = f'"{own}", which is or overlaps with {".".join(map(str, other))}'
            yield place, found, "a field apart from all others", "name another field"
        elif own.shape_conflict(path):
            allowed = "paths that agree where objects and where arrays are"
            yield place, f'"{own}" beside "{path}"', allowed, "use names or positions, not both, at one place"


def _hidden(release: ReleaseSettings) -> Iterator[tuple[Place, Path]]:
    if release.path is not None:
        yield ("crowd", "release", release.kind), release.path
    for name, attribute in release.by.items():
        yield ("crowd", "release", "by", name, "of"), attribute.of
    if release.sensitive is not None:
        yield ("crowd", "release", "sensitive", "of"), release.sensitive.of
