"""What an audit of crowds can find: what it is, why it matters, what to do about it."""

from __future__ import annotations

from typing import Final

_KEEP: Final = "stop the pipeline, keep all topics as they are, and find out who or what else writes to them"
_RECOMPUTE: Final = (
    "stop the pipeline; make sure that settings, law and keys are those it ran with, and that nobody else writes to "
    "its topics"
)
_RAW: Final = "a value may have been released that is not that of a crowd"

CROWD_KINDS: Final[dict[str, tuple[str, str, str]]] = {
    "crowd_unread": (
        "raw records that cannot be read and have no dead letter",
        "nobody can say in which crowd they are",
        "see whether the settings are those the pipeline ran with, and whether dead letters were removed",
    ),
    "crowd_untimely": (
        "raw records that came too late, too early or from too far ahead and have no dead letter",
        "a window that takes events after it was closed would be another one than was released",
        _KEEP,
    ),
    "crowd_refused": (
        "raw records with a dead letter whose reason does not hold",
        "whoever is left out for no reason may be left out by choice, and the crowd is smaller than it seems",
        _RECOMPUTE,
    ),
    "crowd_letter_twice": (
        "raw records with two dead letters",
        "each record has one outcome; a second one means that a block was carried out twice",
        _KEEP,
    ),
    "crowd_unreadable": (
        "released records that are none of a pipeline of crowds",
        "nothing can be said about what they tell",
        _KEEP,
    ),
    "crowd_missing": (
        "windows without a record, or crowds without a number",
        "every window has one, withheld ones as well: what is left out by choice tells something",
        "see whether the released topic's retention removed records; otherwise restore it from a replica",
    ),
    "crowd_twice": (
        "windows or crowds with a second record, or out of order",
        "two releases of nearly the same people tell each of them apart",
        _KEEP,
    ),
    "crowd_two_texts": (
        "records that readers of uncommitted data saw with two different texts",
        "what is released again after a crash must show the same bytes",
        _KEEP,
    ),
    "crowd_early": (
        "windows released before all partitions had closed them, or although some partition's people were missing",
        "who comes later cannot be added, and a window without some users shows who they are",
        _KEEP,
    ),
    "crowd_span": (
        "records whose window, key or time is not that of their number",
        "windows that overlap tell their users' values twice",
        _RECOMPUTE,
    ),
    "crowd_policy": (
        "records that name another policy",
        "they were released under other settings than the ones given here",
        "audit with the settings that the pipeline ran with",
    ),
    "crowd_id": (
        "records with another release id than their number has",
        "readers of uncommitted data tell repeats by it",
        _KEEP,
    ),
    "crowd_strange": (
        "records with parts, headers or outcomes that the settings do not know",
        "whatever was not declared must not leave the pipeline",
        "stop the pipeline and remove the records",
    ),
    "crowd_users": (
        "windows that say another number of users than were there",
        "the guarantee is that of another crowd",
        _RECOMPUTE,
    ),
    "crowd_small": (
        "crowds of fewer than k users",
        "k is what was promised to everybody",
        "stop the pipeline and remove the records",
    ),
    "crowd_wrongly_released": (
        "windows that were released although a reason to withhold them holds",
        "what is withheld depends on who was there alone, and must be withheld always",
        _RECOMPUTE,
    ),
    "crowd_needless": (
        "windows that were withheld although their reason does not hold",
        "a choice that does not follow from who was there may follow from their values",
        _RECOMPUTE,
    ),
    "crowd_value": (
        "windows whose value is not that of the people who were there",
        _RAW,
        _RECOMPUTE,
    ),
    "crowd_noise": (
        "windows with another noise than the target asks for",
        "with less noise they tell more than they say; with more than is asked for, utility is lost",
        _RECOMPUTE,
    ),
    "crowd_below_truth": (
        "guarantees below what an own computation proves that the window tells",
        "more is told about somebody than readers are promised",
        "stop the pipeline; the law that is declared, or the code that accounts for it, is not the right one",
    ),
    "crowd_above_truth": (
        "guarantees that call themselves exact and are far above an own computation",
        "windows are withheld, or get noise, although nothing asks for it",
        _RECOMPUTE,
    ),
    "crowd_beyond_target": (
        "windows that were released although they tell more than the target allows",
        "more was told about users than was promised",
        _RECOMPUTE,
    ),
    "crowd_guarantee": (
        "guarantees with parts that do not follow from the settings and from one another",
        "readers rely on what they say",
        _RECOMPUTE,
    ),
    "crowd_box": (
        "crowds whose box is none of the declared attributes, or whose loss is not that of the box",
        "whatever was not declared must not leave the pipeline",
        _RECOMPUTE,
    ),
    "crowd_mixed": (
        "crowds whose sensitive values are not diverse or not close as was promised, or do not add up",
        "a crowd with one value tells it of everybody in it",
        _RECOMPUTE,
    ),
    "crowd_members": (
        "boxes that do not hold the people who were there, each once",
        "somebody is in no box or in two, or a box says something of nobody",
        _RECOMPUTE,
    ),
    "crowd_sent": (
        "what partitions have sent of their windows is not who was there",
        "a crowd is made of what is sent",
        _RECOMPUTE,
    ),
    "crowd_sent_unreadable": (
        "records in the internal topic that the key ring does not open",
        "the pipeline withholds every window of which something is missing",
        "let nobody but the pipeline write to that topic; put back epochs that the ring had",
    ),
    "flow_lost": (
        "events that came out of no crowd, are not withheld and do not wait",
        "every event comes out once",
        _KEEP,
    ),
    "flow_twice": (
        "more events in what was released than there were",
        "an event that comes out twice lies in what two boxes have in common",
        _KEEP,
    ),
    "flow_reused": (
        "boxes that are said to be used again, and that nobody was let out in before, or not with so many users",
        "a box without a crowd of its own stands for the events in it alone",
        _RECOMPUTE,
    ),
    "flow_state": (
        "what the second stage keeps is not what it has taken in and let out",
        "the next crowds are made of it",
        "restore the changelog from a replica; do not start a worker before",
    ),
}
