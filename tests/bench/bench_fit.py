"""Learning a model on one core: processor seconds and memory of `sottovoce fit` against rows and users.

    PYTHONPATH=. python tests/bench/bench_fit.py --rows 1000000,10000000 --users 10000,1000000

Each file is made in a temporary folder (70 MB of Parquet, 300 MB of CSV, 600 MB of JSON lines for ten million rows)
and read by a process of its own that may use one core. Its processor seconds (user and system) depend less on what else
the machine does than the clock on the wall would; start and imports are in them. Beside it stands what somebody would
write instead: the whole file in memory through pyarrow, transitions counted with numpy; no order is chosen, nothing is
judged, and nothing that is wrong in the file is found.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from pyarrow import parquet

FORMS = ("jsonl", "csv", "parquet")
VALUES, STAY, AT_ONCE = 10, 0.7, 200_000
IN_MEMORY = """
import sys
import numpy as np
from pyarrow import compute, csv, json, parquet
file = sys.argv[1]
table = {"jsonl": json.read_json, "csv": csv.read_csv, "parquet": parquet.read_table}[file.rsplit(".", 1)[1]](file)
columns = (compute.dictionary_encode(table[name]).combine_chunks() for name in ("user", "activity"))
users, values = (column.indices.to_numpy() for column in columns)
order = np.argsort(users, kind="stable")
users, values = users[order], values[order].astype(np.int64)
same, size = users[1:] == users[:-1], int(values.max()) + 1
counts = np.bincount(values[:-1][same] * size + values[1:][same], minlength=size * size).reshape(size, size)
print(counts.sum())
"""


@dataclass(frozen=True)
class Cost:
    processor: float
    mebibytes: float


def cost_of(command: list[str]) -> Cost:
    """One process on one core, and what the system says of it when it has ended."""
    child = os.fork()
    if child == 0:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os.execv(command[0], command)
    _, status, used = os.wait4(child, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)} ended with status {os.waitstatus_to_exitcode(status)}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def write(folder: Path, rows: int, users: int) -> dict[str, Path]:
    """Users take turns; each stays with what it does, or does any of the values."""
    rng, done, at = np.random.default_rng(1), 0, 1_700_000_000_000
    files = {form: folder / f"{rows}-{users}.{form}" for form in FORMS}
    doing, names = rng.integers(0, VALUES, users), np.array([f"act{value}" for value in range(VALUES)])
    schema = pa.schema([("user", pa.string()), ("activity", pa.string()), ("at", pa.int64())])
    with (
        files["csv"].open("w") as csv,
        files["jsonl"].open("w") as lines,
        parquet.ParquetWriter(files["parquet"], schema) as table,
    ):
        csv.write("user,activity,at\n")
        while done < rows:
            doing = np.where(rng.random(users) < STAY, doing, rng.integers(0, VALUES, users))
            for low in range(0, min(users, rows - done), AT_ONCE):
                high = min(low + AT_ONCE, users, rows - done)
                who, what = [f"user-{user}" for user in range(low, high)], names[doing[low:high]].tolist()
                pairs = list(zip(who, what, strict=True))
                csv.write("".join(f"{user},{value},{at}\n" for user, value in pairs))
                lines.write("".join(f'{{"user":"{user}","activity":"{value}","at":{at}}}\n' for user, value in pairs))
                table.write_table(pa.table([who, what, [at] * len(who)], schema=schema))
            done, at = done + users, at + 60_000
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1000000,10000000")
    parser.add_argument("--users", default="10000")
    parser.add_argument("--forms", default=",".join(FORMS))
    arguments = parser.parse_args()
    head = f"{'form':8} {'rows':>11} {'users':>10} {'CPU s':>7} {'rows/s':>10} {'MiB':>6}"
    print(f"{head} {'in memory, CPU s':>17} {'MiB':>6} {'ratio of CPU':>13}")
    with TemporaryDirectory() as folder:
        for users in map(int, arguments.users.split(",")):
            for rows in map(int, arguments.rows.split(",")):
                files = write(Path(folder), rows, users)
                for form in arguments.forms.split(","):
                    fields = ["--user", "user", "--value", "activity", "--time", "at", "--sample", "public"]
                    fit = [sys.executable, "-m", "stream", "fit", "--from", str(files[form]), *fields]
                    own = cost_of([*fit, "--out", f"{folder}/model.json", "--replace"])
                    other = cost_of([sys.executable, "-c", IN_MEMORY, str(files[form])])
                    line = f"{form:8} {rows:11,} {users:10,} {own.processor:7.1f} {rows / own.processor:10,.0f}"
                    beside = f"{other.processor:17.1f} {other.mebibytes:6,.0f} {own.processor / other.processor:13.1f}"
                    print(f"{line} {own.mebibytes:6,.0f} {beside}", flush=True)
                for file in files.values():
                    file.unlink()


if __name__ == "__main__":
    main()
