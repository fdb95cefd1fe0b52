"""The start and the transitions of a model of order 1: JSON in, a checked chain out. `model_file.md` states the
form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from beliefs.chain import Chain, Row, dense_row, named_row, sparse_row, start_law, tail_law
from beliefs.checks import Invalid, Problems, kind_of


def read_transitions(
    document: Mapping[str, object], values: int | None, problems: Problems, *, tail: bool = False
) -> Chain | None:
    """The chain of a model without or with a tail; without a valid alphabet the number of rows stands in for its size.

    None where anything, here or before, was found wrong.
    """
    transitions = document["transitions"]
    if not isinstance(transitions, dict):
        problems.add("transitions", f"must be an object, found {kind_of(transitions)}")
        return None
    _check_keys(transitions, tail, problems)
    rows = transitions.get("rows")
    readers: dict[object, Callable[[object, str, int], Row]] = {"dense": dense_row, "sparse": _sparse_object}
    form = transitions.get("form")
    if tail:
        readers = {"sparse": _named_object}
    if not isinstance(form, str) or form not in readers:
        problems.add("transitions.form", "must be " + " or ".join(f'"{name}"' for name in readers))
    if not isinstance(rows, list):
        problems.add("transitions.rows", f"must be a list of rows, found {kind_of(rows)}")
        return None
    size = values if values is not None else len(rows)
    if len(rows) != size:
        problems.add("transitions.rows", f"has {len(rows)} rows, but the alphabet has {size} values")
    start = problems.run(lambda: start_law(document["start"], "start", size))
    law = problems.run(lambda: tail_law(transitions.get("tail"), "transitions.tail", size)) if tail else None
    if not isinstance(form, str) or form not in readers:
        return None
    checked = [_row(readers[form], row, index, size, problems) for index, row in enumerate(rows)]
    kept = [row for row in checked if row is not None]
    if problems.found or start is None:
        return None
    return Chain.from_rows(start, kept) if law is None else Chain.from_tail(start, law, kept)


def _check_keys(transitions: Mapping[str, object], tail: bool, problems: Problems) -> None:
    keys = ("form", "tail", "rows") if tail else ("form", "rows")
    for key in transitions:
        if key not in keys:
            problems.add(f"transitions.{key}", f"is no key of transitions; the keys are {', '.join(keys)}")


def _row(
    reader: Callable[[object, str, int], Row], row: object, index: int, size: int, problems: Problems
) -> Row | None:
    return problems.run(lambda: reader(row, f"transitions.rows[{index}]", size))


def _sparse_object(row: object, field: str, size: int) -> Row:
    if not isinstance(row, dict) or set(row) != {"to", "p"}:
        raise Invalid(field, 'must be an object with the two lists "to" and "p"')
    return sparse_row(row["to"], row["p"], field, size)


def _named_object(row: object, field: str, size: int) -> Row:
    if not isinstance(row, dict) or set(row) != {"to", "p"}:
        raise Invalid(field, 'must be an object with the two lists "to" and "p"')
    return named_row(row["to"], row["p"], field, size)


def written_transitions(chain: Chain) -> dict[str, object]:
    """The transitions of a chain of one phase as JSON, dense or sparse as the chain is."""
    dense = chain.dense.size > 0
    rows: list[object] = [
        chain.dense[x].tolist() if dense else {"to": chain.named(x)[0].tolist(), "p": chain.named(x)[1].tolist()}
        for x in range(chain.size)
    ]
    tail = {"tail": chain.tail.tolist()} if chain.has_tail else {}
    return {"form": "dense" if dense else "sparse", **tail, "rows": rows}
