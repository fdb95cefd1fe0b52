"""How every command ends: an answer on standard output, an error on standard error, and the right exit status."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer

from stream.errors import SottovoceError


@contextmanager
def errors_told(*, as_json: bool = False) -> Iterator[None]:
    """Turn an error of ours into its message and its exit status; any other error is a bug and stays one."""
    try:
        yield
    except SottovoceError as error:
        if as_json:
            say_json({"ok": False, **error.as_json()})
        else:
            sys.stderr.write(f"{error}\n")
        raise typer.Exit(error.exit_status) from None


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


def hint(text: str) -> None:
    """For whoever waits in front of the terminal; programs read standard output."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def say_json(document: Mapping[str, Any]) -> None:
    """One JSON object a line of output; infinity, which JSON does not have, is the text "inf"."""
    sys.stdout.write(json.dumps(_finite(document), indent=2, ensure_ascii=True, allow_nan=False) + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value
