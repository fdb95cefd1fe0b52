"""The options of `sottovoce attack`, and the command as the command line knows it."""

from typing import Annotated

import typer

Epsilons = Annotated[
    list[str] | None,
    typer.Option("--epsilon", metavar="NATS", help="What a release claims; repeat it.", show_default="0.1 and 1"),
]
Attacks = Annotated[
    list[str] | None,
    typer.Option("--attack", metavar="NAME", help="alone, friends or product; repeat it.", show_default="all"),
]
Knows = Annotated[int, typer.Option("--knows", metavar="PEOPLE", help="How many people's places are known.")]
People = Annotated[int, typer.Option("--people", metavar="PEOPLE", help="How many people are attacked.")]
Windows = Annotated[int, typer.Option("--windows", metavar="N", help="How many windows repeat one count.")]
Friends = Annotated[int, typer.Option("--friends", metavar="N", help="How many unknown friends are counted along.")]
Noise = Annotated[
    str, typer.Option("--noise", metavar="KIND", help="own: for one person; dependent: with all friends.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Another number draws another release.")]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON on standard output, problems included.")]


def attack(
    epsilon: Epsilons = None,
    attack: Attacks = None,
    knows: Knows = 6968,
    people: People = 100,
    windows: Windows = 8,
    friends: Friends = 6,
    noise: Noise = "own",
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Try published attacks on noisy totals about people who are made up, and see beliefs before and after.

    No data is read, and no Kafka. With --noise own the claim is for people who do not depend on each other: it fails.
    """
    from stream.commands.attack import Options, attack_command

    kinds = tuple(attack or ("alone", "friends", "product"))
    options = Options(tuple(epsilon or ("0.1", "1")), kinds, knows, people, windows, friends, noise, seed)
    raise typer.Exit(attack_command(options, as_json=as_json))
