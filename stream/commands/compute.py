"""`sottovoce compute FILE`: answers to the questions in FILE, as JSON on standard output.

Exit status 0, or 1 if any answer is an error, or 2 if FILE cannot be read or holds no JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from beliefs import json_text
from beliefs.checks import Invalid
from stream.compute.door import answer, holds_error
from stream.names import EXIT_DONE, EXIT_FAILED, EXIT_REFUSED

__all__ = ["answer", "compute_command"]


def compute_command(file: Path) -> int:
    """Answer FILE on standard output and return the exit status."""
    try:
        document = json_text.read(file.read_bytes())
    except OSError as error:
        return _refuse(file, f"cannot be read: {error.strerror or type(error).__name__}")
    except Invalid as problem:
        return _refuse(file, problem.reason)
    answers = answer(document)
    sys.stdout.write(json.dumps(answers, ensure_ascii=True, allow_nan=False) + "\n")
    return EXIT_FAILED if holds_error(answers) else EXIT_DONE


def _refuse(file: Path, reason: str) -> int:
    fix = 'give a JSON file that holds {"what": NAME, "inputs": {...}} or a list of such objects'
    sys.stderr.write(f"sottovoce compute: {file} {reason}\n    to put it right: {fix}\n")
    return EXIT_REFUSED
