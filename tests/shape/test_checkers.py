"""Style, types and import contracts, as tests: one closing line then speaks for all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(sys.executable).parent


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "--quiet", "--output-format", "concise", "."],
        ["mypy", "--strict", "stream", "mechanisms", "beliefs"],
        ["mypy", "--strict", "deploy/bootstrap", "deploy/kafka", "deploy/demonstration", "deploy/grafana"],
        ["lint-imports", "--no-cache"],
    ],
    ids=["ruff", "mypy-rooms", "mypy-deploy", "import-contracts"],
)
def test_the_checker_accepts_the_tree(command: list[str]) -> None:
    answer = subprocess.run(
        [str(SCRIPTS / command[0]), *command[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert answer.returncode == 0, f"{' '.join(command)}\n{answer.stdout[-6000:]}{answer.stderr[-2000:]}"
