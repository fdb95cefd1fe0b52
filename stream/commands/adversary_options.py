"""The options of `sottovoce adversary`."""

from pathlib import Path
from typing import Annotated

import typer

Releases = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Read released records from a file, not from the topic.")
]
Model = Annotated[Path | None, typer.Option(metavar="FILE", help="Believe in this model instead of the pipeline's.")]
Knows = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Raw values that the adversary knows: user, step, value.")
]
Truth = Annotated[Path | None, typer.Option(metavar="FILE", help="Score guesses by these values: user, step, value.")]
Raw = Annotated[bool, typer.Option("--raw", help="Score guesses by the raw topic; no key is needed.")]
Smooth = Annotated[bool, typer.Option("--smooth", help="Guess past values from later releases, too.")]
Html = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report as a page, too.")]
Exposed = Annotated[
    int, typer.Option(min=0, max=1000, metavar="USERS", help="Show the most exposed users on the terminal.")
]
Brokers = Annotated[
    list[str] | None, typer.Option(metavar="HOST:PORT", help="Ask this broker instead of the settings'.")
]
Reidentify = Annotated[
    int, typer.Option(min=0, max=1000, metavar="USERS", help="Name whose the second halves of streams are.")
]
Serve = Annotated[
    int | None, typer.Option(min=0, max=65535, metavar="PORT", help="Follow the topic and serve metrics.")
]
Host = Annotated[str, typer.Option(help="The address that --serve listens on.")]
