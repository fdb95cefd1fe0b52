"""The options of `sottovoce calibrate`, and the command as the command line knows it."""

from pathlib import Path
from typing import Annotated

import typer


def _option(*names: str, words: str, metavar: str | None = None) -> typer.models.OptionInfo:
    made: typer.models.OptionInfo = typer.Option(*names, help=words, metavar=metavar)
    return made


Table = Annotated[
    Path, typer.Argument(metavar="TABLE", help="A joint table as .json, or records: .csv, .tsv, .jsonl, .parquet.")
]
Caps = Annotated[
    list[str] | None,
    _option(
        "--cap",
        metavar="[FIELD=]NATS",
        words="The most that may be told of each field in total, or of the one that is named; repeat it.",
    ),
]
Reports = Annotated[int, _option("--reports", words="How many reports of each field a person makes.")]
Fields = Annotated[
    list[str] | None, _option("--field", metavar="NAME", words="This field, not all; needed of records; repeat it.")
]
Mechanisms = Annotated[
    list[str] | None,
    _option(
        "--mechanism", metavar="[FIELD=]NAME", words="This one for all fields, or for the one named; not the best."
    ),
]
User = Annotated[
    str | None, _option("--user", metavar="NAME", words="Of records: the field that names the person, each once.")
]
People = Annotated[int, _option("--people", words="How many people's reports frequencies are made of.")]
Added = Annotated[float, _option("--add", metavar="WEIGHT", words="Give every combination so much more weight.")]
At = Annotated[float, _option("--at", metavar="NATS", words="The epsilon of the two benchmarks.")]
WriteTable = Annotated[
    Path | None, _option("--write-table", metavar="FILE", words="Write the joint table, for settings, to this file.")
]
Everybody = Annotated[
    bool, typer.Option("--everybody", help="Everybody was counted, not a sample: take the table as the truth itself.")
]
Replace = Annotated[bool, typer.Option("--replace", help="Let --write-table write over a file that is there.")]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON on standard output, problems included.")]


def calibrate(
    table: Table,
    cap: Caps = None,
    reports: Reports = 50,
    field: Fields = None,
    mechanism: Mechanisms = None,
    user: User = None,
    people: People = 10_000,
    add: Added = 0.0,
    at: At = 1.0,
    write_table: WriteTable = None,
    replace: Replace = False,
    everybody: Everybody = False,
    as_json: AsJson = False,
) -> None:
    """Find how much each of several fields may tell, so that no field's total through all of them is above its cap.

    Reads a joint table or records. Beside what holds stands what is published, by name.
    """
    from stream.commands.calibrate import Options, calibrate_command

    caps, fields, mechanisms = tuple(cap or ()), tuple(field or ()), tuple(mechanism or ())
    options = Options(table, caps, reports, fields, mechanisms, user, people, add, at, write_table, replace, everybody)
    raise typer.Exit(calibrate_command(options, as_json=as_json))
