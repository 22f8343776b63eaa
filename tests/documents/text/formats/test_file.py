"""Examples of `text/formats/file`."""

from __future__ import annotations

from pathlib import Path

from voile.documents.text.formats.file import stem, suffix


def test_examples_of_suffix():
    assert suffix(Path("notes.CoNLL.gz")) == ".conll"


def test_examples_of_stem():
    assert stem(Path("ward/110-01.xml.gz")) == "ward/110-01"
