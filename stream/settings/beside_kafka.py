"""What the settings of Kafka may hold together: topics apart from each other, and no secret in the clear."""

from ipaddress import ip_address
from typing import Final

from stream.names import CHANGELOG_SUFFIX, CROWDS_SUFFIX, PARTIALS_SUFFIX, TOTAL_SUFFIX
from stream.settings.collect import Collector, have
from stream.settings.yaml_lines import Place

_TOPICS: Final = ("raw_topic", "released_topic", "dead_letter_topic")
_STAGES: Final = {"aggregate": PARTIALS_SUFFIX, "crowd": CROWDS_SUFFIX}
"""What works in two stages, and the topic between them."""


def kafka_fits(collector: Collector) -> None:
    for check in (_topics_differ, _encrypted, _sasl_is_encrypted, _tls_pair):
        check(collector)


def _topics_differ(collector: Collector) -> None:
    seen: dict[str, str] = {}
    pipeline = collector.values.get("pipeline.name")
    if pipeline is not None:
        seen[pipeline + CHANGELOG_SUFFIX] = "the belief topic, which is named after pipeline.name"
        for section, suffix in _STAGES.items():
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


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its very name; nothing is looked up."""
    bare = host.removeprefix("[").removesuffix("]")
    if bare == "localhost" or bare.endswith(".localhost"):
        return True
    try:
        return ip_address(bare).is_loopback
    except ValueError:
        return False
