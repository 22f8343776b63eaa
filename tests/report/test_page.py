from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from voile.report import render
from voile.report.markdown import markdown
from voile.report.page import render_part
from voile.report.sections import (
    Audience,
    Bar,
    BarChart,
    Block,
    Bullets,
    Commands,
    Figure,
    Figures,
    FrontierChart,
    Grid,
    Heading,
    IntervalChart,
    LineChart,
    Prose,
    Section,
    Series,
    Strip,
)

NASTY = """<script>window.hacked=1</script>"><img src=x onerror='hacked=1'>{{7*7}}</style>&amp;"""


class Elements(HTMLParser):
    """Collect elements, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]


def every_block(text: str, audience: Audience = "public") -> tuple[Block, ...]:
    """Return one block of each kind with `text` wherever a text may stand."""
    strip = Strip(text, ((text, 0.5), (text, 0.5)))
    series = Series(text, (0.0, 1.0), (0.1, 0.2), (0.0, 0.1), (0.2, 0.3))
    return (
        Heading(text, audience),
        Prose((text,), audience),
        Bullets((text,), audience),
        Commands((text,), audience),
        Figures((Figure(text, text, text, text),), audience),
        Grid((text, text), ((text, text),), text, (1,), audience),
        FrontierChart(
            (0.1, 0.2), (0.2, 0.1), (text, text), ((text, 0.1, 0.2),), text, text, text, audience
        ),
        IntervalChart(((text, (strip,)),), text, audience),
        BarChart(((text, (Bar(text, 0.1, 0.05, 0.2),)),), text, text, audience),
        LineChart((series,), text, text, text, audience),
    )


def page_of(*blocks: Block, audience: Audience = "public", **facts: str) -> str:
    return render("A title", [Section("part", "A part", blocks)], audience=audience, facts=facts)


def test_every_text_is_escaped_wherever_it_stands() -> None:
    section = Section("part", NASTY, every_block(NASTY), first=True)
    page = render(NASTY, [section], audience="public", facts={NASTY: NASTY})
    seen = Elements(page)
    assert len(seen.named("script")) == len(seen.named("style")) == 1
    assert not seen.named("img")
    assert not [a for _, attributes in seen.elements for a in attributes if a.startswith("on")]
    assert "49" not in seen.texts
    assert seen.texts.count(NASTY) >= 25


def test_the_same_arguments_give_the_same_bytes(full_report: str) -> None:
    assert page_of(*every_block("x"), voile="1") == page_of(*every_block("x"), voile="1")
    assert not re.search(r"\b20\d\d-\d\d-\d\d", full_report)


def test_a_public_report_says_nothing_of_what_is_internal() -> None:
    secret = Section("secret", "CANARY title", every_block("CANARY", "internal"))
    mixed = Section("mixed", "Mixed", (*every_block("CANARY", "internal"), Prose(("Shown.",))))
    page = render("T", [secret, mixed], audience="public", facts={})
    assert "CANARY" not in page
    assert "secret" not in page
    assert "internal" not in page.lower().split("<main")[1].split("<script>")[0]
    assert "Shown." in page
    assert page == render("T", [Section("mixed", "Mixed", (Prose(("Shown.",)),))],
                          audience="public", facts={})  # fmt: skip


def test_an_internal_report_shows_both_and_says_what_it_is() -> None:
    page = page_of(*every_block("CANARY", "internal"), Prose(("Shown.",)), audience="internal")
    assert "CANARY" in page
    assert "Shown." in page
    assert "Internal report" in page


def test_a_heading_over_nothing_is_left_out() -> None:
    page = page_of(
        Heading("Empty"),
        Prose(("x",), "internal"),
        Heading("Full"),
        Prose(("y",)),
        Heading("Orphan"),
    )
    assert "<h3>Full</h3>" in page
    assert "Empty" not in page
    assert "Orphan" not in page


def test_headings_come_in_order(full_report: str) -> None:
    levels = [
        int(tag[1]) for tag, _ in Elements(full_report).elements if re.fullmatch("h[1-6]", tag)
    ]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_first_sections_come_first() -> None:
    sections = [
        Section("later", "Later", (Prose(("b",)),)),
        Section("now", "Now", (Prose(("a",)),), first=True),
    ]
    page = render("T", sections, audience="public", facts={})
    assert page.index('<section id="now"') < page.index('<section id="later"')


def test_facts_stand_under_how_to_reproduce() -> None:
    own = Section("reproduce", "Do it again", (Commands(("voile verify release.csv",)),))
    page = render("T", [own], audience="public", facts={"voile": "9.9"})
    part = page.split('<section id="reproduce"')[1].split("</section>")[0]
    assert "voile verify release.csv" in part
    assert "9.9" in part
    assert "How to reproduce" not in page
    assert "How to reproduce" in page_of(Prose(("x",)), voile="9.9")
    assert "How to reproduce" not in page_of(Prose(("x",)))


@pytest.mark.parametrize("key", ["", "Two words", 'a"b', "a--b", "ä"])
def test_a_key_that_is_no_anchor_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="section key"):
        render("T", [Section(key, "T", ())], audience="public", facts={})


def test_a_key_used_twice_is_refused() -> None:
    part = Section("a", "A", (Prose(("x",)),))
    with pytest.raises(ValueError, match="used twice"):
        render("T", [part, part], audience="public", facts={})


def test_ids_are_unique_and_links_lead_somewhere(full_report: str) -> None:
    seen = Elements(full_report)
    ids = [a["id"] for _, a in seen.elements if "id" in a]
    assert len(ids) == len(set(ids))
    links = [a["href"] or "" for a in seen.named("a")]
    assert links
    assert {link[1:] for link in links} <= set(ids)


def test_the_content_policy_allows_this_page_only(full_report: str) -> None:
    seen = Elements(full_report)
    policy = next(a["content"] for a in seen.named("meta") if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        inside = re.search(rf"<{tag}>(.*?)</{tag}>", full_report, re.S)
        assert inside
        digest = base64.b64encode(hashlib.sha256(inside[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not [a for _, a in seen.elements if "style" in a or "src" in a]
    assert "http://" not in full_report
    assert "https://" not in full_report


def test_text_that_is_not_unicode_can_still_be_written() -> None:
    assert "a⟨U+D800⟩b" in page_of(Prose(("a\ud800b",)))


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200b", "\x00", "\x1b", "\u2028"])
def test_no_text_turns_hides_or_ends_what_stands_beside_it(sign: str) -> None:
    told = f"a{sign}b"
    section = Section("part", told, every_block(told), first=True)
    for written in (
        render(told, [section], audience="public", facts={told: told}),
        markdown(told, [section], {told: told}),
        render_part(told, every_block(told)),
    ):
        assert sign not in written
        assert f"a⟨U+{ord(sign):04X}⟩b" in written


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_nothing_to_say_is_still_a_page(audience: Audience) -> None:
    page = render("Empty", [], audience=audience, facts={})
    assert "<h1>Empty</h1>" in page
    assert "Approved by" in page


def test_empty_blocks_are_drawn() -> None:
    page = page_of(
        Grid(("a", "b"), ()),
        FrontierChart((), (), (), (), "risk", "loss"),
        IntervalChart(()),
        BarChart((), "share"),
        LineChart((), "x", "y"),
    )
    assert "Nothing to show." in page
    assert "No policy to show." in page


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def palettes(page: str) -> list[dict[str, str]]:
    """Return the light, dark and paper palettes of the page's style."""
    blocks = re.findall(r":root \{(.*?)\}", page, re.S)
    return [dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{3,6})\b", block)) for block in blocks]


def test_texts_and_drawings_stand_out_in_light_in_dark_and_on_paper(full_report: str) -> None:
    themes = [{k: v if len(v) > 4 else f"#{v[1:] * 2}" for k, v in p.items()}
              for p in palettes(full_report)]  # fmt: skip
    assert len(themes) == 3
    for theme in themes:
        for text in ("--ink", "--soft", "--accent"):
            assert contrast(theme[text], theme["--paper"]) >= 4.5
        for ground in ("--tint-1", "--tint-2", "--raised"):
            assert contrast(theme["--ink"], theme[ground]) >= 4.5
        for drawn in [k for k in theme if re.match(r"--(mark|bar)-", k)]:
            assert contrast(theme[drawn], theme["--paper"]) >= 3
