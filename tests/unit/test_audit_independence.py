"""The auditor shares no arithmetic with what it audits."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import stream.audit

FOLDER = Path(stream.audit.__file__ or "").parent
ENGINE = (
    "mechanisms",
    "beliefs.forward",
    "beliefs.listed",
    "beliefs.rounding",
    "beliefs.ledger",
    "beliefs.belief",
    "beliefs.leakage",
    "beliefs.correlation.account",
    "beliefs.correlation.table_leaks",
    "beliefs.correlation.response_units",
    "beliefs.correlation.nested",
    "beliefs.correlation.moved_rows",
    "beliefs.correlation.moved_nested",
    "beliefs.correlation.table_radii",
    "stream.fields",
    "stream.aggregates",
    "stream.crowds",
    "stream.gathering",
    "beliefs.crowd.account",
    "beliefs.crowd.households",
    "beliefs.crowd.informed",
    "beliefs.crowd.noise",
    "beliefs.crowd.ranges",
    "beliefs.crowd.seen",
    "beliefs.crowd.summed",
    "beliefs.crowd.windows",
    "beliefs.dependence",
    "beliefs.prior",
    "stream.step",
    "stream.policy",
    "stream.recall",
    "stream.drift",
    "stream.state",
    "stream.windows",
    "stream.release_ids",
    "stream.segments",
    "stream.serving",
    "stream.pipeline",
    "stream.promise",
    "stream.opening",
    "stream.stores",
    "stream.protocol",
    "stream.keys",
)
BESIDE_SETTINGS = ("beliefs.crowd.divergence", "beliefs.crowd.members", "beliefs.crowd.sums", "beliefs.crowd.worst")
"""The settings of crowds bring these with them; the auditor has its own."""


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_no_file_of_the_auditor_imports_the_engine() -> None:
    for path in FOLDER.glob("*.py"):
        wrong = {
            name
            for name in imported(path)
            for engine in (*ENGINE, *BESIDE_SETTINGS)
            if f"{name}.".startswith(f"{engine}.")
        }
        assert not wrong, f"{path.name} imports {', '.join(sorted(wrong))}"


def test_nothing_that_the_auditor_imports_imports_the_engine() -> None:
    """Also through others: with the auditor and its command loaded, no module of the engine is there."""
    loaded = "import sys, stream.audit.task, stream.audit.kafka_world, stream.commands.audit"
    code = f"{loaded}\nprint([name for name in {ENGINE!r} if name in sys.modules])"
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, cwd=FOLDER.parents[1])
    assert answer.stdout.strip() == "[]"
