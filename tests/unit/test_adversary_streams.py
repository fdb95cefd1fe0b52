"""Who somebody is, from half of a stream: by raw values, and by what a pipeline releases of them."""

from __future__ import annotations

from collections.abc import Sequence

import audit_world
import numpy as np
import orjson
import pytest
from attack_help import attacked
from audit_memory import START_MS, Kept
from audit_world import Run, run

from beliefs.alphabet import Alphabet
from stream.attack.reidentify import Attempt
from stream.errors import CannotAudit

USERS, EACH, VALUES = 8, 1000, 11


def habits(alphabet: Alphabet, events: int, users: int, partition: int) -> Sequence[Kept]:
    """Each user moves by a step of its own, and comes to all values equally often: only the order tells them apart."""
    source = np.random.default_rng(partition)
    at, records = source.integers(alphabet.size, size=users), []
    for offset in range(events):
        user = offset % users
        own = source.random() < 0.8
        at[user] = (at[user] + (user + 1 if own else int(source.integers(alphabet.size)))) % alphabet.size
        text = orjson.dumps({"activity": alphabet.value_at(int(at[user]))})
        records.append(Kept(offset, b"user-%d" % user, text, START_MS + offset))
    return records


@pytest.fixture
def with_habits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_world, "_inputs", habits)


def finished_at(epsilon: float, events: int = USERS * EACH) -> Run:
    return run(VALUES, events=events, users=USERS, epsilon=epsilon, nats="unlimited")


@pytest.mark.usefixtures("with_habits")
def test_what_is_released_says_less_who_somebody_is_the_less_epsilon_is() -> None:
    rates: dict[float, dict[str, Attempt]] = {}
    for epsilon in (0.1, 4.0):
        result = attacked(finished_at(epsilon), reidentify=USERS)
        raw, rates[epsilon] = result.attempts["raw"], dict(result.attempts["released"])
        for name in ("habits", "net"):
            assert raw[f"{name}, in order"].rate > 0.9
            assert not raw[f"{name}, without order"].beats_chance
            assert rates[epsilon][f"{name}, in order"].rate <= raw[f"{name}, in order"].rate
    for name in ("habits, in order", "net, in order"):
        assert not rates[0.1][name].beats_chance, rates[0.1][name]
        assert rates[4.0][name].beats_chance, rates[4.0][name]
    told = attacked(finished_at(4.0), reidentify=USERS).as_json()["reidentified"]
    assert told["raw"]["net, in order"]["chance"] == 1 / USERS


@pytest.mark.usefixtures("with_habits")
def test_streams_that_are_too_short_are_refused() -> None:
    with pytest.raises(CannotAudit, match="Nobody can be re-identified"):
        attacked(finished_at(1.0, events=USERS * 39), reidentify=USERS)
