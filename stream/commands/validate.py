"""`sottovoce validate`: settings, model and keys, checked as `run` checks them, and nothing started."""

import os
from pathlib import Path
from typing import Any

from stream.commands.memory import in_short, memory_of
from stream.commands.report import errors_told, say, say_json
from stream.names import EXIT_DONE
from stream.opening import Opened, open_pipeline


def validate_command(file: Path, as_json: bool) -> int:
    """Say that all is in order, with the warnings; or every problem."""
    with errors_told(as_json=as_json):
        opened = open_pipeline(file, os.environ)
        if as_json:
            say_json({"ok": True, **summary(opened)})
        else:
            say(_text(opened))
    return EXIT_DONE


def summary(opened: Opened) -> dict[str, Any]:
    return {
        "file": str(opened.file),
        "pipeline": opened.settings.pipeline.name,
        "policy": opened.promise.policy_name,
        "model": opened.model.short,
        "values": opened.model.alphabet.size,
        **memory_of(opened),
        "key_epoch": opened.ring.current.number,
        "key_fingerprint": opened.ring.current.fingerprint,
        "warnings": list(opened.warnings),
    }


def _text(opened: Opened) -> str:
    facts = summary(opened)
    lines = [f"WARNING: {warning}" for warning in opened.warnings]
    lines.append(
        f"{opened.file} is in order: pipeline {facts['pipeline']}, policy {facts['policy']}, model {facts['model']} "
        f"({facts['values']} values{in_short(facts)}), key epoch {facts['key_epoch']} ({facts['key_fingerprint']})."
    )
    return "\n".join(lines)
