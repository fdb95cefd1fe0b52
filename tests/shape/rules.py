"""The rules about the tree itself. Each takes a root and returns what is wrong there, one sentence a finding.

They take the root as an argument so that test_shape_rules.py can plant a violation and see it caught.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOMS = ("stream", "mechanisms", "beliefs")
TOP_LEVEL = frozenset({*ROOMS, "deploy", "tests", "pyproject.toml", "README.md"})
FILE_LINES_MAX = 300
FUNCTION_LINES_MAX = 50
DECIDING = ("beliefs", "mechanisms", "stream/step.py", "stream/state.py", "stream/drift.py", "stream/fields/gate.py")
"""What decides a release: here not even a module's own source of randomness may be named."""
MAY_MAKE_KEYS = ("stream/keys.py", "stream/commands/keys.py", "stream/fitting/private.py")
DOORS = {
    "faust": ("stream/engine/",),
    "mode": ("stream/engine/",),
    "aiokafka": ("stream/engine/", "stream/audit/kafka_world.py"),
    "prometheus_client": ("stream/metrics/",),
}
"""Who may import what talks to the outside. The auditor reads Kafka by itself: it shares no code with the engine."""
MACHINE_PATH = re.compile(r"""(?<![\w./$~}{-])/(?:home|root|work|Users|mnt|opt|tmp|var/tmp)/[\w.-]+""")
SCRIPT_FIRST_LINE = re.compile(rb"^#!.*\b(python3?|bash|sh)\b")
IGNORED_FOLDERS = frozenset({"__pycache__", "build"})
ASSERT_CALL = re.compile(r"^(assert\w*|raises|require\w*|check\w*|expect\w*|warns)$")


def files(root: Path, *patterns: str, below: Iterable[str] = (*ROOMS, "deploy", "tests")) -> Iterator[Path]:
    for folder in below:
        start = root / folder
        if start.is_file():
            yield start
            continue
        for pattern in patterns:
            for path in sorted(start.rglob(pattern)):
                inside = path.relative_to(root).parts
                if path.is_file() and not any(p in IGNORED_FOLDERS or p.endswith(".egg-info") for p in inside):
                    yield path


def top_level(root: Path) -> list[str]:
    found = {path.name for path in root.iterdir() if not path.name.startswith(".")}
    strangers = [
        f"{name} stands at the top level, where only {', '.join(sorted(TOP_LEVEL))} may"
        for name in sorted(found - TOP_LEVEL)
    ]
    return strangers + [f"{name} is missing at the top level" for name in sorted(TOP_LEVEL - found)]


def packages(root: Path, listed: Iterable[str]) -> list[str]:
    """The hand-written package list must equal the folders below the rooms that hold Python files."""
    found = {".".join(path.parent.relative_to(root).parts) for path in files(root, "*.py", below=ROOMS)}
    expected = set(listed)
    wrong = [f"package {name} is in the tree and not in pyproject.toml" for name in sorted(found - expected)]
    wrong += [f"package {name} is in pyproject.toml and not in the tree" for name in sorted(expected - found)]
    for name in sorted(found):
        if not (root / Path(*name.split(".")) / "__init__.py").exists():
            wrong.append(f"package {name} has no __init__.py")
    return wrong


def mechanism_files(root: Path, registered: dict[str, Path]) -> list[str]:
    """A mechanism is four files: the module, the proof note of its stem, the registry line and the vectors."""
    wrong = []
    for name, module in registered.items():
        if not module.with_suffix(".md").exists():
            wrong.append(f"mechanism {name} has no proof note {module.with_suffix('.md').name} beside its module")
        if not (root / "tests" / "vectors" / f"{name}.json").exists():
            wrong.append(f"mechanism {name} has no tests/vectors/{name}.json")
    return wrong


def proof_notes(root: Path) -> list[str]:
    """A proof note runs: without an example it is only prose."""
    return [
        f"{path.relative_to(root)} holds no example (>>>) that runs"
        for path in files(root, "*.md", below=("beliefs", "mechanisms"))
        if ">>>" not in path.read_text(encoding="utf-8")
    ]


def file_lengths(root: Path) -> list[str]:
    wrong = []
    for path in files(root, "*.py"):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > FILE_LINES_MAX:
            wrong.append(f"{path.relative_to(root)} has {lines} lines, at most {FILE_LINES_MAX} are allowed: divide it")
    return wrong


