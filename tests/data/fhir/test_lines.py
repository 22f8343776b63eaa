"""Lines and documents of FHIR files have their places, and errors have no text of a line."""

from __future__ import annotations

import pytest

from voile.core.errors import SourceError
from voile.data.fhir import lines
from voile.data.fhir.lines import read_documents, read_resources


@pytest.fixture
def path(tmp_path):
    return tmp_path / "Patient.ndjson"


def test_resources_have_the_places_of_their_lines(path):
    path.write_bytes(b'{"id": "a"}\r\n\n \t\n{"id": "b"}')
    assert list(read_resources(path)) == [
        ("Patient.ndjson, line 1", {"id": "a"}),
        ("Patient.ndjson, line 4", {"id": "b"}),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"a": "Anna"', "the line is not valid JSON"),
        (b'{"a": "Anna\xff"}', "the line is not valid JSON"),
        (b'\xef\xbb\xbf{"a": "Anna"}', "the line is not valid JSON"),
        (b'{"a": {"Anna": 1, "Anna": 2}}', "the line is not valid JSON"),
        (b'{"Anna": NaN}', "the line is not valid JSON"),
        (b'["Anna"]', "the line is not a JSON object"),
    ],
)
def test_a_line_that_is_no_object_is_refused_by_its_place(path, line, why):
    path.write_bytes(b"{}\n" + line + b"\n")
    with pytest.raises(SourceError) as caught:
        list(read_resources(path))
    assert str(caught.value) == f"Patient.ndjson, line 2: {why}"


def test_a_line_that_is_too_long_is_refused_before_it_is_read_whole(path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST", 1 << 20)
    path.write_bytes(b"{}\n" + b" " * (1 << 20) + b"{}\n")
    with pytest.raises(SourceError, match=r"line 2: the line is longer than 1 MiB$"):
        list(read_resources(path))


def test_documents_are_lines_or_the_whole_file_with_every_byte(path):
    for text, places in (
        ('\n{"a":1}\r\n{"b"\n', ["line 1", "line 2", "line 3"]),
        ('{\n"a":1}\r\n', [""]),
        ("", [""]),
    ):
        path.write_bytes(text.encode())
        found = list(read_documents(path))
        assert "".join(part for _, part in found) == text
        assert [place.removeprefix(path.name).removeprefix(", ") for place, _ in found] == places


def test_a_file_that_is_not_utf_8_or_not_there_is_refused(path):
    with pytest.raises(
        SourceError, match=r"^Patient\.ndjson: the file cannot be read \(no such file"
    ):
        list(read_resources(path))
    with pytest.raises(
        SourceError, match=r"^Patient\.ndjson: the file cannot be read \(no such file"
    ):
        list(read_documents(path))
    path.write_bytes(b'{}\n"\xff"\n')
    with pytest.raises(SourceError, match="line 2: the line is not UTF-8, which FHIR requires"):
        list(read_documents(path))
