"""A source of documents that are files of their own, apart from the formats that read them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from voile.data.source import Source


class FilesSource(Source):
    """Documents as rows; `unread` gives by their ids why some files could not be read."""

    unread: dict[str, str]

    @property
    @abstractmethod
    def paths(self) -> Mapping[str, Path]:
        """Where each file is, by the id of the document that it holds, if it holds one."""

    @abstractmethod
    def with_subjects(self, written: str) -> FilesSource:
        """Return the same documents, their subjects by the names of their files.

        Raises RequestError: not one of the files is called so. Warns where some are not.
        """
