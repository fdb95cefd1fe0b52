"""The options of `sottovoce plan` and `sottovoce compare`, apart so that the list of commands stays readable."""

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[
    Path | None, typer.Argument(metavar="CONFIG", help="The settings file; or give --model.", show_default=False)
]
Model = Annotated[Path | None, typer.Option(metavar="FILE", help="This model instead of the settings' own.")]
Agreement = Annotated[
    float | None, typer.Option(metavar="SHARE", help="At least this share of released values is true, such as 0.8.")
]
Distance = Annotated[
    float | None, typer.Option(metavar="AMOUNT", help="Released values lie at most so far from the true ones.")
]
Leakage = Annotated[
    float | None,
    typer.Option("--leakage-per-day", metavar="NATS", help="At most so much is promised for any 24 hours."),
]
EventsPerDay = Annotated[int, typer.Option(help="How many events a user has in a day, evenly spaced.")]
Delay = Annotated[str | None, typer.Option(metavar="30m", help="Values wait at most so long on average.")]
Mechanism = Annotated[list[str] | None, typer.Option(help="Try only these mechanisms; repeat it.", show_default=False)]
Epsilon = Annotated[list[float] | None, typer.Option(help="Try only these epsilons; repeat it.", show_default=False)]
Order = Annotated[
    list[str] | None, typer.Option(help="Try only these windows: none, bisect, natural ...", show_default=False)
]
Window = Annotated[list[int] | None, typer.Option(help="Try only windows of so many values.", show_default=False)]
Html = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with the plots.")]
Write = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the settings that make the chosen point.")]
Replace = Annotated[bool, typer.Option("--replace", help="Write over files that are there already.")]
Everything = Annotated[bool, typer.Option("--all", help="List every point, not only those that no other beats.")]

SampleFile = Annotated[
    Path | None,
    typer.Option("--sample", metavar="FILE", help="A file of events (.jsonl, .csv, .tsv, .parquet); else the model's."),
]
User = Annotated[str | None, typer.Option(metavar="PATH", help="The field of a line that holds its user, as $.user.")]
OneEpsilon = Annotated[float | None, typer.Option(help="Compare at this epsilon instead of the settings'.")]
Users = Annotated[int, typer.Option(help="How many users are drawn from the model.")]
Events = Annotated[int, typer.Option(help="How many events of each are drawn.")]
