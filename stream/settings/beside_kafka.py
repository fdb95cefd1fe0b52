"""What the settings of Kafka may hold together: topics apart from each other, and no secret in the clear."""

from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from stream.names import CHANGELOG_SUFFIX, STAGES, TOTAL_SUFFIX
from stream.settings.collect import Collector, have
from stream.settings.kafka import TokenSettings
from stream.settings.yaml_lines import Place

TOKENS: Final = "OAUTHBEARER"
"""The only mechanism that logs in with a token."""
_TOPICS: Final = ("raw_topic", "released_topic", "dead_letter_topic")
"""What works in two stages, and the topic between them."""


def kafka_fits(collector: Collector) -> None:
    for check in (_topics_differ, _encrypted, _sasl_is_encrypted, _tls_pair, _sasl_has_what_it_needs):
        check(collector)


def _topics_differ(collector: Collector) -> None:
    seen: dict[str, str] = {}
    pipeline = collector.values.get("pipeline.name")
    if pipeline is not None:
        seen[pipeline + CHANGELOG_SUFFIX] = "the belief topic, which is named after pipeline.name"
        for section, suffix in STAGES.items():
            if collector.gives(section):
                own = f"a topic of the {section}'s own, which is named after pipeline.name"
                seen[pipeline + suffix] = seen[pipeline + TOTAL_SUFFIX + CHANGELOG_SUFFIX] = own
    for name in _TOPICS:
        topic = collector.values.get(f"kafka.{name}")
        if topic is None:
            continue
        if topic in seen:
            found = f'"{topic}", which is also {seen[topic]}'
            collector.add(("kafka", name), found, "a topic of its own", "name another topic")
        seen.setdefault(topic, f"kafka.{name}")


def _encrypted(collector: Collector) -> None:
    brokers = collector.values.get("kafka.brokers")
    fields = have(collector, "kafka.allow_plaintext", "kafka.tls")
    if brokers is None or fields is None:
        return
    allowed_aloud, tls = fields
    if tls is not None or allowed_aloud:
        return
    fix = "add kafka.tls, or write allow_plaintext: true if everybody on that network may read the records"
    for index, broker in enumerate(brokers):
        if not is_loopback(broker.rpartition(":")[0]):
            place: Place = ("kafka", "brokers", index)
            collector.add(place, f'"{broker}" without encryption', "plaintext to this machine alone", fix)


def _sasl_is_encrypted(collector: Collector) -> None:
    fields = have(collector, "kafka.sasl", "kafka.tls", "kafka.allow_plaintext")
    if fields is None:
        return
    sasl, tls, allowed_aloud = fields
    if sasl is not None and tls is None and not allowed_aloud:
        fix = "add kafka.tls, or write allow_plaintext: true if everybody on that network may see the login"
        collector.add(("kafka", "sasl"), "a login without encryption", "a login inside TLS", fix)


def _tls_pair(collector: Collector) -> None:
    fields = have(collector, "kafka.tls.certificate_file", "kafka.tls.private_key_file")
    if fields is not None and (fields[0] is None) != (fields[1] is None):
        given, other = (
            ("certificate_file", "private_key_file") if fields[0] else ("private_key_file", "certificate_file")
        )
        collector.add(("kafka", "tls", given), f"{given} alone", "both or neither", f"add {other}, or remove {given}")


def _sasl_has_what_it_needs(collector: Collector) -> None:
    """A name and a password, or a token; what the mechanism does not use would be kept in vain."""
    sasl = collector.values.get("kafka.sasl")
    if sasl is None:
        return
    place: Place = ("kafka", "sasl")
    login, token = ["username", "password"], ["token"]
    wanted, unused = (token, login) if sasl.mechanism == TOKENS else (login, token)
    for name in wanted:
        if getattr(sasl, name) is None:
            fix = f"add {name}: {type(sasl).model_fields[name].description}"
            collector.add((*place, "mechanism"), f"{sasl.mechanism} without {name}", f"{name} beside it", fix)
    for name in unused:
        if getattr(sasl, name) is not None:
            collector.add((*place, name), f"{name} beside {sasl.mechanism}", "nothing", f"remove {name}")
    if sasl.token is not None:
        _token(collector, sasl.token)


def _token(collector: Collector, token: TokenSettings) -> None:
    place: Place = ("kafka", "sasl", "token")
    sources = [name for name in ("file", "environment", "endpoint") if getattr(token, name) is not None]
    if len(sources) != 1:
        found = " and ".join(sources) or "neither file nor environment nor endpoint"
        collector.add(place, found, "exactly one of file, environment and endpoint", "keep the one that gives it")
    for name in ("client", "secret", "scope"):
        if token.endpoint is None and getattr(token, name) is not None:
            collector.add((*place, name), f"{name} without endpoint", "nothing", f"add endpoint, or remove {name}")
    if token.endpoint is None:
        return
    for name in ("client", "secret"):
        if getattr(token, name) is None:
            fix = f"add {name}: {type(token).model_fields[name].description}"
            collector.add((*place, "endpoint"), f"endpoint without {name}", f"{name} beside it", fix)
    _address(collector, (*place, "endpoint"), token.endpoint)


def _address(collector: Collector, place: Place, written: str) -> None:
    try:
        address = urlsplit(written)
    except ValueError:  # a bracket that does not end
        address = urlsplit("")
    if address.username is not None or address.password is not None:
        collector.add(place, "an address with a login in it", "an address alone", "use client and secret")
        return
    near = address.scheme == "http" and is_loopback(address.hostname or "")
    if not near and not (address.scheme == "https" and address.hostname):
        fix = "write https://, the host, and the path"
        collector.add(place, "no such address", "an address that begins with https://", fix)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its very name; nothing is looked up."""
    bare = host.removeprefix("[").removesuffix("]")
    if bare == "localhost" or bare.endswith(".localhost"):
        return True
    try:
        return ip_address(bare).is_loopback
    except ValueError:
        return False
