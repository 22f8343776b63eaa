"""Every command that a page prints can be pasted: what explains it is a comment."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from voile.cli.app import command

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *ROOT.glob("src/voile/*/README.md")]


def printed_commands(page: Path) -> list[list[str]]:
    """Return the words of each `voile` command in the page's blocks, comments left out."""
    text = re.sub(r"\\\n\s*", " ", page.read_text(encoding="utf-8"))
    lines = re.findall(r"^(?: {4}|\S+/bin/)(voile .*)$", text, flags=re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines if "`" not in line]


def find_command(words: list[str]) -> tuple[click.Command, list[str]]:
    found: click.Command = command
    rest = words[1:]
    context = click.Context(command)
    while isinstance(found, click.Group) and rest and not rest[0].startswith("-"):
        inner = found.get_command(context, rest[0])
        assert inner is not None, (
            f"there is no command {' '.join(words[: len(words) - len(rest) + 1])}"
        )
        found, rest = inner, rest[1:]
    return found, rest


def options_of(found: click.Command) -> set[str]:
    """Return every option of a command and of those below it."""
    context = click.Context(found, resilient_parsing=True)
    own = {name for one in found.get_params(context) for name in (*one.opts, *one.secondary_opts)}
    if isinstance(found, click.Group):
        for name in found.list_commands(context):
            inner = found.get_command(context, name)
            assert inner is not None
            own |= options_of(inner)
    return own


def test_the_changes_name_options_that_exist() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    new, _, _ = changes.partition("### Removed or renamed")
    assert len(changes.splitlines()) <= 80
    assert not {*re.findall(r"--[a-z][a-z-]+", new)} - options_of(command)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_printed_command_has_no_word_that_it_does_not_take(page: Path) -> None:
    wrong = []
    for words in printed_commands(page):
        if "..." in words or any(word.startswith("[") for word in words):
            continue  # a fragment, which the page explains
        found, rest = find_command(words)
        context = click.Context(found, resilient_parsing=True)
        known = {
            name for one in found.get_params(context) for name in (*one.opts, *one.secondary_opts)
        }
        options = {word.partition("=")[0] for word in rest if word.startswith("--")}
        _, left, _ = found.make_parser(context).parse_args(list(rest))
        if (extra := options - known - {"--help", "--version"}) or left:
            wrong.append((" ".join(words), sorted(extra), left))
    assert not wrong
