"""What a pipeline of crowds promises, and what it does not, in plain words; every figure is from the facts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from stream.commands.aggregate_words import COUNTED, HURRIED, TAKEN, counted_lines, each_window
from stream.commands.layout import section, warned
from stream.commands.promising import NOT_PROMISED
from stream.metrics.about import Said
from stream.settings.crowd import MOST_PEOPLE, NOISY, WINDOWED
from stream.settings.kinds import write_duration

CROWDS: Final = "What is released of a crowd"
PROTECTED: Final = "Who is protected, and what is taken as known"
AGAINST: Final = "Against whom"
SIZES: Final = "What crowds of a size tell"
WITHHELD: Final = "What is withheld, and what that tells"

ADVERSARIES: Final = {
    "independent": "knows the law of everybody's values, and that people do not depend on each other",
    "dependent": "knows the law of households, whose members depend on each other",
    "independent_informed": "knows the law, and besides the very values of {known} of the people, of those where it "
    "hurts most",
    "dependent_informed": "knows the law of households, and besides the very values of {known} of the people, members "
    "of the same household among them",
}
"""The four, by the names that released records have for them."""

METHODS: Final = {
    "exact": "exactly",
    "sound": "by a bound that is never too low",
    "lattice": "by what every person's cell would tell, a bound that is often 1",
    "none": "no bound is known",
}

_NEVER: Final = (
    (
        "that it stays hidden who took part: who is in a crowd, how many there are and what is public of them is "
        "taken as known, and the size of a crowd is released"
    ),
    (
        "anything against whoever knows more of the values than is declared: to an adversary who knows everybody "
        "else's, a statistic without noise gives the last one away"
    ),
    (
        "anything that the law does not hold for: values that are more alike, or depend on each other more, than it "
        "says hide less than is claimed"
    ),
    (
        "what another pipeline, topic or system tells of the same values: two statistics of the same people without "
        "noise of their own tell together more than both alone"
    ),
    "what the statistic itself says about everybody: where all are alike, it says so of each",
    "whoever holds the key ring, the raw topic, or this machine's memory: they see the values",
)


def crowd_words(facts: Mapping[str, Any]) -> tuple[Said, ...]:
    counted = () if facts["window"] is None else (Said(COUNTED, tuple(counted_lines(facts["window"]))),)
    sizes = tuple(_sizes(facts))
    return (
        Said(CROWDS, tuple(_released(facts))),
        *counted,
        Said(PROTECTED, tuple(_protected(facts))),
        Said(AGAINST, tuple(_against(facts))),
        *((Said(SIZES, sizes),) if sizes else ()),
        Said(WITHHELD, tuple(_withheld(facts))),
        Said(NOT_PROMISED, tuple(_not_promised(facts))),
    )


def write_crowds(facts: Mapping[str, Any]) -> str:
    blocks = [f"Pipeline {facts['pipeline']}, policy {facts['policy']}"]
    blocks += [section(said.title, said.lines) for said in crowd_words(facts)]
    return "\n\n".join([*blocks, *([warned(facts["warnings"])] if facts["warnings"] else [])])


def _released(facts: Mapping[str, Any]) -> Iterator[str]:
    release, k, topic = facts["release"], facts["k"], facts["released_topic"]
    if facts["window"] is not None:
        boxes = ", and before it one for each crowd" if release["grouper"] == WINDOWED else ""
        yield f"one record for {each_window(facts['window'])}{boxes}, to {topic}; nothing about an event"
    else:
        delay = facts["delay"]
        yield (
            f"each event in a crowd of at least {k:,} users, to {topic}: once at most {delay['events']:,} later ones "
            f"have come, and no later than {write_duration(delay['time_ms'])} after it came itself"
        )
    yield _what(release, facts["target"])
    yield from _by(release)
    yield {
        "all": "crowds are made over all partitions of the raw topic",
        "partition": "each partition of the raw topic makes its own crowds; a user's events must all be in one, for in "
        "another he would count as somebody else",
    }[facts["over"]]


def _what(release: Mapping[str, Any], target: Mapping[str, Any] | None) -> str:
    kind, path = release["kind"], release["path"]
    if kind == "records":
        return {
            "mondrian": "the people of a window are divided into boxes of at least k, and each box and how many are in "
            "it is released",
            "castle": "an event joins the cluster that it enlarges least, and leaves with it (castle)",
            "fads": "an event leaves with those that are nearest to it (fads)",
            "sky": "an event leaves by the lowest group of the hierarchies that enough people share (sky)",
        }[release["grouper"]]
    taken = TAKEN[release["take"]]
    plain = "without noise"
    if target is not None and target["beyond"] == "top_up":
        plain = "without noise where the crowd is enough, otherwise with as much as is lacking"
    if kind == "count":
        named = ", ".join(map(str, release["counted"]))
        return f"how many users have as the {taken} of {path} one of: {named}; {plain}"
    if kind == "histogram":
        return f"how many users have each of {release['values']:,} values as the {taken} of {path}; {plain}"
    clipped = f"clipped to {release['low']:g} to {release['high']:g} in steps of {release['grid']:g}"
    if kind == "range":
        return f"the smallest and the largest of all users' {taken} of {path}, {clipped}; {plain}"
    return f"the {kind} over all users of each one's {taken} of {path}, {clipped}; {plain}"


def _by(release: Mapping[str, Any]) -> Iterator[str]:
    for each in release["by"]:
        if each["groups"] is None:
            how = f"as an interval within {each['low']:g} to {each['high']:g}, in steps of {each['grid']:g}"
        else:
            how = f"as one of {each['cells']:,} values or of the {each['groups']:,} groups above them"
        yield f"{each['name']}: {each['path']}, {how}"
    sensitive = release["sensitive"]
    if sensitive is not None:
        rules = []
        if sensitive["diverse"] is not None:
            rules.append(f"no value has more than 1 in {sensitive['diverse']} of its users")
        if sensitive["close"] is not None:
            rules.append(f"the shares of the values are within {sensitive['close']:g} of those of all")
        yield f"in each crowd {sensitive['path']} is counted, value by value; {' and '.join(rules)}"
    if release["loss_most"] is not None:
        yield f"a crowd whose box loses more than {release['loss_most']:.0%} of the detail is left out"


def _protected(facts: Mapping[str, Any]) -> Iterator[str]:
    believes = facts["believes"]
    yield (
        "everybody who takes part: his value of the field, whatever it is; who takes part, and how many there are, is "
        "taken as known to everybody"
    )
    if believes is None:
        yield "nothing is declared of what an adversary believes, so nothing is promised but crowds of at least k users"
        return
    yield (
        "no noise hides him but what an adversary does not know of the others: their values, of which he believes "
        f"the law in {believes['law']}; it must come from past or public data, never from what it is to protect"
    )
    if believes["by"] is not None:
        names = ", ".join(believes["types"][:8]) + (", ..." if len(believes["types"]) > 8 else "")
        yield (
            f"{believes['by']} is public and says of which type of people a user is: {names}; an event of any other "
            "is a dead letter (unknown_type)"
        )
    if believes["household"] is not None:
        yield (
            f"{believes['household']} is public and says who belongs together: households of at most "
            f"{believes['household_most']:,}, whose members may depend on each other as the law has it; others do not"
        )


def _against(facts: Mapping[str, Any]) -> Iterator[str]:
    believes, target = facts["believes"], facts["target"]
    if believes is None or target is None:
        yield "nobody in particular: without a law nothing bounds what anybody may conclude from a crowd"
        return
    whom = "independent" if believes["household"] is None else "dependent"
    declared = {whom, f"{whom}_informed"} if believes["known"] else {whom}
    known = f"{believes['known']:.0%}"
    for name, knows in ADVERSARIES.items():
        left = "" if name in declared else "; not declared here, so nothing is said of him"
        yield f"{name}: {knows.format(known=known)}{left}"
    yield (
        f"epsilon {target['epsilon']:g} and delta {target['delta']:g}: for any two values of one person, and "
        f"whatever is looked for in the release, its chance with one of them is at most {target['factor']:.4g} "
        f"times that with the other, and {target['delta']:g} more"
    )
    if believes["windows"] == "any":
        yield (
            "windows may depend on each other in any way: each window's numbers hold for that window alone, and "
            "windows whose people differ by fewer than k are not both released"
        )
    else:
        yield (
            "values of different windows are taken for independent, so what windows tell is composed: the target is "
            f"for any {target['windows']:,} of them in a row together"
        )


def _sizes(facts: Mapping[str, Any]) -> Iterator[str]:
    several = len(facts["needed"]) > 1
    for each in facts["worked"]:
        whom = f" of type {each['type']}" if several else ""
        told = [
            f"{name} {_number(one['delta'])} ({METHODS[one['method']]}; epsilon {_number(one['epsilon_at_target'])} at "
            "the target's delta)"
            for name, one in each["adversaries"].items()
        ]
        if not told:
            told = ["not known, since too many numbers would have to be worked out"]
        noise = "" if each["noise_scale"] is None else f", with noise of scale {each['noise_scale']:.4g} steps"
        together = ""
        if facts["target"]["windows"] > 1:
            together = f"; {facts['target']['windows']:,} such windows together {_number(each['delta'])}"
        fate = "released" if each["released"] else "withheld"
        yield f"{each['users']:,} users{whom}: delta {', '.join(told)}{together}; {fate}{noise}"
    noise = ", or beyond: top_up" if facts["release"]["kind"] in NOISY else ""
    for name, users in facts["needed"].items():
        whom = f" of type {name} alone" if several else ""
        if users is None:
            yield (
                f"no window of up to {MOST_PEOPLE:,} users{whom} meets the target without noise: declare fewer "
                f"values, or a larger epsilon or delta{noise}"
            )
        else:
            yield f"a window of {users:,} users{whom} meets the target by itself; larger ones tell less"


def _number(amount: float) -> str:
    return "without bound" if math.isinf(amount) else f"{amount:.3g}"


def _withheld(facts: Mapping[str, Any]) -> Iterator[str]:
    k, target, believes = facts["k"], facts["target"], facts["believes"]
    if facts["window"] is None:
        yield (
            f"events that are not among {k:,} users in time are left out (too_few), and so are crowds whose sensitive "
            "values are too much alike (not_diverse) or whose box is too wide (loss): what is left out has a record "
            "without a box"
        )
        yield "when an event leaves, and into which box, depends on its value and on others': no bound on that is known"
        return
    yield f"a window of fewer than {k:,} users (too_few), or of more than {MOST_PEOPLE:,} (too_many)"
    if believes is not None and believes["household"] is not None:
        yield f"one with more than {believes['household_most']:,} users of one household (household_too_large)"
    if believes is None or believes["windows"] == "any":
        yield (
            "one whose users are not the same as those of one of the last 64 released windows, but differ by fewer "
            f"than {k:,} (differencing): the difference would be a crowd of fewer"
        )
    if target is not None:
        noise = ", after as much noise as is allowed" if target["beyond"] == "top_up" else ""
        yield f"one that would tell more than the target allows (delta){noise}"
    yield "one of which a partition's part is missing (partial_missing)"
    yield (
        "all of this depends on who is there, which is known, and never on anybody's value: that a window is withheld "
        "tells nothing; a withheld window has its record, with how many users there were"
    )


def _not_promised(facts: Mapping[str, Any]) -> Iterator[str]:
    believes, release = facts["believes"], facts["release"]
    if release["grouper"] not in (None, WINDOWED):
        yield (
            f"any bound on what {release['grouper']} tells about a person: k, diversity, delay and loss are what it "
            "keeps, and no more"
        )
    elif believes is None:
        yield f"any bound on what a crowd tells about a person in it: he is one of at least {facts['k']:,}, and no more"
    elif believes["windows"] == "any":
        yield (
            "a bound over several windows: who has the same value again and again is seen better with each of them; "
            "with windows: fresh they are composed, if values of different windows are independent"
        )
    else:
        yield (
            f"a bound over more than {facts['target']['windows']:,} windows in a row, and any at all where values of "
            "different windows depend on each other"
        )
    yield from _NEVER
    if facts["window"] is None:
        yield "that an event counts which holds what is no value: it is a dead letter"
    else:
        yield "that an event counts which is late, lies too far ahead, or holds what is no value: it is a dead letter"
        yield HURRIED
