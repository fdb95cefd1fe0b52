"""How the numeric rooms are compiled, and why the result never depends on the machine.

`kernel` compiles a function with numba under four promises:

* no `fastmath`: additions keep their written order and no multiply-add is fused, so that two machines that replay the
  same block compute the same bits;
* no threads: one event after the other; but the interpreter is let go meanwhile, so that whoever fetches the next block
  in another thread is not held up (nobody else may touch the arrays that a kernel was given);
* no memory of its own: kernels write into arrays that their caller holds, so numba's reference counting is off
  (`_nrt`), which otherwise takes two thirds of the time of an event; a kernel that tried to allocate would not
  compile;
* a cache that belongs to exactly these sources. numba looks at the file of the outermost function only; a kernel that
  inlines a function from another file would go on using the old machine code after that file changed, and a stale
  release mechanism is a privacy fault. So the cache folder's name is a digest of every source file of the numeric
  rooms.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

_ROOT = Path(__file__).resolve().parent.parent
# Kernels live in these places only.
_SOURCES = (
    "beliefs/**/*.py",
    "mechanisms/**/*.py",
    "stream/*.py",
    "stream/records/*.py",
    "stream/engine/batches.py",
    "stream/engine/checksum.py",
    "stream/engine/decoding.py",
    "stream/audit/*.py",
    "stream/attack/mind.py",
    "stream/attack/sequences.py",
    "stream/attack/span.py",
    "stream/attack/strangers.py",
    "stream/attack/watch*.py",
    "stream/estimation/functionals.py",
    "stream/estimation/inverse*.py",
    "stream/estimation/pairs.py",
    "stream/estimation/window_*.py",
    "stream/fields/*.py",
    "stream/learning/*.py",
)


def _source_digest() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for pattern in _SOURCES:
        for source in sorted(_ROOT.glob(pattern)):
            digest.update(source.relative_to(_ROOT).as_posix().encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _usable_folder() -> Path | None:
    """The cache folder, or None on a read-only installation: there every start compiles anew, never a stale copy."""
    folder = _ROOT / "beliefs" / "__pycache__" / f"kernels-{_source_digest()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder


_FOLDER = _usable_folder()
_CONFIG: Any = numba.config
_OPTIONS: dict[str, Any] = {
    "cache": _FOLDER is not None,
    "error_model": "numpy",
    "fastmath": False,
    "_nrt": False,
    "nogil": True,
}


def kernel(function: Function) -> Function:
    """Compile `function`; errors in arithmetic follow numpy (a division by zero is infinite, never an exception)."""
    return _compiled(function)


def part_of_caller(function: Function) -> Function:
    """As `kernel`, and made a part of whatever compiled code calls it.

    A call hands on each array as seven words, so one that hands on a whole chain and a whole workspace costs as much
    as the work of a small event; the compiler does not see that and leaves long functions where they are.
    """
    return _compiled(function, forceinline=True)


def _compiled(function: Function, *, forceinline: bool = False) -> Function:
    before = _CONFIG.CACHE_DIR
    _CONFIG.CACHE_DIR = str(_FOLDER) if _FOLDER else ""
    try:
        compiled: Function = numba.njit(**_OPTIONS, forceinline=forceinline)(function)
    finally:
        _CONFIG.CACHE_DIR = before
    return compiled
