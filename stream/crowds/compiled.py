"""From the declared release of a crowd to what is read of an event and what is grouped by it."""

from __future__ import annotations

from math import prod

from beliefs.alphabet import Categories
from mechanisms.aggregate.quantised import Amounts
from mechanisms.crowds.attributes import Attribute, Attributes, Numeric, tree_of
from mechanisms.crowds.diversity import Rule, millionths
from stream.crowds.promise import Release
from stream.records.among import Among
from stream.records.fields import FieldForm
from stream.settings.crowd import AttributeSettings, CrowdSettings, ReleaseSettings
from stream.settings.hierarchy import write_tree


def release_of(crowd: CrowdSettings) -> Release:
    declared = crowd.release
    if declared.kind == "records":
        return _records(declared, crowd.k)
    if declared.path is None:
        raise ValueError("a release reads a field")
    if declared.of is not None:
        form = FieldForm("count", declared.path, Among(declared.of))
        return Release("count", (form,), (0,), (Among.size,), declared.take)
    if declared.values is not None:
        values = declared.values
        labels = tuple(values.value_at(place) for place in range(values.size))
        form = FieldForm("histogram", declared.path, values)
        return Release("histogram", (form,), (0,), (values.size,), declared.take, labels=labels)
    if declared.steps is None:
        raise ValueError("a release of amounts has low, high and grid")
    amounts = Amounts(*declared.steps)
    return Release(
        declared.kind,
        (FieldForm(declared.kind, declared.path, amounts),),
        (amounts.low_units,),
        (amounts.width + 1,),
        declared.take,
        grid=amounts.grid,
        least=amounts.low_units,
        most=amounts.high_units,
    )


def places_of(release: Release) -> int:
    """How many values a person may have that the law tells apart."""
    return prod(release.sizes)


def _records(declared: ReleaseSettings, k: int) -> Release:
    forms, attributes = [], []
    for name, each in declared.by.items():
        form, attribute = _attribute(name, each)
        forms.append(form)
        attributes.append(attribute)
    sizes = [attribute.cells for attribute in attributes]
    sensitive, rule = declared.sensitive, Rule(k, loss_most=_loss(declared))
    labels: tuple[object, ...] = ()
    if sensitive is not None:
        values = sensitive.values
        labels = tuple(values.value_at(place) for place in range(values.size))
        forms.append(FieldForm("sensitive", sensitive.of, values))
        sizes.append(values.size)
        close = -1 if sensitive.close is None else millionths(sensitive.close)
        rule = Rule(k, values.size, sensitive.diverse or 1, close, _loss(declared))
    return Release(
        "records",
        tuple(forms),
        tuple(form.alphabet.low_units if isinstance(form.alphabet, Amounts) else 0 for form in forms),
        tuple(sizes),
        declared.take,
        labels=labels,
        grouper=declared.records,
        attributes=Attributes(tuple(attributes)),
        rule=rule,
    )


def _loss(declared: ReleaseSettings) -> float:
    return 1.0 if declared.loss_most is None else declared.loss_most


def _attribute(name: str, declared: AttributeSettings) -> tuple[FieldForm, Attribute]:
    if declared.tree is not None:
        tree = tree_of(write_tree(declared.tree))
        return FieldForm(name, declared.of, Categories(tree.values)), tree
    if declared.steps is None:
        raise ValueError(f"{name} has neither a tree nor low, high and grid")
    amounts = Amounts(*declared.steps)
    return FieldForm(name, declared.of, amounts), Numeric(amounts.width + 1)
