"""Makes or renews .venv from a hashed lock, and installs the project into it so that edits are seen at once.

Nothing happens when the environment already holds what the lock says, so every command of the project may
call this first. Only the standard library is used: this runs before anything is installed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import machine

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "sottovoce-environment.json"
LOCKS = ("run", "test", "bench")
"""Each lock holds the one before it at the same versions, so a later one serves whoever asks for an earlier one."""


def lock_file(name: str) -> Path:
    return ROOT / "deploy" / "lock" / f"{name}.txt"


def digest(name: str) -> str:
    """Changes whenever the lock, the interpreter or the way the project itself is installed changes."""
    material = hashlib.sha256()
    for path in (lock_file(name), ROOT / "pyproject.toml"):
        material.update(path.read_bytes())
    return material.hexdigest()


def installed() -> dict[str, str]:
    """What the stamp says is installed: lock name to digest. An environment without a sound stamp holds nothing."""
    if not PYTHON.exists() or not STAMP.exists():
        return {}
    if subprocess.run([str(PYTHON), "-c", "import sys"], capture_output=True, check=False).returncode != 0:
        return {}
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in stamp.items()} if isinstance(stamp, dict) else {}


def serves(name: str, present: dict[str, str]) -> bool:
    """Whether this lock, or a later one that holds it, is installed as it stands on disk now."""
    return any(present.get(other) == digest(other) for other in LOCKS[LOCKS.index(name) :])


def create() -> None:
    if (
        PYTHON.exists()
        and subprocess.run([str(PYTHON), "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0
    ):
        return
    if VENV.exists():
        machine.say("the environment in .venv does not run any more (its Python is gone or half made): making it anew")
        shutil.rmtree(VENV)
    machine.ensure([machine.VENV])
    machine.say(f"making .venv with Python {sys.version.split()[0]}")
    # Whoever started this from inside an environment shall not get one that hangs on it.
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([base, "-m", "venv", str(VENV)], check=True, stdin=subprocess.DEVNULL)


def install(name: str) -> None:
    lock = lock_file(name)
    packages = sum("==" in line for line in lock.read_text(encoding="utf-8").splitlines())
    machine.say(f"installing into .venv: {packages} packages of deploy/lock/{name}.txt, each checked against its hash")
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--progress-bar", "off"]
    machine.run_with_progress(
        [*pip, "--require-hashes", "-r", str(lock)],
        "pip install",
        count=(r"^Collecting ", f"of {packages} packages fetched"),
    )
    machine.say("installing sottovoce itself (editable)")
    # Without build isolation: setuptools comes from the lock as well, and nothing is fetched.
    machine.run_with_progress(
        [*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)], "pip install sottovoce"
    )


def make(name: str) -> None:
    """Brings .venv to the named lock. Two runs at once wait for each other."""
    (ROOT / ".venv.lock").touch()
    with (ROOT / ".venv.lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        present = installed()
        if serves(name, present):
            return
        # Whoever had the tests' environment keeps it: renewing it for less would only make it stale for them.
        name = max(name, *(known for known in present if known in LOCKS), key=LOCKS.index) if present else name
        create()
        STAMP.unlink(missing_ok=True)
        install(name)
        STAMP.write_text(json.dumps({name: digest(name)}) + "\n", encoding="utf-8")
        machine.say("the environment is ready")


def main(arguments: Sequence[str]) -> int:
    name = arguments[0] if arguments else "run"
    if name not in LOCKS or len(arguments) > 1:
        machine.say(f"environment: expected one of {', '.join(LOCKS)}, got: {' '.join(arguments)}")
        return 2
    try:
        make(name)
        if name != "run":
            machine.ensure([machine.CHROMIUM, machine.PROMETHEUS])
    except machine.MachineError as error:
        machine.say(f"environment: {error}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
