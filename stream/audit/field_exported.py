"""What workers export about fields that are protected each by itself, against what was worked out from the releases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from stream.audit.amounts import UNITS
from stream.audit.field_gate import MARGIN
from stream.audit.report import Report
from stream.names import METRIC_PREFIX

_LINE: Final = re.compile(rf"^{METRIC_PREFIX}field_(reports_total|total_nats){{(.+)}} (\S+)$", re.MULTILINE)
_LABEL: Final = re.compile(r'(\w+)="([\w.-]*)"')
_SHARES: Final = {"0.5": "p50", "0.9": "p90", "0.99": "p99", "1": "max"}
_NEAR: Final = MARGIN / UNITS
_NAME: Final = "exported fields"


class Exported(NamedTuple):
    """Reports by field and choice, added up over all pages; and of each page the totals by field and quantile."""

    reports: Counter[tuple[str, str]]
    totals: tuple[Mapping[tuple[str, str], float], ...]


def exported_in(pages: Sequence[str]) -> Exported:
    reports: Counter[tuple[str, str]] = Counter()
    totals = []
    for page in pages:
        shown: dict[tuple[str, str], float] = {}
        for kind, text, number in _LINE.findall(page):
            labels = dict(_LABEL.findall(text))
            if kind == "reports_total":
                reports[labels.get("field", ""), labels.get("choice", "")] += int(float(number))
            else:
                shown[labels.get("field", ""), labels.get("quantile", "")] = float(number)
        totals.append(shown)
    return Exported(reports, tuple(totals))


def check_exported(before: Sequence[str], after: Sequence[str], report: Report) -> None:
    """Counters start anew with each worker, so that they never exceed what was found. Totals are about users as they
    stand: the largest of all pages is that of all users; shares of users are said by a single page only.
    """
    first, last = exported_in(before), exported_in(after)
    if first != last:
        report.compared[_NAME] = "not compared: events are in flight"
        return
    if report.fields is None or not any((last.reports, *last.totals)):
        report.compared[_NAME] = "not compared: no page says anything about fields"
        return
    found = {(name, word): many for name, one in report.fields.items() for word, many in one.get("reports", {}).items()}
    covers = last.reports.total() >= sum(found.values())
    wrong = [
        f"{name}, {word}: counted {last.reports[name, word]:,}, found {many:,}"
        for (name, word), many in found.items()
        if last.reports[name, word] > many or (covers and last.reports[name, word] != many)
    ]
    wrong += _wrong_totals(last.totals, report.fields, all_users=covers)
    for detail in wrong:
        report.findings.add("counters", 1, [], detail=detail)
    agrees = "agree" if covers else "no contradiction; they do not cover all events, because a worker started anew"
    report.compared[_NAME] = "DISAGREE" if wrong else agrees


def _wrong_totals(
    pages: Sequence[Mapping[tuple[str, str], float]], fields: Mapping[str, Any], *, all_users: bool
) -> list[str]:
    wrong = []
    for name, one in fields.items():
        for label, share in _SHARES.items():
            shown = [page[name, label] for page in pages if (name, label) in page]
            # What has no limit is None in a report, and so is nothing to compare where nobody was seen.
            nats = one["total_nats"].get(share)
            if not shown or nats is None or (share != "max" and len(pages) > 1):
                continue
            if max(shown) > nats + _NEAR or (all_users and max(shown) < nats - _NEAR):
                wrong.append(f"{name}, total at {share}: exported {max(shown):.9f} nat, found {nats:.9f}")
    return wrong
