"""The rules of the house, held against the tree as it is."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import rules

ROOT = Path(__file__).resolve().parents[2]


def registered_modules() -> dict[str, Path]:
    """Where the code of each registered mechanism stands."""
    registry = importlib.import_module("mechanisms.registry")
    modules = {}
    for name in registry.MECHANISMS:
        found = list((ROOT / "mechanisms").rglob(f"{name}.py"))
        assert len(found) == 1, f"mechanism {name} has {len(found)} modules of its name below mechanisms/"
        modules[name] = found[0]
    return modules


def local_modules() -> dict[str, Path]:
    """The same of the local mechanisms; their vectors are called local_<name>."""
    registry = importlib.import_module("mechanisms.local.registry")
    return {
        f"local_{name}": ROOT.joinpath(*entry.described.__module__.split(".")).with_suffix(".py")
        for name, entry in registry.REGISTRY.items()
    }


def aggregate_modules() -> dict[str, Path]:
    """The same of the noise of aggregates; its vectors are called aggregate_<name>."""
    registry = importlib.import_module("mechanisms.aggregate.registry")
    return {
        f"aggregate_{name}": ROOT.joinpath(*made.__module__.split(".")).with_suffix(".py")
        for name, made in registry.REGISTRY.items()
    }


def crowd_modules() -> dict[str, Path]:
    """The same of the groupers of crowds; their vectors are called crowd_<name>."""
    registry = importlib.import_module("mechanisms.crowds.registry")
    grouped = [made.__module__ for made in registry.REGISTRY.values()]
    modules = [
        ROOT.joinpath(*module.split(".")).with_suffix(".py") for module in [*grouped, "mechanisms.crowds.mondrian"]
    ]
    return {f"crowd_{module.stem}": module for module in modules}


def listed_packages() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return list(project["tool"]["setuptools"]["packages"])


@pytest.mark.parametrize(
    "rule",
    [
        rules.top_level,
        rules.proof_notes,
        rules.file_lengths,
        rules.function_lengths,
        rules.doors,
        rules.randomness,
        rules.reproducible_arithmetic,
        rules.machine_paths,
        rules.test_folders,
        rules.assertions,
    ],
    ids=lambda rule: rule.__name__,
)
def test_the_tree_keeps(rule: Callable[[Path], list[str]]) -> None:
    assert rule(ROOT) == []


def test_the_package_list_equals_the_tree() -> None:
    assert rules.packages(ROOT, listed_packages()) == []


def test_every_mechanism_has_its_note_and_its_vectors() -> None:
    modules = registered_modules()
    assert modules, "the registry is empty"
    assert rules.mechanism_files(ROOT, modules) == []
    of_fields = local_modules()
    assert len(of_fields) > 10
    assert rules.mechanism_files(ROOT, of_fields) == []
    of_aggregates = aggregate_modules()
    assert of_aggregates
    assert rules.mechanism_files(ROOT, of_aggregates) == []
    of_crowds = crowd_modules()
    assert len(of_crowds) > 1
    assert rules.mechanism_files(ROOT, of_crowds) == []


def test_the_locks_name_no_index() -> None:
    for lock in sorted((ROOT / "deploy" / "lock").glob("*.txt")):
        text = lock.read_text(encoding="utf-8")
        requirements = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
        assert requirements, f"{lock.name} is empty"
        assert all("==" in line for line in requirements), f"{lock.name} holds a line that pins nothing"
        assert text.count("--hash=sha256:") >= len(requirements), f"{lock.name} holds a requirement without a hash"
        assert "://" not in text, f"{lock.name} names a host"
