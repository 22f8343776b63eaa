"""Bring each wing's README, which lies beside its code, into the site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
README = re.compile(r"\.\./src/voile/(\w+)/README\.md")


def on_files(files: Files, config: Any) -> Files:
    """Add `wings/KIND.md` for each wing, its links made those of the site."""
    for readme in sorted(ROOT.glob("src/voile/*/README.md")):
        text = readme.read_text("utf-8").replace("../../../docs/", "../")
        name = f"wings/{readme.parent.name}.md"
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Let what links to a wing's README find its page."""
    return README.sub(r"wings/\1.md", markdown)
