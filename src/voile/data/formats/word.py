"""Word files (.docx), read by python-docx: their text, one line for each paragraph.

The reader covers headers, the body with tables and text boxes, notes, comments and footers, in this
order. Relationships identify these parts. Text that tracked changes deleted or moved away is
ignored, and hidden runs are dropped. Files are rejected if they are encrypted, contain macros,
declare document types, or exceed size limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import BadZipFile, ZipFile

from voile.core.errors import RequestError, SourceError, VoileError, install

if TYPE_CHECKING:
    from docx.opc.package import OpcPackage
    from docx.opc.part import Part

MOST, MOST_PARTS = 256 << 20, 10_000
"""The largest number of decompressed bytes of a file's parts, and the largest number of parts."""
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of an encrypted file, or of a file from Word before 2007."""
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
MAIN = "officeDocument"
READ = ("header", MAIN, "footnotes", "endnotes", "comments", "footer")
"""The parts with text in reading order, by the last word of their relationship type."""
MARKS = {W + "tab": "\t", W + "br": "\n", W + "cr": "\n", W + "noBreakHyphen": "-"}
_FALSE = ("0", "false", "off")
GONE = (W + "del", W + "moveFrom")
_DOCTYPES = tuple("<!DOCTYPE".encode(code) for code in ("utf-8", "utf-16-le", "utf-16-be"))


class WordRun(NamedTuple):
    """A run of text with its element. The element is None at the end of a paragraph."""

    element: Any
    words: str


class WordFile:
    """A Word file in memory: its package, the parts with text, and their text in pieces."""

    def __init__(self, raw: bytes, name: str) -> None:
        try:
            import docx  # registers the class of each part

            assert docx
            _check(raw, name)
            self.package = _package(raw)
            (self.main,) = (
                one.target_part for one in self.package.rels.values() if kind_of(one) == MAIN
            )
            if tree_of(self.main).tag != W + "document":
                raise SourceError(
                    "the document has Word's strict format",
                    where=name,
                    instead="save the document as an ordinary .docx",
                )
            trees = [tree_of(part) for part in _parts_with_text(self.main)]
            self.hidden = sum(map(_drop_hidden, trees))
            self.pieces = _join_trees(trees)
        except VoileError:
            raise
        except ModuleNotFoundError:
            raise RequestError(
                "python-docx is not installed", where=name, instead=install("office")
            ) from None
        except Exception:  # a library's message could quote the file
            raise SourceError(
                "the .docx file is damaged or truncated",
                where=name,
                instead="save the document again in Word",
            ) from None

    @property
    def text(self) -> str:
        return "".join(piece.words for piece in self.pieces)


def kind_of(relationship: Any) -> str:
    """Return the kind of a relationship, which is the last word of its type."""
    return str(relationship.reltype).rpartition("/")[2]


def tree_of(part: Part) -> Any:
    """Return the XML of a part, which can be changed in place. It is parsed at first use."""
    from lxml import etree  # type: ignore[import-untyped]

    if "tree" not in vars(part):
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        vars(part)["tree"] = etree.fromstring(part.blob, parser)
    return vars(part)["tree"]


def _check(raw: bytes, name: str) -> None:
    """Raise SourceError for any file except a plain Word file, before its XML is parsed."""
    if raw.startswith(OLE):
        raise SourceError(
            "the document is encrypted, or in a format older than Word 2007",
            where=name,
            instead="save the document as .docx without a password",
        )
    try:
        with ZipFile(BytesIO(raw)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_PARTS or sum(one.file_size for one in entries) > MOST:
                raise SourceError(
                    f"the document's compressed parts are larger than {MOST >> 20} MiB in total",
                    where=name,
                    instead="split the document",
                )
            if any(one.flag_bits & 1 for one in entries):
                raise SourceError(
                    "the document is encrypted",
                    where=name,
                    instead="save the document without a password",
                )
            if len({one.filename.casefold() for one in entries}) < len(entries):
                raise SourceError(
                    "the document contains two parts with one name",
                    where=name,
                    instead="save the document again in Word",
                )
            for one in entries:
                part = archive.read(one) if _is_xml(one.filename) else b""
                if _is_macro(one.filename, part):
                    raise SourceError(
                        "the document contains macros",
                        where=name,
                        instead="save the document as .docx, without macros",
                    )
                if any(mark in part for mark in _DOCTYPES):
                    raise SourceError(
                        "the document's XML declares a document type",
                        where=name,
                        instead="save the document again in Word",
                    )
    except (BadZipFile, NotImplementedError, EOFError, OSError, ValueError) as error:
        if isinstance(error, VoileError):
            raise
        raise SourceError(
            "the .docx file is damaged or truncated",
            where=name,
            instead="save the document again in Word",
        ) from None


def _is_macro(name: str, part: bytes) -> bool:
    declares = name == "[Content_Types].xml" and b"macroEnabled" in part
    return declares or name.lower().endswith("vbaproject.bin")


def _is_xml(name: str) -> bool:
    return name.lower().endswith((".xml", ".rels"))


def _package(raw: bytes) -> OpcPackage:
    from docx.opc.package import OpcPackage

    return OpcPackage.open(BytesIO(raw))


def _parts_with_text(main: Part) -> Iterator[Part]:
    """Yield the parts with text in reading order. Parts of one kind are sorted by name."""
    named = [(kind_of(one), one.target_part) for one in main.rels.values() if not one.is_external]
    for kind in READ:
        found = [main] if kind == MAIN else [part for other, part in named if other == kind]
        yield from sorted({id(part): part for part in found}.values(), key=lambda x: x.partname)


def _drop_hidden(tree: Any) -> int:
    """Remove hidden runs, and return the number of removed runs with text."""
    gone = 0
    for one in list(tree.iter(W + "vanish")):
        run = one.getparent().getparent() if one.getparent().tag == W + "rPr" else None
        if run is not None and run.tag == W + "r" and one.get(W + "val") not in _FALSE:
            gone += any((text.text or "").strip() for text in run.iter(W + "t"))
            run.getparent().remove(run)
    return gone


def _join_trees(trees: Sequence[Any]) -> list[WordRun]:
    """Return the text of trees in pieces, with a line end between paragraphs."""
    pieces: list[WordRun] = []
    for tree in trees:
        for paragraph in tree.iter(W + "p"):
            # A text box occurs twice, the second time for older programs.
            if next(paragraph.iterancestors(MC + "Fallback"), None) is None:
                pieces += [*_words(paragraph), WordRun(None, "\n")]
    return pieces[:-1]


def _words(paragraph: Any) -> Iterator[WordRun]:
    """Yield the words of a paragraph, without the words of inner paragraphs."""
    for node in paragraph.iter(W + "t", *MARKS):
        if node.getparent().tag != W + "r" or next(node.iterancestors(W + "p")) is not paragraph:
            continue
        if next(node.iterancestors(*GONE), None) is None:
            yield WordRun(node, MARKS.get(node.tag) or node.text or "")
