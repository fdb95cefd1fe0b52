"""What is fetched once and kept between runs, in a private folder outside of the tree.

Only the standard library is used here: this runs before anything is installed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

CACHE_VARIABLE = "SOTTOVOCE_CACHE"


def cache_folder() -> Path:
    """Where downloads are kept between runs: SOTTOVOCE_CACHE, or a folder of the user's own cache."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().resolve()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sottovoce"


def kept(name: str, fetch: Callable[[Path], None]) -> Path:
    """The kept folder of that name. `fetch` fills it once; what raises leaves nothing behind.

    Several callers at once wait for one download.
    """
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    wanted = cache / name
    with (cache / "fetch.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not wanted.exists():
            part = Path(tempfile.mkdtemp(prefix="fetching-", dir=cache))
            try:
                fetch(part / "fetched")
                (part / "fetched").rename(wanted)
            finally:
                shutil.rmtree(part)
    return wanted
