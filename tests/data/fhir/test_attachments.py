"""Texts of attachments come back from their Base64, and each other attachment has its reason."""

from __future__ import annotations

from base64 import b64encode

import pytest
from fhir.resources.R4B.attachment import Attachment
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import SourceError
from voile.data.fhir.attachments import make_attachment, read_attachment, read_contents


@given(st.text().filter(lambda text: not text.startswith("\ufeff")))
def test_a_text_comes_back_from_its_attachment(text):
    made = make_attachment(text)
    assert read_attachment(made) == text
    assert made["size"] == len(text.encode())


def test_a_made_attachment_is_valid():
    Attachment.model_validate(make_attachment("Anna is well."))


def test_the_charset_and_the_kind_decide_how_a_text_is_read():
    def read(kind, data):
        return read_attachment({"contentType": kind, "data": b64encode(data).decode()})

    assert read("text/plain; charset=windows-1252", b"Zo\xeb") == "Zoë"
    assert read(" TEXT/HTML ", b"<p>Ann</p>May") == "Ann\nMay"
    assert read("text/plain", b"\xef\xbb\xbfAnn") == "Ann"


def test_contents_are_texts_or_errors_in_their_order():
    good, pdf = make_attachment("Ann"), {"contentType": "application/pdf"}
    contents = [{"attachment": one} for one in (pdf, good, {**good, "data": None})]
    found = list(read_contents({"content": [*contents, 7]}))
    assert found[1] == "Ann"
    assert [one.what for one in found if isinstance(one, SourceError)] == [
        "voile does not read attachments of this type: application/pdf",
        "voile does not read attachments that are stored outside the resource",
        "voile does not read attachments of this type: an unknown kind",
    ]
    assert list(read_contents({"content": "Ann"})) == []


@pytest.mark.parametrize("data", ["!!!", "/w==", "QQ"])
def test_what_is_not_base64_of_text_is_refused(data):
    with pytest.raises(SourceError, match="an attachment is not complete Base64 text"):
        read_attachment({"contentType": "text/plain", "data": data})
