"""Errors that contain the problem, the place and the remedy.

No error contains a value of the data. It names the row and the column instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches


class VoileError(Exception):
    """Stop with one sentence for the user. Every error of voile has this base class.

    Parameters
    ----------
    what : the problem, without a full stop.
    where : the file, row or column that has the problem.
    instead : the remedy for the user.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str | None = None, instead: str | None = None) -> None:
        self.what = printable(what)
        self.where = printable(where) if where else where
        self.instead = printable(instead) if instead else instead
        place = f"{self.where}: " if where else ""
        remedy = f"; {self.instead}" if instead else ""
        super().__init__(f"{place}{self.what}{remedy}")

    def reword(self, words: Callable[[str], str]) -> None:
        """Apply a function to each text of the error."""
        where, instead = self.where and words(self.where), self.instead and words(self.instead)
        VoileError.__init__(self, words(self.what), where=where, instead=instead)


_OPTION = re.compile(r"(?<!\S)--([a-z]+(?:-[a-z]+)*)")


_from_python: ContextVar[bool] = ContextVar("called from Python", default=False)


@contextmanager
def as_keywords() -> Iterator[None]:
    """Write options in errors as Python keywords, such as hold_out instead of --hold-out."""
    before = _from_python.set(True)
    try:
        yield
    except VoileError as error:
        error.reword(_as_keywords)
        raise
    finally:
        _from_python.reset(before)


def as_called(text: str) -> str:
    """Write the options in a warning as keywords within `as_keywords`, and unchanged elsewhere."""
    return _as_keywords(text) if _from_python.get() else text


def _as_keywords(text: str) -> str:
    return _OPTION.sub(lambda found: found[1].replace("-", "_"), text)


class RequestError(VoileError, ValueError):
    """The request is invalid, and nothing was written. Correct the option or file that is named."""

    exit_code = 2


class SourceError(RequestError):
    """A source cannot be read: absent, truncated, or of an unknown format. Check the path."""


class InfeasibleError(RequestError):
    """No policy meets the constraints. Take the nearest limit that the message names."""


class TamperedError(VoileError):
    """A release, kit or manifest does not match its hashes. Restore it, or make it again."""


class DamagedError(TamperedError, RequestError):
    """A kit, manifest, policy or evidence file lacks a part or has another one. Make it again."""

    exit_code = 2


LONGEST = 2000


def printable(text: str) -> str:
    r"""Replace unprintable characters, and shorten a text that exceeds `LONGEST` characters.

    A column's name may contain control sequences, which a terminal would execute.

    >>> printable("column \x1b[2J")
    'column �[2J'
    """
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return text if text.isprintable() else "".join(c if c.isprintable() else "�" for c in text)


def name_kind(thing: object) -> str:
    """Return the type of a value as words for an error, never the value.

    >>> name_kind(3), name_kind({}), name_kind(None)
    ('an int', 'a dict', 'None')
    """
    kind = type(thing).__name__
    return "None" if thing is None else f"{'an' if kind[0] in 'aeiouAEIO' else 'a'} {kind}"


def install(extra: str) -> str:
    """Return the end of an error message: the command that installs the packages of an extra.

    >>> install("office")
    "install it with: pip install 'voile[office]'"
    """
    return f"install it with: pip install 'voile[{extra}]'"


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the end of an error message that suggests the names most similar to `name`.

    >>> nearest("agee", ["age", "sex"])
    'did you mean age?'
    >>> nearest("q", ["age", "sex"])
    'there is age, sex'
    >>> nearest("K", ["k", "people"])
    'did you mean k?'
    """
    names = list(names)
    close = [one for one in names if one.casefold() == name.casefold()]
    close = close or get_close_matches(name, names, n=3, cutoff=0.6)
    if close:
        return f"did you mean {' or '.join(close)}?"
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"there is {shown}" if names else "there are no columns"
