"""What holds for every quick pass of a paper."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from html import escape
from pathlib import Path

from paper_findings import FAILS, HOLDS, ONLY_WHEN

Main = Callable[[Sequence[str]], int]


def check_quick_pass(main: Main, parts: Sequence[str], pictures: Collection[str], out: Path) -> None:
    """Known verdicts, every claim with its reason, and a picture of each section that has one."""
    assert main(["--out", str(out), "--quick", "--only", *parts]) == 0
    document = json.loads((out / "findings.json").read_text(encoding="utf-8"))
    assert [section["name"] for section in document["sections"]] == list(parts)
    text, page = ((out / f"findings.{end}").read_text(encoding="utf-8") for end in ("md", "html"))
    for section in document["sections"]:
        assert len(section["setting"]) > 20 and section["title"] in text
        assert section["claims"]
        for claim in section["claims"]:
            assert claim["verdict"] in (HOLDS, FAILS, ONLY_WHEN)
            assert all(claim[key] for key in ("claim", "found", "reason")) and escape(claim["name"]) in page
        assert section["pictures"] == ([f"{section['name']}.png"] if section["name"] in pictures else [])
        for picture in section["pictures"]:
            content = (out / picture).read_bytes()
            assert content.startswith(b"\x89PNG") and len(content) > 20_000
        for table in section["tables"]:
            assert table["rows"] and all(len(row) == len(table["columns"]) for row in table["rows"])


def check_refusals(main: Main, part: str, folder: Path) -> None:
    """A folder that cannot be made ends with 2."""
    (folder / "file").write_text("", encoding="utf-8")
    assert main(["--out", str(folder / "file" / "below"), "--only", part]) == 2
