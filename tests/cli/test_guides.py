"""A guide that makes its own data runs as it is printed: its commands, and its Python."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"^    voile (.*)$", re.MULTILINE)


@pytest.mark.parametrize("guide", ["choose-items.md"])
def test_the_commands_and_examples_of_a_guide_run(
    voile: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guide: str
) -> None:
    text = (DOCS / guide).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    data, *examples = BLOCK.findall(text)
    names: dict[str, Any] = {}
    exec(data, names)
    for command in COMMAND.findall(text):
        ran = voile(*command.split())
        assert ran.code == 0, (command, ran.err)
    for example in examples:
        exec(example, names)
    assert (tmp_path / "report.html").exists()
