"""Speed of the questions about correlated fields, in one process:

    python tests/bench/bench_correlation.py [--rounds R]

bound        one law of 300 secrets by 300 values, all 90,000 ordered pairs, at several budgets
frontier     the same question answered from the sorted frontier, after it was built
calibration  20 fields of 2 to 8 values and 30,000 records: equal budgets by the bound for any mechanisms
pairwise     the same fields, pair by pair; equal and unequal budgets
draws        reports a second of each local mechanism, for 16 values at 1 nat
joint        fit --joint: 300,000 rows of three fields and a person's name, from CSV

Ends with 1 where a stated limit is exceeded: 50 ms of processor time for the bound over all pairs, 5 s for calibration.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from beliefs.correlation.bound import bound
from beliefs.correlation.calibration import GroupMeter, PairwiseMeter, equal_budgets, unequal_budgets
from beliefs.correlation.frontier import Frontier
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.registry import REGISTRY, drawn
from stream.fitting.asked import Asked
from stream.fitting.joint import FittedJoint, fit_joint
from stream.fitting.joint_asked import joint_task_of
from stream.fitting.progress import Progress

FIELDS, RECORDS, DRAWS, PEOPLE = 20, 30_000, 200_000, 300_000
BOUND_MS, CALIBRATION_MS = 50.0, 5_000.0


def latent_records(generator: np.random.Generator) -> np.ndarray:
    """Fields that hang together through one hidden class of four."""
    classes = generator.integers(0, 4, RECORDS)
    columns = []
    for field in range(FIELDS):
        laws = generator.dirichlet(np.full(2 + field % 7, 0.8), 4).cumsum(axis=1)
        columns.append((generator.random(RECORDS)[:, None] > laws[classes]).sum(axis=1))
    return np.stack(columns, axis=1)


class Pairs(PairwiseMeter):
    """The pairwise meter of records, whose whole table would have 10^13 cells."""

    def __init__(self, records: np.ndarray) -> None:
        self.fields = records.shape[1]
        self.frontiers = {}
        for secret in range(self.fields):
            for other in range(self.fields):
                if other != secret:
                    counts = np.zeros((records[:, secret].max() + 1, records[:, other].max() + 1))
                    np.add.at(counts, (records[:, secret], records[:, other]), 1.0)
                    self.frontiers[secret, other] = Frontier(counts / counts.sum(axis=1, keepdims=True))


exceeded: list[str] = []


def show(name: str, rounds: int, work: Callable[[], object], limit_ms: float = float("inf")) -> None:
    work()
    spent, worked = [], []
    for _ in range(rounds):
        start, used = time.perf_counter(), time.process_time()
        work()
        spent.append((time.perf_counter() - start) * 1e3)
        worked.append((time.process_time() - used) * 1e3)
    figures = f"median {statistics.median(spent):9.2f} ms   best {min(spent):9.2f} ms   processor {min(worked):9.2f} ms"
    over = min(worked) > limit_ms
    print(f"{name:<42} {figures}{f'   above its limit of {limit_ms:g} ms' if over else ''}", flush=True)
    if over:
        exceeded.append(name)


def people_csv(folder: Path) -> Path:
    generator, file = np.random.default_rng(2), folder / "people.csv"
    columns = [generator.integers(0, size, PEOPLE).tolist() for size in (2, 6, 12)]
    rows = (f"p{number},a{a},b{b},c{c}\n" for number, (a, b, c) in enumerate(zip(*columns, strict=True)))
    file.write_text("id,a,b,c\n" + "".join(rows), encoding="utf-8")
    return file


def fit_of(file: Path) -> FittedJoint:
    return fit_joint(joint_task_of("a,b,c", Asked(source=str(file), user="id"), None), Progress(None))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    rounds = parser.parse_args().rounds
    generator = np.random.default_rng(1)
    for shape in (0.1, 1.0, 100.0):
        laws = generator.dirichlet(np.full(300, shape), 300)
        for epsilon in (0.5, 1.0, 3.0, 8.0, 2_000.0):
            name = f"bound 300 x 300, shape {shape:g}, epsilon {epsilon:g}"
            show(name, rounds, lambda: bound(laws, epsilon), BOUND_MS)  # noqa: B023
    small = generator.dirichlet(np.ones(300), 30)
    show("frontier of 30 x 300, built", 3, lambda: Frontier(small))
    ready = Frontier(small)
    show("frontier of 30 x 300, one epsilon", rounds, lambda: ready.bound(1.0))
    records = latent_records(generator)
    name = f"calibration, {FIELDS} fields, any mechanisms"
    show(name, 1, lambda: equal_budgets(GroupMeter.of_records(records), 2.0), CALIBRATION_MS)
    show(f"pairwise, {FIELDS} fields, equal", 1, lambda: equal_budgets(Pairs(records), 2.0), CALIBRATION_MS)
    caps = np.linspace(1.0, 3.0, FIELDS)
    show(f"pairwise, {FIELDS} fields, unequal", 1, lambda: unequal_budgets(Pairs(records), caps))
    key = field_key(bytes(32), "bench")
    values = np.arange(DRAWS, dtype=np.int64) % 16
    for name in REGISTRY:
        found = drawn(name, 16, 1.0, **({"top": [0, 1, 2, 3]} if name == "top_k" else {}))
        show(f"{DRAWS:,} draws of {name}", 3, lambda: found.draw(values, report_coins(key, 0, DRAWS, found.words)))  # noqa: B023
    with tempfile.TemporaryDirectory() as folder:
        file = people_csv(Path(folder))
        show(f"joint table of {PEOPLE:,} rows", 1, lambda: fit_of(file))
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
