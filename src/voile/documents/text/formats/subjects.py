"""Extract subjects from file names: with `{subject}_*.txt`, the subject of 17_letter.txt is 17."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from voile.core.errors import RequestError

_PARTS = re.compile(r"(\{subject\}|\*|\?)")
_MEANS = {"{subject}": r"(?P<subject>[^/]+?)", "*": r"[^/]*", "?": r"[^/]"}


@dataclass(frozen=True)
class SubjectPattern:
    """A pattern of file names in which `{subject}` is the subject.

    `*` matches any characters and `?` one character, and neither matches a slash. `{subject}`
    matches as few characters as possible. A pattern with a slash applies to the path relative to
    the folder, and any other pattern applies to the file name.

    >>> letters = SubjectPattern("{subject}_*.txt")
    >>> letters.subject_of(Path("notes/ward/17_a_letter.txt"), Path("notes"))
    '17'
    >>> SubjectPattern("{subject}/*").subject_of(Path("notes/17/a.txt"), Path("notes"))
    '17'
    """

    written: str

    def __post_init__(self) -> None:
        if self.written.count("{subject}") != 1:
            raise RequestError(
                "a pattern of subjects has {subject} once", instead="write e.g. {subject}_*.txt"
            )

    def subject_of(self, path: Path, root: Path) -> str | None:
        """Return the subject of a file; None if its name does not match this pattern."""
        within = path.relative_to(root) if path.is_relative_to(root) else path
        found = self._form.fullmatch(within.as_posix() if "/" in self.written else path.name)
        return found["subject"] if found else None

    @cached_property
    def _form(self) -> re.Pattern[str]:
        parts = _PARTS.split(self.written)
        return re.compile("".join(_MEANS.get(part) or re.escape(part) for part in parts))
