"""A page about a ledger for the data holder: risk budget, releases and their joint risk."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from voile.core.version import __version__
from voile.core.wording import count
from voile.ledger.chain import LedgerLine
from voile.ledger.ledger import Ledger
from voile.ledger.promise import format_people
from voile.report import render
from voile.report.sections import Bullets, Commands, Figure, Figures, Grid, Prose, Section

COLUMNS = ("line", "when (UTC)", "kind", "to", "state", "alone", "together", "reason")
STATE = {"done": "released", "void": "released nothing", None: "open: counts as released"}
SAME = "Two pages of one ledger agree in the hash of each line. This is the last line's hash."
NOT_SAID = (
    "No figure includes releases that were never recorded here, or data that others published "
    "about the same people.",
    "Figures have two digits, rounded up. *Together* means that every row is linked.",
    "The page names no person and no value. It is private nevertheless: it lists the releases, "
    "their recipients and their risks.",
)


def ledger_page(ledger: Ledger, name: str) -> str:
    """Return the page of a ledger as HTML, for the ledger with this file name."""
    head = ledger.chain.lines[-1]
    facts = {
        "Ledger": ledger.id,
        "Last line": f"{head.number}, of {_day(head)}",
        "SHA-256 of the last line": ledger.chain.head,
        "Made with": f"voile {__version__}",
    }
    return render(
        f"{name}: releases and their joint risk",
        tuple(_sections(ledger, name)),
        audience="internal",
        facts=facts,
    )


def _sections(ledger: Ledger, name: str) -> Iterator[Section]:
    apart = "; ".join(f"{one} and {other}" for one, other in ledger.audience.apart)
    said = "All recipients are assumed to share their releases"
    shares = f"{said}, except for these pairs: {apart}." if apart else f"{said}."
    promised = f"All releases of this source together keep to {ledger.promise}."
    figures = Figures(tuple(_figures(ledger)))
    yield Section("promise", "Promised", (Prose((promised, shares)), figures), first=True)
    rows = tuple(_row(ledger, line) for line in ledger.intents)
    out = Grid(COLUMNS, rows, "Expected matches alone and together.", numeric=(0, 5, 6))
    nothing = Prose(("Nothing was released yet.",))
    yield Section("out", "Released", (out if rows else nothing,), first=True)
    if erased := tuple(_list_erased(ledger)):
        grid = Grid(("when (UTC)", "reason", "people"), erased, numeric=(2,))
        yield Section("erased", "In no further release", (grid,))
    yield Section("limits", "Limits of this page", (Bullets(NOT_SAID),))
    verify = f"voile ledger verify {name} --key-file KEY --manifests FOLDER --releases FOLDER"
    yield Section("reproduce", "Which ledger this is", (Prose((SAME,)),))
    yield Section("decision", "Check it", (Commands((verify,)),))


def _figures(ledger: Ledger) -> Iterator[Figure]:
    joint = [line.content["joint"].get("matches") for line in ledger.released_lines]
    yield Figure("Published releases", str(len(joint)), f"{count(len(ledger.open), 'line')} open")
    if joint:
        most = "no bound" if None in joint else format_people(max(joint))
        promised = ledger.promise.expected_matches
        limit = "of all releases together" + (
            "" if promised is None else f"; {promised:g} promised"
        )
        yield Figure("Expected matches at most", most, limit)


def _row(ledger: Ledger, line: LedgerLine) -> tuple[str, ...]:
    said = line.content
    figures = (said[name].get("matches") for name in ("alone", "joint"))
    return (
        str(line.number),
        _day(line),
        said["kind"],
        said.get("recipient", "anybody"),
        STATE[ledger.closing_acts.get(line.number)],
        *("no bound" if x is None else format_people(x) for x in figures),
        said.get("override", ""),
    )


def _list_erased(ledger: Ledger) -> Iterator[tuple[str, ...]]:
    def by(line: LedgerLine) -> tuple[str, str]:
        return _day(line), line.content["reason"]

    lines = [line for line in ledger.chain.lines if line.content["act"] == "erase"]
    for (day, reason), some in groupby(lines, by):
        yield day, reason, str(len(list(some)))


def _day(line: LedgerLine) -> str:
    time: Any = line.content["time"]
    return f"{time[:10]} {time[11:16]}"
