"""A rule that cannot fail protects nothing: each is shown a tree with and without one planted violation."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import rules

PROJECT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
LISTED: list[str] = SETTINGS["tool"]["setuptools"]["packages"]
PACKAGES = ["beliefs", "mechanisms", "stream"]
HOME = "/" + "home/somebody/key"


@dataclass(frozen=True)
class Planted:
    """A file with a violation, the rule that must see it, and what the finding must mention."""

    rule: Callable[[Path], list[str]]
    path: str
    text: str
    mentions: str


def listed(root: Path) -> list[str]:
    return rules.packages(root, PACKAGES)


def one_mechanism(root: Path) -> list[str]:
    return rules.mechanism_files(root, {"optimal": root / "mechanisms" / "optimal.py"})


LONG_FUNCTION = "def long() -> None:\n" + "    print(1)\n" * rules.FUNCTION_LINES_MAX
VIOLATIONS = [
    Planted(rules.top_level, "notes.txt", "", "notes.txt"),
    Planted(rules.top_level, "sottovoce.egg-info/PKG-INFO", "", "egg-info"),
    Planted(listed, "stream/stores/__init__.py", "", "stream.stores"),
    Planted(listed, "stream/stores/memory.py", "", "no __init__.py"),
    Planted(rules.proof_notes, "beliefs/belief.md", "It is right.\n", "belief.md"),
    Planted(rules.file_lengths, "stream/step.py", "x = 1\n" * (rules.FILE_LINES_MAX + 1), "301 lines"),
    Planted(rules.function_lengths, "deploy/demo_view.py", LONG_FUNCTION, "long has 51 lines"),
    Planted(rules.function_lengths, "deploy/demo_view.py", "async " + LONG_FUNCTION, "long has 51 lines"),
    Planted(rules.randomness, "stream/a.py", "import random\n", "names random"),
    Planted(rules.randomness, "stream/a.py", "from random import choice\n", "random.choice"),
    Planted(rules.randomness, "mechanisms/a.py", "import numpy as np\nnp.random.seed(1)\n", "np.random"),
    Planted(rules.randomness, "beliefs/a.py", "from numpy.random import default_rng\n", "numpy.random"),
    Planted(rules.randomness, "beliefs/a.py", "from numpy import random\n", "numpy.random"),
    Planted(rules.randomness, "stream/a.py", "import os\nkey = os.urandom(32)\n", "os.urandom"),
    Planted(rules.randomness, "stream/a.py", "from secrets import token_bytes\n", "secrets.token_bytes"),
    Planted(rules.doors, "stream/pipeline.py", "import faust\n", "imports faust"),
    Planted(rules.doors, "stream/commands.py", "from aiokafka.errors import KafkaError\n", "imports aiokafka"),
    Planted(rules.doors, "stream/step.py", "def f() -> None:\n    import mode\n", "imports mode"),
    Planted(rules.reproducible_arithmetic, "beliefs/a.py", "f = njit(fastmath=True)(g)\n", "fastmath"),
    Planted(rules.reproducible_arithmetic, "mechanisms/a.py", "f = njit(parallel=True)(g)\n", "parallel"),
    Planted(rules.reproducible_arithmetic, "beliefs/a.py", "c = a @ b\n", "multiplies with @"),
    Planted(rules.reproducible_arithmetic, "stream/step.py", "c = np.dot(a, b)\n", "BLAS"),
    Planted(rules.machine_paths, "stream/keys.py", f'KEY = "{HOME}"\n', "home/somebody"),
    Planted(rules.machine_paths, "deploy/readme.md", f"Look into {HOME}\n", "home/somebody"),
    Planted(rules.test_folders, "tests/stream/test_a.py", "", "tests/stream"),
    Planted(rules.test_folders, "tests/unit/__init__.py", "", "no packages"),
    Planted(rules.test_folders, "tests/laws/test_good.py", "", "test_good.py exists twice"),
    Planted(
        rules.assertions, "tests/unit/test_a.py", "def test_a() -> None:\n    print(1)\n", "test_a asserts nothing"
    ),
    Planted(rules.assertions, "tests/unit/test_a.py", "import os\n", "holds no test"),
]
ALLOWED = [
    Planted(rules.randomness, "stream/keys.py", "import secrets\nkey = secrets.token_bytes(32)\n", ""),
    Planted(rules.randomness, "stream/a.py", "random_looking = 1\n", ""),
    Planted(rules.doors, "stream/engine/app.py", "import faust\nimport aiokafka\n", ""),
    Planted(rules.reproducible_arithmetic, "beliefs/a.py", "f = njit(fastmath=False)(g)\n", ""),
    Planted(rules.machine_paths, "stream/a.py", 'HEALTH = "/livez"\nURL = "http://host/tmp-free"\n', ""),
    Planted(rules.function_lengths, "stream/a.py", 'def f() -> None:\n    """' + "Why.\n" * 60 + '    """\n', ""),
    Planted(
        rules.assertions,
        "tests/unit/test_a.py",
        "def test_a() -> None:\n    hold()\ndef hold() -> None:\n    assert 1\n",
        "",
    ),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The smallest tree that keeps every rule."""
    for name in (*PACKAGES, "deploy", "tests/unit", "tests/vectors"):
        (tmp_path / name).mkdir(parents=True)
    for name in PACKAGES:
        (tmp_path / name / "__init__.py").touch()
    for name in ("pyproject.toml", "README.md", "mechanisms/optimal.py", "tests/vectors/optimal.json"):
        (tmp_path / name).touch()
    (tmp_path / "mechanisms" / "optimal.md").write_text(">>> 1 + 1\n2\n", encoding="utf-8")
    (tmp_path / "tests" / "unit" / "test_good.py").write_text(
        "def test_it() -> None:\n    assert 1\n", encoding="utf-8"
    )
    return tmp_path


