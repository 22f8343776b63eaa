"""The draws of one release: the order of its rows, the ids of its classes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property

from voile.core.brief import BriefRepr
from voile.core.version import __version__
from voile.data import Source
from voile.data.column_digests import digest_columns
from voile.data.places import PLACES
from voile.keys.random import ProtectiveRandom
from voile.keys.secret import Secret
from voile.release.choice import Chosen
from voile.release.kit import StoredKit
from voile.release.options import ApplyOptions, leaves, list_stored


@dataclass(frozen=True, eq=False)
class ReleaseDraws(BriefRepr):
    """The random draws of one release.

    With a secret the draws are keyed by it, and by everything that shapes the rows: kit, policy,
    source, options and version. The same request then gives the same bytes, and no two other
    releases share an order. They come from the system's entropy without a secret, or with an
    option that names a file or a ledger, since its content may change.

    Cost: with a secret, one pass over the source.
    """

    shows = ()

    options: ApplyOptions
    kit: StoredKit
    chosen: Chosen
    source: Source

    def draw(self, use: str) -> ProtectiveRandom:
        """Return the draws of one use. Draws of different uses reveal nothing of each other."""
        if self._secret is None:
            return ProtectiveRandom()
        return ProtectiveRandom.from_secret(self._secret, purpose=json.dumps([use, *self._shaping]))

    @cached_property
    def digests(self) -> dict[str, str]:
        """The digest of each column: the tables of one database file have one fingerprint."""
        return digest_columns(self.source)

    @cached_property
    def _secret(self) -> Secret | None:
        given = self.options.model_fields_set - {"key_file"}
        fields = type(self.options).model_fields
        names_files = any(leaves(fields[name].annotation) & PLACES for name in given)
        return None if names_files else Secret.find(self.options.key_file)

    @cached_property
    def _shaping(self) -> list[object]:
        source = [self.source.name, self.source.fingerprint(), sorted(self.digests.items())]
        asked = sorted(list_stored(self.options).items())
        return [__version__, self.kit.id, self.chosen.to_toml(), source, asked]
