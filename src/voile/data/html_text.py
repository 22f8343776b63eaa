"""Extract the visible text of HTML, one block for each line, without scripts, styles and comments.

A single regular expression without backtracking scans the page, because the time of the standard
library's parser is quadratic for some pages. As in a browser, a tag or comment without an end
extends to the end of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

UNSEEN = ("script", "style", "template")
CELLS = frozenset({"td", "th"})
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "br", "center", "dd", "details",
    "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form",
    "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "legend",
    "li", "main", "menu", "nav", "noscript", "ol", "optgroup", "option", "p", "pre",
    "section", "select", "summary", "table", "tbody", "tfoot", "thead", "title", "tr", "ul",
})  # fmt: skip
_MARKUP = re.compile(
    r"""<!--.*?(?:-->|\Z)  # a comment
    |<(?P<end>/?)(?P<tag>[a-z][^\s/>]*+)  # a tag and its attributes
      (?:[^>"'=]++|=\s*+(?:"[^"]*+"|'[^']*+')?|["'])*+>
    |<[!?/][^>]*+(?:>|\Z)  # a declaration, which a browser takes for a comment
    |<[a-z].*""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_END = {tag: re.compile(f"</{tag}\\b", re.IGNORECASE) for tag in UNSEEN}
_BLANKS = re.compile(r"[ \t\r\n\f]+")


def extract_html_text(page: str) -> str:
    """Return the visible text of a page.

    >>> extract_html_text("<title>A</title><p>Ann <b>May</b><br>left.<script>x</script><li>1<td>2")
    'A\\nAnn May\\nleft.\\n1\\t2'
    """
    lines = "".join(_pieces(page)).split("\n")
    return "\n".join(line.strip(" \t") for line in lines if line.strip())


def _pieces(page: str) -> Iterator[str]:
    """Yield pieces of text, with a line end or a tab at the boundaries of blocks and cells."""
    at = preformatted = 0
    while True:
        markup = _MARKUP.search(page, at)
        text = unescape(page[at : markup.start() if markup else len(page)])
        yield text.replace("\r\n", "\n") if preformatted else _BLANKS.sub(" ", text)
        if markup is None:
            return
        at, tag = markup.end(), (markup["tag"] or "").lower()
        if tag == "pre":
            preformatted = not markup["end"]
        if tag in BLOCKS:
            yield "\n"
        elif tag in CELLS:
            yield "\t"
        elif tag in _END and not markup["end"]:
            end = _END[tag].search(page, at)
            at = end.start() if end else len(page)
