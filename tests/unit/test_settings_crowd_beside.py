"""What goes with a crowd in its settings and what does not: times, beliefs, targets, topics, other sections."""

from __future__ import annotations

import pytest
from aggregate_world import TIMES
from crowd_settings_text import (
    BOXES,
    COUNT,
    DELAY,
    HISTOGRAM,
    JOB,
    MEAN,
    NOTHING,
    RANGE,
    SUM,
    crowd_settings,
    crowd_text,
    flow_text,
    problems,
)

NOON_2026 = 1_767_225_600_000


@pytest.mark.parametrize(
    ("old", "new", "path", "found"),
    [
        ("k: 10", "k: 1", "k", "1"),
        ("k: 10", "k: 0", "k", "0"),
        ("k: 10", "k: -5", "k", "-5"),
        ("k: 10", "k: 10.5", "k", "10.5"),
        ("k: 10", "k: 300000", "k", "300,000, above the 200,000 people"),
        ("k: 10", "over: partitions\n  k: 10", "over", '"partitions"'),
        ("law: law.json", "law: law.json, known: 1", "believes.known", "1"),
        ("law: law.json", "law: law.json, known: -0.1", "believes.known", "-0.1"),
        ("law: law.json", "law: law.json, known: .nan", "believes.known", "NaN"),
        ("law: law.json", "law: law.json, windows: independent", "believes.windows", '"independent"'),
        ("law: law.json", "known: 0.2", "believes.known", "known without law"),
        ("law: law.json", "by: $.kind", "believes.by", "by without law"),
        ("law: law.json", "law: law.json, by: $.kind, household: $.home", "believes.by", "types of people beside"),
        ("epsilon: 1.0", "epsilon: -1", "target.epsilon", "-1"),
        ("epsilon: 1.0", "epsilon: .nan", "target.epsilon", "NaN"),
        ("epsilon: 1.0", "epsilon: .inf", "target.epsilon", "Infinity"),
        ("delta: 0.01", "delta: 0", "target.delta", "0"),
        ("delta: 0.01", "delta: 1", "target.delta", "1"),
        ("delta: 0.01", "delta: -0.5", "target.delta", "-0.5"),
        ("delta: 0.01", "delta: .nan", "target.delta", "NaN"),
        ("delta: 0.01", "delta: 0.01, windows: 0", "target.windows", "0"),
        ("delta: 0.01", "delta: 0.01, windows: 5000", "target.windows", "5000"),
        ("delta: 0.01", "delta: 0.01, windows: 5", "target.windows", "5 windows together"),
        ("delta: 0.01", "delta: 0.01, beyond: stop", "target.beyond", '"stop"'),
        ("window: 1m", "window: 1ms", "window", '"1ms"'),
        ("window: 1m", "window: 60", "window", "60"),
        ("from: 2026-01-01T00:00:00Z", "from: 2026-01-01", "from", '"2026-01-01"'),
        ("  window: 1m\n", "", "window", "nothing"),
        ("  from: 2026-01-01T00:00:00Z\n", "", "from", "nothing"),
        ("from: 2026", f"{DELAY}\n  from: 2026", "delay", "a delay of single events"),
        ("  target: {epsilon: 1.0, delta: 0.01}\n", "", "target", "nothing"),
        ("{law: law.json}", "nothing_declared", "target", "a target although nothing is declared"),
        ("{law: law.json}", "nothing", "believes", '"nothing"'),
    ],
)
def test_what_is_no_crowd_is_refused_where_it_stands(old: str, new: str, path: str, found: str) -> None:
    text = crowd_text()
    assert old in text
    told = problems(text.replace(old, new))
    assert told[0][1] == f"crowd.{path}"
    assert told[0][2].startswith(found)
    # Without a law a target has no meaning either, and that is said at once.
    assert [where for _, where, _ in told[1:]] == (["crowd.target"] if "without law" in found else [])


