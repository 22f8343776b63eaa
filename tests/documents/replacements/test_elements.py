"""A note with XML or HTML parses as before, whatever is removed of it."""

from __future__ import annotations

import random
from xml.etree import ElementTree

import pytest

from voile.documents.replacements.markup import spare_elements
from voile.documents.replacements.published_document import publish
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.replacer import make_replacer
from voile.documents.replacements.spans import join_adjacent
from voile.documents.text.document import Document
from voile.documents.words.tokens import tokenise
from voile.keys.secret import Secret

PUTS = [make_replacer("mark"), make_replacer("surrogate", Secret(bytes(32)))]
WORDS = """Anna O&#39;Brien Mu&#241;oz 03/04/1950 MRN 88374 &lt;b&gt; Smith &amp; Co St. Mary's 12-3
    "quoted" a&#160;b &quot;Kim&quot; x>y"""


def made_note(rng: random.Random) -> str:
    """Return XML as of a clinical document, nested, with comments and CDATA."""

    def words() -> str:
        return " ".join(rng.choices(WORDS.split(), k=rng.randint(0, 4)))

    def element(depth: int) -> str:
        name = rng.choice(["given", "section", "td", "name", "hl7.id", "Smith"])
        quote = rng.choice("\"'")
        value = words().replace(quote, "")
        attributes = f" extension={quote}{value}{quote} n='7'" if rng.random() < 0.6 else ""
        if rng.random() < 0.1:
            return f"<{name}{attributes}/>"
        extra = [f"<!-- {words()} -->", f"<![CDATA[{words()} <x> &]]>", "", ""]
        inner = "".join(element(depth - 1) for _ in range(rng.randint(0, 3))) if depth else ""
        return f"<{name}{attributes}>{words()}{inner}{rng.choice(extra)}{words()}</{name}>"

    head = rng.choice(["", '<?xml version="1.0"?>\n'])
    return f"{head}<note>{element(3)}</note>"


def taken(text: str, rng: random.Random) -> list[TextRemoval]:
    """Return removals of any tokens, syntax as well, some joined over it."""
    tokens = tokenise([text])
    places = zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True)
    share, removals = rng.choice([0.1, 0.5, 1.0]), []
    for start, end in places:
        if rng.random() < share:
            if removals and rng.random() < 0.3:
                start = removals.pop().start
            removals.append(TextRemoval(start, end, rng.choice(["NAME", "ID", "DATE"])))
    return join_adjacent(text, removals)


def shape_of(text: str) -> list[tuple[str, list[str]]]:
    return [(one.tag, sorted(one.attrib)) for one in ElementTree.fromstring(text).iter()]


@pytest.mark.parametrize(("put", "notes"), zip(PUTS, (600, 100), strict=True))
def test_the_elements_and_attributes_of_a_note_stay(put, notes):
    rng = random.Random(4)
    for _ in range(notes):
        text = made_note(rng)
        made = publish(Document(text, subject="1"), taken(text, rng), put)
        assert shape_of(made.text) == shape_of(text)


@pytest.mark.parametrize("put", PUTS)
def test_the_words_of_a_removal_go(put):
    text = "<p id='Anna'>Anna <b>Smith</b> Mu&#241;oz<br></p>"
    made = publish(Document(text, subject="1"), [TextRemoval(0, len(text), "NAME")], put).text
    assert not any(word in made for word in ("Anna", "Smith", "Mu", "oz<"))
    assert made.startswith("<p id='")
    assert made.endswith("<br></p>")


@pytest.mark.parametrize("part", ["bMu", "241", "oz"])
def test_a_word_with_a_reference_goes_whole(part):
    text = "<p>a&#160;bMu&#241;oz came</p>"
    start = text.index(part)
    (one,) = spare_elements(text, [TextRemoval(start, start + len(part), "NAME")])
    assert text[one.start : one.end] == "bMu&#241;oz"


def test_a_surrogate_is_the_same_with_and_without_references():
    removals = [TextRemoval(3, 14, "NAME"), TextRemoval(15, 22, "NAME")]
    text = "<p>O&#39;Brien O'Brien</p>"
    made = publish(Document(text, subject="1"), removals, PUTS[1]).text
    one, two = made.removeprefix("<p>").removesuffix("</p>").split()
    assert one == two


@pytest.mark.parametrize("text", ["Seen by <Smith> today", "BP <120 and Smith >80", "<Smith a=1>"])
def test_brackets_of_plain_text_spare_nothing(text):
    removals = [TextRemoval(text.index("Smith"), text.index("Smith") + 5, "NAME")]
    assert spare_elements(text, removals) == removals


@pytest.mark.parametrize("put", PUTS)
def test_an_attribute_without_quotes_keeps_its_end(put):
    text = "<td id=Anna class=x>Smith</td>"
    removals = [TextRemoval(7, 11, "ADDRESS"), TextRemoval(20, 25, "NAME")]
    made = publish(Document(text, subject="1"), removals, put).text
    assert made.startswith("<td id=")
    assert " class=x>" in made
    assert made.count(" ") == 2
