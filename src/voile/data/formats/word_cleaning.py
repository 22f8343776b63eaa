"""Remove the invisible parts of a Word file, with lists of the visible ones.

Text, paragraphs, tables, styles, numbering, notes, comments, headers, footers and themes stay.
Changes are accepted, and text boxes become paragraphs. These parts are removed: authors, times,
properties, field codes, links, bookmarks, alternative texts, custom XML, names of styles and
pictures. Files with embedded objects, charts or other files are rejected. So are files with text
that voile does not read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from voile.data.formats.word import MAIN, MC, READ, RELATIONSHIPS, W, WordFile, kind_of, tree_of

if TYPE_CHECKING:
    from docx.opc.part import Part

R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
SPACE = "{http://www.w3.org/XML/1998/namespace}space"
CONTENT = "application/vnd.openxmlformats-officedocument"

STAYS = frozenset({*READ, "styles", "numbering", "theme", "settings"}) - {MAIN}
GOES = frozenset({
    "attachedTemplate", "commentsExtended", "commentsExtensible", "commentsIds", "customXml",
    "documenttasks", "fontTable", "glossaryDocument", "hyperlink", "image",
    "keyMapCustomizations", "mailMergeHeaderSource", "mailMergeSource", "people",
    "printerSettings", "stylesWithEffects", "webSettings",
})  # fmt: skip
"""Types of removed relationships, which lead to parts without visible text."""
SHOWN = frozenset({
    "document", "body", "p", "r", "t", "tab", "br", "cr", "noBreakHyphen", "softHyphen", "sym",
    "tbl", "tr", "tc", "hdr", "ftr", "footnotes", "footnote", "endnotes", "endnote", "comments",
    "comment", "footnoteReference", "endnoteReference", "footnoteRef", "endnoteRef",
    "commentRangeStart", "commentRangeEnd", "commentReference", "annotationRef", "separator",
    "continuationSeparator", "background",
    "styles", "docDefaults", "style", "name", "basedOn", "next", "link", "uiPriority",
    "semiHidden", "unhideWhenUsed", "qFormat",
    "numbering", "abstractNum", "num", "multiLevelType", "styleLink", "numStyleLink", "lvl",
    "start", "numFmt", "lvlRestart", "pStyle", "isLgl", "suff", "lvlText", "lvlJc",
    "abstractNumId", "lvlOverride", "startOverride",
    "settings", "defaultTabStop", "evenAndOddHeaders", "mirrorMargins", "footnotePr",
    "endnotePr", "compat", "compatSetting",
})  # fmt: skip
PROPERTIES = frozenset({
    "pPr", "rPr", "tblPr", "tblPrEx", "tblGrid", "trPr", "tcPr", "sectPr", "rPrDefault",
    "pPrDefault", "tblStylePr",
})  # fmt: skip
"""Elements in which all content in Word's namespace is kept, except `NEVER`."""
NEVER = frozenset({
    "ins", "del", "moveFrom", "moveTo", "tblCaption", "tblDescription", "printerSettings", "divId",
    "rsid",
})  # fmt: skip
OPENED = frozenset({
    *(W + name for name in ("ins", "moveTo", "sdt", "sdtContent", "smartTag", "customXml",
                            "hyperlink", "fldSimple", "dir", "bdo")),
    MC + "AlternateContent", MC + "Choice",
})  # fmt: skip
"""Elements that are removed, but with their contents kept."""
UNREAD = frozenset({
    *(W + name for name in ("del", "moveFrom", "instrText", "delInstrText", "sdtPr", "sdtEndPr")),
    MC + "Fallback",
})  # fmt: skip
"""Elements that are removed with their text, since it is deleted, duplicate or a field's code."""
PERSONAL = re.compile(r"rsid\w*|author|date|initials|docLocation|tooltip|anchor")
OF_STYLES = tuple(
    W + name
    for name in ("pStyle", "rStyle", "tblStyle", "basedOn", "next", "link", "styleLink",
                 "numStyleLink")
)  # fmt: skip
BUILT_IN = re.compile(
    "normal|default paragraph font|no list|(heading|toc|index|list|list bullet|list number|"
    "list continue|body text) ?[1-9]?|(intense |subtle )?(emphasis|quote|reference)|title|subtitle|"
    "strong|list paragraph|no spacing|table (normal|grid)|header|footer|caption|hyperlink|"
    "page number|(footnote|endnote|annotation) (text|reference|subject)|balloon text|plain text"
)
"""Names of Word's built-in styles. The name of a custom style may contain a person's name."""
_FONT_NAMES = """
    aptos|arial|arial narrow|arial unicode ms|book antiqua|bookman old style|calibri|calibri light|
    cambria|cambria math|candara|century|century gothic|comic sans ms|consolas|constantia|corbel|
    courier|courier new|franklin gothic book|garamond|georgia|gill sans mt|helvetica|impact|
    lucida console|lucida sans|ms gothic|ms mincho|palatino linotype|segoe ui|simsun|symbol|tahoma|
    times|times new roman|trebuchet ms|verdana|wingdings|liberation sans|liberation serif|
    dejavu sans|noto sans|noto serif|open sans|roboto"""
