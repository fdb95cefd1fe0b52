"""What the settings say about several models: whether it fits together, and what tells one assignment from another."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from stream.records.paths import Path
from stream.settings.beside_learning import learning_fits
from stream.settings.collect import Collector


def models_fit(collector: Collector) -> None:
    """One model file, or a public field and the model files of its values, or values whose model is learnt."""
    if not collector.gives("model"):
        return
    names = ("file", "by", "files", "otherwise", "learn")
    if any(f"model.{name}" not in collector.values for name in names):
        return
    file, by, files, otherwise, learn = (collector.values[f"model.{name}"] for name in names)
    given = [name for name, value in (("file", file), ("files", files), ("learn", learn)) if value is not None]
    if len(given) != 1:
        found = f"both {' and '.join(given)}" if given else "neither file nor files nor learn"
        fix = (
            "write model: FILE, or model: {by: $.device, files: {sensor: a.json, phone: b.json}}, "
            "or model: {learn: {values: [still, walking]}}"
        )
        collector.add(("model",), found, "exactly one of file, files and learn", fix)
    elif files is None:
        for name, value in (("by", by), ("otherwise", otherwise)):
            if value is not None:
                fix = f"remove {name}, or name the models of the field's values under files instead of {given[0]}"
                found = f"{name} beside one {'file' if learn is None else 'learnt model'} for everybody"
                collector.add(("model", name), found, f"{name} beside files", fix)
    elif by is None:
        fix = "add by: $.field, one of record.public: the field whose values files names"
        collector.add(("model", "files"), "files without by", "by and files together", fix)
    else:
        _field_is_public(collector, by)
    learning_fits(collector)


def _field_is_public(collector: Collector, by: Any) -> None:
    public = collector.values.get("record.public")
    if public is None or by in public:
        return
    declared = ", ".join(map(str, public)) or "none is declared"
    fix = f"add {by} to record.public, or choose one of them: who reads the releases must see which model serves a user"
    collector.add(("model", "by"), f"{by}, which is not public", f"one of record.public ({declared})", fix)


def assignment(by: Path, listed: Mapping[str, str], otherwise: str | None) -> dict[str, Any]:
    """Which models serve whom, by their digests, as it stands in the policy's fingerprint."""
    return {"by": str(by), "files": dict(listed), "otherwise": otherwise}


def short_of(assigned: Mapping[str, Any], ends: Mapping[str, str]) -> str:
    """Eight digits that tell this assignment from every other one; `ends` are those of the models' names."""
    text = json.dumps([assigned, ends], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]
