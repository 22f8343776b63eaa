"""What cannot be read, and what must not be overwritten."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cli.documents.ward import HARMLESS, QUICK, Notes, refused, roles_of


def test_a_line_that_is_no_text_is_left_out_and_said(
    voile: Any, lines: Path, tmp_path: Path
) -> None:
    roles = roles_of(voile, lines, tmp_path / "roles.toml")
    content = lines.read_text()
    lines.write_bytes(content.encode() + '{"note": "é'.encode() + b'\xe9"}\n')
    words = ["documents", "fit", lines, "--roles", roles, "--out", tmp_path / "kit", *QUICK]
    ran = voile(*words)
    assert f"warning: notes.jsonl: byte {len(content) + 12} is not valid utf-8 text; " in ran.err
    assert "--encoding" in ran.err


BEGINS = {"long.jsonl": b'{"text": "', "long.conll": b"", "long.csv": b'text\n"'}


@pytest.mark.parametrize("name", BEGINS)
def test_a_line_without_end_is_refused(voile: Any, tmp_path: Path, name: str) -> None:
    long = tmp_path / name
    with long.open("wb") as file:
        file.write(BEGINS[name])
        file.writelines([f"{HARMLESS} ".encode() * 100_000] * 75)
    said = refused(voile, "inspect", long, "--kind", "documents")
    assert "longer than" in said


def test_what_is_not_there_is_said(voile: Any, notes: Notes, tmp_path: Path) -> None:
    for source in (tmp_path / "none", f"brat:{tmp_path / 'none'}", tmp_path / "none.conll"):
        said = refused(voile, *notes.fit(tmp_path / "kit", source))
        assert "the file does not exist" in said or "no such file or folder" in said
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no files" in refused(voile, "inspect", empty)
    (empty / "a.rtf").write_text(HARMLESS)
    assert ".rtf files are not known" in refused(voile, "inspect", empty)


def test_the_source_is_never_overwritten(voile: Any, notes: Notes, tmp_path: Path) -> None:
    source = tmp_path / "notes"
    shutil.copytree(notes.source, source)
    before = sorted(source.iterdir())
    for named in (source, f"brat:{source}"):
        said = refused(voile, *notes.fit(source, named), "--force")
        assert (
            said
            == f"voile: {source}: the command reads this file as its input; write to another path"
        )
    assert sorted(source.iterdir()) == before
