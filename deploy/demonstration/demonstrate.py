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
    parser.add_argument(
        "--windows", type=int, help="beside it, the same events released in windows of so many, 2 to 64"
    )
    parser.add_argument("--brokers", help="an existing Kafka, host:port[,host:port...], without encryption or login")
    chosen = parser.parse_args(arguments)
    if not 20 <= chosen.phones <= 20_000:
        parser.error("--phones: from 20 (fewer users are not shown in metrics) to 20000")
    if chosen.seconds is not None and chosen.seconds <= 0:
        parser.error("--seconds: more than 0")
    if chosen.rate is not None and chosen.rate <= 0:
        parser.error("--rate: more than 0")
    if chosen.windows is not None and not 2 <= chosen.windows <= 64:
        parser.error("--windows: from 2 to 64")
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


async def prepare(folder: Path, brokers: str, names: topics.Names, window_events: int | None = None) -> Worker:
    """Writes model, key and settings into this folder, and starts the worker on them."""
    folder.mkdir()
    model, key, settings = folder / "model.json", folder / "keys.json", folder / "sottovoce.yaml"
    admin_port = free_port()
    write_model(model)
    said: list[str] = []
    if await sottovoce("keys", "new", str(key), hear=said.append) != 0:
        raise WorkerError("\n".join(["`sottovoce keys new` failed:", *said]))
    write_settings(settings, brokers, names, model, key, admin_port, window_events)
    worker = Worker(settings, folder / "worker.log", admin_port)
    kind = "" if window_events is None else f" with windows of {window_events}"
    say(f"starting `sottovoce run` under its supervisor{kind}")
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
    names = await topics.make(brokers, PARTITIONS, windows=chosen.windows is not None)
    workers: list[Worker] = []
    try:
        workers.append(await prepare(folder / "single", brokers, names))
        await workers[0].ready(say, stop)
        if chosen.windows is not None:
            workers.append(await prepare(folder / "windows", brokers, names.in_windows, chosen.windows))
            await workers[1].ready(say, stop)
        traffic = Traffic(brokers, names, workers, chosen)
        with View(chosen.phones, len(ACTIVITIES)) as view:
            await traffic.run(view, stop)
        say(f"all {traffic.fed:,} events came back{' from both' if len(workers) > 1 else ''}")
        # The workers still run, so that the auditor can compare their counters as well.
        verdicts = [await audit(worker.settings) for worker in workers]
        for worker in workers:
            status = worker.stop()
            if status != 0:
                log = worker.log_tail()
                raise WorkerError(f"the worker ended with {status} instead of 0; the end of its log:\n{log}")
        return max(verdicts)
    finally:
        for worker in workers:
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
