"""A mechanism's own source with one line changed, run by the interpreter: what the laws must notice.

Uncompiled, the same source computes the same bits (that is a test as well), and a fault costs no compilation.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from channels import Subject, by_hand

import mechanisms.sequence
from mechanisms import registry

FOLDER = Path(mechanisms.sequence.__file__).parent
COMPILER = "from beliefs.native import kernel\n"
INTERPRETER = "def kernel(function):\n    return function\n\n\n"


def planted(stem: str, *changes: tuple[str, str], distance: str = "") -> Subject:
    """The mechanism of this file with every `old` replaced by its `new`; each must stand there exactly once."""
    module = source_of(stem, *changes)
    within = registry.MECHANISMS[stem].row_epsilons
    return by_hand(stem, module.HOLDS_EPSILON, module.prepare, module.row, module.column, within, distance)


def source_of(stem: str, *changes: tuple[str, str]) -> ModuleType:
    """The file's functions after these changes, uncompiled; what they import stays as it is."""
    source = (FOLDER / f"{stem}.py").read_text(encoding="utf-8")
    for old, new in ((COMPILER, INTERPRETER), *changes):
        assert source.count(old) == 1, f"{stem}.py holds {source.count(old)} times: {old}"
        source = source.replace(old, new)
    module = ModuleType(f"planted_{stem}")
    exec(compile(source, f"planted {stem}.py", "exec"), module.__dict__)
    return module
