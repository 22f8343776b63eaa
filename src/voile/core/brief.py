"""A safe `repr` for objects that contain people's data, because logs and tracebacks show it."""

from __future__ import annotations

from typing import Any, ClassVar


class BriefRepr:
    """A base class whose `repr` shows only the class name and the attributes listed in `shows`.

    A subclass lists in `shows` the attributes that a public manifest may contain. Examples are a
    kind, a number of policies or a column's name. It never lists a value of the data, a key, or a
    count of people.

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
            cls.__repr__ = BriefRepr.__repr__  # type: ignore[method-assign]  # before @dataclass adds one

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self.shows)
        return f"{type(self).__name__}({', '.join(shown)})"
