"""The options of `sottovoce plan` and `sottovoce compare`, and plan itself, apart so that the list of commands stays
readable.
"""

from pathlib import Path
from typing import Annotated

import typer

from stream.names import EVENTS_A_DAY, MOST_EVENTS_A_DAY, USERS_A_WINDOW

EVENTS_PER_DAY = "How many events a user has in a day, evenly spaced; daily figures and waits depend on it."

Config = Annotated[
    Path | None, typer.Argument(metavar="CONFIG", help="The settings file; or give --model.", show_default=False)
]
Model = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Plan with this model instead of the settings' own; needs no CONFIG."),
]
Agreement = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Ask that at least this share of released values is true: 0.8 is 80 %."),
]
Distance = Annotated[
    float | None,
    typer.Option(
        metavar="AMOUNT",
        help="Ask that released values lie at most so far from the true ones on average, as record.protect.distance "
        "in CONFIG counts it.",
    ),
]
Leakage = Annotated[
    float | None,
    typer.Option(
        "--leakage-per-day",
        metavar="NATS",
        help="Ask that all releases of any 24 hours together tell at most so much about a user, however many events "
        "come; a budget keeps that.",
    ),
]
EventsPerDay = Annotated[int, typer.Option(help=EVENTS_PER_DAY)]
LimitedEventsPerDay = Annotated[int, typer.Option(min=1, max=MOST_EVENTS_A_DAY, help=EVENTS_PER_DAY)]
Delay = Annotated[
    str | None,
    typer.Option(metavar="DURATION", help="Ask that values wait for their window at most so long on average: 30m, 2h."),
]
Mechanism = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Try only this mechanism; can be repeated.", show_default=False)
]
Epsilon = Annotated[
    list[float] | None, typer.Option(metavar="NATS", help="Try only this epsilon; can be repeated.", show_default=False)
]
Order = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ORDER",
        help="Try only windows of this order: none (each value by itself), bisect, natural or dual; can be repeated.",
        show_default=False,
    ),
]
Window = Annotated[
    list[int] | None,
    typer.Option(metavar="VALUES", help="Try only windows of so many values; can be repeated.", show_default=False),
]
Html = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with the table and plots, too.")]
Write = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write CONFIG with what the chosen point changes; needs CONFIG and something asked."
    ),
]
Replace = Annotated[bool, typer.Option("--replace", help="Let --html and --write write over files that are there.")]
Within = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=WIDTH",
        help="Of aggregates: ask that this one is right to so much with 95 %, in its field's unit; can be repeated.",
        show_default=False,
    ),
]
UsersAWindow = Annotated[
    int,
    typer.Option("--users", help="Of aggregates and crowds: how many users a window of the declared length has."),
]
CrowdFile = Annotated[
    Path | None,
    typer.Option(
        "--sample",
        metavar="FILE",
        help="Of crowds: past raw records as .jsonl, .csv, .tsv or .parquet, for the windows and boxes that they make.",
    ),
]
Everything = Annotated[bool, typer.Option("--all", help="List every point, not only those that no other beats.")]

SampleFile = Annotated[
    Path | None,
    typer.Option(
        "--sample",
        metavar="FILE",
        help="Real values: raw records as .jsonl, .csv, .tsv or .parquet; without it the model draws values.",
    ),
]
User = Annotated[
    str | None,
    typer.Option(
        metavar="PATH", help="Where a line of the sample names its user, as $.user; needed where CONFIG takes the key."
    ),
]
OneEpsilon = Annotated[
    float | None, typer.Option(metavar="NATS", help="Compare at this epsilon instead of the settings'.")
]
Users = Annotated[int, typer.Option(help="Without --sample: how many users are drawn from the model.")]
Events = Annotated[int, typer.Option(help="Without --sample: how many events of each are drawn.")]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON on standard output, problems included.")]


def plan(
    config: Config = None,
    model: Model = None,
    agreement: Agreement = None,
    distance: Distance = None,
    leakage: Leakage = None,
    events_per_day: EventsPerDay = EVENTS_A_DAY,
    delay: Delay = None,
    mechanism: Mechanism = None,
    epsilon: Epsilon = None,
    order: Order = None,
    window: Window = None,
    html: Html = None,
    write: Write = None,
    replace: Replace = False,
    everything: Everything = False,
    within: Within = None,
    users: UsersAWindow = USERS_A_WINDOW,
    sample: CrowdFile = None,
    user: User = None,
    as_json: AsJson = False,
) -> None:
    """Find the mechanism, epsilon, window and budget that keep what you want and tell the least.

    Say what you want with --agreement, --distance, --leakage-per-day and --delay; without any of them the points that
    no other beats are listed and none is chosen. Of aggregates: what noise costs, by --within. Of crowds: how many
    users and how long a window it takes, and with --sample what each grouper makes of it. No other data is read, and
    no Kafka.
    """
    from stream.commands.plan import plan_command
    from stream.commands.plan_asked import Asked, Outputs
    from stream.planning.grid import Grid

    grid = Grid(tuple(mechanism or ()), tuple(epsilon or ()), tuple(order or ()), tuple(window or ()))
    wanted = tuple(within or ())
    asked = Asked(
        config,
        model,
        agreement,
        distance,
        leakage,
        events_per_day,
        delay,
        grid,
        everything,
        wanted,
        users,
        sample,
        user,
    )
    raise typer.Exit(plan_command(asked, Outputs(html, write, replace), as_json=as_json))
