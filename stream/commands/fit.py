"""`sottovoce fit [CONFIG] --from DATA --out MODEL`: a model from data.

Exit status 0 when the model is written, 2 when there is none that could be.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from stream.commands.report import errors_told, say, say_json
from stream.errors import CannotFit
from stream.fitting.asked import Asked, task_of
from stream.fitting.fit import fit
from stream.fitting.picture import page
from stream.fitting.progress import Progress
from stream.fitting.report import figures, write_report
from stream.names import EXIT_DONE
from stream.settings.load import load_settings


def fit_command(
    *, config: Path | None, out: Path, html: Path | None, replace: bool, as_json: bool, **options: Any
) -> int:
    """Learn a model, write it, and say how good it is. `options` are those of `Asked`."""
    asked = Asked(**options)
    with errors_told(as_json=as_json):
        for file in (out, html):
            if file is not None:
                _require_free(file, replace=replace)
        task = task_of(asked, None if config is None else load_settings(config))
        progress = Progress(sys.stderr)
        try:
            fitted = fit(task, progress)
        finally:
            progress.end()
        facts = figures(fitted)
        _write(out, fitted.data)
        if html is not None:
            _write(html, page(fitted, facts).encode())
        if as_json:
            say_json({"ok": True, "file": str(out), **facts})
        else:
            say(write_report(facts, f", written to {out}"))
    return EXIT_DONE


def _require_free(file: Path, *, replace: bool) -> None:
    """Before hours of reading, not after them."""
    if file.exists() and not replace:
        raise CannotFit("A file is in the way.", str(file), "it is there already", "name another one, or add --replace")
    if not file.absolute().parent.is_dir():
        raise CannotFit("The file cannot be written.", str(file), "its folder is not there", "make the folder")


def _write(file: Path, data: bytes) -> None:
    try:
        file.write_bytes(data)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise CannotFit("The file cannot be written.", str(file), why, "name another place") from None
