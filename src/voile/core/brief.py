"""What holds people's data does not print it: a log or a traceback is not a place for values."""

from __future__ import annotations

from typing import Any, ClassVar


class BriefRepr:
    """Print the class, and only the attributes in `shows`.

    A subclass lists there the attributes that a public manifest may contain: a kind, a number of
    policies, a column's name. Never a value of the data, a key, or a count of people.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Patient(BriefRepr):
    ...     shows = ("ward",)
    ...     ward: str
    ...     name: str
    >>> Patient("north", "Ada")
    Patient(ward='north')
    """

    __slots__ = ()
    shows: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if "__repr__" not in vars(cls):
            cls.__repr__ = BriefRepr.__repr__  # type: ignore[method-assign]  # before a dataclass does

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self.shows)
        return f"{type(self).__name__}({', '.join(shown)})"
