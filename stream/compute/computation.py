"""What a name stands for: a function and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from stream.compute.inputs import Input


@dataclass(frozen=True)
class Computation:
    """The inputs in the order of the documentation; each alternative is a group of inputs that are given together."""

    function: Callable[..., Mapping[str, object]]
    inputs: tuple[Input, ...]
    exactly_one_of: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Choice:
    """A name of several computations: the text in the input `by` says which, and that one says the other inputs."""

    by: str
    computations: Mapping[str, Computation] = field(default_factory=dict)
