"""The options of `sottovoce acls`."""

from typing import Annotated, Literal

import typer

Principal = Annotated[str, typer.Option(metavar="NAME", help="Who it is for, as the brokers know him: User:sottovoce.")]
WorkOf = Annotated[
    Literal["run", "audit"], typer.Option("--for", help="What is to be allowed: to run the pipeline, or to audit it.")
]
MakeTopics = Annotated[
    bool, typer.Option("--make-topics", help="Also to make the pipeline's topics, which are otherwise made before.")
]
FormOf = Annotated[
    Literal["commands", "strimzi", "json"],
    typer.Option("--as", help="As commands of kafka-acls.sh, as a KafkaUser of Strimzi, or in JSON."),
]
Cluster = Annotated[str, typer.Option(help="With --as strimzi: the name of the Kafka cluster there.")]
