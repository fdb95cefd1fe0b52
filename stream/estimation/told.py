"""From what was gathered to what is told: windows that are over, with all their fields."""

from __future__ import annotations

from collections.abc import Iterator

from stream.estimation.gathering import Gathering, Window
from stream.estimation.local_tables import field_result, joint_result
from stream.estimation.results import WindowResult
from stream.estimation.sequence_tables import sequence_result


def result_of(window: Window, *, complete: bool) -> WindowResult:
    """Every field, the pairs that were asked for, and the field whose values follow one another."""
    task, asked = window.task, window.task.asked
    found = [field_result(count, task.groups.get(count.form.name, ()), asked) for count in window.fields]
    small = {count.form.name for count in window.fields if count.is_small}
    found += [joint_result(pair, any(form.name in small for form in pair.forms), asked) for pair in window.pairs]
    if window.sequence is not None:
        found.append(sequence_result(task.followed, window.sequence, task.alphabet, window.is_small, asked))
        for cross in window.sequence.crosses:
            pair = (cross.form.name, task.followed) if cross.turned else (task.followed, cross.form.name)
            is_small = window.is_small or cross.form.name in small
            found.append(cross.result(",".join(pair), task.alphabet, is_small, asked))
    start, end = window.span
    return WindowResult(task.pipeline, task.policy.decode(), start, end, complete, asked.confidence, found)


def finished(gathering: Gathering) -> Iterator[WindowResult]:
    """All windows; those are complete behind whose end and lateness every partition has come."""
    until = gathering.time.over()
    for window in gathering.rest():
        yield result_of(window, complete=window.place < until)
