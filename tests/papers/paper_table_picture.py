"""A table of numbers as a picture."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from paper_drawing import save
from paper_findings import Numbers, shown


def draw_table(path: Path, title: str, numbers: Numbers) -> str:
    cells = [[shown(cell) for cell in row] for row in numbers.rows]
    longest = [max(len(row[place]) for row in [list(numbers.columns), *cells]) for place in range(len(numbers.columns))]
    width, height = 0.6 + 0.088 * sum(longest) + 0.14 * len(longest), 0.9 + 0.25 * (len(cells) + 1)
    figure = Figure(figsize=(width, height), facecolor="white")
    axis = figure.add_axes((0.2 / width, 0.15 / height, 1 - 0.4 / width, 1 - 0.75 / height))
    axis.set_axis_off()
    table = axis.table(
        cellText=cells,
        colLabels=list(numbers.columns),
        colWidths=[(each + 1.6) / (sum(longest) + 1.6 * len(longest)) for each in longest],
        bbox=Bbox.unit(),
        cellLoc="right",
    )
    table.auto_set_font_size(False)
    table.set_fontsize(8.5)
    for (row, _), cell in table.get_celld().items():
        cell.set_edgecolor("#cccccc")
        cell.set_facecolor("#eef2f6" if row == 0 else "white")
    figure.suptitle(title, fontsize=12, x=0.2 / width, ha="left", y=1 - 0.12 / height, va="top", weight="bold")
    save(figure, path)
    return path.name
