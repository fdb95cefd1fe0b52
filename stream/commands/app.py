"""The command line. Each command imports its work when it is called, so that `--help` and shell completion are quick.

Exit statuses: 0 done; 1 the command ran and the answer is bad; 2 something that was given cannot be used, nothing was
started; 3 a worker lost its partition or could not publish.
"""

from importlib.metadata import version as version_of
from pathlib import Path
from typing import Annotated

import typer

from stream.commands import (
    adversary_options,
    attack_options,
    audit_options,
    calibrate_options,
    estimate_options,
    fit_options,
    plan_options,
)
from stream.names import DISTRIBUTION, EVENTS_A_DAY

app = typer.Typer(
    name=DISTRIBUTION,
    help="Privacy middleware for Kafka: perturbed events out, and every nat that they tell about a user metered.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # the plain help is there in half the time
)
keys_app = typer.Typer(help="Make the secret that noise and pseudonyms come from.", no_args_is_help=True)
app.add_typer(keys_app, name="keys")
app.command()(attack_options.attack)
app.command()(calibrate_options.calibrate)
app.command()(estimate_options.estimate)

Config = Annotated[Path, typer.Argument(metavar="CONFIG", help="The settings file.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON on standard output, problems included.")]


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"{DISTRIBUTION} {version_of(DISTRIBUTION)}")
        raise typer.Exit


