"""The options of `sottovoce fit`; each is a name in `stream.fitting.asked.Asked` or in `fit_command`."""

from pathlib import Path
from typing import Annotated

import typer


def _option(*names: str, words: str, metavar: str | None = None, least: int | None = None) -> typer.models.OptionInfo:
    made: typer.models.OptionInfo = typer.Option(*names, help=words, metavar=metavar, min=least)
    return made


Source = Annotated[
    str | None,
    _option(
        "--from",
        metavar="DATA",
        words="A file (.jsonl, .csv, .tsv, .parquet; the first three packed or not), or topic, or topic:NAME.",
    ),
]
Out = Annotated[Path, _option("--out", metavar="MODEL", words="The model file to write.")]
Config = Annotated[Path | None, typer.Argument(metavar="[CONFIG]", help="The settings file.", show_default=False)]
User = Annotated[str | None, _option("--user", words="The field that names the user.")]
Value = Annotated[str | None, _option("--value", words="The field whose values are learnt.")]
Time = Annotated[str | None, _option("--time", words="The field with the time of the event.")]
TimeUnit = Annotated[str, _option("--time-unit", words="How that is written: ms, s or iso8601.")]
Format = Annotated[str | None, _option("--format", words="jsonl, csv, tsv or parquet, where the name does not tell.")]
Alphabet = Annotated[Path | None, _option("--alphabet", words="The values: a model file, or an alphabet alone.")]
Integers = Annotated[str | None, _option("--integers", metavar="LOW:HIGH", words="The values: whole numbers.")]
Bins = Annotated[str | None, _option("--bins", metavar="LOW:HIGH:CELLS", words="The values: cells of numbers.")]
Rare = Annotated[int, _option("--rare", words="Texts that fewer users have become --other.", least=1)]
Other = Annotated[str | None, _option("--other", words="The value that stands for rare texts.")]
Order = Annotated[int | None, _option("--order", words="How many values are remembered; else chosen.", least=0)]
MostOrder = Annotated[int, _option("--most-order", words="The longest memory that is tried.", least=1)]
Least = Annotated[int, _option("--least", words="Of many values: rarer transitions are not named.", least=1)]
Failure = Annotated[float, _option("--failure", words="With this probability some radius is exceeded.")]
Step = Annotated[str | None, _option("--step", words="event, or a duration such as 10m: go by the clock.")]
Sample = Annotated[
    str | None, _option("--sample", words="Whose events these are: public, consenting, protected or unknown.")
]
PrivateEpsilon = Annotated[
    str | None, _option("--private-epsilon", words="Learn from noisy counts; the most they tell about a user.")
]
Contribution = Annotated[int, _option("--contribution", words="Of each user so many events count then.", least=2)]
Joint = Annotated[
    str | None, _option("--joint", metavar="A,B", words="Count how these fields come together, into a joint table.")
]
Law = Annotated[
    str | None,
    _option(
        "--law",
        metavar="KIND",
        words="How people depend on each other, from public or past events: blocks, windows, gaussian, friends, tree.",
    ),
]
Component = Annotated[str | None, _option("--component", words="The field that names the household.")]
Window = Annotated[str | None, _option("--window", words="How long a window of contributions is, such as 1h.")]
Most = Annotated[int | None, _option("--most", words="The largest contribution; larger ones count as that.")]
Length = Annotated[int | None, _option("--length", words="So many windows of a user count together.")]
Friends = Annotated[Path | None, _option("--friends", words="A file with the columns user and friend.")]
Range = Annotated[float | None, _option("--range", words="Numbers that near each other are to be hidden.")]
Html = Annotated[Path | None, _option("--html", words="A page with pictures to write.")]
Released = Annotated[bool, typer.Option("--released", help="Learn from what the pipeline has released, alone.")]
Replace = Annotated[bool, typer.Option("--replace", help="Write over files that are there.")]
