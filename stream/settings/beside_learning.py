"""What does not go with a model that is learnt from the pipeline's own releases."""

from stream.settings.collect import Collector


def learning_fits(collector: Collector) -> None:
    """What is learnt is a chain of order 1, event by event, for everybody; the rest is the learner's to decide."""
    if collector.values.get("model.learn") is None:
        return
    for place, found, allowed, fix in _unfitting(collector):
        collector.add(place, found, allowed, fix)


Unfit = tuple[tuple[str, ...], str, str, str]


def _unfitting(collector: Collector) -> list[Unfit]:
    values = collector.values
    found: list[Unfit] = []
    name = values.get("mechanism.name")
    if name not in (None, "optimal"):
        fix = "write name: optimal: it is what releases go over to once enough is known; before, top_k_grr is used"
        found.append((("mechanism", "name"), f"{name} beside model.learn", "optimal beside model.learn", fix))
    for amount in ("radius", "chain_error"):
        if values.get(f"mechanism.{amount}"):
            shown = f"{values[f'mechanism.{amount}']:g} beside model.learn, which finds out by itself how far it is off"
            fix = f"remove {amount}; model.learn.withheld says how much of epsilon that may cost"
            found.append((("mechanism", amount), shown, f"no {amount} beside model.learn", fix))
    if values.get("window.events") is not None:
        fix = "remove window; or learn a model first, write it to a file with `sottovoce learnt`, and name that file"
        found.append((("window",), "windows beside model.learn", "single releases beside model.learn", fix))
    if values.get("model.step") is not None:
        fix = "write step: event; pairs of releases say nothing about the time between them"
        found.append((("model", "step"), "a clock beside model.learn", "step: event beside model.learn", fix))
    if values.get("model.listed") is not None:
        fix = "remove listed; a learnt model has no tail"
        found.append((("model", "listed"), "listed beside model.learn", "listed beside a file", fix))
    if values.get("budget.when_spent") in ("suppress", "stop"):
        fix = "write when_spent: forecast or forecast_draw"
        hidden = (
            f"{values['budget.when_spent']} beside model.learn: nobody could tell in which epoch a hidden event fell"
        )
        found.append((("budget", "when_spent"), hidden, "forecast or forecast_draw beside model.learn", fix))
    if values.get("metrics.accounts"):
        fix = "write accounts: 0; one account would have to follow several models"
        found.append((("metrics", "accounts"), "accounts beside model.learn", "0 beside model.learn", fix))
    return found
