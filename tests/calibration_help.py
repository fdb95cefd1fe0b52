"""People with fields that hang together, as records and as a joint table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from beliefs.correlation.joint_file import JointModel, serialise
from beliefs.correlation.tables import JointTable

NAMES = ("work", "school", "income")
LABELS = (("clerk", "nurse", "pilot"), ("none", "some", "much", "more"), ("high", "low"))


def people(count: int = 3000, seed: int = 5) -> list[tuple[str, ...]]:
    generator = np.random.default_rng(seed)
    kind = generator.integers(0, 3, count)
    columns = []
    for labels, kept in zip(LABELS, (0.7, 0.5, 0.4), strict=True):
        own = np.where(generator.random(count) < kept, kind % len(labels), generator.integers(0, len(labels), count))
        columns.append([labels[place] for place in own.tolist()])
    return list(zip(*columns, strict=True))


def table_of(rows: list[tuple[str, ...]]) -> JointTable:
    records = [dict(zip(NAMES, row, strict=True)) for row in rows]
    return JointTable.from_records(dict(zip(NAMES, LABELS, strict=True)), records)


def records_file(folder: Path, rows: list[tuple[str, ...]], name: str = "people.csv", delimiter: str = ",") -> Path:
    file = folder / name
    file.write_text("\n".join(delimiter.join(row) for row in [NAMES, *rows]) + "\n", encoding="utf-8")
    return file


def many_values(folder: Path, first: str = "a") -> Path:
    """Six fields of eleven values: more combinations than a table may have."""
    file = folder / "many.csv"
    rows = [[f"{(row * (column + 1)) % 11}" for column in range(6)] for row in range(300)]
    file.write_text("\n".join(",".join(row) for row in [[first, *"bcdef"], *rows]) + "\n", encoding="utf-8")
    return file


def joint_file(folder: Path, table: JointTable) -> Path:
    file = folder / "joint.json"
    file.write_bytes(serialise(JointModel(table)))
    return file
