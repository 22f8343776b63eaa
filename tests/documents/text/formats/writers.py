"""Documents to write, and the smallest writers of each format: what readers must give back."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from voile.documents.text.document import Document, Span

CANARY = "Qwertzuiop"
LABELS = st.sampled_from(["NAME", "DATE", "B-X", "LOC"])
AWKWARD = "aB 9.😀e\u0301é\u200b\u05d0\u2028<&>'\"]|\t\n"
PIECES = st.sampled_from([*AWKWARD, "\r\n", "]]>", "May", "𝒟r", "\r"])


@st.composite
def documents(draw, pieces=PIECES, spans=LABELS):
    """A document whose spans start and end anywhere, next to each other as well."""
    parts = draw(st.lists(st.tuples(st.lists(pieces, max_size=5), st.none() | spans), max_size=6))
    text, marked = "", []
    for words, label in parts:
        start, text = len(text), text + "".join(words)
        if label is not None and len(text) > start:
            marked.append(Span(start, len(text), label))
    return Document(text, tuple(marked))


def same(read, written):
    """Say whether texts and spans came back."""
    return [(d.text, d.spans) for d in read] == [(d.text, d.spans) for d in written]


def put(path: Path, text: str, encoding: str = "utf-8") -> Path:
    """Write a text, its line ends as they are."""
    path.write_bytes(text.encode(encoding))
    return path


# Columns: chunks of tokens, each with one label or none; schemes are the letters of the first, a
# middle, the last and the only token of a span.
SCHEMES = {"BIO": "BIIB", "IOBES": "BIES", "BILOU": "BILU", "BMES": "BMES", "IO": "IIII"}
WORD = st.text(
    st.sampled_from([*"aB9.#😀é\u0301\u200b\u05d0\u2028\u00a0-_O"]), min_size=1, max_size=4
)


@st.composite
def chunks(draw):
    """A sentence as [(label or None, words)], neighbours of different labels."""
    found = draw(
        st.lists(
            st.tuples(
                st.none() | st.sampled_from(["PER", "B-X", "LOC"]),
                st.lists(WORD.filter(str.strip), min_size=1, max_size=4),
            ),
            min_size=1,
            max_size=5,
        )
    )
    return [
        one for one, before in zip(found, [(0, 0), *found], strict=False) if one[0] != before[0]
    ]


def tag_lines(sentence, scheme, mark="\t", pos=None):
    """Write one sentence's lines, `pos` in a second column."""
    first, middle, last, only = SCHEMES[scheme]
    lines = []
    for label, words in sentence:
        for at, word in enumerate(words):
            letter = middle
            if len(words) == 1:
                letter = only
            elif at == 0:
                letter = first
            elif at == len(words) - 1:
                letter = last
            tag = "O" if label is None else f"{letter}-{label}"
            lines.append(mark.join([word, *([pos] if pos else []), tag]))
    return lines


def joined(sentences):
    """The document that sentences of chunks make: the slow way, a character after the other."""
    text, spans = "", []
    for number, sentence in enumerate(sentences):
        text += "\n" if number else ""
        line = ""
        for label, words in sentence:
            line += " " if line else ""
            if label is not None:
                start = len(text) + len(line)
                spans.append(Span(start, start + len(" ".join(words)), label))
            line += " ".join(words)
        text += line
    return Document(text, tuple(spans))
