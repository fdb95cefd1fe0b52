"""The tutorial as a reader goes through it: every command in its order, on a Kafka that it starts itself, and every
output compared with the one that is shown.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from broker import free_port
from notes_help import ROOT, Step, differs, steps
from worker import ATTACHED

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]
TUTORIAL = ROOT / "deploy" / "tutorial.md"
MADE_BEFORE = "./deploy/environment"
"""Not run again: it made the environment that the tests run in, and test_demo runs what the tutorial's line runs."""
WHOLE_SECONDS_MAX = 280

# Each block in one shell, as in one terminal; the first command that fails ends it, and nothing outlives it.
RUN_ALL = """\
trap 'left=$(jobs -p); if [ -n "$left" ]; then kill $left; fi' EXIT
set -eu
"""


def reader_steps() -> list[Step]:
    first, *others = steps(TUTORIAL.read_text(encoding="utf-8"))
    assert first.commands.split() == [MADE_BEFORE]
    assert (ROOT / MADE_BEFORE).is_file()
    return others


def test_every_command_of_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    found = reader_steps()
    assert len(found) > 10
    script = RUN_ALL
    for number, step in enumerate(found):
        (tmp_path / f"{number}.sh").write_text(step.commands)
        out, said = tmp_path / f"{number}.out", tmp_path / f"{number}.said"
        script += f". {tmp_path / f'{number}.sh'} >{out} 2>{said}\n"
    (tmp_path / "all.sh").write_text(script)
    port = free_port()
    status, ended = follow(tmp_path, port)
    told = [read(tmp_path / f"{number}.out") for number in range(len(found))]
    wrong = [
        f"{TUTORIAL.name}:{step.line}: shown is {difference}"
        for step, real in zip(found, told, strict=True)
        if step.shown is not None and (difference := differs(step.shown, real))
    ]
    last = max(number for number in range(len(found)) if (tmp_path / f"{number}.out").exists())
    where = f"{found[last].commands}\n{told[last]}\n{read(tmp_path / f'{last}.said')}\n{ended}"
    assert status == 0, f"the last block that ran, line {found[last].line}:\n{where}"
    assert wrong == [], "\n".join(wrong)
    with socket.socket() as knock:
        assert knock.connect_ex(("127.0.0.1", port)) != 0, "the tutorial leaves its Kafka running"


def follow(folder: Path, port: int) -> tuple[int, str]:
    """The exit status of the whole, and what it said outside of blocks. It dies with this process."""
    temporary = folder / "temporary"
    temporary.mkdir()
    # PYTHONPATH: the tree that is tested, whichever one the environment was made from.
    given = {
        "KAFKA": f"127.0.0.1:{port}",
        "STATUS": str(free_port()),
        "TMPDIR": str(temporary),
        "PYTHONPATH": str(ROOT),
    }
    with subprocess.Popen(
        [sys.executable, str(ATTACHED), "bash", str(folder / "all.sh")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **given},
    ) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        try:
            # Not `communicate`, which would close standard input, and with it the shell.
            status = shell.wait(WHOLE_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            status = -1
        shell.stdin.close()
        return status, shell.stdout.read()


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
