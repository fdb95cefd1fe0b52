"""Tables that are cut into cells all at once, against the reader of CSV: the same events, refusals and places."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from fitting_help import NAMES, fields, read, write

from stream.errors import CannotFit
from stream.fitting import table_lines
from stream.fitting.tables import Csv

HEADER = "at,user,other,activity"
ODD = [
    "",
    " ",
    "1,u,x",
    "1,u,x,run,more",
    '1,"u",x,run',
    '1,"u,v",x,run',
    '1,"u\nv",x,run',
    '1,u"v,x,run',
    '1,"u"v,x,run',
    "1,u\rv,x,run",
    "1,u,x,run\r",
    "1,u\0v,x,run",
    "soon,u,x,run",
    "1.5,u,x,run",
    "1 ,u,x,run",
    ",u,x,run",
    "1,,x,run",
    "1,u\udce9,x,run",
    "1,u,\udcff,run",
    "1,u,x,fly",
    "1,\u00e9\u2028\x85,x,run",
    "1," + "u" * 2000 + ",x,run",
    "1,u," + "x" * 140_000 + ",run",
]


def table(rng: random.Random, odd: int) -> bytes:
    rows = [f"{rng.randrange(10**12)},u{rng.randrange(9)},x,{rng.choice(NAMES)}" for _ in range(rng.randrange(1, 60))]
    for _ in range(odd):
        rows.insert(rng.randrange(len(rows) + 1), rng.choice(ODD))
    end = rng.choice(["\n", "\r\n"])
    text = rng.choice(["", "\ufeff"]) + end.join([HEADER, *rows]) + rng.choice(["", end])
    return text.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize("odd", [0, 1, 3])
def test_both_ways_to_read_a_table_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: int) -> None:
    rng, taken = random.Random(odd), 0
    at_once = table_lines._plain_cells
    for _ in range(150):
        path = write(tmp_path, "a.csv", table(rng, odd))
        monkeypatch.setattr(table_lines, "_BLOCK", rng.choice([7, 64, 300, 1 << 20]))
        monkeypatch.setattr(table_lines, "_LONGEST", 1 << 20)
        found = []
        for cut in (at_once, lambda *_: None):
            cuts: list[list[str] | None] = []

            def noted(
                block: bytes, delimiter: str, width: int, cut: Any = cut, cuts: list[Any] = cuts
            ) -> list[str] | None:
                cuts.append(cut(block, delimiter, width))
                return cuts[-1]

            monkeypatch.setattr(table_lines, "_plain_cells", noted)
            reading, events = read(Csv(path, fields()))
            found.append((events, reading.rows, reading.refusals))
            taken += sum(cells is not None for cells in cuts)
        assert found[0] == found[1]
    assert taken > 100


def test_a_table_whose_lines_never_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_lines, "_BLOCK", 1 << 10)
    path = write(tmp_path, "a.csv", f"{HEADER}\n" + "secret," * 20_000)
    with pytest.raises(CannotFit, match="no line ends") as refusal:
        list(Csv(path, fields()).chunks())
    assert "line 2" in str(refusal.value) and "secret" not in str(refusal.value)
