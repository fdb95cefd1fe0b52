"""What an error costs in a pipeline: the settings' distance, met with the model's alphabet."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from beliefs import json_text
from beliefs.alphabet import Alphabet, Bins, Grid, IntegerRange
from beliefs.checks import Invalid
from beliefs.distance import Distance, absolute, equal, euclidean, from_table, haversine, squared
from stream.errors import DistanceRefused
from stream.settings.model import DistanceSettings

_NUMBERS: Final = {"absolute": absolute, "squared": squared}
_PLACES: Final = {"euclidean": euclidean, "haversine": haversine}
_FIX: Final = "correct the file, or name another one"


class Chosen(NamedTuple):
    """A distance, and what tells it from others: nothing where all errors count alike."""

    distance: Distance
    digest: str


def choose_distance(settings: DistanceSettings, alphabet: Alphabet) -> Chosen:
    """The distance of these settings over this alphabet, or DistanceRefused."""
    if settings.kind in _NUMBERS:
        points = _numbers(settings.kind, alphabet)
        return Chosen(_NUMBERS[settings.kind](points), settings.kind)
    if settings.kind in _PLACES:
        return Chosen(_of_places(settings.kind, alphabet), settings.kind)
    for field, file in (("table", settings.table), ("cost_table", settings.cost_table)):
        if file is not None:
            return _from_file(field, file, alphabet)
    return Chosen(equal(), "")


def _numbers(kind: str, alphabet: Alphabet) -> Sequence[float]:
    if isinstance(alphabet, IntegerRange):
        return range(alphabet.low, alphabet.high + 1)
    if isinstance(alphabet, Bins):
        return alphabet.middles
    raise _unfit(f"{kind} is a distance of numbers", alphabet)


def _of_places(kind: str, alphabet: Alphabet) -> Distance:
    if not isinstance(alphabet, Grid):
        raise _unfit(f"{kind} is a distance of places", alphabet)
    try:
        return _PLACES[kind]([alphabet.middle_at(index) for index in range(alphabet.size)])
    except Invalid as problem:
        fix = "give the model's grid rows of latitudes and columns of longitudes, or write distance: euclidean"
        raise DistanceRefused("The distance cannot be used.", "kind", f"{kind}: {problem}", fix) from None


def _unfit(found: str, alphabet: Alphabet) -> DistanceRefused:
    fits = {Grid: ("places", "distance: euclidean, or haversine"), Bins: ("numbers", "distance: absolute, or squared")}
    fits[IntegerRange] = fits[Bins]
    table = "distance: {table: distances.json} with what lies between each two values, or distance: hamming"
    values, fix = fits.get(type(alphabet), ("texts", table))
    return DistanceRefused(
        "The distance cannot be used.", "kind", f"{found}, and the model's values are {values}", f"write {fix}"
    )


def _from_file(field: str, file: str, alphabet: Alphabet) -> Chosen:
    try:
        rows = json_text.read(Path(file).read_bytes())
        distance = from_table(rows, alphabet.size, field, as_costs=field == "cost_table")
    except OSError as error:
        raise DistanceRefused("The distance cannot be read.", field, f"{file}: {error.strerror}", _FIX) from None
    except Invalid as problem:
        raise DistanceRefused("The distance cannot be used.", field, f"{file}: {problem}", _FIX) from None
    return Chosen(distance, f"{field}:{hashlib.sha256(json_text.canonical(rows)).hexdigest()}")
