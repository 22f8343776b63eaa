"""Contexts with mistakes or markup in them, and folders that somebody forged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.determination.conftest import DAY, NOON

from voile.core.errors import RequestError
from voile.determination import determine, verify
from voile.determination.context import Context
from voile.face.release import Release

Make = Callable[..., dict[str, Any]]
MARKUP = "<script>alert(1)</script> | [a](b) `c` \x1b[2J"


def test_every_mistake_is_named_at_once(context: Make) -> None:
    given = context(
        {"linkability": {"at_most": 0.1}, "inference": {"at_most": 2.0, "source": "x"}},
        signers=3,
    )
    del given["expires"], given["purpose"], given["thresholds"]["re-identification"]
    with pytest.raises(RequestError) as error:
        Context.read_context(given, today=DAY)
    for said in (
        "purpose and expires: is absent",
        "thresholds.linkability: has no source: say who sets it",
        "thresholds.inference.at_most",
        "thresholds.re-identification: is absent",
        "signers",
    ):
        assert said in str(error.value)


@pytest.mark.parametrize(
    ("threshold", "said"),
    [
        ({}, "no standard, no at_most"),
        ({"source": "x"}, "has a source and no at_most"),
        ({"standard": "ema-0070", "at_most": 0.1, "source": "x"}, "give one"),
        ({"at_most": 0.1, "source": "x", "bounds": "mean"}, "without a reason: give why"),
        ({"at_most": float("nan"), "source": "x"}, "at_most"),
        ({"at_most": 0.1, "source": "x", "who": "y"}, "is not known here"),
    ],
)
def test_a_threshold_that_is_none_is_refused(
    context: Make, threshold: dict[str, Any], said: str
) -> None:
    with pytest.raises(RequestError, match=said):
        Context.read_context(context({"re-identification": threshold}), today=DAY)


def test_a_context_that_expired_is_refused(context: Make) -> None:
    with pytest.raises(RequestError, match="expires: is in the past"):
        Context.read_context(context(expires=date(2030, 4, 30)), today=DAY)


def test_markup_in_a_context_is_shown_and_not_obeyed(
    release: Release, context: Make, tmp_path: Path
) -> None:
    given = context(
        {"linkability": {"accept": f"There is no register {MARKUP}"}},
        recipient=MARKUP,
        renewal=[MARKUP],
        decisions={MARKUP: MARKUP},
    )
    determine(release, given, tmp_path / "d", pdf=False, on=DAY)
    page = (tmp_path / "d" / "determination.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    text = (tmp_path / "d" / "determination.md").read_text()
    assert "\\<script\\>alert(1)" in text
    assert "<script>" not in text.replace("\\<", "")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("verdict", "meets", "the verdict is the worst criterion's"),
        ("sha256", "0" * 64, "the manifest is of the release judged"),
        ("manifest_sha256", "0" * 64, "is the manifest that was judged"),
        ("kind", "signals", "the verdict follows from its figure"),
        ("kind", "nothing", "can be read as a manifest of nothing"),
        ("release", "../../etc/passwd", None),
    ],
)
def test_a_forged_file_under_a_new_list_is_judged_again(
    release: Release, context: Make, tmp_path: Path, field: str, value: str, said: str | None
) -> None:
    """The forger writes the list of files anew: verdicts are still held to figures."""
    folder = tmp_path / "d"
    determine(release, context(), folder, pdf=False, on=DAY)
    facts = json.loads((folder / "determination.json").read_text())
    _rewrite(folder, {**facts, field: value})
    found = verify(folder, now=NOON)
    failed = [check.says for check in found.checks if check.holds is False]
    assert not found.holds
    assert any(said in says for says in failed) if said else not failed


@pytest.mark.parametrize("most", [0.0, 1e-9])
def test_a_figure_of_the_manifest_cannot_be_made_better(
    release: Release, context: Make, tmp_path: Path, most: float
) -> None:
    folder = tmp_path / "d"
    determine(release, context(), folder, pdf=False, on=DAY)
    facts = json.loads((folder / "determination.json").read_text())
    facts["criteria"][0]["figure"]["most"] = most
    _rewrite(folder, facts)
    failed = [check.says for check in verify(folder, now=NOON).checks if check.holds is False]
    assert failed == ["re-identification: the verdict follows from its figure and threshold"]


def _rewrite(folder: Path, facts: dict[str, Any]) -> None:
    raw = json.dumps(facts).encode()
    (folder / "determination.json").write_bytes(raw)
    index = json.loads((folder / "files.json").read_text())
    index["files"]["determination.json"] = hashlib.sha256(raw).hexdigest()
    (folder / "files.json").write_text(json.dumps(index))
