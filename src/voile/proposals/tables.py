"""Propose a role for every column of a table, with a reason from names, types and counts.

A proposal is only a start. In doubt, it protects more rather than less. A number or a category is
`quasi` unless there is a sign of another role. A quasi-identifier is generalised, which costs
utility rather than privacy. A column that is released unchanged needs a reason. A column is
`undecided` if neither its name nor its values suggest a role.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voile.data.column_words import ends_in, find_words, mentions
from voile.proposals.coordinates import find_pairs
from voile.proposals.people import warn_of_people
from voile.proposals.proposal import ColumnProposal, RolesProposal, find_subject, identifying
from voile.proposals.seen import FEW, LEAST_ROWS, ROWS, ColumnLook, first_rows, look, printable

if TYPE_CHECKING:
    from voile.data import Source
    from voile.data.roles import Role

BINNED = 64  # distinct numbers above which they are put into bins
NAMED_BINNED = 128  # the same limit for a meaningful name, such as age
BINS = 32
FEW_CODES = 12
CLASSES = 50  # most values of a label, or of a category in many words

WEIGHT = "the role weight counts a group's people by it, which lowers the risks shown"

Said = tuple["Role", str]


def examine(source: Source) -> RolesProposal:
    """Propose a role for every column by its name, its type and the first 100,000 rows.

    The function reads at most that many rows into memory. The reasons contain types and counts, but
    no values.
    """
    table = first_rows(source)
    seen = list(look(table, written=True))
    columns = [_propose(column) for column in seen]
    quasi = [one for one, column in zip(seen, columns, strict=True) if column.role == "quasi"]
    pairs = find_pairs(quasi, table)
    paired = tuple(_mention_pair(column, pairs) for column in columns)
    subject = find_subject(seen)
    warn_of_people(source.name, table, subject)
    return RolesProposal(source.name, len(table), paired, subject)


def _mention_pair(column: ColumnProposal, pairs: Mapping[str, str]) -> ColumnProposal:
    """Add the pair to the proposal of a latitude.

    Trees split both columns, so neither gets bins.
    """
    if column.name not in {*pairs, *pairs.values()}:
        return column
    settings = {name: value for name, value in column.settings.items() if name != "bins"}
    if column.name in pairs:
        settings["pair"] = pairs[column.name]
    return replace(column, settings=settings, why=f"{column.why}; one place with its pair")


def _propose(seen: ColumnLook) -> ColumnProposal:
    role, why = _role(seen)
    settings = _settings(seen) if role == "quasi" else {}
    return ColumnProposal(seen.name, role, f"{why}{seen.missing.reason}", settings)


def _settings(seen: ColumnLook) -> dict[str, Any]:
    """Propose the settings of a quasi-identifier: its form, its missing values, and its bins."""
    form = seen.written[0][1] if seen.written else next(iter(seen.forms), "")
    most = BINNED if find_words(seen.name) is None else NAMED_BINNED
    tree = _is_tree(seen)
    many = bool(seen.number) and not seen.width and seen.distinct > most and not tree
    settings: dict[str, Any] = {
        "by": "year" if seen.kind == "date" else "hour" if _is_time(seen) else None,
        "form": form if form and not tree else None,
        "missing": list(seen.missing.texts) or None,
        "bins": BINS if many else None,
        "order": "prefix" if tree else None,
    }
    return {name: value for name, value in settings.items() if value is not None}


def _is_time(seen: ColumnLook) -> bool:
    return bool(seen.written) and seen.written[0][0] == "time"


def _is_tree(seen: ColumnLook) -> bool:
    return mentions(seen.name, "codes") or (seen.codes and seen.distinct > FEW_CODES)


def _role(seen: ColumnLook) -> Said:
    if not seen.present:
        return "drop", "empty"
    if why := identifying(seen):
        return "identifier", why
    if seen.kind in ("nested", "other"):
        return "undecided", f"{_nature(seen)}: drop it, or give its parts columns of their own"
    found = find_words(seen.name)
    named = found is not None and found[0].role == "quasi" and not ends_in(seen.name, "texts")
    if seen.free_text and not (named and seen.distinct <= min(CLASSES, FEW * seen.present)):
        return _of_text(seen)
    if found is not None and found[0].role == "weight" and seen.number:
        return "drop", f'its name contains "{found[1]}": {found[0].about}; in a survey, {WEIGHT}'
    if found is None or found[0].role in ("quasi", "weight"):
        sign = found and f'its name contains "{found[1]}": {found[0].about}'
        return _as_quasi(seen, sign or "")
    entry, word = found
    return _as_it_is(seen, entry.role or "undecided", f'its name contains "{word}": {entry.about}')


def _nature(seen: ColumnLook) -> str:
    return "lists or objects" if seen.kind == "nested" else f"of type {printable(seen.type)}"


def _of_text(seen: ColumnLook) -> Said:
    what = f"free text, {seen.length:.0f} characters on average"
    if ends_in(seen.name, "texts"):
        return "text", what
    return "undecided", f"{what}, which may name people: text or drop"


def _as_it_is(seen: ColumnLook, role: Role, why: str) -> Said:
    """Propose the role that a column's name suggests, unless it differs in almost every row."""
    if seen.nearly_unique or (role == "label" and seen.distinct > CLASSES):
        return "undecided", f"{why}, but as {role} it leaves as it is; {seen.counts}"
    return role, f"{why}; {seen.counts}"


def _as_quasi(seen: ColumnLook, sign: str) -> Said:
    """Propose a quasi-identifier, if the column can be generalised."""
    why = f"{sign}; {seen.counts}" if sign else f"others may know it; {seen.counts}"
    if seen.distinct < 2:
        return _constant(seen, sign)
    if seen.kind == "date":
        return _of_dates(seen, why)
    if len(seen.written) > 1 or seen.mostly:
        return "undecided", f"{_ways(seen)}; {seen.counts}"
    if seen.measures or _is_time(seen):
        return "quasi", f"{why}{_how(seen)}"
    if seen.nearly_unique and not sign:
        role: Role = "drop" if seen.number else "identifier"
        return role, f"tells almost every row apart: {seen.counts}"
    if seen.many and not seen.number and not sign:
        return "undecided", f"text of many values: quasi, text or drop; {seen.counts}"
    return "quasi", f"{why}{_how(seen)}"


def _ways(seen: ColumnLook) -> str:
    """Explain why no single form reads the numbers, dates and times in a text column."""
    if seen.mostly is not None:
        kind, form = seen.mostly
        return f"most are of kind {kind}, written {printable(form)}, and others are not"
    ways = " or ".join(printable(form) for _, form in seen.written)
    return f"written {ways}: say which as its form"


def _how(seen: ColumnLook) -> str:
    """Describe how text is read, if it is a number, a time or a code."""
    found = [f"written {printable(form)}" for _, form in seen.written]
    found += ["codes, grouped by their beginning"] * _is_tree(seen)
    return "".join(f"; {one}" for one in found)


def _constant(seen: ColumnLook, sign: str) -> Said:
    some = seen.present < seen.rows or not LEAST_ROWS <= seen.rows < ROWS
    if sign or seen.kind == "date" or some:
        return "drop", "one value or none carries no information"
    return "keep", f"the same in all {seen.rows:,} rows"


def _of_dates(seen: ColumnLook, why: str) -> Said:
    if not seen.forms:
        return "drop", f"{why}; dates in several forms: written in one they could be quasi"
    more = "; day and month may stand in either order" if len(seen.forms) > 1 else ""
    return "quasi", f"{why}; dates, which others may know{more}"
