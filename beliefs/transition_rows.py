"""The start and the transitions of a model of order 1: JSON in, checked rows out. `model_file.py` states the form."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from beliefs.chain import Row, dense_row, sparse_row, start_law
from beliefs.checks import Invalid, Problems, kind_of
from beliefs.simplex import Vector


def read_transitions(
    document: Mapping[str, object], values: int | None, problems: Problems
) -> tuple[Vector | None, list[Row]]:
    """Start and rows. Without a valid alphabet the number of rows stands in for its size."""
    transitions = document["transitions"]
    if not isinstance(transitions, dict):
        problems.add("transitions", f"must be an object, found {kind_of(transitions)}")
        return None, []
    for key in transitions:
        if key not in ("form", "rows"):
            problems.add(f"transitions.{key}", "is no key of transitions; the keys are form, rows")
    rows = transitions.get("rows")
    readers: dict[object, Callable[[object, str, int], Row]] = {"dense": dense_row, "sparse": _sparse_object}
    form = transitions.get("form")
    if not isinstance(form, str) or form not in readers:
        problems.add("transitions.form", 'must be "dense" or "sparse"')
    if not isinstance(rows, list):
        problems.add("transitions.rows", f"must be a list of rows, found {kind_of(rows)}")
        return None, []
    size = values if values is not None else len(rows)
    if len(rows) != size:
        problems.add("transitions.rows", f"has {len(rows)} rows, but the alphabet has {size} values")
    start = problems.run(lambda: start_law(document["start"], "start", size))
    if not isinstance(form, str) or form not in readers:
        return start, []
    checked = [_row(readers[form], row, index, size, problems) for index, row in enumerate(rows)]
    return start, [row for row in checked if row is not None]


def _row(
    reader: Callable[[object, str, int], Row], row: object, index: int, size: int, problems: Problems
) -> Row | None:
    return problems.run(lambda: reader(row, f"transitions.rows[{index}]", size))


def _sparse_object(row: object, field: str, size: int) -> Row:
    if not isinstance(row, dict) or set(row) != {"to", "p"}:
        raise Invalid(field, 'must be an object with the two lists "to" and "p"')
    return sparse_row(row["to"], row["p"], field, size)
