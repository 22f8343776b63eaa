"""The site's reference pages come from the commands and the error classes themselves."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click
import pytest

from voile.core.errors import VoileError

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """Return .ci/reference.py."""
    sys.path.insert(0, str(ROOT / ".ci"))
    try:
        return import_module("reference")
    finally:
        sys.path.remove(str(ROOT / ".ci"))


def test_each_command_has_a_page_with_its_options(reference: ModuleType) -> None:
    from voile.cli.app import command

    pages = reference.command_pages()
    for words, one in reference.walk_commands(command, ("voile",)):
        if len(words) == 1:
            continue
        page = pages[f"cli/{'-'.join(words[1:])}.md"]
        assert page.startswith(f"# {' '.join(words)}\n")
        for parameter in one.get_params(click.Context(one, resilient_parsing=True)):
            if parameter.param_type_name == "option" and not parameter.hidden:
                assert parameter.opts[-1] in page, (words, parameter.name)
        assert not re.search(r"`[^`\n]*&#", page), "a code span shows an entity as it is written"
        assert f"[`{' '.join(words)}`]({'-'.join(words[1:])}.md)" in pages["cli/README.md"]


def test_each_error_is_in_the_index_with_its_exit_code(reference: ModuleType) -> None:
    page = reference.error_page()
    found = list(reference.find_errors())
    assert any(issubclass(one, VoileError) for one in found)
    for one in found:
        assert f"| `{one.__name__}` | {getattr(one, 'exit_code', '')} |" in page
        assert reference.describe(one)
    assert "| 130 | Interrupted" in page


def test_each_error_states_a_remedy(reference: ModuleType) -> None:
    for one in reference.find_errors():
        if issubclass(one, VoileError):
            sentences = reference.describe(one).split(". ")
            assert len(sentences) > 1, f"{one.__name__} has no sentence on the remedy"
