"""The random draws of one release, such as the order of its rows and the ids of its classes."""

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

    With a secret, the draws depend on the secret and on all inputs that shape the rows. These are
    the kit, the policy, the source, the options and the version. The same request then gives the
    same bytes, and different releases have independent orders. Without a secret, the draws come
    from the system's entropy. They also do if an option names a file or a ledger, because its
    content may change.

    Cost: with a secret, one pass over the source.
    """

    shows = ()

    options: ApplyOptions
    kit: StoredKit
    chosen: Chosen
    source: Source

    def draw(self, use: str) -> ProtectiveRandom:
        """Return the random draws for one use. Draws for different uses are independent."""
        if self._secret is None:
            return ProtectiveRandom()
        return ProtectiveRandom.from_secret(self._secret, purpose=json.dumps([use, *self._shaping]))

    @cached_property
    def digests(self) -> dict[str, str]:
        """The digest of each column.

        The fingerprint alone is equal for all tables of one database file.
        """
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
