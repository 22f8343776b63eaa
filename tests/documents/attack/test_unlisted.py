"""Surrogates of rare names are found where they betray them, and not where they do not."""

from __future__ import annotations

import numpy as np
import pytest
from tests.real_data import DATA

from voile.documents.attack.builtin_names import builtin_lists, builtin_words
from voile.documents.attack.linkage import link_surrogates
from voile.documents.attack.unlisted import LEAST
from voile.documents.replacements.names import builtin_names, fold
from voile.documents.replacements.published import replace_removals
from voile.documents.replacements.published_document import publish
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.surrogates import Surrogates
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span
from voile.keys.pseudonyms import Secret
from voile.report.wording import name_of

FINDING = "surrogates of names on no list"
NAMES = builtin_names("english")
GIVEN = [*NAMES.female[:150], *NAMES.male[:150]]
RARE = [f"Xa{name.lower()}" for name in GIVEN]


def notes(pairs: int) -> Corpus:
    """Return notes of people with a listed given name and with one that is on no list."""
    every = [name for two in zip(GIVEN[:pairs], RARE[:pairs], strict=True) for name in two]
    spans = (Span(9, 9 + len(name) + 6, "NAME") for name in every)
    return Corpus(
        Document(f"Today Mr {name} Smith came on foot.", (span,), str(number), f"s{number}")
        for number, (name, span) in enumerate(zip(every, spans, strict=True))
    )


def released(truth, put):
    return Corpus(
        publish(one, [TextRemoval(s.start, s.end, s.label) for s in one.spans], put)
        for one in truth
    )


def found(published, truth, kinds=None, seed=1):
    evidence = link_surrogates(
        published,
        truth,
        surrogates=builtin_words(),
        lists=builtin_lists(),
        kinds=kinds,
        random_state=seed,
    )
    rates = [one for one in evidence.findings if name_of(one, "internal") == FINDING]
    return rates[0] if rates else None


def surname_for_the_unlisted(document, removals):
    """Replace as by list: a given name that is on none becomes a surname."""
    listed = builtin_lists()["english female"] | builtin_lists()["english male"]
    (removal,) = removals
    first = fold(document.text[removal.start : removal.end].split()[0])
    new = "Robert Miller" if first in listed else "Baker Miller"
    return replace_removals(document.text, removals, [new])


def test_surrogates_drawn_by_list_are_found_out():
    truth = notes(60)
    rate = found(released(truth, surname_for_the_unlisted), truth)
    assert rate.rate.value > 0.95
    assert rate.control.value < 0.7
    assert rate.baseline.value == pytest.approx(0.5, abs=0.02)


def test_ours_are_barely_found_out():
    """The surrogate has the gender of a listed name, so names on no list differ a little."""
    truth = notes(150)
    shares = []
    for seed in range(4):
        rate = found(released(truth, Surrogates(Secret(bytes([seed]) * 32))), truth, seed=seed)
        shares.append(rate.rate.value)
    assert abs(np.mean(shares) - 0.5) < 0.1


def test_of_few_names_nothing_is_said():
    truth = notes(LEAST - 1)
    assert found(released(truth, surname_for_the_unlisted), truth) is None


@pytest.mark.real
@pytest.mark.parametrize(
    ("path", "name", "language"),
    [
        ("wikigold/wikigold.conll.txt.gz", "PER", "english"),
        ("enron-email-person-names/enron_email_threads.tsv.gz", "", "english"),
        ("meddocan/dev.jsonl.gz", "NOMBRE", "spanish"),
    ],
)
def test_in_real_text_surrogates_add_nothing_to_the_words_around_them(path, name, language):
    if not (DATA / path).exists():
        pytest.skip(f"the data set {path} is not there")
    read = Corpus.read(DATA / path)
    truth = Corpus(
        Document(one.text, tuple(s for s in one.spans if s.label.startswith(name)), one.id, one.id)
        for one in read
    )
    kinds = dict.fromkeys(truth.labels, "name")
    gains = []
    for seed in range(3):
        put = Surrogates(Secret(bytes([seed]) * 32), language=language, kinds=kinds)
        rate = found(released(truth, put), truth, kinds, seed)
        gains.append(rate.rate.value - rate.control.value)
    assert np.mean(gains) < 0.05, gains
