"""From declared aggregates to what is read, held and drawn of them."""

from __future__ import annotations

from beliefs.rounding import budget_units
from mechanisms.aggregate.geometric import scale_for
from mechanisms.aggregate.mean import loss_of_mean, noise_of_mean
from mechanisms.aggregate.quantised import Amounts
from stream.aggregates.query import Query
from stream.records.fields import FieldForm
from stream.settings.aggregate import AggregateSettings, QuerySettings

_MOVED = 2
"""By another value one cell of a histogram loses a user and another gains him."""


def queries_of(settings: AggregateSettings) -> tuple[Query, ...]:
    return tuple(query_of(name, query) for name, query in settings.each.items())


def query_of(name: str, settings: QuerySettings) -> Query:
    """Epsilon is rounded down to whole units, and noise up, so that no query tells more."""
    loss = budget_units(settings.epsilon)
    path, values, steps = settings.path, settings.values, settings.steps
    if path is None:
        counted = scale_for(1, loss)
        return Query(name, "count", counted.loss(1), (counted,))
    if values is not None:
        noise = scale_for(_MOVED, loss)
        return Query(
            name,
            settings.kind,
            noise.loss(_MOVED),
            (noise,),
            FieldForm(name, path, values),
            settings.take,
            cells=values.size,
            most=values.size - 1,
            labels=tuple(values.value_at(place) for place in range(values.size)),
            shown=settings.top,
        )
    if steps is None:
        raise ValueError(f"{name} names neither values nor low, high and grid")
    return _of_amounts(name, settings, FieldForm(name, path, amounts := Amounts(*steps)), amounts, loss)


def _of_amounts(name: str, settings: QuerySettings, form: FieldForm, amounts: Amounts, loss: int) -> Query:
    mean = settings.kind == "mean"
    noise = noise_of_mean(amounts, loss) if mean else (scale_for(amounts.reach, loss),)
    return Query(
        name,
        settings.kind,
        loss_of_mean(amounts, *noise) if len(noise) == 2 else noise[0].loss(amounts.reach),
        noise,
        form,
        settings.take,
        settings.at_most,
        cells=len(noise),
        grid=amounts.grid,
        least=amounts.low_units,
        most=amounts.high_units,
        centre=amounts.centre if mean else 0,
    )