@pytest.mark.parametrize("release", [RANGE, BOXES])
def test_noise_is_for_sums_and_counts_alone(release: str) -> None:
    text = crowd_text(release, target="{epsilon: 1, delta: 0.1, beyond: top_up}")
    assert [where for _, where, _ in problems(text)] == ["crowd.target.beyond"]
    for noisy in (COUNT, SUM, MEAN, HISTOGRAM):
        assert crowd_settings(crowd_text(noisy, target="{epsilon: 1, delta: 0.1, beyond: top_up}")).crowd is not None


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        (flow_text(delay=TIMES), "crowd.window", "window beside castle, which has no windows"),
        (flow_text(delay=f"{DELAY}\nlateness: 1m"), "crowd.lateness", "lateness beside castle"),
        (flow_text(delay="over: all"), "crowd.delay", "nothing"),
        (flow_text(k="101"), "crowd.delay.events", "100, below k, which is 101"),
        (flow_text(delay="delay: {events: 1, time: 1m}"), "crowd.delay.events", "1"),
        (flow_text(delay="delay: {events: 20000, time: 1m}"), "crowd.delay.events", "20000"),
        (flow_text(delay="delay: {events: 100, time: 0s}"), "crowd.delay.time", '"0s"'),
        (flow_text().replace(NOTHING, "{law: law.json}"), "crowd.believes", "a law beside castle"),
    ],
)
def test_what_single_events_cannot_have_is_refused(text: str, path: str, found: str) -> None:
    told = {where: what for _, where, what in problems(text)}
    assert told[path].startswith(found)


def test_what_is_hidden_stands_apart_from_what_is_public() -> None:
    for believes, path in (
        ("{law: law.json, by: $.activity}", "crowd.release.count"),
        ("{law: law.json, household: $.activity.home}", "crowd.release.count"),
    ):
        told = problems(crowd_text(believes=believes))
        assert [where for _, where, _ in told] == [path]
        assert "which is or overlaps with crowd.believes" in told[0][2]
    boxes = BOXES.replace(JOB, JOB.replace("$.job", "$.age"))
    told = problems(crowd_text(boxes, believes=NOTHING, target=None))
    assert [where for _, where, _ in told] == ["crowd.release.by.job.of"]
    user = crowd_text().replace("{user: key}", "{user: {path: $.activity, and_key: true}}")
    assert [where for _, where, _ in problems(user)] == ["crowd.release.count"]
    shape = crowd_text(believes="{law: law.json, by: '$.x[0]'}").replace("$.activity", "$.x.a")
    assert "beside" in problems(shape)[0][2]


@pytest.mark.parametrize(
    ("section", "path"),
    [
        ("model: m.json", "model"),
        ("mechanism: {name: optimal, epsilon: 1.0}", "mechanism"),
        ("budget: {nats: 10, window: 1d}", "budget"),
        ("window: {events: 5}", "window"),
        ("metrics: {accounts: sum}", "metrics.accounts"),
    ],
)
def test_what_is_about_single_events_does_not_go_with_crowds(section: str, path: str) -> None:
    told = problems(crowd_text() + section + "\n")
    assert path in [where for _, where, _ in told]
    assert any(found == f"{path} beside crowd" for _, _, found in told)


@pytest.mark.parametrize("what", ["protect: {path: $.x}", "public: [$.x]", "headers: [h]", "release_key: pseudonym"])
def test_nothing_of_an_event_is_shown_beside_crowds(what: str) -> None:
    told = problems(crowd_text().replace("{user: key}", f"{{user: key, {what}}}"))
    assert [where for _, where, _ in told] == [f"record.{what.partition(':')[0]}"]


def test_a_pipeline_is_of_aggregates_or_of_crowds() -> None:
    aggregate = "aggregate: {window: 1m, from: 2026-01-01T00:00:00Z, each: {p: {count: users, epsilon: 0.1}}, "
    aggregate += "dependence: {users: independent}, target: {nats: 1, windows: 1}}\n"
    assert (18, "aggregate", "aggregate beside crowd") not in problems(crowd_text() + aggregate)[1:]
    assert [where for _, where, _ in problems(crowd_text() + aggregate)] == ["aggregate"]


def test_topics_of_its_own_are_nobody_elses() -> None:
    for topic in ("walkers-crowds", "walkers-total-beliefs-changelog"):
        told = problems(crowd_text().replace("walkers.out", topic))
        assert [where for _, where, _ in told] == ["kafka.released_topic"]
        assert "a topic of the crowd's own" in told[0][2]


def test_several_windows_together_need_an_epsilon_above_0() -> None:
    fresh, target = "{law: law.json, windows: fresh}", "{epsilon: 0, delta: 0.1, windows: 2}"
    told = problems(crowd_text(believes=fresh, target=target))
    assert [(where, what) for _, where, what in told] == [("crowd.target.epsilon", "0 of several windows together")]
    assert crowd_settings(crowd_text(believes=fresh, target=target.replace(", windows: 2", ""))).crowd is not None
