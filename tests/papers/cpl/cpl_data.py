"""The paper's data sets: Adult out of a pinned wheel, CVD and CelebA where SOTTOVOCE_DATA holds them, else stand-ins.

`cardio_train.csv` is the public CVD file, `list_attr_celeba.txt` CelebA's list of attributes. DSS 2016 and LFW's
attributes were not to be had: they are always stand-ins.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import cpl_stand_ins
import numpy as np
from numpy.typing import NDArray
from paper_wheel import Wheel, member

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

ADULT_WHEEL: Final = Wheel("xai", "0.3.0", "b91e3611c3735462b514ee7b5eddd15503eb09eb2c25804acbf9aac502aaf24a")
ADULT_FILE: Final = "xai/data/census.csv"
ADULT_FIELDS: Final = {
    "workclass": "workclass",
    "education": "education",
    "marital-status": "marital",
    "occupation": "occupation",
    "relationship": "relationship",
    "ethnicity": "race",
    "gender": "gender",
    "loan": "income",
}
"""The wheel's name of each categorical attribute, and the paper's; it has no country."""
HEART_FILE, FACES_FILE = "cardio_train.csv", "list_attr_celeba.txt"
HEART_FIELDS: Final = ("gender", "cholesterol", "gluc", "smoke", "alco", "active", "cardio")
CARDIO_BY_CHOLESTEROL: Final = ((29330, 3799, 1892), (23055, 5750, 6174))
"""Public counts of CVD: rows without and with the disease, columns cholesterol normal, above, well above."""
FACES: Final = 40
LFW_ALIKE: Final[tuple[str, ...]] = (
    *("5_o_Clock_Shadow", "Arched_Eyebrows", "Bags_Under_Eyes", "Bald", "Bangs", "Big_Lips", "Big_Nose"),
    *("Black_Hair", "Blond_Hair", "Blurry", "Brown_Hair", "Bushy_Eyebrows", "Chubby", "Double_Chin", "Eyeglasses"),
    *("Goatee", "Gray_Hair", "Heavy_Makeup", "High_Cheekbones", "Male", "Mouth_Slightly_Open"),
)
"""CelebA's first 21 attributes that LFW has by the same name; which 21 the paper took it does not say."""


class Data(NamedTuple):
    """Rows are records of value numbers; `real` where it is the paper's own data."""

    name: str
    source: str
    real: bool
    names: tuple[str, ...]
    records: Integers

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple((self.records.max(axis=0) + 1).tolist())

    @property
    def label(self) -> str:
        return self.name if self.real else f"{self.name} (stand-in)"

    def axis(self, name: str) -> int:
        return self.names.index(name)

    def only(self, names: Sequence[str]) -> Data:
        places = [self.axis(name) for name in names]
        return self._replace(names=tuple(names), records=self.records[:, places])

    def table(self, *axes: int) -> Floats:
        """How many records have each combination of values."""
        sizes = [self.sizes[axis] for axis in axes]
        cells = np.ravel_multi_index([self.records[:, axis] for axis in axes], sizes)
        return np.bincount(cells, minlength=int(np.prod(sizes))).reshape(sizes).astype(np.float64)


def numbered(name: str, source: str, columns: Mapping[str, Sequence[str]]) -> Data:
    """Values are numbered in alphabetical order."""
    records = [np.unique(np.array(column), return_inverse=True)[1] for column in columns.values()]
    return Data(name, source, True, tuple(columns), np.stack(records, axis=1).astype(np.int64))


@lru_cache(maxsize=1)
def adult() -> Data:
    text = member(ADULT_WHEEL, ADULT_FILE).decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(text), skipinitialspace=True))
    columns = {ours: [row[theirs] for row in rows] for theirs, ours in ADULT_FIELDS.items()}
    return numbered("Adult", f"Adult: {len(rows):,} records of its public training file, 8 attributes", columns)


@lru_cache(maxsize=1)
def heart() -> Data:
    found = _in_folder(HEART_FILE)
    if found is None:
        records = cpl_stand_ins.heart(np.array(CARDIO_BY_CHOLESTEROL))
        source = "CVD, cardio by cholesterol from its public counts, its five other attributes a seeded stand-in"
        return Data("CVD", source, False, HEART_FIELDS, records)
    with found.open(encoding="ascii", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter=";"))
    columns = {name: [row[name] for row in rows] for name in HEART_FIELDS}
    return numbered("CVD", f"CVD: {len(rows):,} records of its public file, 7 categorical attributes", columns)


@lru_cache(maxsize=1)
def faces() -> Data:
    found = _in_folder(FACES_FILE)
    if found is None:
        records = cpl_stand_ins.latent(cpl_stand_ins.FACES, [2] * FACES)
        source = f"a seeded stand-in for CelebA: {len(records):,} records of {FACES} binary attributes"
        return Data("CelebA", source, False, tuple(f"face {number}" for number in range(FACES)), records)
    with found.open(encoding="ascii") as lines:
        next(lines)
        names = tuple(next(lines).split())
        signs = np.loadtxt(lines, dtype=np.int64, usecols=range(1, len(names) + 1))
    records = (signs > 0).astype(np.int64)
    return Data("CelebA", f"CelebA: {len(records):,} records of {len(names)} binary attributes", True, names, records)


@lru_cache(maxsize=1)
def welfare() -> Data:
    sizes = cpl_stand_ins.WELFARE_SIZES
    records = cpl_stand_ins.latent(cpl_stand_ins.WELFARE, sizes)
    source = f"a seeded stand-in for DSS: {len(records):,} records of {len(sizes)} attributes with 2 to 12 values"
    return Data("DSS", source, False, tuple(f"field {number}" for number in range(len(sizes))), records)


def shared_faces(attributes: int) -> Data:
    """What CelebA and LFW both have, so many of it."""
    found = faces()
    return found.only((LFW_ALIKE if found.real else found.names)[:attributes])


def other_faces(found: Data) -> Data:
    """A stand-in for LFW: fewer records of another mixture of the same people, read with errors."""
    records = cpl_stand_ins.elsewhere(found.records)
    return found._replace(name="LFW", source="a seeded stand-in for LFW", real=False, records=records)


ALL: Final[Sequence[Callable[[], Data]]] = (faces, adult, heart, welfare)


def _in_folder(name: str) -> Path | None:
    folder = os.environ.get("SOTTOVOCE_DATA")
    found = Path(folder) / name if folder else None
    return found if found is not None and found.is_file() else None
