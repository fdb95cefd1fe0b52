"""What a pipeline promises of its fields, compiled from settings, joint table and key ring."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from beliefs.correlation.account import AccountField, Totals
from beliefs.correlation.bound import Matrix
from beliefs.correlation.tables import JointTable
from beliefs.rounding import INFINITE, budget_units
from mechanisms.local.top_k import DrawnTop, cells_of
from stream.fields.forms import Form, form_of
from stream.fields.gate import COARSE, EIGHTH, FULL, HALF, QUARTER, Gate, GateField
from stream.fields.joint import Joint
from stream.fields.meaning import tag_of
from stream.fields.turns import Turns
from stream.records.fields import FieldForm
from stream.settings.model import Settings

_CLASSED = ("grr", "exp")


@dataclass(frozen=True)
class FieldsPromise:
    """Of the fields in their declared order. The window is in milliseconds, 0 where caps are for ever; `budget` is that
    of the protected field in units, where there is one, and `protected_cap` the cap of its total. `tag` says what the
    words of a user's fields mean.
    """

    forms: tuple[Form, ...]
    totals: Totals = field(repr=False)
    window: int
    budget: int | None
    protected_cap: int | None
    tag: int
    lasting_key: bytes = field(repr=False)
    joint: Joint | None = field(repr=False, default=None)

    @property
    def readers(self) -> tuple[FieldForm, ...]:
        """What of each field is read from a record."""
        return tuple(FieldForm(form.name, form.path, form.alphabet, form.at_most) for form in self.forms)

    @cached_property
    def laws(self) -> dict[tuple[int, int], Matrix]:
        """For each field that is reported, and each that it is known to give away, itself among them: the law of the
        first under every value of the second.
        """
        sizes = [form.alphabet.size for form in self.forms]
        found = {(place, place): np.eye(size) for place, size in enumerate(sizes)}
        if self.joint is not None:
            table = self.joint.table
            at = {name: place for place, form in enumerate(self.forms) for name in table.names if name == form.name}
            for target, source in itertools.permutations(table.names, 2):
                law = table.reordered([target, source]).weights
                found[at[source], at[target]] = law / law.sum(axis=1, keepdims=True)
        return found

    @cached_property
    def gate(self) -> Gate:
        return Gate([gated_of(form) for form in self.forms], self.totals, self.protected_cap)

    @cached_property
    def turns(self) -> Turns:
        """One table for all partitions of a process: a block is prepared without a pause, so never two at once."""
        return Turns(self.gate)


def compile_fields(settings: Settings, joint: Joint | None, lasting_key: bytes) -> FieldsPromise | None:
    """None where no field is declared. The table fits the fields (stream/fields/joint.py)."""
    fields = settings.fields
    if fields is None:
        return None
    forms = tuple(form_of(name, each) for name, each in fields.each.items())
    # What a budget sets aside is meant for its own windows; it bounds nothing in windows of another length.
    same_windows = settings.budget.length == fields.length and settings.budget.sliding is None
    spent = budget_units(settings.budget.nats) if same_windows else INFINITE
    budget = spent if settings.follows else None
    return FieldsPromise(
        forms=forms,
        totals=_totals_of(forms, joint, budget),
        window=fields.length,
        budget=budget,
        protected_cap=None if math.isinf(fields.protected_cap) else budget_units(fields.protected_cap),
        tag=tag_of(fields),
        lasting_key=lasting_key,
        joint=joint,
    )


def _totals_of(forms: Sequence[Form], joint: Joint | None, budget: int | None) -> Totals:
    if joint is None:
        return Totals([_account_of(form, None) for form in forms], budget=budget)
    table, radii = joint.table, joint.radii
    known = None if radii is None else [radii[name] for name in table.names]
    return Totals([_account_of(form, table) for form in forms], table.weights, budget, known)


def gated_of(form: Form) -> GateField:
    """The field as the gate sees it."""
    full, half, quarter, eighth, coarse = (
        form.reporters[choice].level if choice in form.reporters else None
        for choice in (FULL, HALF, QUARTER, EIGHTH, COARSE)
    )
    levels = (full, half, quarter, eighth, coarse)
    return GateField(form.name, levels, form.beyond, form.cap, form.longitudinal)


def _account_of(form: Form, table: JointTable | None) -> AccountField:
    axis = table.names.index(form.name) if table is not None and form.name in table.names else None
    coarse = form.reporters.get(COARSE)
    groups = None if coarse is None or coarse.groups is None else tuple(coarse.groups.tolist())
    return AccountField(form.name, axis, _classes(form), groups)


def _classes(form: Form) -> tuple[int, ...] | None:
    """Which values a report names together, where it names one class of values."""
    if form.mechanism in _CLASSED:
        return tuple(range(form.alphabet.size))
    found = form.reporters[FULL].drawn
    return tuple(cells_of(found.values, found.top).tolist()) if isinstance(found, DrawnTop) else None
