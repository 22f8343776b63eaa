"""The shipped starter: what it proposes, and that what is learnt reveals nobody."""

from __future__ import annotations

from io import BytesIO
from itertools import pairwise
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import DamagedError, RequestError
from voile.documents import Document
from voile.documents.fitting.starter.learn import learn
from voile.documents.model.start.starter.shipped import (
    load_starter,
    read_starter,
    starter_bytes,
    write_starter,
)
from voile.documents.model.start.starter.starter import LIKELY
from voile.documents.replacements.names import fold
from voile.documents.replacements.removal import RemovalReason
from voile.documents.text.document import Span
from voile.documents.words.tokens import HINTS, tokenise

LETTER = "Dear Kwame,\n\nMr. Osei met Abena Mensah in Accra.\n\nRegards,\nYaw Boateng\n"


def names_in(text: str) -> list[str]:
    return [
        text[one.start : one.end] for one in load_starter("english").propose([Document(text)])[0]
    ]


def test_names_on_no_list_are_proposed_by_their_place():
    found = " ".join(names_in(LETTER))
    for name in ("Kwame", "Osei", "Abena", "Mensah", "Boateng"):
        assert name in found


def test_common_words_stay():
    assert names_in("The patient was seen in the clinic and had no pain.") == []


def test_a_title_a_separator_and_a_mail_address_are_no_name():
    text = "Dr. Osei; Kwame Osei <kwame.osei@canary.org> wrote."
    starter = load_starter("english")
    proposed = starter.propose([Document(text)])[0]
    names = [text[one.start : one.end] for one in proposed if one.label == "NAME"]
    assert names == ["Osei", "Kwame Osei"]
    assert [text[one.start : one.end] for one in proposed if one.label == "EMAIL"] == [
        "kwame.osei@canary.org"
    ]


def test_chances_and_levels_are_of_each_token_and_in_one_order():
    starter = load_starter("english")
    tokens = tokenise([LETTER, "", "No pain."])
    chances, levels = starter.chances(tokens), starter.levels(tokens)
    assert chances.shape == levels.shape == (len(tokens),)
    assert ((chances > 0) & (chances < 1)).all()
    assert levels.min() >= 0
    assert levels.max() < HINTS
    order = np.argsort(chances)
    assert (np.diff(levels[order]) >= 0).all()


@settings(max_examples=30)
@given(st.lists(st.text("DdrMs. ,:@-'\nJohnéRegards0\u200bñ[]_", max_size=50), max_size=4))
def test_proposals_lie_in_their_document_in_order_and_apart(texts):
    found = load_starter("english").propose([Document(text) for text in texts])
    for text, own in zip(texts, found, strict=True):
        assert all(0 <= one.start < one.end <= len(text) for one in own)
        assert all(a.end <= b.start for a, b in pairwise(own))


@given(st.lists(st.sampled_from([LETTER, "", "Dr. Osei", "a\nb"]), min_size=1, max_size=4))
@settings(max_examples=20)
def test_documents_are_read_each_by_itself(texts):
    starter = load_starter("english")
    together = starter.propose([Document(text) for text in texts])
    assert together == [starter.propose([Document(text)])[0] for text in texts]


def test_a_long_line_takes_no_longer_than_its_tokens():
    starter = load_starter("english")
    starter.propose([Document(LETTER)])
    began = process_time()
    starter.propose([Document("Osei " * 100_000)])
    assert process_time() - began < 20


def test_proposals_with_no_likely_token_are_unlikely():
    texts = [Document(text) for text in (LETTER, "They sold Regent to Calpine and Kinder.")]
    starter = load_starter("english")
    seen = set()
    for document, proposed in zip(texts, starter.propose(texts), strict=True):
        tokens = tokenise([document.text])
        chances = starter.chances(tokens)
        for one in proposed:
            if any(reason.kind == "starter" for reason in one.by):
                inside = (tokens.starts >= one.start) & (tokens.ends <= one.end)
                unlikely = RemovalReason("starter", "unlikely") in one.by
                assert unlikely == (chances[inside].max() <= LIKELY)
                seen.add(unlikely)
    assert seen == {False, True}


def test_a_starter_that_is_not_there_is_refused():
    with pytest.raises(RequestError, match="no starter spanish"):
        load_starter("spanish")


def test_a_damaged_file_is_refused():
    whole = starter_bytes("english")
    for damaged in (whole[:1000], b"", whole[:-300] + b"x" * 300):
        with pytest.raises(DamagedError):
            read_starter(damaged)


def test_a_pickle_is_refused():
    held = dict(np.load(BytesIO(starter_bytes("english")), allow_pickle=False))
    held["facts"] = np.array([object()])
    buffer = BytesIO()
    np.savez(buffer, **held, allow_pickle=True)
    with pytest.raises(DamagedError):
        read_starter(buffer.getvalue())


def test_the_file_is_small():
    assert len(starter_bytes("english")) < 2_000_000


def made(names: list[str], number: int) -> list[Document]:
    """Return letters to people of these names; a word that only one corpus has, and secrets."""
    documents = []
    for at in range(number):
        name = names[at % len(names)]
        mail = f"{name.lower()}{at}@canary.org"
        text = f"Dear {name},\nplease call {name} on 555-0{at:03}, mail {mail}\n"
        start = text.index(name)
        documents.append(Document(text, (Span(start, start + len(name), "NAME"),)))
    return documents


def test_what_is_learnt_from_made_text_holds_no_name_number_or_address_of_it():
    names = ["Zzyvra", "Quoxxle", "Brimkith"]
    starter = learn({"one": made(names, 30), "two": made(names, 30)}, "english")
    written = write_starter(starter)
    held = "\n".join(starter.space.attributes)
    for secret in [*map(fold, names), "canary", "555"]:
        assert secret not in held
        assert secret.encode() not in written
    assert "w=please" in held  # in small letters, of both
    assert write_starter(read_starter(written)) == written
