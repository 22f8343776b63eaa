"""What surrogates keep together is told, and what they do not is not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.attack.texts import NAMES, notes, released

from voile.documents.attack.linkage import ReadDocument, _rare_words, link_surrogates
from voile.documents.attack.mentions import mentions_in
from voile.documents.replacements.marks import LabelMarks
from voile.documents.replacements.published_document import publish
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.surrogates import Surrogates
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span
from voile.documents.words.tokens import tokenise
from voile.keys.pseudonyms import Secret
from voile.report.wording import name_of

PUT = Surrogates(Secret(bytes(range(32))))


def told(evidence):
    return {name_of(finding, "internal"): finding for finding in evidence.findings}


def everything(number, place):
    return True


def test_surrogates_link_the_documents_of_a_subject_and_marks_do_not():
    # equal but for the names, so that only what was put in their place can link them
    truth = notes(30, each=3, names=[f"{a}{b.lower()}" for a in NAMES[:6] for b in NAMES[:5]])
    found = told(link_surrogates(released(truth, everything, PUT), truth, random_state=1))
    rate = found["documents linked to another of the same subject"]
    assert rate.rate.trials == 30
    assert rate.rate.value >= 0.9
    assert rate.control.value <= 0.2
    assert rate.baseline.successes == round(30 * 2 / 89)
    marks = told(link_surrogates(released(truth, everything), truth, random_state=1))
    assert marks["documents linked to another of the same subject"].rate.value <= 0.2


def test_subjects_of_one_document_are_not_asked_for():
    truth = notes(8)
    evidence = link_surrogates(released(truth, everything, PUT), truth, random_state=1)
    assert evidence.findings == ()


def test_what_links_without_surrogates_is_in_the_control():
    truth = Corpus(
        replace(one, text=one.text + f" follows protocol q{one.subject}x ")
        for one in notes(20, each=2)
    )
    found = told(link_surrogates(released(truth, everything), truth, random_state=1))
    rate = found["documents linked to another of the same subject"]
    assert rate.rate.value == rate.control.value == 1


def sentence(*parts):
    """A document of (text, label or None, removed) parts, and what is removed of it."""
    text, spans, removals = "", [], []
    for words, label, removed in parts:
        if label:
            spans.append(Span(len(text), len(text) + len(words), label))
            if removed:
                removals.append(TextRemoval(len(text), len(text) + len(words), label))
        text += words + " "
    return Document(text, tuple(spans)), removals


def published(cases, put=PUT):
    truth = Corpus(
        Document(one.text, one.spans, str(number), f"s{number}")
        for number, (one, _) in enumerate(cases)
    )
    pairs = zip(truth, cases, strict=True)
    return Corpus(publish(one, removals, put) for one, (_, removals) in pairs), truth


def visit(patient, doctor):
    """A patient, replaced twice and missed once; a doctor, replaced three times."""
    return sentence(
        ("The patient", None, False),
        (patient, "PATIENT", True),
        ("has pain today . It was", None, False),
        (doctor, "DOCTOR", True),
        ("who signed this . The patient", None, False),
        (patient, "PATIENT", True),
        ("has pain again .", None, False),
        (doctor, "DOCTOR", True),
        ("signed . Seen by", None, False),
        (doctor, "DOCTOR", True),
        (". The patient", None, False),
        (patient, "PATIENT", False),
        ("has pain now .", None, False),
    )


def test_a_missed_name_stands_out_among_surrogates():
    cases = [visit(NAMES[n], NAMES[-1 - n]) for n in range(5)]
    found = told(link_surrogates(*published(cases), random_state=1))
    rate = found["names taken for missed ones"]
    assert (rate.rate.successes, rate.rate.trials) == (5, 5)
    assert rate.baseline.successes == 1  # of 6 names a document one is missed


def test_a_missed_name_is_linked_to_its_surrogate_by_the_words_around_it():
    cases = [visit(NAMES[n], NAMES[-1 - n]) for n in range(5)]
    found = told(link_surrogates(*published(cases), random_state=1))
    open_ = found["subjects with a name both missed and replaced"].rate
    assert (open_.successes, open_.trials) == (5, 5)
    rate = found["missed names linked to their surrogate"]
    assert (rate.rate.successes, rate.rate.trials) == (5, 5)
    assert rate.baseline.successes == 2  # of two surrogates one is right: 2.5 of 5


def test_who_has_the_lists_takes_what_is_on_none_for_missed():
    case = sentence(
        ("Seen by", None, False),
        (NAMES[0], "DOCTOR", False),
        ("and", None, False),
        (NAMES[0], "DOCTOR", False),
        ("and", None, False),
        (NAMES[1], "DOCTOR", True),
        ("today .", None, False),
    )
    release, truth = published([case])
    (edit,) = release[0].edits
    surrogate = release[0].text[edit.start : edit.end]
    blind = told(link_surrogates(release, truth, random_state=1))
    assert blind["names taken for missed ones"].rate.successes == 1
    knowing = told(link_surrogates(release, truth, surrogates=[surrogate], random_state=1))
    assert knowing["names taken for missed ones"].rate.successes == 2


def test_one_true_date_undoes_its_subjects_dates():
    def dated(leak):
        return sentence(
            ("Came on", None, False),
            ("1 May 1999", "DATE", True),
            ("and left on", None, False),
            ("3 May 1999", "DATE", True),
            ("after a fall on", None, False),
            ("30 April 1999", "DATE", not leak),
            (".", None, False),
        )

    release, truth = published([dated(True), dated(False), dated(False), dated(False)])
    found = told(link_surrogates(release, truth, random_state=1))
    people = found["subjects with a true date next to moved ones"].rate
    assert (people.successes, people.trials) == (1, 4)
    dates = found["moved dates that one true date undoes"].rate
    assert (dates.successes, dates.trials) == (2, 11)
    marks = published([dated(True), dated(False)], LabelMarks())
    assert not link_surrogates(*marks, random_state=1).findings


def test_labels_of_ones_own_are_told_what_they_are():
    case = sentence(("On", None, False), ("1 May 1999", "WHEN", True), (".", None, False))
    put = Surrogates(Secret(bytes(32)), kinds={"WHEN": "date"})
    release, truth = published([case], put)
    assert not link_surrogates(release, truth).findings
    found = told(link_surrogates(release, truth, kinds={"WHEN": "date"}))
    assert found["subjects with a true date next to moved ones"].rate.trials == 1


@pytest.mark.parametrize("put", [PUT, LabelMarks()])
@pytest.mark.parametrize("subjects", [0, 1, 5])
def test_the_same_seed_gives_the_same_and_small_releases_pass(put, subjects):
    truth = notes(subjects, each=2)
    release = released(truth, lambda number, place: place > 0, put)
    one, again = (link_surrogates(release, truth, random_state=3) for _ in range(2))
    assert one == again


def test_evidence_holds_no_word_of_the_text():
    canaries = ["Xanthippe", "Quasimodo", "Zenobia", "Ozymandias"]
    truth = notes(8, each=2, names=canaries)
    evidence = link_surrogates(released(truth, lambda number, place: place > 0, PUT), truth)
    text = json.dumps(evidence.to_json()).casefold()
    assert not any(word.casefold() in text for word in [*canaries, "lungs", "ward"])


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=1, max_size=6))
def test_rarer_words_weigh_more_as_counted_by_hand(texts):
    from math import log, sqrt

    read = [ReadDocument(Document(" ".join(words)), [], str(n)) for n, words in enumerate(texts)]
    held = _rare_words(tokenise(one.document.text for one in read), read, edited=True)
    alike = (held @ held.T).toarray()
    idf = {
        w: log(len(texts) / sum(w in words for words in texts)) for words in texts for w in words
    }
    for x, one in enumerate(texts):
        for y, other in enumerate(texts):
            dot = sum(idf[w] ** 2 for w in set(one) & set(other))
            size = sqrt(sum(idf[w] ** 2 for w in set(one)) * sum(idf[w] ** 2 for w in set(other)))
            assert alike[x, y] == pytest.approx(dot / size if size else 0, abs=1e-9)


def test_mentions_tell_what_stands_for_whom():
    document, removals = visit("Ana", "Leo")
    release = publish(document, removals, PUT)
    met = mentions_in(release, document, {})
    assert [one.true[0] for one in met if not one.left] == ["ana", "leo", "ana", "leo", "leo"]
    (leak,) = [one for one in met if one.left]
    assert leak.true == leak.shown == ("ana",)
    assert leak.context >= {"the", "patient", "has", "pain", "now"}
    assert len(leak.context) == 6
