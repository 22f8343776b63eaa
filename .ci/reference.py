"""Write the reference pages of the site: one for each command, and an index of errors."""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click

ROOT = Path(__file__).parent.parent
CODES = {
    0: "Done.",
    1: "Failed, or a check failed, or rows were rejected (`--allow-set-aside` gives 0 for these).",
    2: "The request is invalid. Nothing was written.",
    130: "Interrupted by Ctrl-C. No output is half-written.",
}
ERROR = re.compile(r"^class (\w+(?:Error|Warning))\(", re.MULTILINE)


def command_pages() -> dict[str, str]:
    """Return the text of each page of the command line, by its name below the site's root."""
    from voile.cli.app import command

    pages, lines = {}, []
    for words, one in walk_commands(command, ("voile",)):
        name = "-".join(words[1:])
        if name:
            pages[f"cli/{name}.md"] = render_command(words, one)
            lines.append(f"| [`{' '.join(words)}`]({name}.md) | {first_sentence(one)} |")
    head = "# Commands\n\nEach page is made from the command's own `--help`.\n\n"
    pages["cli/README.md"] = head + "| command | use |\n| --- | --- |\n" + "\n".join(lines) + "\n"
    return pages


def walk_commands(
    one: click.Command, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield each command with the words that call it, groups before their members."""
    yield words, one
    if isinstance(one, click.Group):
        context = click.Context(one)
        for name in one.list_commands(context):
            inner = one.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from walk_commands(inner, (*words, name))


def first_sentence(one: click.Command) -> str:
    """Return the first line of a command's help."""
    return (one.help or "").strip().splitlines()[0].replace("|", r"\|")


def render_command(words: tuple[str, ...], one: click.Command) -> str:
    """Return a page with the usage, the description and a table of options."""
    context = click.Context(one, info_name=" ".join(words), resilient_parsing=True)
    usage = one.get_usage(context).removeprefix("Usage: ")
    text = inspect.cleandoc(one.help or "").replace("\b\n", "")
    parts = [f"# {' '.join(words)}", text, f"```text\n{usage}\n```"]
    if isinstance(one, click.Group):
        inner = (
            f"[`{name}`]({'-'.join((*words[1:], name))}.md)" for name in one.list_commands(context)
        )
        parts.append("Commands: " + ", ".join(inner))
    if rows := [row for item in one.get_params(context) if (row := render_option(item, context))]:
        parts.append("| option | meaning |\n| --- | --- |\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n\n[Exit codes and errors](../errors.md)\n"


def render_option(item: click.Parameter, context: click.Context) -> str | None:
    """Return a line of the table, or None for an argument without help."""
    record = item.get_help_record(context)
    if record is None or not record[1]:
        return None
    name, text = (html.escape(" ".join(part.split())).replace("|", "&#124;") for part in record)
    return f"| <code>{name}</code> | {text} |"


def error_page() -> str:
    """Return the index of exit codes, errors and warnings, with their docstrings."""
    parts = [
        "# Errors and exit codes",
        "An error is one sentence on standard error: the place, the problem, and a remedy. "
        "With `--json` it is an object with the fields `what`, `where` and `instead`. "
        "No error contains a value of the data.",
        "## Exit codes",
        "| code | meaning |\n| --- | --- |\n"
        + "\n".join(f"| {n} | {text} |" for n, text in CODES.items()),
    ]
    found = list(find_errors())
    for title, base in (("Errors", Exception), ("Warnings", Warning)):
        own = [one for one in found if issubclass(one, Warning) == (base is Warning)]
        rows = (
            f"| `{one.__name__}` | {getattr(one, 'exit_code', '')} | {describe(one)} |"
            for one in sorted(own, key=lambda one: one.__name__)
        )
        parts.append(
            f"## {title}\n\n| name | exit code | meaning and remedy |\n| --- | --- | --- |\n"
            + "\n".join(rows)
        )
    return "\n\n".join(parts) + "\n"


def find_errors() -> Iterator[type[BaseException]]:
    """Yield the errors and warnings that users may catch: those of VoileError, and warnings."""
    from voile.core.errors import VoileError

    for path in sorted((ROOT / "src/voile").rglob("*.py")):
        names = ERROR.findall(path.read_text("utf-8"))
        if names:
            module = import_module(".".join(path.relative_to(ROOT / "src").with_suffix("").parts))
            for name in names:
                one = getattr(module, name)
                if issubclass(one, (VoileError, Warning)) and not name.startswith("_"):
                    yield one


def describe(one: type[BaseException]) -> str:
    """Return the first paragraph of the docstring in one line."""
    text = inspect.cleandoc(one.__doc__ or "").split("\n\n")[0]
    return " ".join(text.split()).replace("|", r"\|")
