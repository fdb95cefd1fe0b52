"""Runs a command that dies with whoever started this script:   python attached.py COMMAND...

The starter holds the other end of standard input. Whatever ends it (kill -9 included) closes that pipe, and the
command is killed together with all it started. The first line of standard output is the command's process id; its
output goes to standard error.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """On Linux the kernel also kills the command when this script itself is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main(command: list[str]) -> int:
    # Ctrl-C in a terminal is for the starter, which then ends the command as it sees fit.
    os.setpgrp()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        start_new_session=True,
        preexec_fn=die_with_parent,  # safe: this process has one thread at this point
    )
    print(process.pid, flush=True)

    def watch() -> None:
        while os.read(0, 1024):
            pass
        # Until it is waited for, the number stays the command's own; `wait` below runs in the other thread.
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
    status = process.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
