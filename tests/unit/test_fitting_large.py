"""Tens of thousands of values: a tail and few named values. The click stream, or a stand-in of its kind."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from fitting_help import write

from beliefs.learning.written import NAMED_MOST
from stream.fitting.asked import Asked, task_of
from stream.fitting.fit import fit
from stream.fitting.progress import Progress
from stream.fitting.report import figures, write_report

SESSIONS, ITEMS = 12_000, 9_000


def clicks() -> Iterator[tuple[int, int]]:
    """Session and item, in the order of the clicks."""
    folder = os.environ.get("SOTTOVOCE_DATA")
    if folder:
        (file,) = Path(folder).glob("kosarak-*.dat.gz")
        with gzip.open(file, "rt") as lines:
            yield from ((session, int(item)) for session, line in enumerate(lines) for item in line.split())
        return
    rng = np.random.default_rng(4)
    popular = 1.0 / np.arange(1, ITEMS + 1) ** 1.1
    for session in range(SESSIONS):
        item = int(rng.choice(ITEMS, p=popular / popular.sum()))
        for _ in range(int(rng.integers(1, 16))):
            yield session, item
            item = (item * 7 + 3) % ITEMS if rng.random() < 0.5 else int(rng.integers(0, 400))


def test_a_click_stream_is_learnt_with_a_tail(tmp_path: Path) -> None:
    rows = [f'{{"session": {session}, "item": {item}}}' for session, item in clicks()]
    file = write(tmp_path, "clicks.jsonl", "\n".join(rows))
    task = task_of(Asked(source=str(file), user="session", value="item", sample="public"), None)
    fitted = fit(task, Progress(None))
    facts, chain = figures(fitted), fitted.model.chain
    assert (fitted.model.version, facts["events"], facts["refused"]) == (3, len(rows), {})
    assert np.unique(chain.indices).size <= NAMED_MOST  # beliefs stay exact: they keep as many entries by themselves
    assert float(chain.left.min()) > 0 and float(chain.tail.min()) > 0
    nats = [one["nats"] for one in facts["held_out"]["orders"]]
    assert facts["order"] == 1 and nats[1] < nats[0] - 0.5 < facts["held_out"]["uniform"]["nats"]
    assert facts["radius"]["worst"] == 1.0 and facts["radius"]["rows_beyond_a_half"] > 1000
    assert facts["proposed"][1] == {"of": "worst", "radius": 1.0, "epsilon": 0.5}
    text = write_report(json.loads(json.dumps(facts)), "")
    assert "none (worst row): too little is known" in text
