"""CoNLL columns: the text is rebuilt, and spans and parts of speech are in its characters."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.text.formats.writers import SCHEMES, chunks, joined, put, same, tag_lines

from voile.core.errors import RequestError, SourceError
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Span
from voile.documents.text.formats.tags import join_tagged

SENTENCES = st.lists(chunks().filter(bool), min_size=1, max_size=3)


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=25)
@given(
    corpus=st.lists(SENTENCES, min_size=1, max_size=3),
    mark=st.sampled_from(["\t", " "]),
    end=st.sampled_from(["\n", "\r\n"]),
    pos=st.sampled_from([None, "NN"]),
)
def test_documents_between_marks_read_back(scheme, corpus, mark, end, pos):
    boundary = mark.join(["-DOCSTART-", *(["-X-"] if pos else []), "O"])
    lines = []
    for sentences in corpus:
        lines += [boundary, ""]
        for sentence in sentences:
            lines += [*tag_lines(sentence, scheme, mark, pos), ""]
    with tempfile.TemporaryDirectory() as folder:
        path = put(Path(folder, "a.conll"), end.join(lines))
        found = Corpus.read(path)
        blocks = Corpus.read(path, "conll-sentences")
    assert same(found, map(joined, corpus))
    assert same(blocks, [joined([one]) for sentences in corpus for one in sentences])
    for document in found:
        words = [word for line in document.text.split("\n") for word in line.split(" ")]
        assert [document.text[a:b] for a, b, _ in document.pos] == (words if pos else [])


@settings(max_examples=30)
@given(corpus=st.lists(SENTENCES, min_size=1, max_size=3), blank=st.booleans())
def test_columns_with_names_read_back(corpus, blank):
    lines = ["split\tdoc\ttoken\tpos\tsubject\tbio"]
    for number, sentences in enumerate(corpus):
        for sentence in sentences:
            for line in tag_lines(sentence, "BIO"):
                word, tag = line.split("\t")
                lines.append(f"train\td{number}\t{word}\tNN\ts{number % 2}\t{tag}")
            lines += [""] * (1 + blank)
    with tempfile.TemporaryDirectory() as folder:
        found = Corpus.read(put(Path(folder, "a.tsv"), "\n".join(lines)))
    assert same(found, map(joined, corpus))
    numbers = range(len(corpus))
    assert [(d.id, d.subject) for d in found] == [(f"d{n}", f"s{n % 2}") for n in numbers]
    assert all(len(d.pos) == len(d.text.replace("\n", " ").split(" ")) for d in found)


def naive_spans(tags):
    """A token belongs to the span before it where both have its type and nothing parts them."""
    spans = []
    for at, tag in enumerate(tags):
        if tag == "O":
            continue
        letter, label = tag.split("-")
        before = tags[at - 1] if at else "O"
        parted = before == "O" or before[2:] != label or before[0] in "ESLUW"
        if parted or letter in "BSUW":
            spans.append([at, at + 1, label])
        else:
            spans[-1][1] = at + 1
    return [Span(*span) for span in spans]


@given(st.lists(st.sampled_from(["O", *(f"{a}-{b}" for a in "BIELMSUW" for b in "XY")])))
def test_any_tags_leave_no_tagged_token_out(tags):
    spans = join_tagged((at, at + 1, tag) for at, tag in enumerate(tags))
    assert spans == naive_spans(tags)
    covered = {at for span in spans for at in range(span.start, span.end)}
    assert covered == {at for at, tag in enumerate(tags) if tag != "O"}


def test_types_alone_and_a_file_without_marks(tmp_path):
    path = put(tmp_path / "a.conll", "Ms O\nAnn PER\nMay PER\n\n\nleft O\n")
    (document,) = Corpus.read(path)
    assert (document.text, document.id) == ("Ms Ann May\nleft", "1")
    assert document.spans == (Span(3, 10, "PER"),)
    assert [d.id for d in Corpus.read(path, "conll-sentences")] == ["1", "2"]


def test_a_span_ends_with_its_sentence(tmp_path):
    (document,) = Corpus.read(put(tmp_path / "a.conll", "a\tB-X\n\nb\tI-X\n"))
    assert document.spans == (Span(0, 1, "X"), Span(2, 3, "X"))


def test_a_line_without_a_token_is_left_out(tmp_path):
    path = put(tmp_path / "a.conll", "a\tO\n\tO\nke s\tB-X\n\n \tO\n\n-DOCSTART-\tO\n")
    assert [(d.text, d.spans) for d in Corpus.read(path)] == [("a ke s", (Span(2, 6, "X"),))]


def test_several_files_name_their_documents(tmp_path):
    for name in ("b", "a"):
        (tmp_path / f"{name}.conll.gz").write_bytes(gzip.compress(b"x O\n\ny B-X\n"))
    assert [d.id for d in Corpus.read(tmp_path)] == ["a 1", "b 1"]
    pattern = str(tmp_path / "*.gz")
    assert [d.id for d in Corpus.read(pattern, "conll-sentences")] == ["a 1", "a 2", "b 1", "b 2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tO\nQwertz\tuiop\tO", "line 2 has 3 columns, and line 1 has 2"),
        ("a O\nQwertz uiop O", "line 2 has 3 columns, and line 1 has 2"),
        ("Qwertzuiop\n", "line 1 has 1 column, and no tag next to the token"),
        ("a O\nQwertzuiop B", "line 2 has a tag without a type"),
        ("a O\nQwertzuiop I-", "line 2 has a tag without a type"),
        ("Qwertzuiop\tO\n\tB-X", "line 2 tags a token that is empty"),
        ("\n\n-DOCSTART- O\n\n", "holds no document"),
    ],
)
def test_damaged_columns_are_refused_by_line(tmp_path, content, message):
    with pytest.raises(SourceError, match=message) as refused:
        Corpus.read(put(tmp_path / "a.conll", content), "conll")
    assert "Qwert" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\tbio\n1\t2\tO", "its first line names no column token, word or form"),
        ("doc\ttoken\tbio\n1\ta\tO\n2\ta\tO\n1\ta\tO", "document 1: stands in two places"),
        ("subject\ttoken\tbio\np\ta\tO\nq\ta\tO", "document 1: is about several subjects"),
        ("doc\ttoken\tbio\n1\tQwertzuiop", "line 2 has 2 columns, and line 1 has 3"),
        ("", "its first line names no column"),
    ],
)
def test_wrong_headers_and_documents_are_refused(tmp_path, content, message):
    with pytest.raises(SourceError, match=message):
        Corpus.read(put(tmp_path / "a.tsv", content), "conll-header")


def test_another_column_can_be_the_subject(tmp_path):
    path = put(tmp_path / "a.tsv", "who\tdoc\ttoken\tbio\np\t1\ta\tO\nq\t2\tb\tO\n")
    assert [d.subject for d in Corpus.read(path, subject="who")] == ["p", "q"]
    with pytest.raises(RequestError, match="there is no column whom; did you mean who"):
        Corpus.read(path, subject="whom")
