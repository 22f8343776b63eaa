"""Show pages and charts in a notebook, each in its own frame so that no style leaks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from html import escape
from typing import Any

from voile.core.evidence import Evidence
from voile.core.frontier import Frontier
from voile.report.charts.numbers import share
from voile.report.evidence_sections import evidence_sections
from voile.report.page import render_part
from voile.report.sections import Audience, Block, FrontierChart, Heading

FITTED = (
    "this.style.height = 0; "
    "this.style.height = this.contentDocument.documentElement.scrollHeight + 'px'"
)
"""A script that fits a loaded frame to its content, if the notebook allows scripts."""


def frame_page(page: str, *, title: str, height: int, fitted: bool = False) -> str:
    """Return a page as a frame for a notebook's output.

    Parameters
    ----------
    height : the height of the frame in pixels.
    fitted : whether a script then fits the height to the page.
    """
    onload = f' onload="{FITTED}"' if fitted else ""
    return (
        f'<iframe title="{escape(title)}" srcdoc="{escape(page)}"{onload} '
        f'style="width: 100%; height: {height}px; border: 0"></iframe>'
    )


def frame_blocks(title: str, blocks: Sequence[Block], audience: Audience = "public") -> str:
    """Return blocks of a report as a frame for a notebook's output."""
    page = render_part(title, blocks, audience)
    return frame_page(page, title=title, height=520, fitted=True)


def drawn_evidence(title: str, evidence: Sequence[Evidence]) -> str:
    """Return the public findings of attacks as a frame for a notebook's output."""
    blocks: list[Block] = []
    for section in evidence_sections(evidence, "public"):
        blocks += [Heading(section.title), *section.blocks]
    return frame_blocks(title, blocks)


@singledispatch
def html_of(thing: Any) -> str:
    """Draw an object of `core`, which does not import the report (see `voile.core.drawn`)."""
    raise TypeError(f"voile cannot draw a {type(thing).__name__}")


@html_of.register
def _frontier(frontier: Frontier) -> str:
    points = list(zip(frontier.risk.tolist(), frontier.loss.tolist(), strict=True))
    chart = FrontierChart(
        tuple(risk for risk, _ in points),
        tuple(loss for _, loss in points),
        tuple(f"risk {share(risk)}, loss {share(loss)}" for risk, loss in points),
        (),
        "risk",
        "loss",
    )
    return frame_blocks(f"{len(frontier):,} policies that no other beats", [chart])


@html_of.register
def _evidence(evidence: Evidence) -> str:
    return drawn_evidence(f"Evidence: {evidence.attack}", [evidence])
