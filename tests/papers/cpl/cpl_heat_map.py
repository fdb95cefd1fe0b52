"""A square of numbers, each in its colour."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from paper_drawing import save

from mechanisms.contract import Floats


def heat_map(
    path: Path, title: str, names: Sequence[str], entries: Floats, words: tuple[str, str], caption: str
) -> str:
    """Row: the attribute that loses; column: the one that tells. The diagonal is left empty."""
    size = len(names)
    width, height = 3.0 + 0.75 * size, 2.5 + 0.6 * size
    figure = Figure(figsize=(width, height), facecolor="white")
    axis = figure.add_axes((1.55 / width, 0.75 / height, 0.75 * size / width, 0.6 * size / height))
    shown = np.where(np.eye(size, dtype=bool), np.nan, entries)
    image = axis.imshow(shown, cmap="YlOrRd", vmin=0.0, aspect="auto")
    for row in range(size):
        for column in range(size):
            if row != column:
                dark = entries[row, column] > 0.6 * np.nanmax(shown)
                text = f"{entries[row, column]:.3f}".lstrip("0")
                axis.text(column, row, text, ha="center", va="center", fontsize=9, color="white" if dark else "black")
    axis.set_xticks(range(size), names, rotation=30, ha="left", fontsize=9)
    axis.set_yticks(range(size), names, fontsize=9)
    axis.xaxis.tick_top()
    axis.xaxis.set_label_position("top")
    axis.set_xlabel(words[1], fontsize=9)
    axis.set_ylabel(words[0], fontsize=9)
    bar = figure.add_axes((1 - 0.95 / width, 0.75 / height, 0.2 / width, 0.6 * size / height))
    figure.colorbar(image, cax=bar).set_label("nats", fontsize=9)
    figure.suptitle(title, fontsize=12, x=0.2 / width, ha="left", y=1 - 0.12 / height, va="top", weight="bold")
    told = "\n".join(textwrap.wrap(caption, int(width * 13)))
    figure.text(0.2 / width, 0.08 / height, told, fontsize=8.5, color="#333333", va="bottom")
    save(figure, path)
    return path.name
