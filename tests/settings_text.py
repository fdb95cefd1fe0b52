"""A right settings file, for the tests that change it."""

from __future__ import annotations

GOOD = """\
version: 1
pipeline:
  name: phones
kafka:
  brokers: [127.0.0.1:9092]
  raw_topic: phones.raw
  released_topic: phones.released
  dead_letter_topic: phones.dead
record:
  user: key
  protect:
    path: $.activity
  public: [$.battery]
model: model.json
mechanism:
  name: optimal
  epsilon: 1.0
budget:
  nats: 10
  window: 1d
keys:
  file: keys.json
policy_version: 1
"""
