"""Writes the dashboards' JSON beside this file:   .venv/bin/python deploy/grafana/dashboards.py

Import operators.json and privacy.json into Grafana 11 or newer, or provision them; they ask which Prometheus to read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from for_operators import FOR_OPERATORS
from for_privacy import FOR_PRIVACY
from panels import Dashboard

HERE: Final = Path(__file__).resolve().parent
DASHBOARDS: Final = (FOR_OPERATORS, FOR_PRIVACY)


def file_of(dashboard: Dashboard) -> Path:
    return HERE / f"{dashboard.name}.json"


def main() -> None:
    for dashboard in DASHBOARDS:
        file_of(dashboard).write_text(dashboard.json(), encoding="utf-8")


if __name__ == "__main__":
    main()
