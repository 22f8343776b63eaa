"""The shipped starter beside the corpora that it was learnt from: it holds nobody of them."""

from __future__ import annotations

import re
from collections import Counter
from io import BytesIO

import numpy as np
import pytest
from tests.real.conftest import DATA

from voile.documents import Document
from voile.documents.fitting.starter.learn import learn, read_corpora
from voile.documents.model.start.lists import public_lists
from voile.documents.model.start.starter.shipped import starter_bytes, write_starter
from voile.documents.replacements.names import fold

NAME = re.compile(r"[^\W\d_]{2,}")
AFFIX = 4
"""Letters of the longest beginning or end of a word that the file holds."""


@pytest.fixture(scope="module")
def texts():
    if not (DATA / "wikigold").is_dir():
        pytest.skip("the corpora are not here")
    return [one for corpus in read_corpora(DATA).values() for one in corpus]


def runs(text: str) -> set[str]:
    return {fold(word) for word in re.findall(r"[^\W_]+", text)}


def dumped() -> tuple[set[str], set[str]]:
    """Return the words that the file says it holds, and every run of letters or digits in it."""
    arrays = dict(np.load(BytesIO(starter_bytes("english")), allow_pickle=False))
    attributes = arrays["attributes"].tobytes().decode()
    whole = runs("\n".join(re.findall("^w=(.*)$", attributes, re.MULTILINE)))
    every = (array.tobytes().decode("utf-8", "ignore") for array in arrays.values())
    return whole, set().union(*map(runs, every))


def small_words(texts: list[Document]) -> set[str]:
    """Return the words that five documents have in small letters, outside of addresses."""
    plain = (re.sub(r"\S*@ ?\S*", " ", one.text) for one in texts)
    counted = Counter(word for text in plain for word in set(re.findall(r"\b[a-z]+\b", text)))
    return {word for word, number in counted.items() if number >= 5}


def test_no_name_on_no_public_list_can_be_read_out_of_the_file(texts):
    public = set().union(*public_lists().values())
    small = small_words(texts)
    spans = (one.text[span.start : span.end] for one in texts for span in one.spans)
    names = {fold(word) for text in spans for word in NAME.findall(text)} - public - small
    whole, every = dumped()
    assert len(names) > 1_000
    assert not names & whole
    assert not {name for name in names if len(name) > AFFIX} & every


def test_no_address_or_number_can_be_read_out_of_the_file(texts):
    words = set().union(*public_lists().values())
    small = small_words(texts)
    parts = {
        part for one in texts for at in re.findall(r"[\w.]+@[\w.]+", one.text) for part in runs(at)
    }
    numbers = {number for one in texts for number in re.findall(r"\d{4,}", one.text)}
    whole, every = dumped()
    assert min(len(parts), len(numbers)) > 100
    assert not {part for part in parts - words - small if len(part) > AFFIX} & every
    assert not numbers & (whole | {run for run in every if len(run) > AFFIX})


@pytest.mark.slow
def test_the_file_is_what_is_learnt_anew(texts):
    is_same = write_starter(learn(read_corpora(DATA), "english")) == starter_bytes("english")
    assert is_same  # a difference of bytes takes half an hour to print
