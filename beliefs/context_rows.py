"""The contexts of a model file: JSON rows in, checked laws out, and back.

    [{"context": [], "p": [0.5, 0.3, 0.2]},
     {"context": [0, 2], "to": [0, 1], "p": [0.9, 0.1]}, ...]

A context lists the indices of values, the oldest first. A row with `to` is sparse, one without gives every value's
probability.
"""

from __future__ import annotations

from collections.abc import Mapping

from beliefs.chain import Row, dense_row, sparse_row
from beliefs.checks import Invalid, Problems, kind_of
from beliefs.contexts import Context

Laws = dict[Context, Row]


def read_contexts(rows: object, order: int, symbols: int, problems: Problems) -> Laws:
    """The law of each listed context. Every row that is wrong is named, and left out."""
    if not isinstance(rows, list):
        problems.add("contexts", f"must be a list of rows, found {kind_of(rows)}")
        return {}
    laws: Laws = {}
    first: dict[Context, int] = {}
    for number, row in enumerate(rows):
        field = f"contexts[{number}]"
        context = _checked(problems, row, field, order, symbols)
        if context is None or not isinstance(row, dict):
            continue
        if context in first:
            problems.add(f"{field}.context", f"repeats contexts[{first[context]}]")
            continue
        first[context] = number
        law = _law(problems, row, field, symbols)
        if law is not None:
            laws[context] = law
    if () not in first:
        problems.add("contexts", 'has no row for the empty context; add {"context": [], ...}, the law after any other')
    return laws


def written_contexts(laws: Mapping[Context, Row], symbols: int) -> list[object]:
    """The rows of these laws, by length and then by values; a law of which half the values are possible is dense."""
    return [_written(context, laws[context], symbols) for context in sorted(laws, key=lambda c: (len(c), c))]


def _checked(problems: Problems, row: object, field: str, order: int, symbols: int) -> Context | None:
    return problems.run(lambda: _context(row, field, order, symbols))


def _law(problems: Problems, row: dict[str, object], field: str, symbols: int) -> Row | None:
    if "to" in row:
        return problems.run(lambda: sparse_row(row["to"], row["p"], field, symbols))
    return problems.run(lambda: dense_row(row["p"], f"{field}.p", symbols))


def _context(row: object, field: str, order: int, symbols: int) -> Context:
    if not isinstance(row, dict) or not {"context", "p"} <= set(row) <= {"context", "to", "p"}:
        raise Invalid(field, 'must be an object with "context" and "p", and with "to" where not every value has a p')
    values = row["context"]
    if not isinstance(values, list):
        raise Invalid(f"{field}.context", f"must be a list of values' indices, found {kind_of(values)}")
    for position, value in enumerate(values):
        if type(value) is not int:
            raise Invalid(f"{field}.context", f"entry {position} must be an integer, found {kind_of(value)}")
        if not 0 <= value < symbols:
            raise Invalid(
                f"{field}.context", f"entry {position} is no value; they are numbered from 0 to {symbols - 1}"
            )
    if len(values) > order:
        raise Invalid(f"{field}.context", f"has {len(values)} values, more than the order, which is {order}")
    return tuple(values)


def _written(context: Context, law: Row, symbols: int) -> dict[str, object]:
    values, probabilities = law
    if 2 * values.size < symbols:
        return {"context": list(context), "to": values.tolist(), "p": probabilities.tolist()}
    full = [0.0] * symbols
    for value, probability in zip(values.tolist(), probabilities.tolist(), strict=True):
        full[value] = probability
    return {"context": list(context), "p": full}
