"""What `two_budget` needs beside its name, and what does not go with it."""

from stream.settings.collect import Collector


def upper_fits(collector: Collector) -> None:
    """`upper` belongs to two_budget alone, which needs it, at least as large as epsilon; a radius is proven for equal
    sides only.
    """
    values = collector.values
    name = values.get("mechanism.name")
    if name is None or "mechanism.upper" not in values:
        return
    upper, epsilon, radius = (values.get(f"mechanism.{field}") for field in ("upper", "epsilon", "radius"))
    place = ("mechanism", "upper")
    if name != "two_budget":
        if upper is not None:
            fix = "remove upper, or write name: two_budget"
            collector.add(place, f"upper beside {name}, which knows one bound only", "upper beside two_budget", fix)
    elif upper is None:
        fix = "add upper: the most that one release may tell upwards; or write name: optimal, where it is epsilon"
        collector.add(place, "two_budget without upper", "two_budget with upper", fix)
    elif epsilon is not None and upper < epsilon:
        fix = f"raise upper to {epsilon} or more, or lower epsilon"
        collector.add(place, f"{upper}, below mechanism.epsilon {epsilon}", "at least epsilon", fix)
    if name == "two_budget" and radius:
        found = f"{radius} beside two_budget: what a radius withholds is proven for equal sides"
        fix = "remove radius, or write name: optimal; chain_error goes with two_budget"
        collector.add(("mechanism", "radius"), found, "no radius beside two_budget", fix)
