"""Replace removed text by surrogates: other names, moved dates, other numbers."""

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
# The number of characters before a value: enough for an article, a title or a field name.
_BEFORE = 40


class Surrogates:
    """A replacer that puts a surrogate in place of each run of removals.

    A value of a subject becomes the same surrogate in all documents of the subject:

    - names part by part (`people`);
    - dates by the single offset of the subject (`date_ranges`, `loose_dates`);
    - ages over 89 as one group (`ages`);
    - numbers, e-mail, URLs and addresses by keyed surrogates (`codes`);
    - streets and organisations with only their names replaced (`phrases`);
    - other kinds by an entry of their list.

    Words that are not a name become similar words (`common_words`). A document without a subject is
    a subject of its own.

    The role of a name never depends on the lists, since they are public. Its gender does. A
    surrogate that contradicts "he" or "she" is more likely to replace an unlisted name.

    All surrogates are pseudonymous. The holder of the secret can find the original values by trying
    each value, and one true date reveals all dates of its subject. A missed name is less visible
    among surrogates than among marks. But an adversary with the lists can search for unlisted
    names. A moved birthday still reveals an age over 89.

    Parameters
    ----------
    secret : the key; the same key gives the same surrogates.
    language : "english" or "spanish", the language of names and of words that exist in both
        languages.
    names : lists of names, which are joined; None uses voile's lists of this language.
    lists : kind -> at least two surrogates, for kinds in `LISTED`; used before voile's own.
    kinds : label -> kind, for labels that are not in `kinds` or have another meaning.
    date_order : "dmy" or "mdy", for numeric dates. The default None means "dmy" in Spanish. In
        English it means the only possible order, or "mdy" if both are possible.
    days : the largest shift of dates in days, 1 to 36,500.
    ages : "keep" leaves ages up to 89, "mark" replaces them by a mark.

    Guarantees: no removal stays unchanged, with these exceptions. Kept ages stay, and so do titles,
    "and" and punctuation in a name, and the words of `phrases` that streets and organisations
    share. No part of a surrogate name is a word that the same document removes. No two names,
    places or similar values of a document share a surrogate. In different documents of a subject,
    two words get the same surrogate with a probability of 1 / (length of their list). Cost:
    O(length + removals).

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
        """Return a copy with known surrogates for the folded words of each subject's own name.

        It is not guaranteed that a document does not remove these surrogates as another value.
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
    """Return a document's subject, or else its id, or else a hash of its text."""
    if document.subject is not None:
        return document.subject
    if document.id:
        return f"document {document.id}"
    return f"text {hashlib.sha256(document.text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _refuse_unless(given: str, known: Sequence[str], where: str) -> None:
    if given not in known:
        raise RequestError(f"there is no {given}", where=where, instead=nearest(given, known))


def _checked_lists(lists: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the user's lists; refuse other kinds, and lists with fewer than two entries."""
    for kind, entries in lists.items():
        if kind not in LISTED:
            what = "does not take a list" if kind in KINDS else "is not a kind of identifier"
            raise RequestError(f"{kind} {what}", where="lists", instead=nearest(kind, LISTED))
        if len({fold_value(entry) for entry in entries}) < 2:
            raise RequestError(
                f"the list of {kind} has fewer than two", where="lists", instead="give more"
            )
    return {kind: tuple(entries) for kind, entries in lists.items()}
