"""What cannot be told of the field whose values follow one another: of what, why, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from beliefs.alphabet import Alphabet
from stream.estimation.asked import Asked
from stream.estimation.results import Table, text_of
from stream.estimation.sequence import PAIRS_MOST
from stream.estimation.sums import SequenceSums

_NAMED_MOST: Final = 8


def notes_of(sums: SequenceSums, alphabet: Alphabet, tables: Mapping[str, Table], asked: Asked) -> list[str]:
    return [*_of_releases(sums), *_of_values(sums, alphabet, tables, asked), *_of_transitions(sums, tables, asked)]


def _of_releases(sums: SequenceSums) -> Iterator[str]:
    if sums.waiting:
        yield (
            f"{sums.waiting:,} releases are the beginnings of windows of values, and count once the rest has come: "
            "read the topic again later"
        )
    if sums.astray:
        yield (
            f"{sums.astray:,} releases cannot be followed, as earlier ones of their users are missing or do not fit: "
            "read the topic from its beginning, and see what sottovoce audit says"
        )
    if not sums.releases and sums.forecasts:
        yield "there are forecasts alone, which tell nothing: their budgets were spent; read times with releases"


def _of_values(sums: SequenceSums, alphabet: Alphabet, tables: Mapping[str, Table], asked: Asked) -> Iterator[str]:
    if not sums.releases:
        return
    if sums.large:
        yield (
            f"{sums.large:,} releases come from channels over {sums.symbols:,} values that are too large to be "
            "inverted, and count in no share without bias: posterior holds if users follow the model in use"
        )
    absent = np.flatnonzero(sums.everywhere.known < sums.releases).tolist()
    if absent and sums.large < sums.releases:
        named = ", ".join(text_of(alphabet.value_at(place)) or "" for place in absent[:_NAMED_MOST])
        more = f" and {len(absent) - _NAMED_MOST:,} more" if len(absent) > _NAMED_MOST else ""
        yield (
            f"no share of all without bias of {named}{more}: some releases come out alike after several of these; "
            + _instead(tables, asked)
        )
    variances: Any = tables["posterior"].columns["variance"]
    if variances[0] is None:
        yield "no intervals for what supposes a model: these users are in fewer than six groups; read more users"


def _instead(tables: Mapping[str, Table], asked: Asked) -> str:
    if "learnt" in tables:
        return "learnt is what there is of all, if users follow one chain"
    if asked.transitions:
        return "posterior holds if users follow the model in use"
    return "--transitions adds learnt, the shares if users follow one chain, whatever chain that is"


def _of_transitions(sums: SequenceSums, tables: Mapping[str, Table], asked: Asked) -> Iterator[str]:
    if not asked.transitions or not sums.releases:
        return
    if sums.symbols > PAIRS_MOST and "transitions" not in tables:
        yield f"no transitions by pairs: there are more than {PAIRS_MOST} values; group them in a model of fewer"
    elif "transitions" not in tables and "chain" in tables:
        yield "no transitions by pairs, which need single releases that all tell of every value: see chain"
