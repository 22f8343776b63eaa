"""Attack the links that surrogates keep, even if no identifier is left.

A subject's name becomes the same surrogate everywhere, which joins all texts about one person. A
missed name does not fit the words around it. One true date reveals all dates of its subject.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.documents.attack.mentions import ComparedMention, mentions_in, names_of
from voile.documents.attack.remaining import edits_of, match_documents
from voile.documents.attack.unlisted import ReplacedName, find_unlisted
from voile.documents.text.document import Document
from voile.documents.text.sequence import DocumentSequence
from voile.documents.words.attributes import is_mark
from voile.documents.words.tokens import TextTokens, TokenNumbers, tokenise
from voile.keys.random import RandomState, streams


@dataclass(frozen=True)
class ReadDocument:
    document: Document
    mentions: list[ComparedMention]
    subject: str


def link_surrogates(
    published: DocumentSequence,
    truth: DocumentSequence,
    *,
    surrogates: Collection[str] = (),
    lists: Mapping[str, frozenset[str]] | None = None,
    kinds: Mapping[str, str] | None = None,
    random_state: RandomState = None,
) -> Evidence:
    """Attack the links that surrogates keep, and score the attack with the original data.

    surrogates : the words from which surrogates are drawn, if the adversary has them.
    lists : the lists of names only, as folded words, by the name of the list.

    No guarantee: a better reader of context may find more. Cost: O(characters + pairs of documents
    that share a rare word).
    """
    pairs = list(match_documents(published, truth))
    whose = DocumentSequence(document for document, _ in pairs).subjects
    read = [
        ReadDocument(document, mentions_in(document, source, kinds or {}), subject)
        for (document, source), subject in zip(pairs, whose, strict=True)
    ]
    names, documents, rare = streams(random_state, "names", "documents", "rare names")
    known = frozenset(word.casefold() for word in surrogates)
    findings = [
        *_standing_out(read, known, names),
        *_true_names(read, names),
        *find_unlisted(list(_list_replaced(read)), lists or {}, rare),
        *_linked_documents(read, documents),
        *_dates(read),
    ]
    return Evidence(
        attack="linking by surrogates",
        heading="linkability",
        story=Note(
            "The adversary reads the release and can distinguish names and dates from other "
            "words, but not which of them are surrogates. The adversary takes the name that is "
            "rarest in its document for a missed one. The adversary links a missed name to the "
            "surrogate with the most similar words around it. Two documents with the same rare "
            "words are taken for one person's. The adversary also looks for surrogates of "
            "names that are on no list. Each correct guess is a success."
        ),
        findings=tuple(findings),
        notes=tuple(_notes(read, known)),
    )


def _list_replaced(read: Sequence[ReadDocument]) -> Iterator[ReplacedName]:
    """Yield each name that surrogates replace, once for each document."""
    for one in read:
        hidden = {
            (name.shown, name.true): name
            for name in names_of(one.mentions)
            if name.true and not name.left
        }
        yield from (ReplacedName(name, one.subject) for name in hidden.values())


def _standing_out(
    read: Sequence[ReadDocument], known: frozenset[str], rng: np.random.Generator
) -> Iterator[Finding]:
    """Take as many names as were missed, with the rarest in their documents first."""
    rank, left, whose = [], [], []
    for one in read:
        names = list(names_of(one.mentions))
        often = Counter(name.shown for name in names)
        rank += [(known.issuperset(name.shown), often[name.shown]) for name in names]
        left += [name.left for name in names]
        whose += [one.subject] * len(names)
    missed = sum(left)
    if 0 < missed < len(left):
        on, often_all = np.array(rank).T
        first = np.lexsort((rng.random(len(left)), often_all, on))[:missed]
        yield Finding(
            "names taken for missed ones",
            Rate.by_subject([left[x] for x in first], [whose[x] for x in first]),
            baseline=Rate(round(missed * missed / len(left)), missed),
            meaning="The share of missed names among the names that stand out, of which as "
            "many are taken as were missed. The baseline draws from all names and surrogates.",
        )


def _true_names(read: Sequence[ReadDocument], rng: np.random.Generator) -> Iterator[Finding]:
    """Link a missed name to the surrogate of the same person in its document."""
    cases = []
    for place in rng.permutation(len(read)).tolist():
        names = list(names_of(read[place].mentions))
        hidden = [name for name in names if not name.left]
        cases += [
            (read[place].subject, name, hidden)
            for name in names
            if name.left and any(_same(name, other) for other in hidden)
        ]
    of_each = list({subject: (leak, hidden) for subject, leak, hidden in cases}.values())
    if not of_each:
        return
    subjects = len({one.subject for one in read})
    yield Finding(
        "subjects with a name both missed and replaced",
        Rate(len(of_each), subjects),
        meaning="The share of the people in the release with a document that has a name in one "
        "place and its surrogate in another.",
    )
    strangers = [leak for leak, _ in (*of_each[1:], of_each[0])]
    right, chance, control = 0, 0.0, 0
    for (leak, hidden), stranger in zip(of_each, strangers, strict=True):
        true = {name.shown for name in hidden if _same(leak, name)}
        right += _by_context(leak, hidden, rng) in true
        control += _by_context(stranger, hidden, rng) in true
        chance += len(true) / len({name.shown for name in hidden})
    yield Finding(
        "missed names linked to their surrogate",
        Rate(right, len(of_each)),
        baseline=Rate(round(chance), len(of_each)),
        control=Rate(control, len(of_each)) if len(of_each) > 1 else None,
        meaning="The share of these people with a surrogate recognised by the words around the "
        "missed name. The surrogate then names them wherever it stands. The baseline takes one "
        "of the document's surrogates at random. The control takes the words around another "
        "person's name.",
    )


def _same(name: ComparedMention, other: ComparedMention) -> bool:
    return not set(name.true).isdisjoint(other.true)


def _by_context(
    name: ComparedMention, hidden: Sequence[ComparedMention], rng: np.random.Generator
) -> tuple[str, ...]:
    """Return the surrogate with the most similar words around it."""
    alike: dict[tuple[str, ...], int] = {}
    for other in hidden:
        shared = len(name.context & other.context)
        alike[other.shown] = max(alike.get(other.shown, 0), shared)
    best = sorted(shown for shown, shared in alike.items() if shared == max(alike.values()))
    return best[int(rng.integers(len(best)))]


def _linked_documents(read: Sequence[ReadDocument], rng: np.random.Generator) -> Iterator[Finding]:
    """Find the most similar other document for one document of each subject."""
    people, whose = np.unique([one.subject for one in read], return_inverse=True)
    size = np.bincount(whose, minlength=len(people))
    order = rng.permutation(len(read))
    asked = order[np.unique(whose[order], return_index=True)[1]]
    asked = asked[size[whose[asked]] > 1]
    if not len(asked):
        return
    tokens = tokenise(one.document.text for one in read)
    found = [_nearest(_rare_words(tokens, read, edited), asked, rng) for edited in (True, False)]
    right, control = (int((whose[asked] == whose[near]).sum()) for near in found)
    chance = float(((size[whose[asked]] - 1) / (len(read) - 1)).sum())
    yield Finding(
        "documents linked to another of the same subject",
        Rate(right, len(asked)),
        baseline=Rate(round(chance), len(asked)),
        control=Rate(control, len(asked)),
        meaning="The share of the people with several documents for whom the rare words of one "
        "document name another of theirs. The baseline draws a document. The control leaves "
        "out all replacements.",
    )


def _rare_words(tokens: TextTokens, read: Sequence[ReadDocument], edited: bool) -> sp.csr_array:
    """Return the words of each document, (d, words).

    Rarer words weigh more, and rows have length 1.
    """
    folded = TokenNumbers()
    word = np.array(folded.number(form.casefold() for form in tokens.forms), np.int64)[tokens.form]
    kept = ~np.fromiter(map(is_mark, tokens.forms), np.bool_, len(tokens.forms))[tokens.form]
    if not edited:
        kept &= ~_in_edits(tokens, read)
    ones = np.ones(int(kept.sum()))
    shape = (len(read), len(folded))
    held = sp.coo_array((ones, (tokens.document[kept], word[kept])), shape=shape).tocsr()
    held.data[:] = 1
    documents = np.bincount(held.indices, minlength=shape[1])
    held.data = np.log(shape[0] / documents[held.indices])
    length = np.sqrt(held.multiply(held).sum(axis=1))
    return sp.csr_array(sp.diags_array(1 / np.where(length > 0, length, 1)) @ held)


def _in_edits(tokens: TextTokens, read: Sequence[ReadDocument]) -> NDArray[np.bool_]:
    """Return which tokens are part of a replacement, as a mask (n,)."""
    inside = np.zeros(len(tokens), dtype=np.bool_)
    for number, one in enumerate(read):
        part = slice(*tokens.first[number : number + 2])
        for edit in edits_of(one.document):
            inside[part] |= (tokens.starts[part] < edit.end) & (tokens.ends[part] > edit.start)
    return inside


def _nearest(
    held: sp.csr_array, asked: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the most similar other document for each document in `asked`, with random ties."""
    near = np.empty(len(asked), dtype=np.intp)
    for place, document in enumerate(asked.tolist()):
        alike = (held @ held[[document]].T).toarray()[:, 0]
        alike[document] = -1
        best = np.flatnonzero(alike >= alike.max() - 1e-12)
        near[place] = best[rng.integers(len(best))]
    return near


