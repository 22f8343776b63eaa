"""With --json an error is one object on standard output, with the same exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from voile.core.errors import RequestError


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            ["tables", "frontier", "nowhere"],
            {"what": "no kit here", "where": "nowhere", "instead": "voile tables fit writes one"},
        ),
        (
            ["signals", "choose", "nowhere", "--knee", "--out", "p.toml"],
            {"what": "no kit here", "where": "nowhere", "instead": "voile signals fit writes one"},
        ),
        (
            ["verify"],
            {
                "what": "missing argument 'RELEASE|FOLDER'",
                "where": "voile verify",
                "instead": "see voile verify --help",
            },
        ),
        (
            ["reprot"],
            {
                "what": "no such command 'reprot'",
                "where": "voile",
                "instead": "did you mean report?",
            },
        ),
    ],
)
def test_an_error_is_one_object(
    voile: Any, words: list[str], error: dict[str, str], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    plain, ran = voile(*words), voile(*words, "--json")
    assert plain.code == ran.code == 2
    assert plain.out == ""
    assert plain.err == ran.err
    assert ran.json == {"error": error}


@pytest.mark.parametrize(
    ("raised", "code", "what"),
    [
        (KeyboardInterrupt(), 130, "interrupted; no output is half-written"),
        (ValueError("CANARY"), 1, "unexpected ValueError"),
        (RequestError("no", where="here"), 2, "no"),
    ],
)
def test_what_stops_a_command_is_told_as_json(
    voile: Any, monkeypatch: Any, raised: BaseException, code: int, what: str
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr("voile.release.kit.StoredKit.load", stop)
    ran = voile("tables", "frontier", "kit", "--json")
    assert ran.code == code
    assert ran.json["error"]["what"] == what
    assert "CANARY" not in ran.out + ran.err
