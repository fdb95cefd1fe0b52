"""Every name that leaves the process, or that must stay the same between two versions of it, written out once.

Names are literals on purpose: a name made from a Python path changes when a file moves, and orphans what was stored
under the old one.
"""

from typing import Final

DISTRIBUTION: Final = "sottovoce"

# Exit statuses of the command line.
EXIT_DONE: Final = 0
EXIT_FAILED: Final = 1  # the command ran, and the answer is bad: an audit that disagrees, a computation with an error
EXIT_REFUSED: Final = 2  # settings, model, keys or state cannot be used; nothing was started
EXIT_STOPPED: Final = 3  # a worker lost its partition or could not publish; a supervisor starts a fresh one

# What explain, plan and compare assume of a user where nobody says how many events he has: one each quarter of an hour.
EVENTS_A_DAY: Final = 96
MOST_EVENTS_A_DAY: Final = 1_000_000
# Over how many users in a window plan takes a mean, where nobody says.
USERS_A_WINDOW: Final = 1_000

# Topics. The raw, released and dead-letter topics are named in the settings.
CHANGELOG_SUFFIX: Final = "-beliefs-changelog"
CHANGELOG_USER_PREFIX: Final = b"u"
CHANGELOG_CONTROL_KEY: Final = b"c"
CHANGELOG_PROGRESS_KEY: Final = b"o"
CHANGELOG_CLOCK_KEY: Final = b"t"
CHANGELOG_HELD_PREFIX: Final = b"h"
CHANGELOG_LEARNING_KEY: Final = b"e"
CHANGELOG_EPOCH_PREFIX: Final = b"E"
CHANGELOG_AGGREGATE_KEY: Final = b"a"
PARTIALS_SUFFIX: Final = "-partials"  # what each partition adds up of a window of aggregates, sealed
AGGREGATES: Final = "aggregates"
TOTAL_SUFFIX: Final = "-total"  # the group that adds them up and releases the windows
CHANGELOG_GUARD_PREFIX: Final = b"g"  # who was in the windows of a crowd that were released last, sealed
CROWDS_SUFFIX: Final = "-crowds"  # who is in each partition's part of a crowd, and with which values, sealed
STAGES: Final = {"aggregate": PARTIALS_SUFFIX, "crowd": CROWDS_SUFFIX}
"""The topic between the two stages of a pipeline, by the section of the settings that declares it."""
CROWDS: Final = "crowds"
TRANSACTIONAL_ID_PREFIX: Final = "sottovoce"

# Headers of a released record.
HEADER_RELEASE_ID: Final = "release-id"
HEADER_POLICY: Final = "policy"
HEADER_MODEL: Final = "model"
HEADER_STEP: Final = "step"
HEADER_OUTCOME: Final = "outcome"
HEADER_FIELDS: Final = "fields"  # one sign for each field in declared order: 0 1 2 3 c -
HEADER_WINDOW: Final = "window"  # <place from 1>/<values in the window, if known>/<index that the channel drew, if any>
OWN_HEADERS: Final = (
    HEADER_RELEASE_ID,
    HEADER_POLICY,
    HEADER_MODEL,
    HEADER_STEP,
    HEADER_OUTCOME,
    HEADER_WINDOW,
    HEADER_FIELDS,
)

# Outcomes. Every input record has exactly one in the end: in = the sum of these five, and what windows still hold.
RELEASED: Final = "released"
FORECAST: Final = "forecast"
SUPPRESSED: Final = "suppressed"
REPLAYED: Final = "replayed"
DEAD_LETTERED: Final = "dead_lettered"
OUTCOMES: Final = (RELEASED, FORECAST, SUPPRESSED, REPLAYED, DEAD_LETTERED)

# Of a pipeline of aggregates or crowds: in = the sum of these four.
TAKEN: Final = "taken"
REPEATED: Final = "repeated"
GATHERED_OUTCOMES: Final = (TAKEN, REPEATED, REPLAYED, DEAD_LETTERED)
# Of a window of aggregates or of a crowd, in its header `outcome`; and why it is withheld.
WITHHELD: Final = "withheld"
WITHHELD_BUDGET: Final = "budget"
WITHHELD_PARTIAL: Final = "partial_missing"
WITHHELD_REASONS: Final = (WITHHELD_BUDGET, WITHHELD_PARTIAL)

