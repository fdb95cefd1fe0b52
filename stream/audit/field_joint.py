"""The joint table that the settings name, as an auditor reads it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from beliefs.correlation.joint_file import InvalidJoint, parse
from stream.audit.field_rules import Joint
from stream.errors import CannotAudit
from stream.settings.model import Settings


def joint_of(settings: Settings) -> Joint | None:
    """The joint table of the fields, where the settings name one."""
    if settings.fields is None or settings.fields.joint is None:
        return None
    where, fix = settings.fields.joint, "name the joint table that the pipeline ran with in the settings"
    try:
        data = Path(where).read_bytes()
        return Joint(parse(data).table, hashlib.sha256(data).hexdigest())
    except OSError as error:
        raise CannotAudit("The joint table cannot be read.", where, error.strerror or "unknown", fix) from None
    except InvalidJoint as error:
        raise CannotAudit("The joint table cannot be used.", where, str(error.problems[0]), fix) from None
