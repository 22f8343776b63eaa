"""A ward of patients, and the commands of the live channel."""

from __future__ import annotations

import csv
from pathlib import Path

from voile.cli.kind import kind_group
from voile.signals.module import SIGNALS

A_COMMAND = Path(__file__).with_name("a_command.py")
ROLES = """subject = "id"
[columns]
id = {role = "identifier"}
state = {role = "private"}
day = {role = "keep"}
height = {role = "reading", invariant = true}
weight = {role = "reading"}
mood = {role = "reading", ordinal = ["low", "middling", "high"]}
"""
COLUMNS = ("id", "state", "day", "height", "weight", "mood")
MOODS = ("low", "middling", "high")


def command(verb, *words):
    """Run a command here; return its exit code."""
    return kind_group(SIGNALS).main([verb, *map(str, words)], standalone_mode=False)


def table(path, columns, rows):
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])
