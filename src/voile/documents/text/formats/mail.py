"""Read e-mail (.eml): the headers that people read, and the text. Attachments are not read.

The reader prefers the plain text of several alternatives, and then HTML. A forwarded mail is read
with its headers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from email import message_from_bytes
from email.header import decode_header
from email.message import Message
from typing import NamedTuple, cast

from voile.core.errors import SourceError
from voile.data.content_kinds import name_content_kind
from voile.data.html_text import extract_html_text
from voile.data.text import known_encoding
from voile.documents.text.document import Document
from voile.documents.text.formats.file import TextFile, UnreadPart

HEADERS = ("from", "sender", "reply-to", "to", "cc", "bcc", "date", "subject")
DEEPEST = 20
"""The deepest level of nested mails and parts."""
NAME_LENGTH, LONGEST = 200, 1 << 16
"""The most characters of an attachment's name, and of a header."""
PLAIN, HTML, MAIL = "text/plain", "text/html", "message/rfc822"
NO_MAIL = "is not an e-mail that can be read"


class _MailAside(NamedTuple):
    part: Message
    why: str


def read_mail(file: TextFile) -> Iterator[Document | UnreadPart]:
    """Read one mail as one document.

    Each attachment follows as an unread part, with its number.
    """
    try:
        mail = message_from_bytes(file.content())
        if not _headers(mail):
            raise SourceError(NO_MAIL, where=file.path.name)
        parts = list(_mail(mail, 0))
        text = "\n\n".join(part for part in parts if isinstance(part, str))
        asides = [part for part in parts if isinstance(part, _MailAside)]
        names = [_file_name(part) for part, _ in asides]
    except SourceError:
        raise
    except Exception:  # the message of another error could quote the mail
        raise SourceError(NO_MAIL, where=file.path.name) from None
    yield file.document(text, id=file.name, annotated=False)
    for number, (one, name) in enumerate(zip(asides, names, strict=True), 1):
        yield UnreadPart(f"{file.name}, attachment {number}{name}", one.why)


def _mail(mail: Message, depth: int) -> Iterator[str | _MailAside]:
    yield "\n".join(_headers(mail))
    yield from _part(mail, depth)


def _headers(mail: Message) -> list[str]:
    found = ((name, _decode_header(str(raw))) for name, raw in mail.raw_items())
    return [f"{name.title()}: {value}" for name, value in found if name.lower() in HEADERS]


def _part(part: Message, depth: int) -> Iterator[str | _MailAside]:
    kind = part.get_content_type()
    parts = cast("Sequence[Message]", part.get_payload() if part.is_multipart() else ())
    if depth > DEEPEST:
        yield _MailAside(part, "parts of a mail deeper within each other than are read")
    elif depth and part.get_content_disposition() == "attachment":
        yield _MailAside(part, f"attachments are not read: {name_content_kind(kind)}")
    elif kind == MAIL and parts:
        yield from _mail(parts[0], depth + 1)
    elif kind == "multipart/alternative" and parts:
        best = max(parts, key=_rank)
        for one in parts:
            found = _part(one, depth + 1)
            yield from (x for x in found if one is best or isinstance(x, _MailAside))
    elif parts:
        for one in parts:
            yield from _part(one, depth + 1)
    elif kind in (PLAIN, HTML):
        text = _text(part)
        yield extract_html_text(text) if kind == HTML else text
    else:
        yield _MailAside(part, f"attachments are not read: {name_content_kind(kind)}")


def _rank(part: Message) -> int:
    """Prefer plain text that is not blank to HTML, and HTML to any other part."""
    kind = part.get_content_type()
    if kind == PLAIN:
        return 3 if _text(part).strip() else 0
    return 2 if kind == HTML else int(part.is_multipart())


def _text(part: Message) -> str:
    """Decode the text of a part.

    Characters that cannot be decoded become U+FFFD, and the document is rejected for it.
    """
    raw = part.get_payload(decode=True)
    assert isinstance(raw, bytes)
    encoding = known_encoding(part.get_content_charset() or "utf-8")
    text = raw.decode("utf-8" if encoding == "ascii" else encoding, errors="replace")
    return text.replace("\r\n", "\n").strip("\n")


def _decode_header(raw: str) -> str:
    """Decode a header into one line, with blanks instead of its line ends."""
    if len(raw) > LONGEST:
        raise ValueError("a header without end, in which the library would search for very long")
    text = raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    parts = (
        part if isinstance(part, str) else part.decode(charset or "raw-unicode-escape", "replace")
        for part, charset in decode_header(" ".join(text.split()))
    )
    return " ".join("".join(parts).split())


def _file_name(part: Message) -> str:
    name = " ".join((part.get_filename() or "").split())
    printable = "".join(c for c in name if c.isprintable())[:NAME_LENGTH]
    return f": {printable}" if printable else ""