# Of the records of a crowd, in the header `outcome`: a box of people; beside it a window is released or withheld.
CROWD: Final = "crowd"
WITHHELD_FEW: Final = "too_few"  # fewer distinct users than k
WITHHELD_DELTA: Final = "delta"  # these users would be told more about than the target allows
WITHHELD_DIFFERENCING: Final = "differencing"  # fewer than k users apart from a window that was released
WITHHELD_HOUSEHOLD: Final = "household_too_large"  # more people of one household than the law knows
WITHHELD_MANY: Final = "too_many"  # more users than can be held or accounted for
CROWD_REASONS: Final = (
    WITHHELD_FEW,
    WITHHELD_DELTA,
    WITHHELD_DIFFERENCING,
    WITHHELD_HOUSEHOLD,
    WITHHELD_PARTIAL,
    WITHHELD_MANY,
)
# Of events that come out of a grouper without a box.
WITHHELD_DIVERSE: Final = "not_diverse"  # too few sensitive values in the crowd, or too far from those of all
WITHHELD_LOSS: Final = "loss"  # the box would be wider than is of use
FLOW_REASONS: Final = (WITHHELD_FEW, WITHHELD_DIVERSE, WITHHELD_LOSS)

# Outcome codes of the step; their place in this tuple is the code.
STEP_OUTCOMES: Final = (RELEASED, FORECAST, SUPPRESSED, REPLAYED)

# Reasons why a record goes to the dead-letter topic.
UNREADABLE: Final = "unreadable"  # its batch is damaged, or is compressed and becomes too large
TOMBSTONE: Final = "tombstone"  # a null value: there is no event to release
TOO_LARGE: Final = "too_large"
NOT_UTF8: Final = "not_utf8"
NOT_JSON: Final = "not_json"  # broken text, NaN, Infinity, or a number no double can hold
TOO_DEEP: Final = "too_deep"
NOT_AN_OBJECT: Final = "not_an_object"
DUPLICATE_KEY: Final = "duplicate_key"  # readers disagree about which of the two values counts
NUMBER_OUT_OF_RANGE: Final = "number_out_of_range"  # an integer beyond 64 bits in a field that would be passed on
FIELD_MISSING: Final = "field_missing"
FIELD_TYPE: Final = "field_type"
OUTSIDE_ALPHABET: Final = "outside_alphabet"  # also a list with more values than are allowed, or with one twice
USER_MISSING: Final = "user_missing"
USER_EMPTY: Final = "user_empty"
USER_TYPE: Final = "user_type"
USER_TOO_LONG: Final = "user_too_long"
USER_DISAGREES: Final = "user_disagrees"  # the record's key and the field name different users
TIME_MISSING: Final = "time_missing"
TIME_TYPE: Final = "time_type"
TIME_OUT_OF_RANGE: Final = "time_out_of_range"
UNKNOWN_SEGMENT: Final = "unknown_segment"  # the field that chooses a user's model is missing, or names none
SEGMENT_CHANGED: Final = "segment_changed"  # the user began in another segment, so another model serves him
UNKNOWN_TYPE: Final = "unknown_type"  # the field that says by which law a user's values come is missing, or names none
LATE: Final = "late"  # its window was closed before it came
TIME_AHEAD: Final = "time_ahead"  # further ahead of its record's timestamp than is allowed
BEFORE_START: Final = "before_start"  # before the first window
PARTIAL_UNREADABLE: Final = "partial_unreadable"  # what a partition added up cannot be opened, or is none
STATE_UNREADABLE: Final = "state_unreadable"  # what is known about the user cannot be trusted: nothing is released
REASONS: Final = (
    UNREADABLE,
    TOMBSTONE,
    TOO_LARGE,
    NOT_UTF8,
    NOT_JSON,
    TOO_DEEP,
    NOT_AN_OBJECT,
    DUPLICATE_KEY,
    NUMBER_OUT_OF_RANGE,
    FIELD_MISSING,
    FIELD_TYPE,
    OUTSIDE_ALPHABET,
    USER_MISSING,
    USER_EMPTY,
    USER_TYPE,
    USER_TOO_LONG,
    USER_DISAGREES,
    TIME_MISSING,
    TIME_TYPE,
    TIME_OUT_OF_RANGE,
    UNKNOWN_SEGMENT,
    SEGMENT_CHANGED,
    UNKNOWN_TYPE,
    LATE,
    TIME_AHEAD,
    BEFORE_START,
    PARTIAL_UNREADABLE,
    STATE_UNREADABLE,
)

METRIC_PREFIX: Final = "sottovoce_"

# Purposes of keys derived from an epoch's secret. Two purposes never share a key.
PURPOSE_COINS: Final = "coins"
PURPOSE_PSEUDONYM: Final = "pseudonym"
PURPOSE_HELD: Final = "held"
PURPOSE_LASTING: Final = "lasting"
PURPOSE_CONTRIBUTION: Final = "contribution"
PURPOSE_PARTIAL: Final = "partial"
PURPOSE_NOISE: Final = "noise"
PURPOSE_CROWD: Final = "crowd"
PURPOSE_HOUSEHOLD: Final = "household"
PURPOSE_FORWARDED: Final = "forwarded"
PURPOSE_FLOW: Final = "flow"
