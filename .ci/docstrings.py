"""Let the site's parser read docstrings as they are written: `name : what it is`, no type twice."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

import griffe

HEADING = re.compile(r"(Parameters|Raises|Returns|Attributes)\n-+\n")
ITEM = re.compile(r"^([\w*]+(?:, [\w*]+)*) : (.+)$")


class AsWritten(griffe.Extension):
    """Rewrite each docstring before it is parsed."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Put a parameter's description on a line of its own, and examples into blocks."""
        if obj.docstring is not None:
            obj.docstring.value = rewritten(obj.docstring.value)


def rewritten(docstring: str) -> str:
    """Return the docstring in numpydoc's own shape."""
    blocks = [_block(block) for block in re.split(r"\n{2,}", docstring.strip())]
    listed = [i for i, block in enumerate(blocks) if HEADING.match(block)]
    after = [i for i in range(len(blocks)) if listed and i > listed[0] and i not in listed]
    if after:  # what follows a list is no part of it
        blocks[after[0]] = f"Notes\n-----\n{blocks[after[0]]}"
    return "\n\n".join(blocks)


def _block(block: str) -> str:
    if heading := HEADING.match(block):
        items = block[heading.end() :].splitlines()
        return heading[0] + "\n".join(ITEM.sub(r"\1\n    \2", line) for line in items)
    if ">>> " not in block:
        return block
    runs = groupby(block.splitlines(), _Kind())
    return "\n".join("\n".join(["```pycon", *x, "```"] if code else x) for code, x in runs)


class _Kind:
    """Whether a line belongs to an example: from its first prompt to the block's end."""

    begun = False

    def __call__(self, line: str) -> bool:
        self.begun = self.begun or line.lstrip().startswith(">>> ")
        return self.begun
