"""What the dead-letter topic is told about a record that cannot be released: why, and where; never what it held."""

import orjson

from stream.records.shapes import Rejected


def dead_letter(rejected: Rejected, topic: str, partition: int, offset: int) -> bytes:
    """The value of one dead letter. The path is the one from the settings, so nothing of the record is in it."""
    return orjson.dumps(
        {
            "reason": rejected.reason,
            "path": rejected.path,
            "topic": topic,
            "partition": partition,
            "offset": offset,
        }
    )
