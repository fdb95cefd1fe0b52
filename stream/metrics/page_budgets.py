"""The part of the status page that speaks of budgets: how many users are where, and when a window ends."""

from __future__ import annotations

from html import escape

from beliefs.ledger import window_of
from stream.metrics import table as metrics
from stream.metrics.meter import Meter, MeterSettings
from stream.metrics.picture import over_users
from stream.metrics.rows import Row, budget, card, duration, moment, table, whole_share, words
from stream.metrics.standing import Standing


def budgets(meter: Meter, now: Standing, now_ms: int) -> str:
    settings = meter.settings
    rows = [Row("users tracked", f"{now.tracked:,}", metrics.USERS_TRACKED.name)]
    picture = when = ""
    if now.spent is None:
        rows.append(Row("budget", words("none: what is told about a user grows with every event")))
    else:
        rows += [
            Row("budget of one user, upper", budget(settings.upper_budget)),
            Row("budget of one user, lower", budget(settings.lower_budget)),
            *_window(settings, now_ms),
            Row(f"users who spent at least {settings.near_share:.0%} of it", f"{now.near:,}", metrics.USERS_NEAR.name),
            Row("users with less left than one release takes", f"{now.at_budget:,}", metrics.USERS_AT.name),
        ]
        picture = over_users(
            "Users by the share that is spent, on the worse side, in the window of their latest event",
            metrics.BUDGET_SPENT.name,
            now.spent.buckets,
            "spent",
            whole_share,
            "bar",
        )
        if settings.about.when_spent:
            when = f"<p>when it is spent: {escape(settings.about.when_spent)}</p>"
    rows.append(Row("users stopped", f"{now.stopped:,}", metrics.USERS_STOPPED.name))
    if quarantined := meter.quarantined_users():
        few = quarantined < settings.small_count_floor
        number = f"fewer than {settings.small_count_floor:,}" if few else f"{quarantined:,}"
        rows.append(Row("users whose stored state cannot be read", number, note="nothing is released for them"))
    return card("Budgets", f"{table(rows)}{picture}{when}")


def _window(settings: MeterSettings, now_ms: int) -> list[Row]:
    about = settings.about
    if about.budget_events:
        return [Row("budget window", words(f"any {about.budget_events} events of a user in a row"))]
    if not about.budget_window_ms:
        return [Row("budget window", words("for ever: nothing is given back"))]
    length = about.budget_window_ms
    ends = (window_of(now_ms, length) + 1) * length
    return [
        Row("budget window", duration(length), note="of event time, by each user's latest event"),
        Row("the window of this moment ends", words(f"in {duration(ends - now_ms)}"), note=moment(ends)),
    ]
