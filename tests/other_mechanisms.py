"""Other people's local mechanisms, imported so that ours can be compared with them; nothing else uses them."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

_NEVER_CALLED = {
    "sklearn": (),
    "sklearn.linear_model": ("Lasso", "LinearRegression", "ElasticNet"),
    "sklearn.feature_selection": (),
    "statsmodels": (),
    "statsmodels.api": (),
}
"""What pure-ldp imports for a regression that is not called here, and does not declare: 100 MB for two import lines."""


def pure_ldp(module: str) -> Any:
    """A module of pure-ldp, such as `direct_encoding`."""
    absent = {name: _empty(name, members) for name, members in _NEVER_CALLED.items() if name not in sys.modules}
    sys.modules.update(absent)
    try:
        return importlib.import_module(f"pure_ldp.{module}")
    finally:
        for name in absent:
            del sys.modules[name]


def _empty(name: str, members: tuple[str, ...]) -> ModuleType:
    made = ModuleType(name)
    for member in members:
        setattr(made, member, None)
    made.__all__ = list(members)  # type: ignore[attr-defined]
    return made


def multi_freq(module: str) -> Any:
    """A module of multi-freq-ldpy, such as `pure_frequency_oracles.GRR`."""
    return importlib.import_module(f"multi_freq_ldpy.{module}")


def opendp() -> Any:
    """Its own mechanisms are all kept behind a switch."""
    prelude = importlib.import_module("opendp.prelude")
    prelude.enable_features("contrib")
    return prelude
