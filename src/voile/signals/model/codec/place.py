"""Places of errors in arrays of readings and classes, for callers who use column names."""

from __future__ import annotations

from collections.abc import Sequence


class ReadingPlace(str):
    """The place of an error: a column of readings or the classes, and a row, by number.

    It is the text of an error's `where` and also stores the numbers. The reader of a source
    replaces them with the source's names.

    >>> ReadingPlace(1, 6), ReadingPlace(row=6), ReadingPlace(1, 6).describe_place(
    ...     ("pulse", "weight"), "ill"
    ... )
    ('column 1, row 7', 'c, row 7', 'column weight, row 7')
    """

    column: int | None
    row: int | None

    def __new__(cls, column: int | None = None, row: int | None = None) -> ReadingPlace:
        """Build the text with array indices for columns."""
        name = "c" if column is None else f"column {column}"
        made = super().__new__(cls, name if row is None else f"{name}, row {row + 1:,}")
        made.column, made.row = column, row
        return made

    def __reduce__(self) -> tuple[type[ReadingPlace], tuple[int | None, int | None]]:
        """Pickle with the place, so that errors of worker processes keep it."""
        return ReadingPlace, (self.column, self.row)

    def at(self, row: int) -> ReadingPlace:
        return ReadingPlace(self.column, row)

    def describe_place(
        self, columns: Sequence[str], classes: str, rows: Sequence[int] | None = None
    ) -> str:
        """Return the place with column names, and with row numbers of the source."""
        name = f"column {classes if self.column is None else columns[self.column]}"
        if self.row is None:
            return name
        row = self.row if rows is None else int(rows[self.row])
        return f"{name}, row {row + 1:,}"


CLASSES = ReadingPlace()
