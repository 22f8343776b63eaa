"""Add generated pages to the site: commands, errors, and each module's README."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from reference import command_pages, error_page

ROOT = Path(__file__).parent.parent
README = re.compile(r"\.\./src/voile/(\w+)/README\.md")


def on_files(files: Files, config: Any) -> Files:
    """Add `modules/KIND.md`, `cli/*.md` and `errors.md`; nothing generated is committed."""
    pages = {**command_pages(), "errors.md": error_page()}
    for readme in sorted(ROOT.glob("src/voile/*/README.md")):
        text = readme.read_text("utf-8").replace("../../../docs/", "../")
        pages[f"modules/{readme.parent.name}.md"] = text
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links to a module's README to its page."""
    up = "../" * page.file.src_uri.count("/")
    return README.sub(rf"{up}modules/\1.md", markdown.replace("../../src/", "../src/"))
