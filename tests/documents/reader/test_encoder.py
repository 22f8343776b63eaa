"""Tokens' vectors: what the encoder computes, where, and on how many threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from tests.documents.reader import tiny

from voile.documents import Corpus, Document
from voile.documents.reader.encoder import (
    TextEncoder,
    encode_tokens,
    join_neighbours,
    mean_of_pieces,
)
from voile.documents.reader.graph import build_graph
from voile.documents.reader.weights import weights_of
from voile.documents.words.tokens import BLANK, GLUED, tokenise


def encode(encoder, *texts):
    tokens = tokenise(texts)
    words = [tokens.forms[number] for number in tokens.form]
    return encoder.encode(words, tokens.gap, tokens.first)


@pytest.mark.parametrize("layer", [1, 3])
def test_the_graph_computes_what_numpy_does(layer, tmp_path):
    weights = tiny.make_weights()
    (tmp_path / "model.onnx").write_bytes(build_graph(weights_of(tiny.CONFIG, weights), layer))
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    numbers = np.random.default_rng(1).integers(4, len(tiny.PIECES), 40)
    feed = {"pieces": numbers, "positions": np.arange(40)}
    found = session.run(None, feed)[0]
    exact = tiny.run_layers(weights, numbers, layer)
    error = np.linalg.norm(found - exact) / np.linalg.norm(exact)
    assert error < 0.05  # of 7-bit weights
    other = session.run(None, {**feed, "positions": np.arange(40)[::-1].copy()})[0]
    assert np.linalg.norm(other - exact) / np.linalg.norm(exact) > 0.2


def test_a_token_is_the_mean_of_its_pieces():
    vectors = np.float32([[1], [3], [5], [7]])
    places = np.array([[0, 2], [2, 5], [5, 6], [7, 9]])
    starts, ends = np.array([0, 5, 6, 6]), np.array([5, 6, 7, 9])
    assert mean_of_pieces(vectors, places, starts, ends).ravel().tolist() == [2, 5, 0, 7]


def test_a_document_of_one_window_is_read_whole(encoder):
    found = encode(encoder, "ab c")
    numbers = [tiny.PIECES.index(one) for one in ("[CLS]", "a", "##b", "c", "[SEP]")]
    exact = tiny.run_layers(tiny.make_weights(), numbers, 2)
    wanted = np.array([exact[1:3].mean(axis=0), exact[3]])
    assert np.linalg.norm(found - wanted) / np.linalg.norm(wanted) < 0.05


def test_blanks_change_what_a_token_means(encoder):
    words, first = ["ann", "-", "lee"], np.array([0, 3])
    glued, apart = (
        encoder.encode(words, np.full(3, gap, np.uint8), first) for gap in (GLUED, BLANK)
    )
    assert glued.shape == (3, tiny.WIDTH)
    assert np.array_equal(apart, encoder.encode(words, np.zeros(0, np.uint8), first))
    assert np.isfinite(glued).all()


def test_neighbours_stop_at_the_end_of_a_document():
    rng = np.random.default_rng(0)
    vectors, first = rng.normal(size=(7, 2)).astype(np.float32), np.array([0, 3, 3, 4, 7])
    naive = np.zeros((7, 6), np.float32)
    for begin, end in pairwise(first):
        for place in range(begin, end):
            for k, by in enumerate((-1, 0, 1)):
                if begin <= place + by < end:
                    naive[place, 2 * k : 2 * k + 2] = vectors[place + by]
    assert np.array_equal(join_neighbours(vectors, first), naive)


def test_a_document_has_the_same_vectors_in_any_company(encoder, reader_place):
    texts = ["the cat sat , and ran . " * times for times in (1, 9, 40)]
    whole = encode(encoder, *texts)
    apart = [encode(opened(reader_place), text) for text in reversed(texts)]
    assert np.concatenate(apart[::-1]).tobytes() == whole.tobytes()


def test_two_threads_give_the_bytes_of_one(reader_place):
    texts = [f"{letter}nn lee came to {letter}oston " * 20 for letter in "abcdefgh"]
    alone = [encode(opened(reader_place), text).tobytes() for text in texts]
    shared = opened(reader_place)
    with ThreadPoolExecutor(2) as threads:
        both = list(threads.map(lambda text: encode(shared, text).tobytes(), texts))
    assert both == alone


def opened(place):
    return TextEncoder.open(place / "model.onnx", place / "tokenizer.json", tiny.WIDTH)


def test_a_corpus_has_standardised_vectors_of_three_tokens(encoder):
    corpus = Corpus([Document("ann lee came ."), Document(""), Document("bob ran")])
    found = encode_tokens(corpus, encoder)
    assert found.shape == (6, 3 * tiny.WIDTH)
    assert found.dtype == np.float32
    own = found[:, tiny.WIDTH : 2 * tiny.WIDTH]
    np.testing.assert_allclose(own.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(own.std(axis=0), 1, atol=1e-4)
    assert not found[0, : tiny.WIDTH].any()
    assert not found[3, 2 * tiny.WIDTH :].any()
    assert np.array_equal(found[1, : tiny.WIDTH], own[0])
