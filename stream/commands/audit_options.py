"""The options of `sottovoce audit`."""

from typing import Annotated

import typer

Metrics = Annotated[
    list[str] | None,
    typer.Option(metavar="URL", help="A worker's metrics page; repeat it for all of them.", show_default=False),
]
Brokers = Annotated[
    list[str] | None,
    typer.Option(metavar="HOST:PORT", help="Ask this broker instead of the settings'.", show_default=False),
]
Changelog = Annotated[bool, typer.Option(help="Compare with the beliefs in the changelog.")]
Uncommitted = Annotated[bool, typer.Option(help="Look at what readers of uncommitted data saw, too.")]
Accounts = Annotated[
    int,
    typer.Option(
        min=0,
        max=100_000,
        metavar="USERS",
        help="Work out what all releases tell together, exactly, about this many users; shown as quantiles.",
    ),
]
Keys = Annotated[bool, typer.Option("--keys", help="Of aggregates, open the sealed sums with the key ring.")]