FONTS = frozenset(map(str.strip, _FONT_NAMES.split("|")))
"""Fonts that programs install.

Another font's name may be a person's, so the default replaces it.
"""
DEFAULT_FONT = "Calibri"
WORDED = re.compile(r"[^\W\d_]{2}")
OBJECTS = "embeds objects, charts or files, which are not read"
ELSEWHERE = "holds text where none is read, such as an equation"
Styles: TypeAlias = Mapping[str, tuple[str, str]]


class UnwritableError(Exception):
    """A file cannot be written again. The message does not quote its text."""


def clean(word: WordFile) -> None:
    """Keep only the listed parts of a file, under standard names.

    Raises UnwritableError: it embeds parts that voile does not read, or contains text in a place
    that voile does not read.
    """
    main = word.main
    _drop(word.package.rels, {MAIN}, others_go=True)
    _drop(main.rels, STAYS)
    others = {id(one.target_part): (kind_of(one), one.target_part) for one in main.rels.values()}
    parts = [(kind, part, tree_of(part)) for kind, part in [(MAIN, main), *others.values()]]
    styles = dict(_styles(tree for kind, _, tree in parts if kind == "styles"))
    for number, (kind, part, tree) in enumerate(parts):
        if part is not main:
            _drop(part.rels, ())
        if kind == "theme":
            _clean_theme(tree)
        else:
            _clean_tree(tree, styles)
        _rename(part, kind, number)
        _store(part, tree)


def _drop(relationships: Any, stays: Collection[str], *, others_go: bool = False) -> None:
    for id, one in list(relationships.items()):
        kind = kind_of(one)
        if kind in stays and not one.is_external and one.reltype == RELATIONSHIPS + kind:
            continue
        if kind not in GOES and not others_go:
            raise UnwritableError(OBJECTS)
        del relationships[id]


def _rename(part: Part, kind: str, number: int) -> None:
    from docx.opc.packuri import PackURI

    inner = {"theme": "theme", MAIN: "wordprocessingml.document.main"}
    name = "document" if kind == MAIN else f"{kind}{number}"
    part.partname = PackURI(f"/word/{name}.xml")
    part._content_type = f"{CONTENT}.{inner.get(kind, f'wordprocessingml.{kind}')}+xml"


def _store(part: Part, tree: Any) -> None:
    """Store a changed tree in its part."""
    from docx.opc.part import XmlPart
    from docx.oxml import parse_xml
    from lxml import etree  # type: ignore[import-untyped]

    etree.cleanup_namespaces(tree)
    raw = etree.tostring(tree, xml_declaration=True, encoding="UTF-8", standalone=True)
    if isinstance(part, XmlPart):
        part._element = parse_xml(raw)
    else:
        part._blob = raw


