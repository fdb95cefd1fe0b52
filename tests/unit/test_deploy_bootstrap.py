"""What stands the project up refuses altered downloads, notices a stale environment, and says what is missing."""

from __future__ import annotations

import hashlib
import itertools
import sys
from pathlib import Path

import cache
import environment
import jars
import machine
import pytest


@pytest.fixture
def downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "jars"
    folder.mkdir()
    lines = []
    for name in ("a.jar", "b.jar"):
        (folder / name).write_bytes(name.encode())
        lines.append(f"{hashlib.sha256(name.encode()).hexdigest()}  {name}")
    (tmp_path / "jars.sha256").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setattr(jars, "DIGESTS", tmp_path / "jars.sha256")
    return folder


def refused(folder: Path, name: str) -> None:
    with pytest.raises(machine.MachineError, match=name):
        jars.check(folder)


def test_recorded_jars_pass(downloaded: Path) -> None:
    jars.check(downloaded)
    assert jars.digests_of(downloaded) == jars.recorded()


def test_an_altered_jar_is_refused(downloaded: Path) -> None:
    (downloaded / "b.jar").write_bytes(b"something else")
    refused(downloaded, "b.jar")
    assert jars.digests_of(downloaded) != jars.recorded()


def test_a_jar_too_many_or_too_few_is_refused(downloaded: Path) -> None:
    (downloaded / "c.jar").write_bytes(b"stranger")
    refused(downloaded, "c.jar")
    (downloaded / "c.jar").unlink()
    (downloaded / "a.jar").unlink()
    refused(downloaded, "a.jar")
    assert not (downloaded / "a.jar").exists()


def test_a_failed_download_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "half.jar").write_bytes(b"half")
        raise machine.MachineError("the line went dead")

    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(jars, "fetch_into", half)
    with pytest.raises(machine.MachineError, match="line went dead"):
        jars.kafka_jars()
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["fetch.lock"]


def test_a_later_lock_serves_an_earlier_wish_and_not_the_reverse() -> None:
    assert environment.serves("run", {"test": environment.digest("test")})
    assert environment.serves("test", {"bench": environment.digest("bench")})
    assert not environment.serves("test", {"run": environment.digest("run")})
    assert not environment.serves("run", {"run": "the digest of an older lock"})
    assert not environment.serves("run", {})


def test_each_lock_holds_the_one_before_it() -> None:
    pins = [
        {
            line.rstrip(" \\")
            for line in environment.lock_file(name).read_text(encoding="utf-8").splitlines()
            if "==" in line
        }
        for name in environment.LOCKS
    ]
    for smaller, larger in itertools.pairwise(pins):
        assert smaller < larger


def test_what_is_missing_is_named_with_the_command_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.os, "geteuid", lambda: 1000)
    need = machine.Need("a thing", lambda: False, "thing-package", "elsewhere: fetch the thing")
    with pytest.raises(machine.MachineError) as refusal:
        machine.ensure([need])
    assert "sudo apt-get install thing-package" in str(refusal.value)
    assert "elsewhere: fetch the thing" in str(refusal.value)


@pytest.mark.parametrize(("lock", "asked"), [("run", False), ("test", True), ("bench", True)])
def test_the_environment_of_the_tests_asks_for_a_browser_and_for_prometheus(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lock: str, asked: bool
) -> None:
    monkeypatch.setattr(environment, "make", lambda name: None)
    monkeypatch.setattr(machine.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(machine.shutil, "which", lambda name: None)
    assert environment.main([lock]) == (2 if asked else 0)
    said = capsys.readouterr().err
    for package in ("chromium", "prometheus"):
        assert (f"sudo apt-get install {package}" in said) == asked


def test_a_failing_command_shows_its_last_words() -> None:
    code = "import sys; print('first'); print('the reason'); sys.exit(3)"
    with pytest.raises(machine.MachineError, match="status 3") as failure:
        machine.run_with_progress([sys.executable, "-c", code], "a step")
    assert "the reason" in str(failure.value)


def test_long_work_reports_that_it_is_alive(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "REPORT_EVERY_SECONDS", 0.05)
    code = "import time\nfor n in range(4): print('Collecting', n, flush=True); time.sleep(0.1)"
    machine.run_with_progress([sys.executable, "-c", code], "pip", count=("^Collecting", "of 4 fetched"))
    assert "of 4 fetched" in capsys.readouterr().err
