"""Which columns of a table hold the declared fields. What is wrong with them is said with the names that were asked
for: where a table has no header, its first line is somebody's event, and is not shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from stream.errors import CannotFit
from stream.fitting.sources import Fields

_DELIMITERS: Final = ((";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars"), (",", "commas"))


def columns_of(file: Path, fields: Fields, header: Sequence[str], delimiter: str = "") -> list[int]:
    """Where each declared field stands in the header."""
    wanted = [fields.column_of(path) for path in fields.paths]
    missing = [name for name in dict.fromkeys(wanted) if name not in header]
    if missing:
        why, fix = _missing(missing, header, delimiter, fields.options)
        raise CannotFit("The table lacks a column.", f"{file}, header", why, fix)
    twice = [name for name in dict.fromkeys(wanted) if list(header).count(name) > 1]
    if twice:
        raise CannotFit(
            "The table has two columns of one name.",
            where=f"{file}, header",
            why=f"{' and '.join(twice)} stands there more than once, and nothing says which one is meant",
            fix="give each column a name of its own",
        )
    return [list(header).index(name) for name in wanted]


def _missing(missing: Sequence[str], header: Sequence[str], delimiter: str, options: str) -> tuple[str, str]:
    why = f"no column is called {' or '.join(missing)}; there are {len(header)} columns"
    if len(header) == 1 and delimiter:
        for other, words in _DELIMITERS:
            if other != delimiter and other in header[0]:
                fix = "say so: --format tsv" if other == "\t" else "write the table with commas, or with tabs (.tsv)"
                fix = "say so: --format csv" if other == "," else fix
                return f"{why}, and {words} in the first line, which seem to part its cells", fix
    if any(name.strip().casefold() == asked.casefold() for asked in missing for name in header):
        return f"{why}; but for capital letters or spaces around it there is one", "write its name as the table does"
    return why, f"name {options}; if the first line is an event already, put a line with names in front of it"


def refuse_kinds(file: Path, fields: Fields, schema: Any) -> None:
    """Kinds of columns from which no record of the pipeline could come."""
    from pyarrow import types

    allowed = (types.is_string, types.is_large_string, types.is_integer, types.is_floating, types.is_boolean)
    for path in fields.paths:
        name = fields.column_of(path)
        kind = schema.field(name).type
        held = kind.value_type if types.is_dictionary(kind) else kind
        if types.is_null(held) or any(of_kind(held) for of_kind in allowed):
            continue
        fix = "write users and values as texts or numbers"
        if types.is_temporal(held):
            fix = (
                "write times as whole milliseconds since 1970 (--time-unit ms), or as texts with their offset (iso8601)"
            )
        raise CannotFit(
            "A column cannot be read.",
            where=f"{file}, column {name}",
            why=f"it holds {kind}, and what the pipeline reads is JSON: texts and numbers",
            fix=fix,
        )


def parquet_library(file: Path) -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise CannotFit(
            "Parquet cannot be read here.",
            where=str(file),
            why="the library that reads it, pyarrow, is not installed",
            fix="pip install 'sottovoce[parquet]', or give JSON lines or CSV",
        ) from None
    return parquet
