"""Merge classes that are too small to hide their members."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, ValidationError

from voile.core.errors import RequestError
from voile.data.roles import Roles


class PrivateSettings(BaseModel):
    """The settings of the class column in a roles file, in addition to its role."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    merge: Mapping[str, tuple[str, ...]] = {}

    @property
    def names(self) -> dict[str, str]:
        return {one: name for name, merged in self.merge.items() for one in merged}

    @classmethod
    def of(cls, roles: Roles, column: str) -> PrivateSettings:
        """Read the settings of the class column.

        Raises
        ------
        RequestError : the settings have another form, or a class is merged into two others.
        """
        try:
            found = cls.model_validate(roles.settings_of(column))
        except ValidationError:
            found = None
        if found is None or len(found.names) < sum(map(len, found.merge.values())):
            raise RequestError(
                "the settings of the classes are not lists of those that are merged, each once",
                where=f"roles, column {column}",
                instead='write merge = { NAME = ["CLASS", "CLASS"] }',
            )
        return found
