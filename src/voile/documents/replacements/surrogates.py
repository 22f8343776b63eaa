"""Surrogates in the place of removed text: other names, moved dates, other numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Literal

from voile.core.errors import RequestError, nearest
from voile.documents.replacements.dates import DateOrder
from voile.documents.replacements.document_surrogates import (
    RemovedValue,
    SurrogateSettings,
    draw_all,
)
from voile.documents.replacements.draws import fold_value
from voile.documents.replacements.kinds import KINDS, check_kinds, kind_of
from voile.documents.replacements.marks import mark
from voile.documents.replacements.names import (
    LANGUAGES,
    Language,
    NameLists,
    NamePool,
    builtin_pool,
)
from voile.documents.replacements.published import PublishedText, replace_removals
from voile.documents.replacements.removal import TextRemoval, check_removals
from voile.documents.replacements.spans import join_adjacent
from voile.documents.text.document import Document
from voile.keys.pseudonyms import Secret, date_shift

LISTED = ("street", "place", "country", "organisation", "profession", "other")
# Of what stands before a value: enough for an article, a title or the name of a field.
_BEFORE = 40


class Surrogates:
    """Put a surrogate in the place of each run of removals.

    A subject's value becomes the same in all its documents:

    - names part by part (`people`);
    - dates by the subject's one offset (`date_ranges`, `loose_dates`);
    - ages over 89 as one group (`ages`);
    - numbers, mail, pages and addresses by keyed ones (`codes`);
    - streets and organisations by their names alone (`phrases`);
    - other kinds by an entry of their list.

    Words that are not a name become such words (`common_words`). A document without a subject is
    one of its own.

    The role of a name never depends on whether it is on a list: the lists are public. Its gender
    does. A surrogate that contradicts "he" or "she" makes a name on no list more likely.

    All of it is pseudonymous. The holder of the secret can find the original values by trying each
    value, and one true date reveals all dates of its subject. A missed name is less visible among
    surrogates than among marks. But an adversary with the lists can look for names on none. A moved
    birthday still reveals an age over 89.

    Parameters
    ----------
    secret : the key; the same one gives the same surrogates.
    language : "english" or "spanish": of names, and of words that are both.
    names : lists of names, joined; None takes voile's of this language.
    lists : kind -> two surrogates or more, for kinds of `LISTED`, before voile's own.
    kinds : label -> kind, if a corpus's labels are not those of `kinds`, or mean another.
    date_order : "dmy" or "mdy", for dates in numbers. With None it is "dmy" in Spanish. In English
        it is the only possible order, or "mdy" if both are possible.
    days : dates move by up to as many, 1 to 36,500.
    ages : "keep" leaves ages up to 89, "mark" puts a mark there.

    Guarantees: no removal stays as it was, except ages that are kept, the titles, "and" and
    punctuation within a name, and words of `phrases`. The last are words that streets and
    organisations share. No part of a surrogate name is a word that the same document removes. No
    two names, places and the like of a document share a surrogate. In different documents of a
    subject two words meet with a chance of one in the length of their list. Cost: O(length +
    removals).

    >>> replacer = Surrogates(Secret(bytes(32)))
    >>> removals = [TextRemoval(0, 14, "NAME"), TextRemoval(22, 33, "DATE")]
    >>> replacer(Document("Mrs ANNA SMITH came on 1 May 1999.", subject="7"), removals).text
    'Mrs BRIANNA BRIDGEMAN came on 3 March 2000.'
    """

    def __init__(
        self,
        secret: Secret,
        *,
        language: Language = "english",
        names: Sequence[NameLists] | None = None,
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
        self._kinds = check_kinds(kinds or {})
        self._settings = SurrogateSettings(
            secret,
            language,
            NamePool(names) if names else builtin_pool(language),
            _checked_lists(lists or {}),
            date_order or ("dmy" if language == "spanish" else None),
            days,
            ages == "keep",
        )

    def knowing(self, own_names: Callable[[str], Mapping[str, str]]) -> Surrogates:
        """Return a copy that knows the surrogates of the folded words of each subject's own name.

        There is no guarantee that a document does not remove these surrogates as another value.
        """
        other = copy(self)
        other._settings = replace(self._settings, own_names=own_names)
        return other

    def __call__(self, document: Document, removals: Sequence[TextRemoval]) -> PublishedText:
        text = document.text
        runs = join_adjacent(text, check_removals(text, removals))
        values = [
            RemovedValue(
                self._kinds.get(one.label) or kind_of(one.label),
                text[one.start : one.end],
                text[max(0, one.start - _BEFORE) : one.start],
            )
            for one in runs
        ]
        drawn = draw_all(self._settings, subject_name(document), values)
        new = [drawn[value] or mark(one.label) for one, value in zip(runs, values, strict=True)]
        return replace_removals(text, runs, new)


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
            what = "does not take a list" if kind in KINDS else "is not a kind of identifier"
            raise RequestError(f"{kind} {what}", where="lists", instead=nearest(kind, LISTED))
        if len({fold_value(entry) for entry in entries}) < 2:
            raise RequestError(
                f"the list of {kind} has fewer than two", where="lists", instead="give more"
            )
    return {kind: tuple(entries) for kind, entries in lists.items()}