def plant(root: Path, planted: Planted) -> None:
    path = root / planted.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(planted.text, encoding="utf-8")


@pytest.mark.parametrize("planted", VIOLATIONS, ids=lambda planted: f"{planted.rule.__name__}-{planted.mentions}")
def test_a_planted_violation_is_seen(tree: Path, planted: Planted) -> None:
    assert planted.rule(tree) == []
    plant(tree, planted)
    assert any(planted.mentions in finding for finding in planted.rule(tree))


@pytest.mark.parametrize("planted", ALLOWED, ids=lambda planted: f"{planted.rule.__name__}-{planted.path}")
def test_what_is_allowed_passes(tree: Path, planted: Planted) -> None:
    plant(tree, planted)
    assert planted.rule(tree) == []


@pytest.mark.parametrize("missing", ["README.md", "stream"])
def test_a_missing_top_level_entry_is_seen(tree: Path, missing: str) -> None:
    (tree / missing).rename(tree / f".{missing}")
    assert any(missing in finding for finding in rules.top_level(tree))


@pytest.mark.parametrize("missing", ["mechanisms/optimal.md", "tests/vectors/optimal.json"])
def test_a_mechanism_without_note_or_vectors_is_seen(tree: Path, missing: str) -> None:
    assert one_mechanism(tree) == []
    (tree / missing).unlink()
    assert len(one_mechanism(tree)) == 1


def test_a_listed_package_that_is_gone_is_seen(tree: Path) -> None:
    assert rules.packages(tree, [*PACKAGES, "stream.gone"]) == [
        "package stream.gone is in pyproject.toml and not in the tree"
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("beliefs/a.py", "import mechanisms"),
        ("mechanisms/a.py", "import stream"),
        ("beliefs/a.py", "import time"),
        ("mechanisms/a.py", "from os import environ"),
        ("stream/step.py", "import aiokafka"),
        ("stream/state.py", "import random"),
        ("stream/windows/step.py", "import logging"),
        ("stream/fields/gate.py", "import random"),
        ("stream/crowds/guard.py", "import time"),
        ("stream/records/a.py", "import faust"),
        ("stream/stores/a.py", "from aiokafka import AIOKafkaConsumer"),
    ],
)
def test_the_import_contracts_catch(tmp_path: Path, path: str, text: str) -> None:
    """The contracts of the real pyproject.toml on a tree of empty modules; the import stands at the end of a chain."""
    (tmp_path / "pyproject.toml").write_bytes((PROJECT / "pyproject.toml").read_bytes())
    for package in LISTED:
        (folder := tmp_path / Path(*package.split("."))).mkdir()
        (folder / "__init__.py").touch()
    pure = ("step", "state", "policy", "recall", "pipeline", "keys")
    in_rooms = ("windows/step", "fields/gate", "fields/turns", "crowds/guard")
    for module in (*pure, *in_rooms):
        (tmp_path / "stream" / f"{module}.py").touch()
    assert contracts(tmp_path) == 0
    (tmp_path / path).write_text("import beliefs.link\n", encoding="utf-8")
    (tmp_path / "beliefs" / "link.py").write_text(text + "\n", encoding="utf-8")
    assert contracts(tmp_path) == 1


def contracts(root: Path) -> int:
    linter = Path(sys.executable).parent / "lint-imports"
    return subprocess.run(
        [str(linter), "--no-cache"], cwd=root, capture_output=True, check=False, stdin=subprocess.DEVNULL
    ).returncode
