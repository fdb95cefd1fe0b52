"""What kafka-acls.sh does with the arguments that `sottovoce acls` prints, by the same requests to the brokers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.protocol.admin import CreateAclsRequest, DeleteAclsRequest

KINDS = {"topic": 2, "group": 3, "transactional_id": 5}
OPERATIONS = {"Read": 3, "Write": 4, "Create": 5, "DescribeConfigs": 10}
PATTERNS = {"literal": 3, "prefixed": 4}
ALLOW, ANY_HOST = 3, "*"


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("--bootstrap-server", required=True)
    parser.add_argument("--add", action="store_true", required=True)
    parser.add_argument("--allow-principal", required=True)
    parser.add_argument("--operation", action="append", required=True, choices=OPERATIONS)
    parser.add_argument("--resource-pattern-type", choices=PATTERNS, default="literal")
    kinds = parser.add_mutually_exclusive_group(required=True)
    for kind in ("--topic", "--group", "--transactional-id"):
        kinds.add_argument(kind)
    return parser.parse_args(list(arguments))


async def carry_out(broker: str, arguments: Sequence[str], *, take_away: bool = False) -> None:
    """`broker` is one where whoever asks may do that."""
    asked = parsed(arguments)
    ((kind, name),) = [(code, getattr(asked, kind)) for kind, code in KINDS.items() if getattr(asked, kind)]
    pattern = PATTERNS[asked.resource_pattern_type]
    request = DeleteAclsRequest if take_away else CreateAclsRequest
    admin = AIOKafkaAdminClient(bootstrap_servers=broker)
    await admin.start()
    try:
        for operation in asked.operation:
            wanted = request(kind, name, pattern, asked.allow_principal, ANY_HOST, OPERATIONS[operation], ALLOW)
            answer: Any = await admin._send_request(wanted)
            results = answer.filter_responses if take_away else answer.creation_responses
            assert [result[0] for result in results] == [0], answer
    finally:
        await admin.close()