@app.callback()
def main_options(
    version: Annotated[
        bool, typer.Option("--version", help="Say the version and stop.", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    """Privacy middleware for Kafka: perturbed events out, and every nat that they tell about a user metered."""


@app.command()
def init(
    file: Annotated[Path, typer.Argument(help="The settings file to write.")] = Path("sottovoce.yaml"),
    pipeline: Annotated[str, typer.Option(help="The name of the pipeline: a-z, 0-9 and -.")] = "phones",
    aggregates: Annotated[
        bool, typer.Option("--aggregates", help="For windows of counts, sums, means and histograms over all users.")
    ] = False,
    crowds: Annotated[
        bool, typer.Option("--crowds", help="For windows of at least k users, with a computed guarantee and no noise.")
    ] = False,
) -> None:
    """Write a settings file to start from, with every setting explained."""
    from stream.commands.init import init_command
    from stream.commands.init_examples import AGGREGATES, CROWDS, EVENTS

    if aggregates and crowds:
        raise typer.BadParameter("a pipeline is of aggregates or of crowds", param_hint="--crowds")
    raise typer.Exit(init_command(file, pipeline, CROWDS if crowds else AGGREGATES if aggregates else EVENTS))


@app.command()
def validate(config: Config, as_json: AsJson = False) -> None:
    """Check the settings, the model and the keys; report every problem at once."""
    from stream.commands.validate import validate_command

    raise typer.Exit(validate_command(config, as_json))


@app.command()
def explain(
    config: Config,
    events_per_day: plan_options.LimitedEventsPerDay = EVENTS_A_DAY,
    as_json: AsJson = False,
) -> None:
    """Say in plain words what is promised against whom, what is not, and what to expect."""
    from stream.commands.explain import explain_command

    raise typer.Exit(explain_command(config, events_per_day, as_json))


@app.command()
def fit(
    out: fit_options.Out,
    config: fit_options.Config = None,
    source: fit_options.Source = None,
    released: fit_options.Released = False,
    user: fit_options.User = None,
    value: fit_options.Value = None,
    time: fit_options.Time = None,
    time_unit: fit_options.TimeUnit = "ms",
    file_format: fit_options.Format = None,
    alphabet: fit_options.Alphabet = None,
    integers: fit_options.Integers = None,
    bins: fit_options.Bins = None,
    rare: fit_options.Rare = 1,
    other: fit_options.Other = None,
    order: fit_options.Order = None,
    most_order: fit_options.MostOrder = 3,
    least: fit_options.Least = 2,
    failure: fit_options.Failure = 0.05,
    step: fit_options.Step = None,
    sample: fit_options.Sample = None,
    private_epsilon: fit_options.PrivateEpsilon = None,
    contribution: fit_options.Contribution = 32,
    joint: fit_options.Joint = None,
    law: fit_options.Law = None,
    component: fit_options.Component = None,
    window: fit_options.Window = None,
    most: fit_options.Most = None,
    length: fit_options.Length = None,
    friends: fit_options.Friends = None,
    range: fit_options.Range = None,  # noqa: A002 - the option's name
    html: fit_options.Html = None,
    replace: fit_options.Replace = False,
    as_json: AsJson = False,
) -> None:
    """Learn a model from data, a joint table of fields, or a law of dependent people, and say how good it is."""
    options = dict(locals())
    from stream.commands.fit import fit_command

    raise typer.Exit(fit_command(**options))


@app.command()
def learnt(
    config: Config,
    partition: Annotated[int | None, typer.Option(min=0, help="Only this partition.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the model that it has learnt to this new file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show how far the partitions of a pipeline that learns its model have come."""
    from stream.commands.learnt import learnt_command

    raise typer.Exit(learnt_command(config, partition, out, as_json))


app.command()(plan_options.plan)


@app.command()
def compare(
    config: Config,
    sample: plan_options.SampleFile = None,
    user: plan_options.User = None,
    epsilon: plan_options.OneEpsilon = None,
    users: plan_options.Users = 100,
    events: plan_options.Events = 100,
    as_json: AsJson = False,
) -> None:
    """Put the settings' mechanism and local privacy side by side, on your own sample or on the model's.

    Both release the same values, without a budget: how many stay true, and what is told. No Kafka is asked.
    """
    from stream.commands.compare import Asked, compare_command

    raise typer.Exit(compare_command(Asked(config, sample, user, epsilon, users, events), as_json=as_json))


@app.command()
def schema() -> None:
    """Print the JSON Schema of settings files, for editors."""
    from stream.commands.report import say_json
    from stream.settings.schema import json_schema

    say_json(json_schema())


@app.command()
def run(
    config: Config,
    alone: Annotated[
        bool, typer.Option("--alone", help="Run one worker; what started it starts it again after exit status 3.")
    ] = False,
) -> None:
    """Run the pipeline until it is told to stop."""
    from stream.commands.run import run_command

    raise typer.Exit(run_command(config, supervised=not alone))


@app.command()
def audit(
    config: Config,
    as_json: AsJson = False,
    metrics: audit_options.Metrics = None,
    brokers: audit_options.Brokers = None,
    changelog: audit_options.Changelog = True,
    uncommitted: audit_options.Uncommitted = True,
    accounts: audit_options.Accounts = 0,
    keys: audit_options.Keys = False,
) -> None:
    """Recompute every belief and every charge from the released topic alone, and compare."""
    from stream.commands.audit import audit_command

    told = audit_command(
        config,
        as_json,
        metrics=metrics or (),
        brokers=brokers or (),
        changelog=changelog,
        uncommitted=uncommitted,
        accounts=accounts,
        keys=keys,
    )
    raise typer.Exit(told)


@app.command()
def adversary(
    config: Config,
    releases: adversary_options.Releases = None,
    model: adversary_options.Model = None,
    knows: adversary_options.Knows = None,
    truth: adversary_options.Truth = None,
    raw: adversary_options.Raw = False,
    smooth: adversary_options.Smooth = False,
    html: adversary_options.Html = None,
    exposed: adversary_options.Exposed = 0,
    as_json: AsJson = False,
    brokers: adversary_options.Brokers = None,
    reidentify: adversary_options.Reidentify = 0,
    serve: adversary_options.Serve = None,
    host: adversary_options.Host = "127.0.0.1",
) -> None:
    """Watch an adversary read what was released, guess each value, and stay under the bound."""
    from stream.commands.adversary import Options, adversary_command, serve_command

    asked = tuple(brokers or ())
    options = Options(releases, model, knows, truth, raw, smooth, html, exposed, reidentify, as_json, asked)
    told = adversary_command(config, options) if serve is None else serve_command(config, options, host, serve)
    raise typer.Exit(told)


@app.command()
def compute(
    file: Annotated[Path, typer.Argument(help="A JSON file with one question or a list of questions.")],
) -> None:
    """Answer questions about leakage and agreement, as JSON."""
    from stream.commands.compute import compute_command

    raise typer.Exit(compute_command(file))


@keys_app.command("new")
def new_keys(
    file: Annotated[Path, typer.Argument(help="The key ring file.")],
    add_epoch: Annotated[bool, typer.Option("--add-epoch", help="Add a key to a ring that is there already.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a key ring that only you can read; an existing one is never overwritten."""
    from stream.commands.keys import new_keys_command

    raise typer.Exit(new_keys_command(file, add_epoch, as_json))
