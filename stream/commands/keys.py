"""`sottovoce keys new`: makes the secret that noise and pseudonyms come from."""

from pathlib import Path

from stream.commands.report import errors_told, say, say_json
from stream.keys import add_epoch, new_ring
from stream.names import EXIT_DONE


def new_keys_command(file: Path, another_epoch: bool, as_json: bool) -> int:
    """Make a key ring, or add an epoch to one. What is printed is no secret."""
    with errors_told(as_json=as_json):
        ring = add_epoch(file) if another_epoch else new_ring(file)
        current = ring.current
        if as_json:
            say_json({"ok": True, "file": str(file), "epoch": current.number, "fingerprint": current.fingerprint})
        else:
            say(
                f"{file} holds epoch {current.number}, fingerprint {current.fingerprint}. Only you can read it. Keep a "
                "copy in a safe place: without it the pipeline cannot go on; whoever has it can undo the perturbation."
            )
    return EXIT_DONE
