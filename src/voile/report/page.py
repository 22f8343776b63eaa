"""Render the report as one HTML page that opens from disk, needs no network, and prints."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from voile.core.rounding import coarse, outwards
from voile.core.version import __version__
from voile.core.wording import visible
from voile.report.charts import bar_chart, frontier_chart, interval_chart, line_chart
from voile.report.sections import (
    Audience,
    BarChart,
    Block,
    FrontierChart,
    Heading,
    IntervalChart,
    LineChart,
    Section,
)

_REPRODUCE = Section("reproduce", "How to reproduce", ())
_DECISION = "decision"
_KEY = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def render(
    title: str,
    sections: Sequence[Section],
    *,
    audience: Audience,
    facts: Mapping[str, str],
    to_sign: bool = True,
) -> str:
    """Return the report as the text of one self-contained HTML page.

    Parameters
    ----------
    title : the page's title.
    sections : its parts, in order. Those marked ``first`` come first and fill page 1.
    audience : ``public`` drops every ``internal`` block, and sections or headings without other
        blocks. The page does not mention them. Its charts show two significant digits.
    facts : names and values for "How to reproduce": release hash, policy, version. They are shown
        to every audience, under the section with the key ``reproduce`` if there is one.
    to_sign : whether the page ends with a form to sign by hand, if no section has the key
        ``decision``.

    Returns
    -------
    HTML with all styles and scripts inside. Its content policy forbids every request. Every text is
    escaped, and no character reverses the text around it. The same arguments give the same text.

    Raises
    ------
    ValueError : a section's key does not consist of lower-case words joined by hyphens, or is used
        twice.

    Cost: O(points + intervals + cells) time and memory.

    >>> from voile.report.sections import Prose
    >>> page = render(
    ...     "A <b>older title",
    ...     [Section("limits", "Limits", (Prose(("Said.",)), Prose(("Kept.",), "internal")))],
    ...     audience="public",
    ...     facts={"voile": "0.2.0"},
    ... )
    >>> "A &lt;b&gt;older title" in page, "Said." in page, "Kept." in page
    (True, True, False)
    """
    _check_keys(sections)
    last = (_REPRODUCE.key, _DECISION)
    shown = readable_sections([s for s in sections if s.key not in last], audience)
    reproduce = readable_sections([s for s in sections if s.key == _REPRODUCE.key], audience)
    if facts and not reproduce:
        reproduce = [_REPRODUCE]
    decision = readable_sections([s for s in sections if s.key == _DECISION], audience)
    return _fill_in(
        "page.html.j2",
        title=title,
        audience=audience,
        first=[s for s in shown if s.first],
        rest=[s for s in shown if not s.first],
        reproduce=reproduce,
        decision=decision,
        to_sign=to_sign,
        facts=facts,
        version=__version__,
    )


def replace_section(page: str, section: Section) -> str:
    """Return a page made by `render`, with the section of the same key replaced.

    Raises
    ------
    ValueError : the page does not have exactly one such section.
    """
    own = re.compile(rf'<section id="{re.escape(section.key)}" .*?</section>\n', re.DOTALL)
    if len(own.findall(page)) != 1:
        raise ValueError(f"the page needs exactly one section {section.key}")
    [kept] = readable_sections([section], "public")
    made = visible(str(_templates().get_template("section.html.j2").module.part(kept)))  # type: ignore[attr-defined]  # a macro
    return own.sub(lambda _: made, page)


def render_part(title: str, blocks: Sequence[Block], audience: Audience = "public") -> str:
    """Return a page with only these blocks, as `audience` may see them, for a notebook's output."""
    return _fill_in("part.html.j2", title=title, blocks_shown=list(_readable(blocks, audience)))


def _fill_in(template: str, **parts: Any) -> str:
    """Fill a template with these parts, and with the style and script of every page."""
    style, script = _asset("page.css"), _asset("page.js")
    own = {"style": Markup(style), "script": Markup(script)}
    policy = _content_policy(style, script)
    page = _templates().get_template(template)
    return visible(page.render(**parts, **own, content_policy=policy))


def _check_keys(sections: Sequence[Section]) -> None:
    keys = [s.key for s in sections]
    for key in keys:
        if not _KEY.fullmatch(key):
            raise ValueError(f"section key {key!r} is not lower-case words joined by hyphens")
        if keys.count(key) > 1:
            raise ValueError(f"section key {key!r} is used twice")


def readable_sections(sections: Sequence[Section], audience: Audience) -> list[Section]:
    """Return the sections with the blocks that `audience` may read, without empty sections."""
    kept = (replace(s, blocks=tuple(_readable(s.blocks, audience))) for s in sections)
    return [s for s in kept if s.blocks]


def _readable(blocks: Sequence[Block], audience: Audience) -> Iterator[Block]:
    """Yield the blocks that `audience` may read, without headings of empty parts."""
    allowed = blocks
    if audience == "public":
        allowed = [_coarse(b) for b in blocks if b.audience == "public"]
    for block, after in zip_longest(allowed, allowed[1:]):
        heads_nothing = after is None or isinstance(after, Heading)
        if not (isinstance(block, Heading) and heads_nothing):
            yield block


def _coarse(block: Block) -> Block:
    """Return a chart with the digits that the public may see. Other blocks stay as they are."""
    match block:
        case FrontierChart():
            return frontier_chart.coarse(block)
        case BarChart():
            return coarse(block, outwards)
        case LineChart():
            return coarse(block)
        case _:
            return block


def _drawing(block: Block) -> Any:
    match block:
        case FrontierChart():
            return frontier_chart.draw(block)
        case IntervalChart():
            return interval_chart.draw(block)
        case BarChart():
            return bar_chart.draw(block)
        case LineChart():
            return line_chart.draw(block)
        case _:
            raise TypeError(f"a {type(block).__name__} is not a chart")


def _content_policy(style: str, script: str) -> str:
    """Return a content policy that allows only this page's style and script, by their hashes."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _asset(name: str) -> str:
    return files("voile.report").joinpath(name).read_text("utf-8")


@cache
def _templates() -> Environment:
    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(_asset),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kind"] = lambda block: type(block).__name__
    environment.filters["drawing"] = _drawing
    return environment
