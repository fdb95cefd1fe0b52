"""Microseconds an event for reading records and writing released ones, in one process:

    python tests/bench/bench_records.py [--rounds R]

one        the protected field whose values follow one another, and a public one
fields     further fields with 12 categories each, reported as labels; `alone` without the first one
bits       the same, reported as bits of their own for each event
cells      five fields of which one holds numbers in cells, read by the definition
lists      five fields of which one holds lists, read by the definition
texts      one report of each local mechanism as JSON, for 8 and for 64 values

Reading counts the user's id, of which an object is made for each event: that is more than half of it for one field.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import orjson

from beliefs.alphabet import Alphabet, Bins, Categories
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.registry import REGISTRY, drawn
from mechanisms.local.texts import texts_of
from mechanisms.local.wire import shape_of
from stream.protocol.inputs import FetchedRecord, InputBlock
from stream.protocol.texts import Texts
from stream.records.assemble import Reported
from stream.records.columns import ColumnReader, ColumnWriter
from stream.records.fields import FieldForm
from stream.records.paths import parse_path
from stream.settings.model import RecordSettings

EVENTS = 20_000
KEY = field_key(bytes(32), "bench")
JOBS = Categories([f"occupation {number}" for number in range(12)])


def best(work: Callable[[], object], rounds: int) -> float:
    """Microseconds of processor an event, of the round that was disturbed least."""
    spent = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent) / EVENTS * 1e6


def form(number: int, alphabet: Alphabet = JOBS, at_most: int | None = None) -> FieldForm:
    return FieldForm(f"field{number}", parse_path(f"$.field{number}"), alphabet, at_most)


def value_of(field: FieldForm, draw: np.random.Generator) -> object:
    if field.at_most is None:
        return field.alphabet.value_at(int(draw.integers(field.alphabet.size)))
    return [field.alphabet.value_at(int(place)) for place in draw.permutation(field.alphabet.size)[: field.at_most]]


def block_of(fields: tuple[FieldForm, ...], follows: bool) -> InputBlock:
    draw, records = np.random.default_rng(1), []
    for number in range(EVENTS):
        document: dict[str, object] = {"battery": int(draw.integers(100)), "other": "not released"}
        document |= {field.name: value_of(field, draw) for field in fields}
        if follows:
            document["activity"] = value_of(form(0), draw)
        user = b"user-%d" % (number % 999)
        records.append(FetchedRecord(number, 1_700_000_000_000 + number, user, orjson.dumps(document), []))
    return InputBlock.of(records)


def show(name: str, fields: tuple[FieldForm, ...], follows: bool, mechanism: str, rounds: int) -> None:
    given = {"public": ("$.battery",)} | ({"protect": {"path": "$.activity"}} if follows else {})
    settings = RecordSettings.model_validate(given)
    block = block_of(fields, follows)
    reader, writer = ColumnReader(settings, JOBS, fields), ColumnWriter(settings, JOBS, fields)
    columns, rows = reader.read(block), np.arange(EVENTS)
    reports = []
    for field in fields:
        found = drawn(mechanism, field.alphabet.size, 1.0)
        drawn_reports = found.draw(rows % found.values, report_coins(KEY, 0, EVENTS, found.words))
        written = texts_of(shape_of(found, field.alphabet), drawn_reports)
        reports.append(Reported(Texts(written.data, written.ends), written.at))
    writer.texts(columns, rows, columns.symbols, reports)
    read = best(lambda: reader.read(block), rounds)
    write = best(lambda: writer.texts(columns, rows, columns.symbols, reports), rounds)
    print(f"{name:<34} read {read:6.3f} us   write {write:6.3f} us", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="default: %(default)s")
    rounds = parser.parse_args().rounds
    five = tuple(form(number) for number in range(5))
    cells, lists = form(5, Bins(0.0, 100.0, 10)), form(5, JOBS, 3)
    show("one", (), True, "grr", rounds)
    for count in (1, 5):
        show(f"fields: {count} alone", five[:count], False, "grr", rounds)
        show(f"fields: {count}", five[:count], True, "grr", rounds)
        show(f"bits: {count}", five[:count], True, "oue", rounds)
    show("cells: 4 and 1 of cells", (*five[:4], cells), False, "grr", 3)
    show("lists: 4 and 1 of lists", (*five[:4], lists), False, "grr", 3)
    for values in (8, 64):
        for name in REGISTRY:
            found = drawn(name, values, 1.0, **({"top": [0, 1, 2]} if name == "top_k" else {}))
            shape = shape_of(found, Categories([f"value {number}" for number in range(values)]))
            reports = found.draw(np.arange(EVENTS) % values, report_coins(KEY, 0, EVENTS, found.words))
            spent = best(lambda: texts_of(shape, reports), rounds)  # noqa: B023
            print(f"texts: {name:<8} of {values:<15} write {spent:6.3f} us", flush=True)


if __name__ == "__main__":
    main()