def _dates(read: Sequence[ReadDocument]) -> Iterator[Finding]:
    """Count the subjects with moved dates that one missed date reveals."""
    moved: Counter[str] = Counter()
    missed = set()
    for one in read:
        dates = [name for name in one.mentions if name.kind == "date"]
        moved[one.subject] += sum(not date.left for date in dates)
        missed |= {one.subject for date in dates if date.left}
    beside = {subject: dates for subject, dates in moved.items() if dates}
    if beside:
        open_ = [dates if subject in missed else 0 for subject, dates in beside.items()]
        yield Finding(
            "subjects with a true date next to moved ones",
            Rate(sum(map(bool, open_)), len(beside)),
            meaning="The share of the people with moved dates of whom a true date is left. An "
            "adversary who matches it to its moved date knows all of that person's dates.",
        )
        yield Finding(
            "moved dates that one true date undoes",
            Rate.from_clusters(open_, beside.values()),
            meaning="The share of the moved dates that belong to such a person.",
        )


def _notes(read: Sequence[ReadDocument], known: frozenset[str]) -> Iterator[Note]:
    surrogates = sum(not name.left for one in read for name in one.mentions)
    if not surrogates:
        yield Note("The release has marks and no surrogates, which leaves little to link.")
    else:
        yield Note(
            "The adversary is assumed to distinguish names and dates from other words without "
            "mistakes."
        )
        yield Note(
            "The adversary has the lists that surrogates are drawn from: names on none come first."
            if known
            else "The adversary has no list of the words that surrogates are drawn from."
        )
    yield Note(
        "An adversary who knows a true date or name from elsewhere links with it in the same way."
    )
