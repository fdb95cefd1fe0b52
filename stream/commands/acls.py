"""`sottovoce acls`: what the brokers must let a pipeline do, as commands, for Strimzi, or in JSON."""

import shlex
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import Literal

from ruamel.yaml import YAML

from stream.commands.report import errors_told, say, say_json
from stream.names import EXIT_DONE
from stream.permissions import Work, as_commands, as_strimzi, permissions
from stream.settings.load import load_settings

Form = Literal["commands", "strimzi", "json"]


def acls_command(file: Path, *, principal: str, work: Work, make_topics: bool, form: Form, cluster: str) -> int:
    with errors_told(as_json=form == "json"):
        settings = load_settings(file)
        found = permissions(settings, work, make_topics=make_topics)
        if form == "json":
            say_json({"principal": principal, "permissions": [asdict(one) for one in found]})
        elif form == "strimzi":
            login = "tls" if settings.kafka.sasl is None else "scram-sha-512"
            name = principal.partition(":")[2].removeprefix("CN=")
            text = StringIO()
            YAML().dump(as_strimzi(found, cluster, name, login), text)
            say(text.getvalue().rstrip())
        else:
            brokers = ",".join(settings.kafka.brokers)
            say("\n".join(shlex.join(command) for command in as_commands(found, brokers, principal)))
    return EXIT_DONE
