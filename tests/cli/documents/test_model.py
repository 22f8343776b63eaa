"""A model of the user's own on the command line: to a release, and what is refused of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.documents.ward import QUICK, put_lines, refused, released
from tests.documents.adapters.made_models import write_spacy
from tests.documents.model.test_own_models import PEOPLE, notes


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return notes of people and of ships; nothing but a model tells which is which."""
    rows = [
        {"who": row["person"], "text": row["note"], "spans": json.loads(row["spans"])}
        for row in notes().to_pylist()
    ]
    return put_lines(tmp_path / "notes.jsonl", rows)


def fit_of(source: Path, kit: Path) -> list[object]:
    columns = ["--text", "text", "--spans", "spans", "--subject", "who"]
    return [
        "documents",
        "fit",
        source,
        *columns,
        *QUICK,
        "--miss-cost",
        10,
        "--out",
        kit,
        "--quiet",
    ]


def test_a_model_takes_part_and_is_looked_for_when_it_has_moved(
    voile: Any, source: Path, tmp_path: Path
) -> None:
    folder = write_spacy(tmp_path / "canary-place", dict.fromkeys(PEOPLE, "PER"))
    kit, policy, out = tmp_path / "kit", tmp_path / "p.toml", tmp_path / "r.jsonl"
    assert voile(*fit_of(source, kit), "--model", f"ner={folder}").code == 0
    assert voile("documents", "choose", kit, "--knee", "--out", policy, "--quiet").code == 0
    apply = ["documents", "apply", kit, source, "--policy", policy, "--out", out, "--quiet"]
    folder.rename(tmp_path / "moved")
    said = refused(voile, *apply)
    assert said.endswith("ner is not there; say where it is now with --model ner=FOLDER")
    there = ["--model", f"ner={tmp_path / 'moved'}"]
    assert voile(*apply, *there, "--jobs", 2).code == 0
    texts = released(out)
    assert sum("[NAME]" in text for text in texts) == len(texts) // 2
    assert not any(name in text for text in texts for name in PEOPLE[1::2])
    assert voile("report", out, "--out", tmp_path / "r.html", "--quiet").code == 0
    for public in (tmp_path / "r.html", tmp_path / "r.jsonl.manifest.json"):
        said = public.read_text("utf-8")
        assert "canary-place" not in said
        assert hashlib.sha256((tmp_path / "moved" / "config.cfg").read_bytes()).hexdigest() in said
        assert "moved/" not in said
    (tmp_path / "moved" / "tokenizer").write_bytes(b"other")
    said = refused(voile, *apply, *there, "--force")
    assert "the model has changed since it was fitted with: tokenizer; put it back" in said


def test_what_is_no_model_is_refused(voile: Any, source: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    fit = fit_of(source, tmp_path / "kit")
    assert "--model: the value lacks a name or a folder" in refused(
        voile, *fit, "--model", tmp_path / "empty"
    )
    said = refused(voile, *fit, "--model", f"ner={tmp_path / 'empty'}")
    assert "no model that can be read is in this folder" in said
    assert "which this command reads" in refused(voile, *fit, "--model", f"ner={tmp_path}")
    assert not (tmp_path / "kit").exists()
