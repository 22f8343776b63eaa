"""What the tests of the report's parts look at."""

from __future__ import annotations

import copy
from dataclasses import replace

from voile.documents.verbs.report import sections
from voile.report import render
from voile.report.sections import Figures, Grid, Prose


def shown(release, evidence=(), audience="internal"):
    parts = sections(release, evidence, audience=audience)
    assert [part.key for part in parts if part.first] == ["summary"]
    return {part.key: part.blocks for part in parts}


def said(blocks):
    return " ".join(text for one in blocks if isinstance(one, Prose) for text in one.paragraphs)


def grids(blocks):
    return [one for one in blocks if isinstance(one, Grid)]


def figures(blocks):
    return {
        one.label: one for block in blocks if isinstance(block, Figures) for one in block.figures
    }


def changed(release, **chosen):
    """Return a release whose story of the policy chosen says something else."""
    private = copy.deepcopy(release.private)
    for name, value in chosen.items():
        part = next(
            part
            for part in ("chosen", "found", "")
            if name in private["story"].get(part, ()) or not part
        )
        (private["story"][part] if part else private["story"])[name] = value
    return replace(release, private=private)


def with_passes(release, rows, **chosen):
    """Return one whose loop went otherwise."""
    other = changed(release, **chosen)
    other.private["story"]["passes"] = rows
    return other


def page(release, evidence, audience):
    parts = sections(release, evidence, audience=audience)
    return render("Notes", parts, audience=audience, facts={})
