"""Apache Kafka's jars: fetched once by Maven into a private cache folder, each checked against jars.sha256.

python deploy/kafka/jars.py             says where they are, fetching them if they are not there
python deploy/kafka/jars.py --record    rewrites jars.sha256 after pom.xml was changed
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "bootstrap"))

import cache  # noqa: E402  (these files are scripts as well: they find their neighbours by themselves)
import machine  # noqa: E402

POM = HERE / "pom.xml"
DIGESTS = HERE / "jars.sha256"


def recorded() -> dict[str, str]:
    lines = DIGESTS.read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}


def digests_of(folder: Path) -> dict[str, str]:
    return {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in sorted(folder.glob("*.jar"))}


def fetch_into(folder: Path) -> None:
    machine.ensure([machine.JAVA, machine.MAVEN])
    machine.say(f"fetching Apache Kafka with Maven into {folder.parent} (about 43 MB, once)")
    machine.run_with_progress(
        [
            "mvn",
            "--batch-mode",
            "--strict-checksums",
            *("--file", str(POM)),
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
            f"-DoutputDirectory={folder}",
        ],
        "mvn",
        count=(r"^\[INFO\] Downloaded |^\[INFO\] Copying ", "files fetched or copied"),
    )


def check(folder: Path) -> None:
    """Every recorded jar is there, unchanged, and no other: a changed jar on the class path is somebody else's code."""
    found, expected = digests_of(folder), recorded()
    wrong = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
    if wrong:
        raise machine.MachineError(
            f"the jars that Maven delivered are not those recorded in {DIGESTS.name}: {', '.join(wrong)}\n"
            f"  If pom.xml was changed on purpose: python {Path(__file__).name} --record. "
            f"Otherwise the repository that Maven uses serves altered files: look into that first."
        )


def kafka_jars() -> Path:
    """The folder that holds the jars. Several callers at once wait for one download."""

    def checked(folder: Path) -> None:
        fetch_into(folder)
        check(folder)

    # The digest in the name makes a changed pom a new folder, never a mixture of two.
    return cache.kept(f"kafka-{hashlib.sha256(DIGESTS.read_bytes()).hexdigest()[:12]}", checked)


def record() -> None:
    with tempfile.TemporaryDirectory() as part:
        fetch_into(Path(part) / "jars")
        lines = [f"{digest}  {name}" for name, digest in digests_of(Path(part) / "jars").items()]
    DIGESTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        if sys.argv[1:] == ["--record"]:
            record()
        else:
            print(kafka_jars())
    except machine.MachineError as error:
        machine.say(f"jars: {error}")
        sys.exit(2)
