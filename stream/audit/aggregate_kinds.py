"""What an audit of windows of aggregates can find: what it is, why it matters, what to do about it."""

from __future__ import annotations

from typing import Final

_KEEP: Final = "stop the pipeline, keep all topics as they are, and find out who or what else writes to them"
_RECOMPUTE: Final = (
    "stop the pipeline; make sure that settings, laws and keys are those it ran with, and that nobody else writes to "
    "its topics"
)

AGGREGATE_KINDS: Final[dict[str, tuple[str, str, str]]] = {
    "window_missing": (
        "windows without a record",
        "every window has one, empty or withheld ones as well: what is left out by choice tells something",
        "see whether the released topic's retention removed records; otherwise restore it from a replica",
    ),
    "window_twice": (
        "windows with a second record, or one out of order",
        "a second draw of the same sums averages the noise away",
        _KEEP,
    ),
    "window_two_texts": (
        "windows that readers of uncommitted data saw with two different records",
        "a window that is released again after a crash must show the same bytes",
        _KEEP,
    ),
    "window_early": (
        "windows released before all partitions had closed them, or although sums were missing",
        "what comes later cannot be added, and a record without some users shows who they are",
        _KEEP,
    ),
    "aggregate_unreadable": (
        "records that are no windows of aggregates",
        "nothing can be said about what they tell",
        _KEEP,
    ),
    "aggregate_span": (
        "windows whose beginning, end, key or time is not that of their number",
        "windows that overlap tell their users' contributions twice",
        _RECOMPUTE,
    ),
    "aggregate_policy": (
        "windows that name another policy",
        "they were released under other settings than the ones given here",
        "audit with the settings that the pipeline ran with",
    ),
    "aggregate_id": (
        "windows with another release id than their number has",
        "readers of uncommitted data tell repeats by it",
        _KEEP,
    ),
    "aggregate_strange": (
        "windows with parts, headers or outcomes that the settings do not know",
        "whatever was not declared must not leave the pipeline",
        "stop the pipeline and remove the records",
    ),
    "aggregate_numbers": (
        "aggregates whose scale, interval or form does not follow from the settings",
        "with less noise than they should have they tell more than was charged",
        _RECOMPUTE,
    ),
    "aggregate_account": (
        "windows that say something else of what they tell than what the windows before them make of it",
        "the target is kept by these numbers",
        _RECOMPUTE,
    ),
    "aggregate_beyond_target": (
        "windows that were released although the target had no room for them",
        "more was told about users than was promised",
        _RECOMPUTE,
    ),
    "aggregate_needless": (
        "windows that were withheld although the target had room for them",
        "a choice that does not follow from the settings may follow from the data",
        _RECOMPUTE,
    ),
    "aggregate_state": (
        "what the second stage keeps is not what it has released",
        "the next windows are decided by it",
        "restore the changelog from a replica; do not start a worker before",
    ),
    "partial_unreadable": (
        "records in the topic of sealed sums that the key ring does not open",
        "the pipeline withholds every window of which sums are missing",
        "let nobody but the pipeline write to that topic; put back epochs that the ring had",
    ),
    "partial_twice": (
        "sealed sums of windows that their partition had closed before",
        "a partition closes a window once; other sums under the same nonce would undo the seal",
        _KEEP,
    ),
    "wrong_noise": (
        "windows whose numbers are not their sums with the noise of their coins",
        "noise from anywhere else may have been drawn twice, or chosen",
        "stop the pipeline: a true sum may have been released",
    ),
}
