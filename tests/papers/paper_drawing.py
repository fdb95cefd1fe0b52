"""The pictures: panels of lines, one look for each mechanism, the same bytes again for the same numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

mpl.use("Agg")

DOTS: Final = 110
_GREY: Final = "#777777"
_LOOKS: Final[Sequence[tuple[str, str, str, str]]] = (
    # what a name begins with, colour, marker, dashes
    ("published CRR, values taken", "#e0a090", "x", ":"),
    ("published CRR", "#c8553d", "o", "--"),
    ("optimal, values taken", "#8fbbe0", "x", ":"),
    ("window CRR", "#d98f7f", "x", "--"),
    ("Algorithm 2", "#e0a030", "P", ":"),
    ("optimal", "#1b6ca8", "o", "-"),
    ("near, windows of 10", "#0b5f55", "D", "-"),
    ("near, windows of 5", "#1f9e8f", "s", "-"),
    ("near", "#66c2a5", "o", "-"),
    ("windows of 10", "#08306b", "D", "-"),
    ("windows of 5", "#2f4b9c", "s", "-"),
    ("windows of 3", "#6a51a3", "^", "-"),
    ("windows of 2", "#9e9ac8", "v", "-"),
    ("RR-LDP, 2", "#444444", "<", "-."),
    ("RR-LDP", "#888888", ">", "-."),
    ("temporal LDP from raw, 2", "#7a5230", "<", ":"),
    ("temporal LDP from raw", "#b07d4f", ">", ":"),
    ("temporal LDP, 2", "#444444", "<", "-."),
    ("temporal LDP", "#888888", ">", "-."),
    ("ToPS", "#8f5aa8", "*", "-."),
    ("chance", "#bbbbbb", "", ":"),
    ("SPL", "#888888", "s", ":"),
    ("GRF, .4", "#e0a090", ">", ":"),
    ("GRF", "#b07d4f", "<", ":"),
    ("CelebA", "#1b6ca8", "o", "-"),
    ("Adult", "#c8553d", "s", "-"),
    ("CVD", "#3a7d44", "^", "-"),
    ("DSS", "#6a51a3", "D", "-"),
    ("ITS", "#6a51a3", "^", "-"),
    ("CBP", "#e0a030", "P", ":"),
    ("GRR", "#1b6ca8", "o", "-"),
    ("RAPPOR", "#e0a030", "P", "--"),
    ("EXP", "#888888", "v", ":"),
    ("OUE", "#c8553d", "s", "-"),
    ("BLH", "#b07d4f", "<", "--"),
    ("OLH", "#3a7d44", "D", "-"),
    ("SS", "#6a51a3", "^", "-"),
    ("SHE", "#444444", "*", "-."),
    ("at 0.2", "#f0b79f", "v", "-"),
    ("at 0.4", "#e08b6a", "s", "-"),
    ("at 0.6", "#c8553d", "^", "-"),
    ("at 0.8", "#8c2d19", "o", "-"),
    ("at -0.2", "#a9cbe8", "v", "-"),
    ("at -0.4", "#6aa3d5", "s", "-"),
    ("at -0.6", "#1b6ca8", "^", "-"),
    ("at -0.8", "#0b3c66", "o", "-"),
    ("at -0.01", "#c3d9b8", "v", "-"),
    ("at -0.03", "#8fbf7f", "s", "-"),
    ("at -0.05", "#3a7d44", "^", "-"),
    ("at -0.07", "#1d4a25", "o", "-"),
    ("from -1 to 1", "#e0a030", "P", ":"),
    ("exact", "#1b6ca8", "o", "-"),
    ("Theorem 5", "#c8553d", "x", "--"),
    ("Algorithm 1", "#1b6ca8", "o", "-"),
    ("knows nobody", "#c8553d", "", "-"),
    ("knows x2", "#1b6ca8", "", "--"),
    ("LPM, Attack 1", "#888888", "v", ":"),
    ("LPM", "#888888", "v", "-"),
    ("DPM, exact", "#66c2a5", "D", "-"),
    ("DPM, cosine", "#6a51a3", "^", "--"),
    ("DPM, printed", "#3a7d44", "D", "-"),
    ("DPM", "#1b6ca8", "o", "-"),
    ("Zhu et al.", "#e0a030", "P", "-."),
    ("baseline, component", "#b07d4f", "<", "--"),
    ("baseline, L", "#c8553d", "s", "--"),
    ("Attack 1, all", "#888888", "v", "-"),
    ("Attack 1", "#bbbbbb", "v", ":"),
    ("Attack 2, all", "#c8553d", "s", "-"),
    ("Attack 2, 3", "#e0a090", "s", ":"),
    ("Attack 2, better, all", "#1b6ca8", "o", "-"),
    ("Attack 2, better", "#8fbbe0", "o", ":"),
    ("epsilon, in bits", "#222222", "", "--"),
    ("sum, closed", "#c8553d", "o", ""),
    ("sum", "#c8553d", "", "-"),
    ("subtraction, closed", "#3a7d44", "^", ""),
    ("subtraction", "#3a7d44", "", "-"),
    ("multiplication, closed", "#1b6ca8", "s", ""),
    ("multiplication", "#1b6ca8", "", "-"),
    ("the right rho", "#1b6ca8", "o", "-"),
    ("rho taken at 0.9", "#e0a030", "s", "--"),
    ("rho taken at 0.8", "#c8553d", "^", ":"),
    ("independent tuples", "#222222", "", "--"),
    ("the epsilon that is promised", "#222222", "", "--"),
    ("as printed", "#c8553d", "x", "--"),
    ("what is left", "#3a7d44", "^", "-"),
    ("word for word", "#e0a090", "", ":"),
    ("possible moments", "#e0a030", "P", ":"),
    ("one epsilon", "#e0a030", "", ":"),
)


@dataclass(frozen=True)
class Line:
    """`spread` draws so much up and down; what is not `joined` are points."""

    name: str
    across: Sequence[float]
    up: Sequence[float]
    spread: Sequence[float] = ()
    joined: bool = True


@dataclass(frozen=True)
class Panel:
    title: str
    across: str
    up: str
    lines: Sequence[Line]
    log_across: bool = False
    log_up: bool = False
    ticks_at_points: bool = True
    """Of an axis across that is logarithmic."""
    corner: bool = False
    """Both axes begin a little below 0."""
    bands: Sequence[tuple[float, float]] = ()
    """Stretches of the axis across that are shaded."""


def look_of(name: str, number: int) -> dict[str, object]:
    for beginning, colour, marker, dashes in _LOOKS:
        if name.startswith(beginning):
            return {"color": colour, "marker": marker, "linestyle": dashes}
    return {"color": f"C{number}", "marker": "", "linestyle": "-"}


def draw(path: Path, title: str, panels: Sequence[Panel], caption: str, columns: int = 0) -> str:
    """Panels beside each other with one legend below; answers the file's name."""
    columns = columns or len(panels)
    rows = -(-len(panels) // columns)
    names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
    width = max(7.0, 4.6 * columns)
    told = textwrap.wrap(caption, int(width * 14))
    per_row = max(1, int(width // 2.9))
    below = 0.24 * -(-len(names) // per_row) + 0.19 * len(told) + 0.25
    height = 3.6 * rows + below + 0.5
    figure = Figure(figsize=(width, height), facecolor="white")
    axes = figure.subplots(rows, columns, squeeze=False)
    figure.subplots_adjust(
        left=0.75 / width,
        right=1 - 0.2 / width,
        top=1 - 0.85 / height,
        bottom=(below + 0.5) / height,
        wspace=0.75 / 3.8,
        hspace=0.45,
    )
    handles: dict[str, Line2D] = {}
    for place, axis in enumerate(axes.flat):
        if place < len(panels):
            _fill(axis, panels[place], names, handles)
        else:
            axis.set_visible(False)
    figure.suptitle(title, fontsize=12, x=0.35 / width, ha="left", y=1 - 0.12 / height, va="top", weight="bold")
    place_up = (0.19 * len(told) + 0.12) / height
    figure.legend(
        [handles[name] for name in names],
        names,
        loc="lower center",
        bbox_to_anchor=(0.5, place_up),
        ncols=min(per_row, len(names)),
        fontsize=8.5,
        frameon=False,
    )
    figure.text(0.35 / width, 0.06 / height, "\n".join(told), fontsize=8.5, color="#333333", va="bottom")
    save(figure, path)
    return path.name


@dataclass(frozen=True)
class Bar:
    """How often something was so, and an interval for it."""

    name: str
    rate: float
    low: float
    high: float


def draw_bars(
    path: Path,
    title: str,
    across: str,
    panels: Mapping[str, tuple[Sequence[Bar], Sequence[Bar]]],
    kinds: tuple[str, str],
    marks: Mapping[str, float],
    caption: str,
) -> str:
    """Two bars a name, lying, with their intervals; `marks` are upright lines."""
    names = [bar.name for bar in next(iter(panels.values()))[0]]
    width, height = 11.0, 1.3 + (0.42 * len(names) + 1.0) * -(-len(panels) // 2)
    figure = Figure(figsize=(width, height + 0.5), facecolor="white")
    axes = figure.subplots(-(-len(panels) // 2), 2, squeeze=False, sharex=True)
    figure.subplots_adjust(
        left=2.9 / width, right=1 - 0.2 / width, top=1 - 0.75 / height, bottom=1.25 / height, wspace=0.08, hspace=0.2
    )
    handles: dict[str, Artist] = {}
    most = min(1.0, max(bar.high for pair in panels.values() for bars in pair for bar in bars) + 0.03)
    for place, (axis, (heading, pair)) in enumerate(zip(axes.flat, panels.items(), strict=False)):
        for which, (bars, colour) in enumerate(zip(pair, ("#9db8cf", "#c8553d"), strict=True)):
            spread = [[bar.rate - bar.low for bar in bars], [bar.high - bar.rate for bar in bars]]
            up = [len(names) - number + 0.2 - 0.4 * which for number in range(len(names))]
            look = {"height": 0.36, "color": colour, "ecolor": "#555555", "error_kw": {"linewidth": 0.8, "capsize": 2}}
            handles.setdefault(kinds[which], axis.barh(up, [bar.rate for bar in bars], xerr=spread, **look))
        for (mark, value), dashes in zip(marks.items(), (":", "--"), strict=False):
            handles.setdefault(mark, axis.axvline(value, color="#333333", linestyle=dashes, linewidth=1.1))
        axis.set_yticks(range(len(names), 0, -1), names if place % 2 == 0 else [""] * len(names), fontsize=8.5)
        axis.set_title(heading, fontsize=10)
        axis.set_xlim(0, most)
        if place >= len(panels) - 2:
            axis.set_xlabel(across, fontsize=9)
        axis.tick_params(axis="x", labelsize=8)
        axis.grid(axis="x", color="#e4e4e4", linewidth=0.7)
        axis.set_axisbelow(True)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    figure.suptitle(title, fontsize=12, x=0.35 / width, ha="left", y=1 - 0.12 / height, va="top", weight="bold")
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="lower center",
        bbox_to_anchor=(0.5, 0.5 / height),
        ncols=4,
        fontsize=8.5,
        frameon=False,
    )
    told = "\n".join(textwrap.wrap(caption, int(width * 14)))
    figure.text(0.35 / width, 0.06 / height, told, fontsize=8.5, color="#333333", va="bottom")
    save(figure, path)
    return path.name


def save(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=DOTS, metadata={"Software": None})


def _fill(axis: Axes, panel: Panel, names: Sequence[str], handles: dict[str, Line2D]) -> None:
    for low, high in panel.bands:
        axis.axvspan(low, high, color="#f6d9d2", zorder=0, linewidth=0)
    for line in panel.lines:
        look = look_of(line.name, names.index(line.name))
        if not line.joined:
            look |= {"linestyle": "none", "marker": look["marker"] or "."}
        every = max(1, len(line.across) // 12) if line.joined else 1
        (handle,) = axis.plot(line.across, line.up, linewidth=1.7, markersize=4.5, markevery=every, **look)  # type: ignore[arg-type]
        if line.spread:
            axis.errorbar(
                line.across, line.up, line.spread, fmt="none", ecolor=handle.get_color(), linewidth=0.9, capsize=2
            )
        handles.setdefault(line.name, handle)
    axis.set_title(panel.title, fontsize=10)
    axis.set_xlabel(panel.across, fontsize=9)
    axis.set_ylabel(panel.up, fontsize=9)
    if panel.log_across:
        axis.set_xscale("log")
    if panel.log_across and panel.ticks_at_points:
        ticks = sorted({at for line in panel.lines for at in line.across})
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_xticks([], minor=True)
    if panel.log_up:
        axis.set_yscale("log")
    if panel.corner:
        furthest = max(max(line.across) for line in panel.lines)
        highest = max(max(line.up) for line in panel.lines)
        for most, data, limit in (
            (axis.get_xlim()[1], furthest, axis.set_xlim),
            (axis.get_ylim()[1], highest, axis.set_ylim),
        ):
            limit(-0.04 * max(most, 0.05), max(most, 1.04 * data, 0.05))
    axis.tick_params(labelsize=8)
    axis.grid(color="#e4e4e4", linewidth=0.7)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axis.spines[side].set_color(_GREY)
