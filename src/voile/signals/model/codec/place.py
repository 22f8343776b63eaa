"""Where in arrays of readings and classes an error is, for those who call them by names."""

from __future__ import annotations

from collections.abc import Sequence


class ReadingPlace(str):
    """A column of readings, or the classes, and a row of them, as a library's caller counts them.

    It is the text of an error's `where`, and remembers what it counts: the reader of a
    source says it by the source's names.

    >>> ReadingPlace(1, 6), ReadingPlace(row=6), ReadingPlace(1, 6).describe_place(
    ...     ("pulse", "weight"), "ill"
    ... )
    ('column 1, row 7', 'c, row 7', 'column weight, row 7')
    """

    column: int | None
    row: int | None

    def __new__(cls, column: int | None = None, row: int | None = None) -> ReadingPlace:
        """Write it as arrays have it."""
        name = "c" if column is None else f"column {column}"
        made = super().__new__(cls, name if row is None else f"{name}, row {row + 1:,}")
        made.column, made.row = column, row
        return made

    def __reduce__(self) -> tuple[type[ReadingPlace], tuple[int | None, int | None]]:
        """Let an error of a worker arrive with its place."""
        return ReadingPlace, (self.column, self.row)

    def at(self, row: int) -> ReadingPlace:
        return ReadingPlace(self.column, row)

    def describe_place(
        self, columns: Sequence[str], classes: str, rows: Sequence[int] | None = None
    ) -> str:
        """Say it by the names of columns, and by the numbers of rows in the source, from 0."""
        name = f"column {classes if self.column is None else columns[self.column]}"
        if self.row is None:
            return name
        row = self.row if rows is None else int(rows[self.row])
        return f"{name}, row {row + 1:,}"


CLASSES = ReadingPlace()
