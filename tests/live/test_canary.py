"""A value that stands for a person's, in every place of the input, is found only where the settings declare it.

Not in a log, a metric, a page, a dead letter or an error, whatever goes wrong meanwhile: bad records of all kinds, a
broker that dies in the middle, state rows that cannot be read, files that are not what they should be.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from broker import Broker
from live_worker import VALUES, House, model_of, opened
from live_writing import FIRST_TIME, PARTITIONS, Raw, write
from typer.testing import CliRunner

from beliefs.alphabet import Categories
from stream.commands.app import app

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]
CANARY = "canary-9e4b-7d21"
SEEN = CANARY.encode()
HEADERS = (("trace", SEEN), ("cookie", SEEN), (CANARY, SEEN), (CANARY, b""))
AT = "2023-11-14T22:13:20Z"
KEEP = "{protect: {path: $.activity}, public: [$.n, $.note], headers: [trace], max_bytes: 3000}"
PSEUDONYM = """{user: {path: $.who.id, and_key: true}, event_time: {path: $.at, unit: iso8601}, \
protect: {path: $.what.activity}, public: [$.n, "$.list[1]"], release_key: pseudonym, max_bytes: 3000}"""


def document(number: int, key: str = CANARY, **changes: Any) -> dict[str, Any]:
    activity = ("still", "walking", "running", "cycling")[number % 4]
    whole = {
        "activity": activity,
        "what": {"activity": activity, "of": CANARY},
        "who": {"id": key, "name": CANARY},
        "at": AT,
        "n": number,
        "list": [CANARY, number],
        "note": CANARY,
        CANARY: CANARY,
    }
    return {**whole, **changes}


def bad_texts() -> Iterator[bytes | None]:
    good = json.dumps(document(0)).encode()
    yield None
    yield from (
        b"",
        SEEN,
        b'"' + SEEN + b'"',
        b"[" + good + b"]",
        b'{"' + SEEN,
        good + SEEN,
        b"\xff" + good,
        SEEN * 999,
    )
    yield from (good[:length] for length in range(20, len(good), 25))
    yield good.replace(b"{", b'{"' + SEEN + b'":1,"' + SEEN + b'":2,', 1)
    yield good.replace(b'"n": 0', b'"n": ' + b"9" * 400)
    yield good.replace(b'"n": 0', b'"n": 18446744073709551617')
    yield good.replace(b'"n": 0', b'"n": NaN, "' + SEEN + b'": Infinity')
    yield good.replace(b'"n": 0', b'"n": ' + b'{"a":' * 90 + b'"' + SEEN + b'"' + b"}" * 90)
    for value in (CANARY, [CANARY], {CANARY: CANARY}, None, True, 1.5, "", CANARY * 200, 2**70):
        for name in ("activity", "what", "who", "at", CANARY):
            yield json.dumps(document(0, **{name: value})).encode()
        yield json.dumps(document(0, what={"activity": value})).encode()
        yield json.dumps(document(0, who={"id": value})).encode()


def planted(rounds: int) -> Iterator[Raw]:
    """All of it in one partition: the canary is a user, too."""
    for number in range(rounds):
        yield Raw(0, SEEN, json.dumps(document(number)).encode(), HEADERS, FIRST_TIME + number)
        yield Raw(1, b"u1", json.dumps(document(number, "u1")).encode(), HEADERS, FIRST_TIME + number)
        for text in bad_texts():
            yield Raw(0, SEEN, text, HEADERS, FIRST_TIME)
        yield Raw(2, SEEN * 99, json.dumps(document(number)).encode(), HEADERS)
        yield Raw(2, None, json.dumps(document(number)).encode(), HEADERS)
        yield Raw(2, b"", json.dumps(document(number)).encode(), HEADERS, -1)
        yield Raw(2, b"u2", json.dumps(document(number, "u2")).encode(), HEADERS, 2**61)


async def pages(house: House) -> list[str]:
    return [(await house.page(path)).text for path in ("/", "/metrics", "/livez", "/readyz", f"/{CANARY}?{CANARY}")]


def places(record: Any) -> list[str]:
    """Where in a record the canary stands: key, header names and values, first-level fields of the value."""
    found = ["key"] if SEEN in (record.key or b"") else []
    found += [f"header {name}" for name, value in record.headers if CANARY in name or SEEN in (value or b"")]
    if SEEN in (record.value or b""):
        found += fields_with_it(record.value)
    return found


def fields_with_it(text: bytes) -> list[str]:
    try:
        whole = json.loads(text)
    except ValueError:
        return ["broken value"]
    fields = whole.items() if isinstance(whole, dict) else [("value", whole)]
    return [f"field {name}" for name, value in fields if CANARY in name or CANARY in json.dumps(value)]


async def where(house: House, topic: str) -> set[str]:
    """All places of a topic at which the canary stands; readers of uncommitted data see them, too."""
    return {place for record in await house.read(topic, committed=False) for place in places(record)}


async def check_told(house: House, *options: str) -> None:
    """Nothing that is told about events holds the canary, though the input is full of it."""
    for text in (*await pages(house), house.worker.said()):
        assert CANARY not in text
    await check_audit_told(house, 0, *options)
    assert await where(house, house.dead) == set()
    assert {"key", "header cookie", "field note", "broken value"} < await where(house, house.raw)


async def check_audit_told(house: House, status: int, *options: str) -> None:
    answer = await house.audit(*options)
    assert answer.status == status, answer.out + answer.said
    assert CANARY not in answer.out + answer.said


@pytest.fixture
def talkative(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers have no switch for more words; these make Python and asyncio say all that they can."""
    monkeypatch.setenv("PYTHONASYNCIODEBUG", "1")
    monkeypatch.setenv("PYTHONWARNINGS", "always")
    monkeypatch.setenv("PYTHONFAULTHANDLER", "1")