def function_lengths(root: Path) -> list[str]:
    """Counted from `def` to the last line, the docstring left out: an explanation is never too long to keep."""
    wrong = []
    for path in files(root, "*.py"):
        for node in ast.walk(parse(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1 - docstring_lines(node)
                if lines > FUNCTION_LINES_MAX:
                    wrong.append(
                        f"{path.relative_to(root)}: {node.name} has {lines} lines, at most {FUNCTION_LINES_MAX}"
                    )
    return wrong


def docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    if ast.get_docstring(node, clean=False) is None:
        return 0
    first = node.body[0]
    return (first.end_lineno or first.lineno) - first.lineno + 1


def randomness(root: Path) -> list[str]:
    """Noise comes from keyed coins only; whatever else is random would be drawn twice after a crash."""
    wrong = []
    for path in files(root, "*.py", below=ROOMS):
        where = path.relative_to(root).as_posix()
        for node in ast.walk(parse(path)):
            for name in named(node):
                if name == "random" or name.startswith(("random.", "numpy.random", "np.random")):
                    wrong.append(f"{where}:{line_of(node)} names {name}; use mechanisms.coins")
                elif (
                    name in {"os.urandom", "uuid.uuid4"} or name.split(".")[0] == "secrets"
                ) and where not in MAY_MAKE_KEYS:
                    wrong.append(
                        f"{where}:{line_of(node)} names {name}; only {' and '.join(MAY_MAKE_KEYS)} make secrets"
                    )
    return wrong


def doors(root: Path) -> list[str]:
    """Each library that talks to the outside is imported in one place."""
    wrong = []
    for path in files(root, "*.py", below=ROOMS):
        where = path.relative_to(root).as_posix()
        imports = [node for node in ast.walk(parse(path)) if isinstance(node, (ast.Import, ast.ImportFrom))]
        for node in imports:
            strangers = {name.split(".")[0] for name in named(node)} & DOORS.keys()
            strangers = {library for library in strangers if not where.startswith(DOORS[library])}
            wrong += [
                f"{where}:{node.lineno} imports {name}; only {' and '.join(DOORS[name])} may" for name in strangers
            ]
    return wrong


def reproducible_arithmetic(root: Path) -> list[str]:
    """The audit recomputes the same bits on another machine: no reordered sums, no BLAS, no threads."""
    wrong = []
    for path in files(root, "*.py", below=DECIDING):
        for node in ast.walk(parse(path)):
            where = f"{path.relative_to(root).as_posix()}:{line_of(node)}"
            if isinstance(node, ast.keyword) and node.arg in {"fastmath", "parallel"} and not is_false(node.value):
                wrong.append(f"{where} sets {node.arg}, which lets sums change their order")
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
                wrong.append(f"{where} multiplies with @, whose order of sums is the BLAS's own")
            if any(
                name.split(".")[0] in {"np", "numpy"} and name.split(".")[-1] in {"dot", "matmul", "einsum", "linalg"}
                for name in named(node)
            ):
                wrong.append(f"{where} calls BLAS, whose order of sums is its own")
    return wrong


def machine_paths(root: Path) -> list[str]:
    wrong = []
    for path in files(root, "*"):
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(lines, 1):
            found = MACHINE_PATH.search(line)
            if found and not line.startswith("#!"):
                wrong.append(f"{path.relative_to(root)}:{number} holds a path of one machine: {found.group()}")
    return wrong


def test_folders(root: Path) -> list[str]:
    """A test folder named like a room shadows the package when it lands on sys.path."""
    wrong = []
    for path in sorted((root / "tests").rglob("*")):
        if path.is_dir() and path.name in ROOMS:
            wrong.append(f"{path.relative_to(root)} bears the name of a package and would shadow it")
        if path.name == "__init__.py":
            wrong.append(f"{path.relative_to(root)}: test folders are no packages")
    stems = [path.name for path in files(root, "*.py", below=("tests",))]
    return wrong + [
        f"{name} exists twice below tests; test files need unique names"
        for name in sorted({s for s in stems if stems.count(s) > 1})
    ]


def assertions(root: Path) -> list[str]:
    """Every test function can fail by itself, or through a call that is named like an assertion."""
    wrong = []
    for path in files(root, "test_*.py", below=("tests",)):
        tree = parse(path)
        local = {
            node.name: node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        }
        asserting = {name for name, node in local.items() if asserts(node)}
        grown = True
        while grown:
            more = {name for name, node in local.items() if name not in asserting and called(node) & asserting}
            grown = bool(more)
            asserting |= more
        tests = [name for name in local if name.startswith("test")]
        if not tests:
            wrong.append(f"{path.relative_to(root)} holds no test")
        wrong += [f"{path.relative_to(root)}: {name} asserts nothing" for name in tests if name not in asserting]
    return wrong


def asserts(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Assert) for inner in ast.walk(node)) or any(
        ASSERT_CALL.match(name) for name in called(node)
    )


def called(node: ast.AST) -> set[str]:
    calls = [inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    return {dotted(function).split(".")[-1] for function in calls if dotted(function)}


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def line_of(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def named(node: ast.AST) -> list[str]:
    """What an import or an attribute access names, in full."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Attribute):
        full = dotted(node)
        return [full] if full else []
    return []
