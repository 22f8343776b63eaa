"""E-mail, HTML and FHIR: what people read there, and what is not read by its kind."""

from __future__ import annotations

import json
from base64 import b64encode
from email.message import EmailMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest
from tests.documents.text.formats.writers import CANARY, put

from voile.core.errors import SourceError
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document
from voile.documents.text.formats import read_documents
from voile.documents.text.formats.file import UnreadWarning
from voile.documents.text.source import open_source


def mail(body="Dear Ann ,\n\nwe saw you .\n", **headers):
    message = EmailMessage()
    named = {"From": "Eva Vega <eva@ward.example>", "To": "Zoë <zoe@home.example>", **headers}
    for name, value in {"Subject": "Ann's tests", **named}.items():
        message[name] = value
    message["X-Mailer"] = CANARY
    message.set_content(body)
    return message


def read(path, content):
    """Return a file's documents, and why each part of it is not read, by name."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    aside = {}
    found = read_documents(path, aside=lambda name, error: aside.update({name: error.what}))
    return list(found), aside


def test_headers_that_people_read_are_text(tmp_path):
    (found,), aside = read(tmp_path / "a.eml", mail(Cc="Tom <t@x.example>").as_bytes())
    assert found.text == (
        "Subject: Ann's tests\nFrom: Eva Vega <eva@ward.example>\nTo: Zoë <zoe@home.example>\n"
        "Cc: Tom <t@x.example>\n\nDear Ann ,\n\nwe saw you ."
    )
    assert (found.id, found.annotated, aside) == ("a", False, {})


def test_a_header_is_one_line_whatever_it_encodes(tmp_path):
    head = b"From: a@b.example\r\nSubject: =?utf-8?q?Ann=0D=0ABcc=3A_x?=\r\n  goes\r\n on\r\n\r\nHi"
    (found,), _ = read(tmp_path / "a.eml", head)
    assert found.text == "From: a@b.example\nSubject: Ann Bcc: x goes on\n\nHi"
    raw = "From: Zoë <z@b.example>\n\nZoë".encode()
    (found,), _ = read(tmp_path / "b.eml", raw)
    assert found.text == "From: Zoë <z@b.example>\n\nZoë"


def test_of_alternatives_the_plain_text_is_read(tmp_path):
    both = mail("Plain Ann .")
    both.add_alternative("<p>HTML <b>Ann</b></p>", subtype="html")
    (found,), aside = read(tmp_path / "a.eml", both.as_bytes())
    assert found.text.endswith("\n\nPlain Ann .")
    assert not aside
    only = mail(" ")
    only.add_alternative("<p>HTML <b>Ann</b></p>", subtype="html")
    (found,), _ = read(tmp_path / "b.eml", only.as_bytes())
    assert found.text.endswith("\n\nHTML Ann")


def test_what_is_attached_is_named_and_not_read(tmp_path):
    message = mail()
    message.add_attachment(b"x", maintype="image", subtype="jpeg", filename="Ann May.jpg")
    message.add_attachment(b"x", maintype="application", subtype=f"x-{CANARY}")
    message.add_attachment("more", filename="more.txt")
    documents, aside = read(tmp_path / "a.eml", message.as_bytes())
    assert len(documents) == 1
    assert aside == {
        "a, attachment 1: Ann May.jpg": "attachments are not read: image/jpeg",
        "a, attachment 2": "attachments are not read: application",
        "a, attachment 3: more.txt": "attachments are not read: text/plain",
    }
    with pytest.warns(UnreadWarning, match="attachments are not read: image/jpeg; left out"):
        assert len(Corpus.read(tmp_path / "a.eml")) == 1


def test_a_forwarded_mail_is_read_with_its_headers(tmp_path):
    outer = MIMEMultipart()
    outer["From"] = "eva@ward.example"
    outer.attach(MIMEText("See below ."))
    inner = MIMEMultipart("mixed")
    inner["From"] = "Tom May <tom@x.example>"
    inner.attach(MIMEText("Ann is well ."))
    from email.mime.message import MIMEMessage

    outer.attach(MIMEMessage(inner))
    (found,), aside = read(tmp_path / "a.eml", outer.as_bytes())
    said = "From: eva@ward.example\n\nSee below .\n\nFrom: Tom May <tom@x.example>\n\nAnn is well ."
    assert (found.text, aside) == (said, {})


def test_a_mail_of_parts_within_parts_is_not_read_below_twenty(tmp_path):
    deep = MIMEText(CANARY)
    for _ in range(25):
        outer = MIMEMultipart()
        outer.attach(deep)
        deep = outer
    deep["From"] = "a@b.example"
    (found,), aside = read(tmp_path / "a.eml", deep.as_bytes())
    assert CANARY not in found.text
    assert list(aside.values()) == ["parts of a mail deeper within each other than are read"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        CANARY,
        f"X-Only: {CANARY}\n\n{CANARY}",
        f"From: a@b.example\nContent-Type: text/plain; charset={CANARY}\n\n{CANARY}",
        f"From: =?{CANARY}?q?a?=\n\n{CANARY}",
        f"From: {'=?a?q?' * 200_000}\n\n{CANARY}",
        "From: a@b.example\n"
        + "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(9000)),
    ],
)
def test_what_is_no_mail_is_refused_in_one_sentence(tmp_path, content):
    with pytest.raises(SourceError, match=r"^a\.eml: is not an e-mail that can be read$"):
        Corpus.read(put(tmp_path / "a.eml", content))


def test_base64_that_is_none_is_lost_or_read_and_never_fails(tmp_path):
    head = "From: a@b.example\nContent-Transfer-Encoding: base64\n\n"
    (found,), _ = read(tmp_path / "a.eml", head + "Q!U@5O 44=")
    assert found.text.startswith("From: a@b.example\n\n")


def test_ten_thousand_attachments_are_each_named(tmp_path):
    part = "--b\nContent-Type: image/png\nContent-Disposition: attachment\n\nx\n"
    head = "From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n"
    documents, aside = read(tmp_path / "a.eml", head + part * 10_000 + "--b--\n")
    assert (len(documents), len(aside)) == (1, 10_000)


def test_html_is_the_text_that_people_see(tmp_path):
    page = f"""<!DOCTYPE html><html><head><title>Letter</title><meta charset="windows-1252">
    <style>{CANARY}</style><script>"{CANARY}</p>"</script></head><body onload="{CANARY}">
    <!-- {CANARY} --><p title="{CANARY}">Dear&nbsp;Zo\xeb ,<br>we   <i>saw</i>
    you .</p><table><tr><td>a<td>b</table><pre>x  y
    z</pre><template>{CANARY}</template></body></html>"""
    path = tmp_path / "a.html"
    path.write_bytes(page.encode("windows-1252"))
    (found,) = Corpus.read(path)
    lines = ["Letter", "Dear\xa0Zoë ,", "we saw you .", "a\tb", "x  y", "z"]
    assert (found.text.split("\n"), found.annotated) == (lines, False)


def note(text="Ann May is well .", kind="text/plain", **more):
    attachment = {"contentType": kind, "data": b64encode(text.encode()).decode(), **more}
    return {
        "resourceType": "DocumentReference",
        "subject": {"reference": "Patient/17", "display": CANARY},
        "description": CANARY,
        "content": [{"attachment": attachment}],
    }


def test_notes_of_fhir_are_read_from_bundles_lines_and_lists(tmp_path):
    html = note("<p>Dear <b>Ann</b></p>", "text/html; charset=UTF-8")
    bundle = {
        "resourceType": "Bundle",
        "entry": [{"resource": one} for one in (note(), {"resourceType": "Patient"}, html)],
    }
    documents, aside = read(tmp_path / "a.json", json.dumps(bundle, indent=1))
    texts = ["Ann May is well .", "Dear Ann"]
    assert [(d.text, d.id, d.subject, d.annotated) for d in documents] == [
        (texts[0], "1", "Patient/17", False), (texts[1], "3", "Patient/17", False),
    ]  # fmt: skip
    assert aside == {"2": "resources are not read that are not DocumentReference"}
    lines = "\n".join(json.dumps(one) for one in (note(), html))
    assert [d.text for d in read(tmp_path / "b.ndjson", lines)[0]] == texts
    assert [d.text for d in read(tmp_path / "c.json", json.dumps([note(), html]))[0]] == texts


@pytest.mark.parametrize(
    ("resource", "why"),
    [
        (note(kind="application/pdf"), "voile does not read attachments of this type: application"),
        (note(kind=CANARY), "voile does not read attachments of this type: an unknown kind"),
        (note(data="!!! no base64"), "an attachment is not complete Base64 text"),
        (note(data="/w=="), "an attachment is not complete Base64 text"),
        (note(kind=f"text/plain; charset={CANARY}"), "an attachment is not complete Base64 text"),
        (
            note(data=None, url="Binary/1"),
            "voile does not read attachments that are stored outside the resource",
        ),
        ({**note(), "content": CANARY}, "DocumentReference resources without content"),
        ({**note(), "content": [CANARY]}, "voile does not read attachments of this type: "),
    ],
)
def test_what_is_no_note_of_fhir_is_said_by_its_kind(tmp_path, resource, why):
    documents, aside = read(tmp_path / "a.json", json.dumps(resource))
    assert not documents
    assert next(iter(aside.values())).startswith(why)
    assert CANARY not in str(aside)


def test_fhir_says_whose_a_note_is_if_it_can(tmp_path):
    by_number = {**note(), "subject": {"identifier": {"value": "MRN 5"}}}
    nobody = {**note(), "subject": {"display": "Ann May"}}
    lines = "\n".join(map(json.dumps, (by_number, nobody)))
    documents, _ = read(tmp_path / "a.jsonl", lines)
    assert [one.subject for one in documents] == ["MRN 5", None]
    source = open_source(tmp_path / "a.jsonl")
    assert (source.kind, source.read(["subject"]).num_rows) == ("fhir", 2)
    assert all(isinstance(one, Document) for one in documents)
