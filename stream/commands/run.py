"""`sottovoce run`: a supervisor and its worker, or the worker alone where something else starts it again.

The supervisor loads next to nothing, so that it is there within a fraction of a second and can be told to stop from
then on; whether settings, model and keys are in order is for the worker to say, and a refusal ends both.
"""

import signal
import sys
from pathlib import Path
from types import FrameType

from stream.commands.report import errors_told
from stream.logs import log_to_stderr
from stream.names import EXIT_DONE
from stream.supervisor import is_supervised, supervise

# The worker needs this much of its drain time for leaving Faust after the lanes have finished.
SUPERVISOR_MARGIN_SECONDS = 1.0


def run_command(file: Path, supervised: bool = True) -> int:
    """Run until told to stop. Unsupervised, the exit status says whether to start again: 3 yes, 2 no."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop_before_anything_began)
    log_to_stderr()
    with errors_told():
        if supervised and not is_supervised():
            from stream.settings.load import load_settings

            stop_seconds = load_settings(file).limits.drain / 1000 + SUPERVISOR_MARGIN_SECONDS
            return supervise((sys.executable, "-m", "stream", "run", str(file)), stop_seconds=stop_seconds)
        from stream.commands.worker import run_worker

        run_worker(file)
    return EXIT_DONE


def _stop_before_anything_began(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 the signal's signature
    """Until the worker's or the supervisor's own loop takes signals over, there is nothing to finish."""
    raise SystemExit(EXIT_DONE)
