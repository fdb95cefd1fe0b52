"""Every way into a real broker that has them all, and every wrong one: let in, or refused with a reason, never less
protected than the settings say. The least permissions that `sottovoce acls` prints are enough, and none is too many.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fault_workers import command
from kafka_acls import carry_out
from live_worker import VALUES, House, opened
from live_writing import PARTITIONS, Raw, write
from secure_broker import PASSWORDS, SecureBroker, secure_broker
from tokens import Signer

from stream.engine.connection import connection_of
from stream.engine.way_in import require_way_in
from stream.errors import PublishFailed, Refused, SottovoceError
from stream.settings.kafka import KafkaSettings

pytestmark = pytest.mark.timeout(300)

ADMIN, WORKER, AUDITOR = "admin", "worker", "auditor"


def walks(users: int, events: int) -> Iterator[Raw]:
    for number in range(users * events):
        user, value = number % users, {"activity": VALUES[number * 7 % 11 % len(VALUES)], "n": number}
        yield Raw(user % PARTITIONS, b"user-%d" % user, json.dumps(value).encode())


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureBroker]:
    folder = tmp_path_factory.mktemp("secure")
    for name, password in PASSWORDS.items():
        (folder / f"{name}.password").write_text(password + "\n")
    (folder / "wrong.password").write_text("nobodys\n")
    with secure_broker(folder) as started:
        for name, signer, seconds in (("good", started.signer, 3600.0), ("over", started.signer, -100.0),
                                      ("foreign", Signer(), 3600.0)):  # fmt: skip
            (folder / f"{name}.token").write_text(signer.token(ADMIN, seconds=seconds))
        (folder / "junk.token").write_text("no token at all")
        yield started


def tls(secure: SecureBroker, *, authority: bool = True, pair: str = "") -> dict[str, str]:
    found = {"ca_file": str(secure.authority if authority else secure.foreign)}
    if pair:
        mine = secure.client if pair == "client" else secure.stranger
        found |= {"certificate_file": str(mine.certificate), "private_key_file": str(mine.key)}
    return found


def login(secure: SecureBroker, mechanism: str, password: str, user: str = ADMIN) -> dict[str, Any]:
    return {"mechanism": mechanism, "username": user, "password": {"file": str(beside(secure, f"{password}.password"))}}


def token(secure: SecureBroker, name: str) -> dict[str, Any]:
    return {"mechanism": "OAUTHBEARER", "token": {"file": str(beside(secure, f"{name}.token"))}}


def beside(secure: SecureBroker, name: str) -> Path:
    return secure.authority.parent / name


def way(secure: SecureBroker, name: str) -> tuple[str, dict[str, Any]]:
    """Where to, and how: what the settings say of the brokers."""
    plain = [mechanism for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512") if name.startswith(mechanism)]
    if plain:
        wrong, within = name.endswith(" wrong"), name.endswith(" in the clear")
        sasl = login(secure, plain[0], "wrong" if wrong else ADMIN)
        return secure.at("login"), {"sasl": sasl, **({"allow_plaintext": True} if within else {"tls": tls(secure)})}
    if name.startswith("token"):
        return secure.at("login"), {"sasl": token(secure, name.partition(" ")[2]), "tls": tls(secure)}
    at = secure.at
    ways: dict[str, tuple[str, dict[str, Any]]] = {
        "tls": (at("tls"), {"tls": tls(secure)}),
        "mutual": (at("mutual"), {"tls": tls(secure, pair="client")}),
        "another authority": (at("tls"), {"tls": tls(secure, authority=False)}),
        "the system's authorities": (at("tls"), {"tls": {}}),
        "over": (at("over"), {"tls": tls(secure)}),
        "another host": (at("elsewhere"), {"tls": tls(secure)}),
        "signed by a stranger": (at("foreign"), {"tls": tls(secure)}),
        "mutual without": (at("mutual"), {"tls": tls(secure)}),
        "mutual of a stranger": (at("mutual"), {"tls": tls(secure, pair="stranger")}),
        "plaintext by mistake": (at("tls"), {}),
        "plaintext where logins are": (at("login"), {}),
        "tls by mistake": (secure.broker.bootstrap, {"tls": tls(secure)}),
        "no login": (at("login"), {"tls": tls(secure)}),
        "a login where there is none": (at("tls"), {"tls": tls(secure), "sasl": login(secure, "PLAIN", ADMIN)}),
    }
    return ways[name]


GOOD = ("tls", "mutual", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "token good")
BAD = {
    "another authority": "was not signed by an authority that is trusted here",
    "the system's authorities": "was not signed by an authority that is trusted here",
    "signed by a stranger": "was not signed by an authority that is trusted here",
    "over": "certificate is over",
    "another host": "is not one of localhost",
    "mutual without": "does not accept this client's certificate, or there is none",
    "mutual of a stranger": "does not accept this client's certificate",
    "plaintext by mistake": "it speaks TLS at this port, and the settings do not",
    "plaintext where logins are": "it speaks TLS at this port, and the settings do not",
    "PLAIN in the clear": "it speaks TLS at this port, and the settings do not",
    "tls by mistake": "it does not speak TLS at this port",
    "no login": "it seems to want a login",
    "a login where there is none": "nobody logs in at this port",
    "PLAIN wrong": "the login is wrong",
    "SCRAM-SHA-256 wrong": "the login is wrong",
    "SCRAM-SHA-512 wrong": "the login is wrong",
    "token over": "the login is wrong",
    "token foreign": "the login is wrong",
    "token junk": "the login is wrong",
}


def settings_of(broker: str, how: Mapping[str, Any]) -> KafkaSettings:
    topics = {"raw_topic": "a", "released_topic": "b", "dead_letter_topic": "c"}
    return KafkaSettings.model_validate({"brokers": [broker], **topics, **how})


@pytest.mark.parametrize("name", GOOD)
async def test_who_comes_rightly_is_let_in(secure: SecureBroker, name: str) -> None:
    broker, how = way(secure, name)
    connection = connection_of(settings_of(broker, how), {})
    await require_way_in(connection)
    assert connection.protocol == ("SASL_SSL" if "sasl" in how else "SSL")


@pytest.mark.parametrize("name", BAD)
async def test_who_comes_wrongly_is_refused_with_the_reason(secure: SecureBroker, name: str) -> None:
    broker, how = way(secure, name)
    with pytest.raises(Refused) as refused:
        await require_way_in(connection_of(settings_of(broker, how), {}))
    said = str(refused.value)
    assert BAD[name] in said and "to put it right" in said and broker in said
    assert not [word for word in (*PASSWORDS.values(), "nobodys", "no token at all") if word in said]


async def test_one_broker_that_lets_in_is_enough_and_nobody_there_may_get_better(secure: SecureBroker) -> None:
    broker, how = way(secure, "tls")
    nobody = "localhost:1"
    both = settings_of(broker, how).model_copy(update={"brokers": (nobody, broker)})
    await require_way_in(connection_of(both, {}))
    with pytest.raises(PublishFailed, match="No broker can be reached"):
        await require_way_in(connection_of(settings_of(nobody, how), {}))
    over = settings_of(secure.at("over"), how).model_copy(update={"brokers": (nobody, secure.at("over"))})
    with pytest.raises(SottovoceError, match="certificate is over"):
        await require_way_in(connection_of(over, {}))


@asynccontextmanager
async def house_at(secure: SecureBroker, folder: Path, broker: str, how: Mapping[str, Any]) -> AsyncIterator[House]:
    """A pipeline whose worker comes in this way; the test itself looks on without encryption."""
    async with opened(secure.broker.bootstrap, folder) as house:
        come_in(house, broker, how)
        yield house


def come_in(house: House, broker: str, how: Mapping[str, Any]) -> None:
    text = house.file.read_text()
    begin, end = text.index("  brokers:"), text.index("  raw_topic:")
    said = "".join(f"  {name}: {flow(value)}\n" for name, value in how.items())
    house.file.write_text(f'{text[:begin]}  brokers: ["{broker}"]\n{said}{text[end:]}')


def flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {flow(inner)}" for name, inner in value.items()) + "}"
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


@pytest.mark.parametrize("name", GOOD)
async def test_a_worker_releases_in_every_right_way_and_tells_no_secret(
    secure: SecureBroker, tmp_path: Path, name: str
) -> None:
    broker, how = way(secure, name)
    async with house_at(secure, tmp_path, broker, how) as house:
        await write(house.broker, house.raw, walks(5, 40))
        await house.start()
        await house.settled()
        process = await asyncio.create_subprocess_exec("ps", "axww", stdout=asyncio.subprocess.PIPE)
        told = (await process.communicate())[0].decode()
        assert str(house.file) in told
        told += (await house.page("/")).text + (await house.page("/metrics")).text
        await house.check_identity()
        await house.check_audit()
        await house.stop()
        for asked in ("validate", "explain"):
            answer = await command(asked, str(house.file), "--json")
            told += answer.out + answer.said
        told += house.worker.said()
        secrets = [*PASSWORDS.values(), beside(secure, "good.token").read_text()]
        assert not [number for number, secret in enumerate(secrets) if secret in told]


async def acls(house: House, user: str, work: str, *options: str) -> list[list[str]]:
    """The commands that `sottovoce acls` prints, as arguments."""
    told = await command("acls", str(house.file), "--principal", f"User:{user}", "--for", work, *options)
    assert told.status == 0, told.said
    found = [shlex.split(line) for line in told.out.splitlines()]
    assert {line[0] for line in found} == {"kafka-acls.sh"}
    return [line[1:] for line in found]


async def test_the_printed_permissions_are_enough_and_each_is_needed(secure: SecureBroker, tmp_path: Path) -> None:
    how = {"sasl": login(secure, "SCRAM-SHA-512", WORKER, WORKER), "tls": tls(secure)}
    async with house_at(secure, tmp_path, secure.at("login"), how) as house:
        await write(house.broker, house.raw, walks(3, 20))
        forbidden = await command("run", str(house.file))
        assert forbidden.status == 2 and "`sottovoce acls`" in forbidden.said, forbidden.said
        for line in await acls(house, WORKER, "run", "--make-topics"):
            await carry_out(secure.broker.bootstrap, line)
        await house.start()
        await house.settled()
        await house.check_identity()
        await house.stop()
        for line in await acls(house, WORKER, "run"):
            await carry_out(secure.broker.bootstrap, line, take_away=True)
            stopped = await command("run", str(house.file))
            assert stopped.status == 2 and "`sottovoce acls`" in stopped.said, (line, stopped.said)
            await carry_out(secure.broker.bootstrap, line)


async def test_who_audits_reads_and_needs_no_more(secure: SecureBroker, tmp_path: Path) -> None:
    broker, how = way(secure, "SCRAM-SHA-256")
    async with house_at(secure, tmp_path, broker, how) as house:
        await write(house.broker, house.raw, walks(3, 20))
        await house.start()
        await house.settled()
        await house.stop()
        come_in(house, broker, {"sasl": login(secure, "SCRAM-SHA-256", AUDITOR, AUDITOR), "tls": tls(secure)})
        forbidden = await house.audit()
        assert forbidden.status == 2 and "`sottovoce acls --for audit`" in forbidden.said, forbidden.said
        printed = await acls(house, AUDITOR, "audit")
        assert {line[line.index("--operation") + 1] for line in printed} == {"Read"}
        for line in printed:
            await carry_out(secure.broker.bootstrap, line)
        await house.check_audit()
