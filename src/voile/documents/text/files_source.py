"""The interface of a source with documents in separate files, independent of their formats."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from voile.data.source import Source


class FilesSource(Source):
    """A source in which each document is a row.

    `unread` maps the id of each document that could not be read to the reason.
    """

    unread: dict[str, str]

    @property
    @abstractmethod
    def paths(self) -> Mapping[str, Path]:
        """The path of each file, by the id of its document, for files that contain one document."""

    @abstractmethod
    def with_subjects(self, written: str) -> FilesSource:
        """Return the same documents with the subjects that their file names contain.

        Warns if the pattern does not fit all files.

        Raises
        ------
        RequestError : no file name fits the pattern.
        """