def _clean_tree(root: Any, styles: Styles) -> None:
    from lxml import etree

    for one in list(root.iter(*UNREAD, etree.Comment, etree.ProcessingInstruction, etree.Entity)):
        _remove(one)
    _flatten_boxes(root)
    for one in list(root.iter(*OPENED)):
        for child in list(one):
            one.addprevious(child)
        _remove(one)
    for one in list(root.iter()):
        if not _stays(one):
            if any((text.text or "").strip() for text in one.iter("{*}t")):
                raise UnwritableError(ELSEWHERE)
            _remove(one)
    for one in list(root.iter()):
        _neutralise(one, styles)


def _remove(element: Any) -> None:
    if element.getparent() is not None:
        element.getparent().remove(element)


def _flatten_boxes(root: Any) -> None:
    """Move the contents of a text box behind the paragraph that anchors the box."""
    for paragraph in list(root.iter(W + "p")):
        boxes = (
            box
            for box in paragraph.iter(W + "txbxContent")
            if next(box.iterancestors(W + "p")) is paragraph
        )
        for child in reversed([child for box in boxes for child in box]):
            paragraph.addnext(child)


def _stays(element: Any) -> bool:
    name = element.tag.removeprefix(W)
    if not element.tag.startswith(W) or name in NEVER:
        return False
    if name in SHOWN or name in PROPERTIES:
        return True
    return any(above.tag.removeprefix(W) in PROPERTIES for above in element.iterancestors())


def _neutralise(element: Any, styles: Styles) -> None:
    """Remove attributes and texts that could be personal, and custom names."""
    name, val = element.tag.removeprefix(W), element.get(W + "val", "")
    for key in list(element.attrib):
        if not _is_plain(element, key):
            del element.attrib[key]
    element.tail = None
    if name == "rFonts":
        _replace_fonts(element)
    if name == "t":
        element.set(SPACE, "preserve")
        return
    element.text = None
    if element.tag in OF_STYLES:
        if val in styles:
            element.set(W + "val", styles[val][0])
        else:
            _remove(element)
    elif name == "style":
        _name_style(element, styles)
    elif name == "lvlText" and WORDED.search(val):
        element.set(W + "val", f"%{int(element.getparent().get(W + 'ilvl', 0)) + 1}.")
    elif name == "compatSetting" and element.get(W + "name") != "compatibilityMode":
        _remove(element)
    elif name == "comment":
        element.set(W + "author", "")


def _replace_fonts(element: Any) -> None:
    for key in ("ascii", "hAnsi", "eastAsia", "cs"):
        if (font := element.get(W + key)) is not None and font.lower() not in FONTS:
            element.set(W + key, DEFAULT_FONT)


def _is_plain(element: Any, key: str) -> bool:
    if key == R + "id":
        return str(element.tag) in (W + "headerReference", W + "footerReference")
    return key.startswith(W) and not PERSONAL.fullmatch(key.removeprefix(W))


def _styles(trees: Iterable[Any]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the id of each style in the file, with its new id and name."""
    for number, style in enumerate(style for tree in trees for style in tree.iter(W + "style")):
        name = next((one.get(W + "val", "") for one in style.iter(W + "name")), "")
        if BUILT_IN.fullmatch(name.lower()):
            yield style.get(W + "styleId", ""), ("".join(name.title().split()), name)
        else:
            yield style.get(W + "styleId", ""), (f"Style{number}", f"Style {number}")


def _name_style(style: Any, styles: Styles) -> None:
    id, name = styles[style.get(W + "styleId", "")]
    style.set(W + "styleId", id)
    for one in style.iter(W + "name"):
        one.set(W + "val", name)


def _clean_theme(root: Any) -> None:
    """Keep only the colours, fonts and effects of a theme, without names."""
    for one in list(root.iter()):
        foreign = not isinstance(one.tag, str) or not one.tag.startswith(A)
        if foreign or one.tag in (A + "extLst", A + "blip", A + "objectDefaults"):
            _remove(one)
            continue
        one.text = one.tail = None
        for key in list(one.attrib):
            if key.startswith("{"):
                del one.attrib[key]
            elif key == "name":
                one.set(key, "")
            elif key == "typeface" and one.get(key).lstrip("+@").lower() not in FONTS:
                one.set(key, "" if one.tag == A + "font" else DEFAULT_FONT)
