"""Two ends without a network, for the tests: how they are made, and what came."""

from __future__ import annotations

import json

import numpy as np
from tests.signals.days import days, fitted

from voile.signals.channel import Recipient, Sender, Taken
from voile.signals.channel.recipient import READINGS, Subject

COLUMNS = ["height", "weight"]
WHO = {"A": Subject("calm", "Anna's"), "B": Subject("wild", 17)}
ONE = Taken("A", "calm", (170.0, 70.0))


def sender(folder, *, ahead=1, codec=None):
    return Sender(folder / "spool", codec or fitted().codec_, ahead=ahead)


def recipient(folder, *, codec=None, subjects=WHO):
    return Recipient(folder / "clinic", codec or fitted().codec_, subjects, COLUMNS)


def written(folder):
    lines = (folder / "clinic" / READINGS).read_text().splitlines()
    return [json.loads(line) for line in lines]


def of_days(n, length, seed):
    """Readings of several subjects, in turns, with the time beside them."""
    X, c, whose = days(n, length, seed)
    rows = np.argsort(np.tile(np.arange(length), n), kind="stable")
    subjects = {f"S{one}": Subject(str(c[whose == one][0]), int(one)) for one in range(n)}
    taken = [
        Taken(f"S{whose[row]}", str(c[row]), tuple(X[row].tolist()), {"time": f"t{row}"})
        for row in rows
    ]
    return taken, subjects


def check_all_came(lines, taken):
    """Each once, in each subject's order, with its values and what was sent beside."""
    assert len(lines) == len(taken)
    for pseudonym in {one.pseudonym for one in taken}:
        sent = [(one.values, one.beside["time"]) for one in taken if one.pseudonym == pseudonym]
        own = [line for line in lines if f"S{line['subject']}" == pseudonym]
        own.sort(key=lambda line: line["number"])
        assert [line["number"] for line in own] == list(range(1, len(own) + 1))
        assert [((line["height"], line["weight"]), line["time"]) for line in own] == sent
