"""How a model file writes its alphabet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from beliefs.alphabet import REFUSE, Alphabet, Bins, Categories, Grid, IntegerRange
from beliefs.checks import Invalid, kind_of, read_object

_BINS = ("low", "high", "cells", "outside")


def read_alphabet(described: object) -> Alphabet:
    value = read_object(described, "alphabet")
    makers: dict[object, tuple[tuple[str, ...], Callable[..., Alphabet]]] = {
        "categories": (("values",), Categories),
        "integers": (("low", "high"), IntegerRange),
        "bins": (_BINS, _bins),
        "grid": (("rows", "columns", "names"), _grid),
    }
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in makers:
        raise Invalid("alphabet.kind", 'must be "categories", "integers", "bins" or "grid"')
    names, make = makers[kind]
    for name in value:
        if name not in ("kind", *names):
            raise Invalid(f"alphabet.{name}", f"does not belong to an alphabet of {kind}; it has {', '.join(names)}")
    try:
        return make(*(value.get(name) for name in names))
    except Invalid as problem:
        raise Invalid(f"alphabet.{problem.field}", problem.reason) from None


def _bins(low: Any, high: Any, cells: Any, outside: Any) -> Bins:
    return Bins(low, high, cells, REFUSE if outside is None else outside)


def _grid(rows: object, columns: object, names: tuple[str, str] | None) -> Grid:
    return Grid(_side(rows, "rows"), _side(columns, "columns"), names)


def _side(value: object, field: str) -> Bins:
    if not isinstance(value, dict):
        raise Invalid(field, f"must be an object with low, high and cells, found {kind_of(value)}")
    for name in value:
        if name not in _BINS:
            raise Invalid(f"{field}.{name}", f"does not belong to a side of a grid; it has {', '.join(_BINS)}")
    try:
        return _bins(value.get("low"), value.get("high"), value.get("cells"), value.get("outside"))
    except Invalid as problem:
        raise Invalid(f"{field}.{problem.field}", problem.reason) from None


def _bins_document(bins: Bins) -> dict[str, object]:
    return {"low": bins.low, "high": bins.high, "cells": bins.cells, "outside": bins.outside}


def written_alphabet(alphabet: Alphabet) -> dict[str, object]:
    if isinstance(alphabet, Categories):
        return {"kind": "categories", "values": list(alphabet.values)}
    if isinstance(alphabet, Bins):
        return {"kind": "bins", **_bins_document(alphabet)}
    if isinstance(alphabet, Grid):
        sides = {"rows": _bins_document(alphabet.rows), "columns": _bins_document(alphabet.columns)}
        return {"kind": "grid", **sides, **({} if alphabet.names is None else {"names": list(alphabet.names)})}
    return {"kind": "integers", "low": alphabet.low, "high": alphabet.high}
