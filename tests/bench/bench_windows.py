"""What a window costs, against the number of values and its length, on one core:

    python tests/bench/bench_windows.py [--chart FILE.svg]

Ours: the single coin with delay (`bisect`) and without (`natural`), and the ascent of the dual over all sequences,
which is nearly the best there is. The paper's: Algorithm 2 on |X|^2w entries, as far as it goes. Each is told to keep
1 nat for the whole window of a sticky chain; a time is the median of several windows.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from bench_chart import write_chart
from rich.console import Console
from rich.progress import track
from rich.table import Table

from beliefs.chain import Chain
from beliefs.forward import chain_arrays, reversed_arrays
from mechanisms.coins import keystream
from mechanisms.sequence.distortion_value import distortion_value
from mechanisms.sequence.published_batch_value import published_batch_value
from mechanisms.sequence.window import coins_needed, plan_of, release_window
from mechanisms.sequence.window_beliefs import new_room, new_tools
from mechanisms.sequence.window_running import new_running, release_next

EPSILON = 1.0
VALUES = (2, 3, 4, 6, 10, 30, 100, 300, 1000)
LENGTHS = (2, 5, 10, 20)
LENGTH_OF_PLOT = 5
SEQUENCES_OF_ASCENT, SEQUENCES_OF_PAPER = 260, 64
PAPER_STEP = 0.1
PATIENCE_SECONDS = 1.0
Seconds = float


def sticky(size: int) -> Chain:
    rows = np.full((size, size), 0.1 / (size - 1))
    np.fill_diagonal(rows, 0.9)
    return Chain.from_dense([1 / size] * size, rows)


def median_time(work: Callable[[int], object]) -> Seconds:
    """After one call that compiles; at least three, and more while it takes less than a second."""
    work(0)
    times: list[Seconds] = []
    began = time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - began < PATIENCE_SECONDS and len(times) < 1_000):
        start = time.perf_counter()
        work(len(times) + 1)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def one_window(size: int, length: int, order: str) -> Seconds:
    chain = sticky(size)
    tools, room = new_tools(chain_arrays(chain), reversed_arrays(chain)), new_room(length, size)
    plan, start, shown = plan_of(EPSILON, length, size), chain.start.copy(), np.zeros(length, dtype=np.int64)
    coins = keystream(bytes(range(32)), 0, 1_001 * coins_needed(length)).reshape(-1)
    values = np.arange(length, dtype=np.int64) % size

    def bisect(number: int) -> None:
        words = coins[number * coins_needed(length) :][: coins_needed(length)]
        release_window(plan, tools, start, values, words, room, shown)

    def natural(number: int) -> None:
        words = coins[number * coins_needed(length) :][: coins_needed(length)]
        running = new_running(size)
        for i in range(length):
            release_next(plan, tools, start, int(values[i]), words[[0, 2 * i + 1, 2 * i + 2]], room, running)

    return median_time(bisect if order == "bisect" else natural)


def one_ascent(size: int, length: int) -> Seconds:
    """Over all sequences; the channel serves one belief only, so every window needs its own."""
    values = np.array(list(itertools.product(range(size), repeat=length)))
    moves = (values[:, 1:] != values[:, :-1]).sum(axis=1)
    chances = (0.9 ** (length - 1 - moves)) * ((0.1 / (size - 1)) ** moves) / size
    costs = (values[:, None, :] != values[None, :, :]).mean(axis=2)
    return median_time(lambda _: distortion_value(chances, costs, EPSILON))


def one_of_the_paper(size: int, length: int) -> Seconds:
    chain = sticky(size)
    return median_time(lambda _: published_batch_value(chain, length, EPSILON, PAPER_STEP))


def measure(console: Console) -> dict[str, dict[tuple[int, int], Seconds]]:
    found: dict[str, dict[tuple[int, int], Seconds]] = {}
    cells = [(size, length) for length in LENGTHS for size in VALUES]
    for size, length in track(cells, description="measuring", console=console):
        for order in ("bisect", "natural"):
            found.setdefault(order, {})[size, length] = one_window(size, length, order)
        if size**length <= SEQUENCES_OF_ASCENT:
            found.setdefault("dual ascent", {})[size, length] = one_ascent(size, length)
        if size**length <= SEQUENCES_OF_PAPER:
            found.setdefault("the paper's Algorithm 2", {})[size, length] = one_of_the_paper(size, length)
    return found


def show(found: dict[str, dict[tuple[int, int], Seconds]], console: Console) -> None:
    table = Table(title="milliseconds a window, median, one core")
    for name in ("values", "length", *found):
        table.add_column(name, justify="right")
    for length in LENGTHS:
        for size in VALUES:
            times = [found[name].get((size, length)) for name in found]
            table.add_row(str(size), str(length), *("" if t is None else f"{1000 * t:.3f}" for t in times))
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chart", type=Path, help="write milliseconds against the number of values to this SVG file")
    arguments = parser.parse_args()
    console = Console()
    found = measure(console)
    show(found, console)
    if arguments.chart is not None:
        lines = {
            f"{name}, length {length}": [
                (float(size), 1000 * seconds) for (size, at), seconds in sorted(times.items()) if at == length
            ]
            for name, times in found.items()
            for length in (2, LENGTH_OF_PLOT, 20)
        }
        told = {name: line for name, line in lines.items() if line}
        write_chart(arguments.chart, "What a window costs", "values |X|", "milliseconds a window", told)


if __name__ == "__main__":
    main()
