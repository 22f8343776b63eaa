"""Surrogates in the place of what was removed: other names, moved dates, other numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal

from voile.core.errors import RequestError, nearest
from voile.documents.replacements import codes
from voile.documents.replacements.ages import group_ages
from voile.documents.replacements.date_ranges import move_dates
from voile.documents.replacements.dates import DateOrder
from voile.documents.replacements.draws import Draws, fold_value
from voile.documents.replacements.kinds import KINDS, check_kinds, kind_of
from voile.documents.replacements.marks import mark
from voile.documents.replacements.names import (
    LANGUAGES,
    Language,
    Names,
    Pool,
    builtin_names,
    name_words,
)
from voile.documents.replacements.people import People
from voile.documents.replacements.published import PublishedText, replace_removals
from voile.documents.replacements.removal import Removal, merge_neighbours
from voile.documents.text.document import Document
from voile.keys.pseudonyms import Secret, date_shift

LISTED = ("street", "place", "country", "organisation", "profession", "other")


class Surrogates:
    """Put a surrogate in the place of each run of removals, a mark where there is none.

    A subject's value becomes the same in all its documents: names part by part (`people`), dates by
    the subject's one offset (`date_ranges`), ages over 89 as one group (`ages`), numbers, mail,
    pages and addresses by keyed ones (`codes`), other kinds by an entry of their list. A document
    without a subject is one of its own.

    All of it is pseudonymous: the holder of the secret can find what stood there by trying each
    value, and one true date reveals all dates of its subject. A missed name stands out less among
    surrogates than among marks, but an adversary with the lists can look for names on none. A moved
    birthday still reveals an age over 89.

    Parameters
    ----------
    secret : the key; the same one gives the same surrogates.
    language : "english" or "spanish": of names and words that are both, and of what is neither.
    names : lists of names, the first counts most; None takes voile's, this language's first.
    lists : kind -> two surrogates or more, for kinds of `LISTED`.
    kinds : label -> kind, where a corpus's labels are not those of `kinds`, or mean another.
    date_order : "dmy" or "mdy", of dates in numbers, else these become marks. Spanish has "dmy".
    days : dates move by up to as many, 1 to 36,500.
    ages : "keep" leaves ages up to 89, "mark" does not.

    Guarantees: no removal stays as it was, but for ages that are kept, and within a name its
    titles, "and" and punctuation. No part of a surrogate name is a word that the same document
    removes. Two values of a subject may become the same. Cost: O(length + removals).

    >>> replacer = Surrogates(Secret(bytes(32)))
    >>> removals = [Removal(0, 14, "NAME"), Removal(22, 33, "DATE")]
    >>> replacer(Document("Mrs ANNA SMITH came on 1 May 1999.", subject="7"), removals).text
    'Mrs TRACY DIXON came on 3 March 2000.'
    """

    def __init__(
        self,
        secret: Secret,
        *,
        language: Language = "english",
        names: Sequence[Names] | None = None,
        lists: Mapping[str, Sequence[str]] | None = None,
        kinds: Mapping[str, str] | None = None,
        date_order: DateOrder | None = None,
        days: int = 365,
        ages: Literal["keep", "mark"] = "keep",
    ) -> None:
        _refuse_unless(language, LANGUAGES, "language")
        _refuse_unless(ages, ("keep", "mark"), "ages")
        if date_order is not None:
            _refuse_unless(date_order, ("dmy", "mdy"), "date_order")
        date_shift(secret, "anyone", days=days)
        others = [other for other in LANGUAGES if other != language]
        self._secret = secret
        self._language: Language = language
        self._pool = Pool(names or [builtin_names(one) for one in (language, *others)])
        self._lists = _checked_lists(lists or {})
        self._kinds = check_kinds(kinds or {})
        self._order: DateOrder | None = date_order or ("dmy" if language == "spanish" else None)
        self._days = days
        self._keep_ages = ages == "keep"

    def __call__(self, document: Document, removals: Sequence[Removal]) -> PublishedText:
        runs = merge_neighbours(document.text, removals)
        values = [document.text[one.start : one.end] for one in runs]
        kinds = [self._kinds.get(one.label) or kind_of(one.label) for one in runs]
        taken = {word for value in values for word in (*name_words(value), fold_value(value))}
        draws = Draws(self._secret, subject_name(document), frozenset(taken))
        names = [value for value, kind in zip(values, kinds, strict=True) if kind == "name"]
        people = People(draws, self._pool, names, self._language)
        new = [
            self._surrogate(kind, value, draws, people) or mark(one.label)
            for one, value, kind in zip(runs, values, kinds, strict=True)
        ]
        return replace_removals(document.text, runs, new)

    def _surrogate(self, kind: str, value: str, draws: Draws, people: People) -> str | None:
        match kind:
            case "name":
                return people.rename(value)
            case "date":
                offset = date_shift(self._secret, draws.subject, days=self._days)
                return move_dates(value, offset, order=self._order, language=self._language)
            case "age":
                return group_ages(value, self._language, keep=self._keep_ages)
            case "number":
                return codes.scramble(draws, value)
            case "email":
                return codes.email(draws, value)
            case "url":
                return codes.url(draws, value)
            case "ip":
                return codes.ip(draws, value)
        return self._listed(kind, value, draws)

    def _listed(self, kind: str, value: str, draws: Draws) -> str | None:
        """Return an entry of the kind's list; other digits for a postcode or a house's number."""
        if kind != "other" and not any(map(str.isalpha, value)):
            return codes.scramble(draws, value)
        if kind not in self._lists:
            return None
        new = draws.entry(self._lists[kind], fold_value(value))
        return new.upper() if new and len(value) > 1 and value.isupper() else new


def subject_name(document: Document) -> str:
    """Return a document's subject, else its id, else what its text alone identifies."""
    if document.subject is not None:
        return document.subject
    if document.id:
        return f"document {document.id}"
    return f"text {hashlib.sha256(document.text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _refuse_unless(given: str, known: Sequence[str], where: str) -> None:
    if given not in known:
        raise RequestError(f"there is no {given}", where=where, instead=nearest(given, known))


def _checked_lists(lists: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return a user's lists; refuse those of other kinds, and those with nothing to choose."""
    for kind, entries in lists.items():
        if kind not in LISTED:
            what = "does not take a list" if kind in KINDS else "is no kind of identifier"
            raise RequestError(f"{kind} {what}", where="lists", instead=nearest(kind, LISTED))
        if len({fold_value(entry) for entry in entries}) < 2:
            raise RequestError(
                f"the list of {kind} holds fewer than two", where="lists", instead="give more"
            )
    return {kind: tuple(entries) for kind, entries in lists.items()}