@pytest.mark.usefixtures("talkative")
async def test_kept_keys_and_declared_fields_are_the_only_way_out(broker: Broker, tmp_path: Path) -> None:
    async with opened(broker.bootstrap, tmp_path, record=KEEP) as house:
        await house.start()
        await write(broker.bootstrap, house.raw, planted(4))
        await house.settled()
        await house.check_identity()
        await check_told(house)
        assert await where(house, house.released) == {"key", "header trace", "field note"}
        await house.stop()
        await an_unreadable_row(house)
        await strange_records(house)


async def an_unreadable_row(house: House) -> None:
    """The canary's own state row is destroyed: the worker sets the user aside, and says so without a name."""
    await write(house.broker, house.changelog, [Raw(0, b"u" + SEEN, SEEN * 7)])
    await house.start()
    await write(house.broker, house.raw, planted(1))
    await house.settled()
    metrics = await house.metrics()
    assert metrics.value("sottovoce_quarantined_users") == 1
    assert metrics.value("sottovoce_dead_letters_total", reason="state_unreadable") > 0
    assert "1 rows could not be read" in house.worker.said()
    for text in (*await pages(house), house.worker.said()):
        assert CANARY not in text
    assert await where(house, house.dead) == set()
    await house.stop()


async def strange_records(house: House) -> None:
    """Somebody else writes into the released topic: the audit finds it, and quotes nothing of it."""
    strange = [
        Raw(partition, SEEN, text, ((name, SEEN), *HEADERS))
        for partition in range(PARTITIONS)
        for name in ("step", "release-id", "policy", "model", "outcome")
        for text in (SEEN, b"{}", json.dumps({"activity": CANARY, "note": CANARY}).encode())
    ]
    await write(house.broker, house.released, strange)
    await check_audit_told(house, 1)
    await check_audit_told(house, 1, "--json")


@pytest.mark.usefixtures("talkative")
async def test_under_a_pseudonym_it_is_nowhere(broker: Broker, tmp_path: Path) -> None:
    store = tmp_path / "beliefs"
    async with opened(broker.bootstrap, tmp_path, record=PSEUDONYM, store=f"{{kind: disk, folder: {store}}}") as house:
        await house.start()
        await write(broker.bootstrap, house.raw, planted(2))
        await house.settled()
        counts = await house.check_identity()
        assert min(counts.released, counts.dead_lettered) > 30
        # A broker that dies with blocks at work makes client libraries complain, and the worker start anew.
        writing = asyncio.create_task(write(broker.bootstrap, house.raw, planted(2)))
        await asyncio.sleep(0.3)
        await asyncio.to_thread(broker.kill9)
        await asyncio.to_thread(broker.start)
        await writing
        await house.settled(restarts=99)
        await house.worker.ready(lambda _: None, asyncio.Event())
        await check_told(house, "--json")
        assert await where(house, house.released) == set()
        assert await where(house, house.changelog) == set()
        await house.stop()
        files = [path for path in store.rglob("*") if path.is_file()]
        assert files
        assert [path for path in files if SEEN in path.read_bytes()] == []


IN_THE_WRONG_PLACE = [
    ("keys: {file: keys.json}", f"keys: {CANARY}"),
    ("keys: {file: keys.json}", f"keys: [{CANARY}]"),
    ("keys: {file: keys.json}", f"keys: {{{CANARY}: }}"),
    ("keys: {file: keys.json}", f"keys: {{environment: {CANARY}}}"),
    ("  raw_topic:", f"  sasl: {{mechanism: PLAIN, username: a, password: {CANARY}}}\n  raw_topic:"),
    ("  raw_topic:", f"  sasl: {{mechanism: PLAIN, username: a, password: [{CANARY}]}}\n  raw_topic:"),
    ("  raw_topic:", f"  sasl: {{mechanism: PLAIN, username: a, password: {{{CANARY}: }}}}\n  raw_topic:"),
]


def check_refusals(house: House, commands: tuple[str, ...]) -> None:
    for name in commands:
        for options in ([], ["--json"]):
            answer = CliRunner().invoke(app, [name, str(house.file), *options])
            assert answer.exit_code == 2, answer.output
            assert "to put it right" in answer.output or '"fix"' in answer.output
            assert CANARY not in answer.output


@pytest.mark.parametrize(("old", "new"), IN_THE_WRONG_PLACE)
def test_a_secret_in_the_wrong_place_is_not_repeated(tmp_path: Path, old: str, new: str) -> None:
    house = House("127.0.0.1:9", tmp_path)
    house.write_settings()
    text = house.file.read_text()
    assert old in text
    house.file.write_text(text.replace(old, new))
    environment = "environment" in new  # only keys are missing then, and an audit needs none
    check_refusals(house, ("validate", "explain") if environment else ("validate", "explain", "audit"))


@pytest.mark.parametrize("text", [CANARY, f'{{"epochs": "{CANARY}"}}', f'{{"epochs": [{{"key": "{CANARY}"}}]}}'])
def test_a_damaged_key_ring_is_not_repeated(tmp_path: Path, text: str) -> None:
    house = House("127.0.0.1:9", tmp_path)
    house.write_settings()
    (tmp_path / "model.json").write_bytes(model_of(Categories(VALUES)))
    (tmp_path / "keys.json").write_text(text)
    (tmp_path / "keys.json").chmod(0o600)
    check_refusals(house, ("validate", "explain"))
