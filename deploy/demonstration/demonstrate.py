"""The demonstration from beginning to end; `deploy/demo` makes the environment and then runs this."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "kafka"), str(HERE.parent / "bootstrap")]

import machine  # noqa: E402
import topics  # noqa: E402
from aiokafka.errors import KafkaError  # noqa: E402
from broker import Broker, BrokerError, free_port  # noqa: E402
from phones import ACTIVITIES  # noqa: E402
from pipeline_files import write_model, write_settings  # noqa: E402
from traffic import Traffic  # noqa: E402
from view import View, say  # noqa: E402
from worker import Worker, WorkerError, sottovoce  # noqa: E402

PARTITIONS = 4
EXPECTED_ERRORS = (WorkerError, BrokerError, KafkaError, machine.MachineError, OSError, LookupError)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="deploy/demo",
        description="A real Kafka, simulated phones, sottovoce between them and the reader, and an audit at the end.",
    )
    parser.add_argument("--seconds", type=float, help="feed for so long (default: until Ctrl-C)")
    parser.add_argument("--rate", type=float, help="events a second (default: as fast as the pipeline keeps up)")
    parser.add_argument("--phones", type=int, default=600, help="how many phones (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which lives the phones lead (default: %(default)s)")
    parser.add_argument("--brokers", help="an existing Kafka, host:port[,host:port...], without encryption or login")
    chosen = parser.parse_args(arguments)
    if not 20 <= chosen.phones <= 20_000:
        parser.error("--phones: from 20 (fewer users are not shown in metrics) to 20000")
    if chosen.seconds is not None and chosen.seconds <= 0:
        parser.error("--seconds: more than 0")
    if chosen.rate is not None and chosen.rate <= 0:
        parser.error("--rate: more than 0")
    return chosen


@contextlib.contextmanager
def kafka(chosen: str | None) -> Iterator[str]:
    """The given brokers, or one of our own on free ports that is gone afterwards."""
    if chosen is not None:
        yield chosen
        return
    began = time.monotonic()
    say("starting Apache Kafka on free ports of this machine")
    with Broker() as broker:
        say(f"  ready on {broker.bootstrap} after {time.monotonic() - began:.1f} s")
        yield broker.bootstrap


async def prepare(folder: Path, brokers: str, names: topics.Names) -> Worker:
    """Writes model, key and settings, and starts the worker on them."""
    model, key, settings = folder / "model.json", folder / "keys.json", folder / "sottovoce.yaml"
    admin_port = free_port()
    write_model(model)
    said: list[str] = []
    if await sottovoce("keys", "new", str(key), hear=said.append) != 0:
        raise WorkerError("\n".join(["`sottovoce keys new` failed:", *said]))
    write_settings(settings, brokers, names, model, key, admin_port)
    worker = Worker(settings, folder / "worker.log", admin_port)
    say("starting `sottovoce run` under its supervisor")
    worker.start()
    return worker


async def audit(settings: Path) -> int:
    say("\nsottovoce audit: recomputes all beliefs and amounts from the released topic and the public model alone")
    return await sottovoce("audit", str(settings), hear=say)


def end_when_told(stop: asyncio.Event) -> None:
    """The first Ctrl-C ends the feeding and brings the verdict; one more gives up the verdict as well."""
    loop = asyncio.get_running_loop()
    whole = asyncio.current_task()
    assert whole is not None

    def told() -> None:
        if stop.is_set():
            whole.cancel()
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told)


async def demonstrate(chosen: argparse.Namespace, brokers: str, folder: Path) -> int:
    stop = asyncio.Event()
    end_when_told(stop)
    names = await topics.make(brokers, PARTITIONS)
    worker: Worker | None = None
    try:
        worker = await prepare(folder, brokers, names)
        await worker.ready(say, stop)
        traffic = Traffic(brokers, names, worker, chosen)
        with View(chosen.phones, len(ACTIVITIES)) as view:
            await traffic.run(view, stop)
        say(f"all {traffic.fed:,} events came back")
        # The worker still runs, so that the auditor can compare its counters as well.
        verdict = await audit(folder / "sottovoce.yaml")
        status = worker.stop()
        if status != 0:
            raise WorkerError(f"the worker ended with {status} instead of 0; the end of its log:\n{worker.log_tail()}")
        return verdict
    finally:
        if worker is not None:
            worker.stop()
        if chosen.brokers is not None:
            say(f"removed from {brokers}: {', '.join(await topics.remove(brokers, names))}")


def leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in leaves(inner)]
    return [error]


def main(arguments: Sequence[str]) -> int:
    chosen = parse(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # The worker's modules are the project's own, whichever folder this was started from.
    os.chdir(HERE.parents[1])
    folder = Path(tempfile.mkdtemp(prefix="sottovoce-demo-"))
    try:
        with kafka(chosen.brokers) as brokers:
            return asyncio.run(demonstrate(chosen, brokers, folder))
    except (KeyboardInterrupt, asyncio.CancelledError):
        say("stopped without a verdict")
        return 130
    except Exception as error:
        if not all(isinstance(leaf, EXPECTED_ERRORS) for leaf in leaves(error)):
            raise
        for leaf in leaves(error):
            machine.say(f"demo: {leaf}")
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
