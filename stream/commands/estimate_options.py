"""`sottovoce estimate` as the command line knows it; each option is a parameter of `estimate_command`."""

from pathlib import Path
from typing import Annotated

import typer

from stream.commands import adversary_options

Releases = adversary_options.Releases
Window = Annotated[
    str | None, typer.Option(metavar="DURATION", help="Windows of event time, such as 1h; else all records are one.")
]
Late = Annotated[
    str, typer.Option(metavar="DURATION", help="How much later than its window an event still counts, such as 10m.")
]
Joint = Annotated[
    list[str] | None, typer.Option(metavar="A,B", help="The joint table of two fields, too; repeat it for others.")
]
Transitions = Annotated[
    bool, typer.Option("--transitions", help="What follows what, of the field whose values follow one another.")
]
Confidence = Annotated[float, typer.Option(help="Of each interval by itself, from 0.5 to below 1.")]
Pool = Annotated[
    str,
    typer.Option(
        metavar="HOW",
        help="How reports of several levels are put together: precision, with the least scatter, or shares, each "
        "report alike, where who is told of less may have other values.",
    ),
]
To = Annotated[
    str | None, typer.Option(metavar="WHERE", help="A file (.jsonl, .csv, .parquet), or topic:NAME; else the terminal.")
]
Replace = Annotated[bool, typer.Option("--replace", help="Write over a file that is there.")]
Follow = Annotated[bool, typer.Option("--follow", help="Go on, and tell of each window as it ends.")]
Serve = Annotated[
    int | None, typer.Option(min=0, max=65535, metavar="PORT", help="Follow the topic and serve metrics, too.")
]
Host = adversary_options.Host
Brokers = adversary_options.Brokers


def estimate(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The settings file.", show_default=False)],
    releases: Releases = None,
    window: Window = None,
    late: Late = "0s",
    joint: Joint = None,
    transitions: Transitions = False,
    confidence: Confidence = 0.95,
    pool: Pool = "precision",
    to: To = None,
    replace: Replace = False,
    follow: Follow = False,
    serve: Serve = None,
    host: Host = "127.0.0.1",
    brokers: Brokers = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Answer in JSON on standard output, problems included.")
    ] = False,
) -> None:
    """Give unbiased statistics, with intervals, to whoever consumes the released topic."""
    options = dict(locals())
    from stream.commands.estimate import estimate_command

    raise typer.Exit(estimate_command(**options))
